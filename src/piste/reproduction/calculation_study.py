"""A study of numbers that no single run has, computed in parts."""

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import jax
import xarray as xr

from piste.experiment import Experiment
from piste.store import Parts, inputs_of
from piste.values import digest, fields_of, to_json

from ._study import Description, ProgressCallback, Study, no_progress
from .evidence import Evidence


@runtime_checkable
class Calculation(Protocol):
    """A value that computes its numbers in parts.

    A part is a dataset along a dimension ``cell``, stored as a whole.
    """

    def parts(self) -> int:
        """How many parts there are."""
        ...

    def part(self, index: int) -> xr.Dataset:
        """Compute one of them."""
        ...


@dataclass(frozen=True)
class CalculationStudy(Study):
    """A calculation, in 64 bits."""

    calculation: Calculation

    def trains(self) -> tuple[Experiment, ...]:
        """None: what a calculation trains is its own matter."""
        return ()

    def work(self) -> int:
        """The parts."""
        return self.calculation.parts()

    def _parts(self, folder: Path) -> Parts:
        calculation, root = self.calculation, folder / "calculations"
        what = digest([type(calculation).__name__, digest(calculation)])
        about, inputs = to_json(calculation), inputs_of(settings=[calculation])
        return Parts(root, self.name, what, about, inputs, calculation.parts())

    def is_stored(self, folder: Path) -> bool:
        """Whether every part is complete."""
        return self._parts(folder).find() is not None

    def run(
        self, folder: Path, watch: ProgressCallback = no_progress, fresh: bool = False
    ) -> Evidence:
        """Compute the parts that are missing, and join all of them."""

        def after(index: int, part: xr.Dataset) -> None:
            watch(index + 1, math.nan)

        parts = self._parts(folder).compute(self._timed_part, after, fresh)
        joined = xr.concat(parts, "cell", join="outer", combine_attrs="drop")
        about = {
            "seconds": sum(part.attrs["seconds"] for part in parts),
            "notes": parts[0].attrs["notes"],
        }
        return Evidence(datasets={self.name: joined.assign_attrs(about)})

    def _timed_part(self, index: int, attempt: str) -> xr.Dataset:
        began = time.perf_counter()
        with jax.enable_x64(True):
            part = self.calculation.part(index)
        return part.assign_attrs(seconds=time.perf_counter() - began)

    def describe(self, evidence: Evidence) -> Description:
        """By the fields of the calculation."""
        fields = fields_of(self.calculation)
        settings = {name: given for name, given in fields.items() if name != "seed"}
        return self._describe(evidence, "–", "float64", settings)
