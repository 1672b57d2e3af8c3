"""The time over the scale c: power laws, and sweeps that show too little."""

import math

import numpy as np
import pytest
import xarray as xr

from piste.papers.decision_lists.results.theorem_1 import scale
from support.decision_lists import FLOW, HOLDS, LIMIT, OPEN, VIOLATED
from support.evidence import evidence_of

NAN = math.nan


def sweep(times, factors=None, **changes) -> xr.Dataset:
    """Times to perfection over factors of c."""
    times = np.asarray(times, float)
    factors = np.geomspace(1e-3, 10, times.size) if factors is None else factors
    row = FLOW | {"patience": 1000.0, "bound": 1e9, "ended": times} | changes
    cells = {name: np.broadcast_to(v, times.shape) for name, v in row.items()}
    cells |= {"time": times, "factor": np.asarray(factors, float)}
    return xr.Dataset({name: ("cell", np.array(v)) for name, v in cells.items()})


GRID = np.geomspace(1e-3, 10, 13)


@pytest.mark.parametrize(
    ("data", "power", "room"),
    [
        (sweep(GRID**-2.0), HOLDS, HOLDS),
        (sweep(GRID**-2.0, bound=1e3), HOLDS, HOLDS),
        (sweep(GRID**-2.0, bound=5.0), HOLDS, VIOLATED),
        (sweep(GRID**0.0), VIOLATED, HOLDS),
        (sweep(GRID**2.0), VIOLATED, HOLDS),
        (sweep(NAN * GRID), OPEN, OPEN),
        (sweep([1.0, 0.01], factors=[1, 10]), OPEN, OPEN),
        (sweep(np.full(9, 1.0), factors=np.linspace(1, 2, 9)), OPEN, OPEN),
        (sweep(GRID**-2.0, outcome=LIMIT, ended=0.1), OPEN, OPEN),
        (sweep([]), OPEN, OPEN),
    ],
)
def test_the_scale(data, power, room):
    (claim,) = scale.CLAIMS
    found = claim.judge(evidence_of({"scale": data, "scale-small": data}))
    assert [v.outcome for v in found] == 2 * [power, room]
