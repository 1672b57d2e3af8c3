"""The calculation of Theorem 2: its conditions by name, and what its programs hold."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.errors import InputError
from piste.papers.decision_lists.forms import population_loss
from piste.papers.decision_lists.models import at_permutation
from piste.papers.decision_lists.results.theorem_2 import descents
from piste.papers.decision_lists.results.theorem_2.descents import (
    Descents,
    start_loss,
)
from piste.papers.decision_lists.results.theorem_2.support import support_verdict
from piste.papers.decision_lists.tasks import DecisionLists
from support.decision_lists import OPEN, UNMET

SMALL = Descents((12,), (4,), (2,), (20,), limit=3)


def test_theorem_2_names_the_condition_that_fails():
    with jax.enable_x64(True):
        part = SMALL.part(0)
    verdict = support_verdict(part.isel(cell=0))
    assert verdict.outcome == UNMET
    failed = [c.name for c in verdict.conditions if not c.met]
    assert failed[0] == "A² > 4mL₀/ε"


def test_a_number_that_says_nothing_leaves_theorem_2_open(monkeypatch):
    """A loss of NaN used to mean that no scale c exists."""
    monkeypatch.setattr(descents, "start_loss", lambda *given: np.nan)
    with jax.enable_x64(True):
        part = SMALL.part(0)
    verdict = support_verdict(part.isel(cell=0))
    assert verdict.outcome == OPEN
    assert "no number for scale" in verdict.measured


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        (
            {"lengths": (4, 5)},
            "lengths = 4,5: must have as many numbers as vocabularies, 1",
        ),
        ({"vocabularies": ()}, "vocabularies = : must have at least one number"),
        ({"support_sets": (0,)}, "support-sets = 0: each must be at least 1"),
    ],
)
def test_sizes_of_instances_that_are_refused(fields, line):
    sizes = {"vocabularies": (12,), "lengths": (4,), "list_bounds": (2,)}
    with pytest.raises(InputError, match=line):
        Descents(**sizes | {"support_sets": (20,)} | fields)


def test_no_data_are_constants_of_the_program_that_finds_c():
    """XLA folds large constants wrongly now and then: a whole program is NaN."""
    task = DecisionLists(6, 3, 2, distribution="support", support_sets=9)
    instance = task.instance(key=jax.random.key(0))
    population = population_loss(instance, train_value=True)
    unit = at_permutation(instance.permutation, 1.0)
    given = population, unit, 0 * unit.value, jnp.ones(())
    assert max(constants_of(start_loss, *given)) <= 6
    closed = eqx.filter_jit(lambda scale: start_loss(*given[:3], scale))
    assert max(constants_of(closed, given[3])) > 6


def constants_of(function, *given) -> list[int]:
    """The sizes of all constants in a traced program."""
    traced = eqx.filter_make_jaxpr(function)(*given)[0]
    found, programs = [0], [traced]
    while programs:
        one = programs.pop()
        found += [np.size(constant) for constant in getattr(one, "consts", ())]
        equations = getattr(one, "eqns", None) or one.jaxpr.eqns
        for equation in equations:
            found += [np.size(v.val) for v in equation.invars if hasattr(v, "val")]
            parts = equation.params.values()
            programs += [p for p in parts if hasattr(p, "eqns") or hasattr(p, "jaxpr")]
    return found
