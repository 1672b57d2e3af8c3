"""How large runs of the paper may be."""

from pathlib import Path

import pytest

from papers.signgd.stages_preset import DEFAULT
from piste.errors import InputError
from piste.papers.signgd.models import Stack
from piste.training import Size, check_size, size_of
from piste.training.size import YEAR, variations
from piste.values import override

LAPTOP = Size(memory=6.5e9, disk=50e9, seconds=YEAR)
SERVER = Size(memory=64e9, disk=1e12, seconds=YEAR)
BILLION = 10**9


def message(call) -> str:
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


def test_two_fields_that_are_both_absurd():
    changes = {"task.dimension": BILLION, "task.samples": BILLION}
    experiment = override(DEFAULT, changes)
    said = message(lambda: check_size(experiment, Path("results"), room=LAPTOP))
    assert said.startswith("task.samples = 1000000000: needs about ")
    assert said.endswith("it and task.dimension = 1000000000 must be smaller")


def test_an_implicit_solver_writes_down_a_matrix_of_all_weights():
    flow = {"rule": "flow", "rule.solver": "kvaerno5", "form": "full"}
    experiment = override(DEFAULT, flow)
    assert "memory" in message(lambda: check_size(experiment, Path("x"), room=SERVER))
    check_size(override(experiment, {"rule.solver": "tsit5"}), Path("x"), room=LAPTOP)


def test_depth_is_bounded_because_every_layer_is_compiled():
    assert message(lambda: Stack(depth=1001)) == "depth = 1001: must be at most 1000"


@pytest.mark.parametrize("field", ["seed", "task.positive-class"])
def test_numbers_that_are_no_sizes_are_never_to_blame(field):
    experiment = override(DEFAULT, {"task": "noisy-images", field: 9})
    names = {one.name for one in variations(experiment, size_of)}
    assert field not in names and "task.samples" in names
