"""The memory and disk that runs on two-token data need, in bytes."""

from piste.experiment import Experiment
from piste.training import DRAWN, Needs, width_of

from ..models import Stack, TwoLayer
from ..tasks import NoisyImages, SignalNoise


def two_token_needs(experiment: Experiment) -> Needs:
    """Estimate what a run on two-token data needs."""
    task, model, width = experiment.task, experiment.model, width_of(experiment)
    assert isinstance(task, (SignalNoise, NoisyImages))
    assert isinstance(model, (TwoLayer, Stack))
    # One vector serves as the signal of all samples; images are as many as samples.
    per_sample, common = (1, 1) if isinstance(task, SignalNoise) else (2, 0)
    # 0 takes all test images of two classes of ten: at most a fifth of MNIST's.
    tests, dimension = task.test_samples or 2000, task.dimension
    rows = per_sample * task.samples + common
    data = DRAWN * dimension * (rows + per_sample * tests + common)
    neurons = 2 * model.key_width
    weights = DRAWN * dimension * 2 * (model.key_width + model.value_width)
    weights *= depth_of(model)
    deep = isinstance(model, Stack) or model.kernel != "softmax"
    all_weights = deep or experiment.form == "full"
    # The reduced forms have a value and the queries and keys, on the data's coordinates
    # or, under a rule that moves along the gradient, in the span of its rows.
    support = getattr(task, "noise_coordinates", dimension)
    moving = min(dimension, rows * support + 1)
    if experiment.rule.along_gradient:
        moving = rows
    params = weights if all_weights else DRAWN * moving * (1 + neurons)
    # All tokens of all test samples are in memory where there are several layers.
    tested = tests * 2 * ((2 * dimension if deep else 0) + neurons)
    trained = task.samples * 2 * (4 * dimension + 4 * neurons) * depth_of(model)
    return Needs(
        data=data,
        weights=weights,
        drawing=4.5 * (data + weights) + 6 * DRAWN * rows * dimension,
        params=params * width / DRAWN,
        working=width
        * (2 * tested + trained + (0 if all_weights else 8 * rows * moving)),
        record=width * (neurons * (task.samples + 1) + 3 * task.samples + 2),
        test_record=5 * width,
    )


def depth_of(model: TwoLayer | Stack) -> int:
    """The number of attention layers."""
    return model.depth if isinstance(model, Stack) else 1
