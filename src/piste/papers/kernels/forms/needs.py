"""Memory that a token regression needs, in bytes."""

from piste.experiment import Experiment
from piste.training import DRAWN, Needs, width_of

from ..models import KernelLayer
from ..tasks import TokenRegression


def regression_needs(experiment: Experiment) -> Needs:
    """Estimate the memory of a run from its sizes."""
    task, model, width = experiment.task, experiment.model, width_of(experiment)
    assert isinstance(task, TokenRegression) and isinstance(model, KernelLayer)
    tokens = task.sequences * task.length
    outputs, heads = tokens * task.outputs, model.heads
    matrix = heads * task.dimension * model.width
    data = DRAWN * tokens * (task.dimension + task.outputs)
    weights = DRAWN * (3 * matrix + heads * model.width * task.outputs)
    attended = heads * task.length * (task.length + model.width)
    features = tokens * heads * task.dimension
    # A backward pass for every output, all at once; then the values of the Jacobian.
    probes = 3 * outputs * attended + 16 * outputs * matrix + 6 * features
    hardest = 3 * tokens**2 if task.targets == "hardest" else 0
    return Needs(
        data=data,
        weights=weights,
        drawing=4 * (data + weights) + DRAWN * (hardest + features),
        params=width * len(model.train) * matrix,
        working=width * (probes + 4 * task.sequences * attended),
        record=7 * width,
        test_record=width * (heads * task.length**2 + 2),
    )
