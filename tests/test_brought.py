"""Code from outside: what it does is told apart, whether it is in a file or not."""

import subprocess
import sys

import pytest

from piste.brought import source_digest
from piste.errors import InputError
from piste.probes import probe
from piste.registry import Family
from piste.store import inputs_of
from piste.training import FORMS, LossView, autodiff_form, form
from support.families import forgotten
from support.small import REGRESSION

TYPED = """
import equinox, jax.numpy, optax
from piste.brought import source_digest
from piste.rules import AbstractDescent, rule
from piste.values import option

FACTOR = {factor}

def scaled(rate):
    return FACTOR * rate

@rule("typed")
class Typed(AbstractDescent):
    learning_rate: float = option(default={rate})

    def transform(self, norm):
        return optax.sgd(scaled(self.learning_rate))

class View(equinox.Module):
    weights: float

    def loss(self):
        return jax.numpy.sum(self.weights ** {power})

digests = [source_digest(Typed), source_digest(View)]
"""


def typed(factor=1, rate=0.1, power=2) -> list[str]:
    """The digests of what is typed at a prompt."""
    scope = {"__name__": "a_prompt"}
    text = TYPED.format(factor=factor, rate=rate, power=power)
    with forgotten():
        exec(compile(text, "<typed>", "exec"), scope)
    return scope["digests"]


def test_code_from_standard_input_has_a_digest():
    text = TYPED.format(factor=1, rate=0.1, power=2) + "print(*digests)"
    asked = {"input": text, "capture_output": True, "text": True}
    found = [subprocess.run([sys.executable, "-"], **asked) for _ in range(2)]
    assert [ended.returncode for ended in found] == [0, 0], found
    assert found[0].stdout == found[1].stdout and len(found[0].stdout.split()) == 2


def test_code_that_is_in_no_file_is_told_by_what_it_does():
    rule, view = typed()
    assert typed() == [rule, view]
    assert typed(factor=2)[0] != rule  # a number that a helper of it names
    assert typed(rate=0.2) == [typed(rate=0.2)[0], view] != [rule, view]
    assert typed(power=3) == [rule, typed(power=3)[1]] != [rule, view]


class Holder:
    """Made of a number that decides what it does."""

    def __init__(self, number):
        self.number = number


def made_of(held):
    code = "def function(x):\n    return held.number * x\n"
    scope = {"held": held, "__name__": "__main__"}
    exec(compile(code, "<typed>", "exec"), scope)
    return scope["function"]


def test_an_object_of_which_nothing_is_known_never_passes_for_another():
    kept = Holder(2), Holder(3)  # alive, so that their addresses differ
    one, other = (source_digest(made_of(held)) for held in kept)
    assert one != other


# --- the same member written again ----------------------------------------------------


def test_a_cell_that_is_run_again_takes_its_own_place():
    family = Family("thing")
    members = []
    for _ in range(2):

        def member():
            pass

        family.add("mine", member)
        members.append(member)
    assert family["mine"] is members[1] and family.newest_first() == [members[1]]

    def another():
        pass

    with pytest.raises(InputError, match="thing = mine: is the name of another one"):
        family.add("mine", another)


def register(name="full"):
    about = {"for_task": type(REGRESSION.task), "for_model": type(REGRESSION.model)}
    return form(name, **about)


def test_a_form_has_a_name_of_its_own_for_a_task_and_a_model():
    with forgotten():
        with pytest.raises(
            InputError, match="form = full: is the name of another form"
        ):
            register()(lambda experiment, start, pad: None)
        count = len(FORMS)
        for _ in range(2):
            register("mine")(lambda experiment, start, pad: None)
        assert len(FORMS) == count + 1


# --- what takes part in a run ---------------------------------------------------------


class Foreign(LossView):
    def loss(self):
        return self.weights.sum()


def test_probes_of_other_views_are_no_part_of_a_run():
    ours = inputs_of(REGRESSION).code
    assert ours == ""
    with forgotten():
        autodiff_form("mine", for_task=int, for_model=int)(Foreign)
        add = probe("size", of=Foreign, symbol="$x$", meaning="size")
        add(lambda view: view.weights.sum())
        assert inputs_of(REGRESSION).code == ""
        everything = probe("all", of=object, symbol="$x$", meaning="anything")
        everything(lambda view: 0.0)
        assert inputs_of(REGRESSION).code != ""
