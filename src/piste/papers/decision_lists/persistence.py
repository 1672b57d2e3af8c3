"""Flows of Theorem 1 followed far beyond their first perfect moment."""

import numpy as np
import xarray as xr

from piste.values import option, value

from .calculations import follow
from .forms import margins_at
from .instances import RandomInstances, table

BEGIN = 1.01
"""The first multiple of t* that is looked at: at t* itself the margin is 0."""
DRAWN = 10
"""Every tenth record is kept, to be drawn."""


@value
class Persistence:
    """Random instances whose margins are recorded from t* on, closely."""

    draws: RandomInstances = RandomInstances()
    batch: int = option(default=50, minimum=1)
    """Instances in a part."""
    follow: float = option(default=100.0, greater_than=BEGIN)
    """How long to follow the flow, in units of t*."""
    records: int = option(default=2000, minimum=2)
    """Margins that are looked at, in equal ratios of time."""

    def parts(self) -> int:
        """One for every batch."""
        return self.draws.batches(self.batch)

    def grid(self) -> np.ndarray:
        """The multiples of t* at which the margin is looked at."""
        return np.geomspace(BEGIN, self.follow, self.records)

    def part(self, index: int) -> xr.Dataset:
        """Draw the instances of a batch and follow their flows."""
        flows = follow(self.draws.batch(index, self.batch))
        problems, grid = [one.problem for one in flows], self.grid()
        times = np.outer([one.found.time for one in flows], grid)
        margins = margins_at(problems, times)
        rows = [
            one.row() | self._kept(path)
            for one, path in zip(flows, margins, strict=True)
        ]
        units = np.array([problem.units.params for problem in problems])
        shown = margins[:, ::DRAWN] / units[:, None]
        data = table(rows).assign(path=(("cell", "multiple"), shown))
        return data.assign_coords(multiple=grid[::DRAWN])

    def _kept(self, margins: np.ndarray) -> dict:
        """When the margin was not positive again, and how it was at the end."""
        lost, grid = np.flatnonzero(margins <= 0), self.grid()
        ends = grid[lost[[0, -1]]] if lost.size else (np.nan, np.nan)
        return {
            "lost_from": ends[0],
            "lost_to": ends[1],
            "unknown": int(np.isnan(margins).sum()),
            "at_the_end": margins[-1],
            "follow": self.follow,
            "resolution": grid[1] / grid[0] - 1,
        }
