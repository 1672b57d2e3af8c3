"""How much memory and disk runs on decision lists need, in bytes."""

from piste.experiment import Experiment
from piste.training import DRAWN, Needs, width_of

from ..models import OneHot
from ..tasks import FEW_SETS, DecisionLists
from ..tasks.sequences import COUNT_LIMIT, set_count
from .choose import MAX_ROWS
from .experiments import in_theorem_1
from .form import MAX_RECORDED_VOCABULARY
from .partitions import MAX_CASES, case_count


def list_needs(experiment: Experiment) -> Needs:
    """What a run on decision lists needs."""
    task, model, width = experiment.task, experiment.model, width_of(experiment)
    assert isinstance(task, DecisionLists) and isinstance(model, OneHot)
    size, longest = task.vocabulary, task.list_bound
    form = list_form(experiment)
    condensed = form in ("reduced", "partitions")
    matrices = 1 if model.train != "both" else 2
    params = longest * (longest + 1) if condensed else matrices * size**2
    drawn = DRAWN * (3 * size * longest + _drawn_sets(task))
    weights = DRAWN * 2 * size**2
    small = size <= MAX_RECORDED_VOCABULARY
    return Needs(
        data=drawn / 3,
        weights=weights,
        drawing=drawn + 2 * weights,
        params=width * params,
        working=width * (size**2 + _cases(experiment, form)),
        record=width * (6 + (size * longest if small else 0)),
        test_record=width * (2 * size**2 if small else 0),
        stiff=task.distribution == "iid",
    )


def list_form(experiment: Experiment) -> str:
    """The form that a run of decision lists takes, without an instance of them."""
    task = experiment.task
    assert isinstance(task, DecisionLists)
    if experiment.form != "auto":
        return experiment.form
    if in_theorem_1(experiment) and task.distribution == "uniform":
        return "reduced"
    if in_theorem_1(experiment) and task.distribution == "iid":
        cases = case_count(task.length, task.list_bound)
        return "partitions" if cases <= MAX_CASES // 4 else "monte-carlo"
    if task.distribution in ("dirichlet", *FEW_SETS):
        return "support"
    rows = task.length * _sets(task)
    return "enumeration" if rows <= MAX_ROWS else "monte-carlo"


def _sets(task: DecisionLists) -> int:
    if task.distribution in FEW_SETS:
        return task.support_sets
    repeats = task.length - 1 if task.distribution == "iid" else 0
    return set_count(task.vocabulary + repeats, task.length)


def _drawn_sets(task: DecisionLists) -> float:
    """Numbers that the sets take while they are drawn, where they are listed."""
    if task.distribution in FEW_SETS:
        return task.support_sets * (5 * task.length + 25)  # as tuples in a Python set
    if task.distribution == "dirichlet":
        return _sets(task) * (3 * task.length + 4)
    return 0


def _cases(experiment: Experiment, form: str) -> float:
    """Numbers in the table of cases, and in what a step makes of it."""
    task = experiment.task
    assert isinstance(task, DecisionLists)
    n, longest = task.length, task.list_bound
    if form == "reduced":
        return 30 * 2.0 ** min(longest, 60) * (longest + 1)
    if form == "partitions":
        return (
            30 * longest * min(case_count(n, longest), COUNT_LIMIT) * (longest + n**0.5)
        )
    rows = task.batch if form == "monte-carlo" else _sets(task)
    tables = rows * n * (4 * n + longest)
    if in_theorem_1(experiment) and form != "monte-carlo":
        return 3 * tables
    # The attention and the logits of every position, over the whole vocabulary.
    return tables + 12 * rows * n * task.vocabulary
