"""A grid over fields of an experiment, cut into batches that share one program."""

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from piste.experiment import Experiment
from piste.values import digest, fields_of, override

SEED = "seed"


@dataclass(frozen=True)
class Cell:
    """One point of the grid: its index, the settings that make it, the experiment."""

    index: int
    settings: dict[str, Any]
    experiment: Experiment


@dataclass(frozen=True)
class Sweep:
    """An experiment with some dotted fields varied.

    An axis is one field, or several that change together, joined by commas:
    ``{"seed": range(5), "rule.b1, rule.b2": [(0, 0), (0.9, 0.99)]}``.
    """

    base: Experiment
    axes: Mapping[str, Sequence[Any]]

    def cells(self) -> list[Cell]:
        """All points, the last axis fastest."""
        return list(self._cells)

    @functools.cached_property
    def _cells(self) -> tuple[Cell, ...]:
        # Once: whoever plans asks for them again and again.
        cells, seedless = [], {}
        for index, point in enumerate(itertools.product(*self.axes.values())):
            settings: dict[str, Any] = {}
            for names, value in zip(self.axes, point, strict=True):
                fields = [name.strip() for name in names.split(",")]
                values = value if len(fields) > 1 else (value,)
                settings |= dict(zip(fields, values, strict=True))
            experiment = self._experiment(settings, seedless)
            cells.append(Cell(index, settings, experiment))
        return tuple(cells)

    def _experiment(
        self, settings: dict[str, Any], seedless: dict[str, Experiment]
    ) -> Experiment:
        """The base with its settings; other seeds of it are copies of the first.

        No other field depends on the seed, and a switch of class takes ten times as long.
        """
        others = {name: new for name, new in settings.items() if name != SEED}
        if SEED not in settings:
            return override(self.base, others)
        key = repr(others)
        if key not in seedless:
            seedless[key] = override(self.base, settings)
        return override(seedless[key], {SEED: settings[SEED]})

    def batches(self, size: int) -> list[list[Cell]]:
        """Cells that one compiled program can run, at most so many at once."""
        return [
            group[start : start + size]
            for group in self._groups
            for start in range(0, len(group), size)
        ]

    @functools.cached_property
    def _groups(self) -> tuple[list[Cell], ...]:
        """The cells of each compiled program."""
        groups: dict[str, list[Cell]] = {}
        for cell in self._cells:
            groups.setdefault(static_part(cell.experiment), []).append(cell)
        return tuple(groups.values())

    @property
    def digest(self) -> str:
        """Content address of the whole grid."""
        axes = {
            name: [list(v) if isinstance(v, tuple) else v for v in values]
            for name, values in self.axes.items()
        }
        return digest([digest(self.base), axes])


def static_part(experiment: Experiment) -> str:
    """What fixes the compiled program: everything but floats and the seed."""
    kept = {
        name: value
        for name, value in fields_of(experiment).items()
        if name != SEED and not isinstance(value, float)
    }
    return digest(kept)
