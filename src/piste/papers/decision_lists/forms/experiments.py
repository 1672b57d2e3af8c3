"""What an experiment on decision lists asks for."""

from piste.experiment import Experiment

from ..models import OneHot
from ..tasks import DecisionLists


def parts_of(experiment: Experiment) -> tuple[DecisionLists, OneHot]:
    """Its task and its model."""
    task, model = experiment.task, experiment.model
    assert isinstance(task, DecisionLists) and isinstance(model, OneHot)
    return task, model


def in_theorem_1(experiment: Experiment) -> bool:
    """Whether tokens stay exchangeable: only $W$ is trained, $V = cP$, softmax."""
    _, model = parts_of(experiment)
    return (model.train, model.start, model.kernel) == (
        "attention",
        "permutation",
        "softmax",
    )
