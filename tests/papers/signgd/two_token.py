"""The small two-token experiment of the signgd paper, which its tests need."""

from papers.signgd.stages_preset import DEFAULT
from piste import training
from piste.errors import InputError
from piste.experiment import Experiment
from piste.values import override

SMALL = override(
    DEFAULT,
    {
        "task.samples": 6,
        "task.dimension": 60,
        "task.noise-coordinates": 12,
        "task.test-samples": 50,
        "model.key-width": 7,
        "model.value-width": 3,
        "steps": 300,
        "record.dense": 20,
        "record.test-every": 4,
        "record.chunk": 16,
    },
)
"""n = 6, d = 60, s = 12, m_k = 7, m_v = 3."""

RULES = {
    "signgd": {"rule": "signgd", "rule.learning-rate": 2e-3},
    "gd": {"rule": "gd", "rule.learning-rate": 0.5},
    "normalised-gd": {"rule": "normalised-gd", "rule.learning-rate": 0.02},
    "adam": {"rule": "adam", "rule.learning-rate": 2e-3},
    "lion": {"rule": "lion", "rule.learning-rate": 2e-3},
}
"""Each rule with a learning rate at which the small model trains."""


def small(rule: str = "signgd", **changes) -> Experiment:
    """The small experiment under a rule, with fields changed (``task__samples=3``)."""
    dotted = {name.replace("__", "."): to for name, to in changes.items()}
    return override(SMALL, RULES[rule] | dotted)


def forms_of(rule: str) -> list[str]:
    """The forms that hold for a rule, by asking for each."""
    found = []
    for form in ("full", "reduced", "exact", "gram"):
        try:
            found.append(training.choose_form(small(rule, form=form)))
        except InputError:
            continue
    return found
