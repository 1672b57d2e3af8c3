"""Calculations refuse sizes that cannot be."""

import pytest

from piste.errors import InputError
from piste.papers.kernels.results.theorem_1.acceptance import Acceptance
from piste.papers.kernels.results.theorem_1.region import Region
from piste.papers.kernels.results.theorem_1.runs import PromisedRuns, Transition
from piste.papers.kernels.results.theorem_1.scale import Scale
from piste.papers.kernels.results.theorem_2.queries import Queries
from piste.values import from_json


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Transition(heads=(2, "x")),
            "heads = 2,x: each must be a whole number",
        ),
        (lambda: from_json(Transition, {"heads": "2 4"}), "heads = 2 4: each must be"),
        (lambda: Transition(heads=()), "heads = : must have at least one value"),
        (lambda: Acceptance(heads=(0,)), "heads = 0: each must be at least 1"),
        (lambda: Scale(scales=(-1.0,)), "scales = -1.0: each must be greater than 0"),
        (
            lambda: Queries(heads=(8,)),
            "inits = .*: must have as many values as heads, 1",
        ),
        (
            lambda: Queries(key_scales=(6.0,)),
            "key-scales = 6.0: must have as many values as heads, 6",
        ),
        (
            lambda: Queries((8,), ("other",), (1.0,)),
            "inits = other: each must be one of",
        ),
        (lambda: Queries(seeds=0), "seeds = 0: must be at least 1"),
        (lambda: Queries(rates=("x",)), "rates = x: each must be a number"),
        (lambda: Region(heads=(0,)), "heads = 0: each must be at least 1"),
        (lambda: PromisedRuns(heads=()), "heads = : must have at least one value"),
    ],
)
def test_bad_sizes_are_one_line(make, message):
    with pytest.raises(InputError, match=message):
        make()
