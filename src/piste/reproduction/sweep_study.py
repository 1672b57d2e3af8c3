"""A study of a grid of experiments, trained in compiled batches."""

from dataclasses import dataclass
from pathlib import Path

from piste.experiment import Experiment
from piste.store import Parts
from piste.sweeps import Sweep, run_sweep, sweep_parts
from piste.training import choose_form

from ._study import Description, ProgressCallback, Study, no_progress
from .evidence import Evidence
from .run_study import settings_of


@dataclass(frozen=True)
class SweepStudy(Study):
    """A grid of which some probes are kept."""

    sweep: Sweep
    probes: tuple[str, ...]
    batch: int = 10
    """Cells that are trained side by side."""
    stop_below: float = 0.0
    """Training loss at which a batch may stop."""

    def trains(self) -> tuple[Experiment, ...]:
        """The experiment of which the cells are variations."""
        return (self.sweep.base,)

    def work(self) -> int:
        """The steps of all cells."""
        return sum(cell.experiment.steps for cell in self.sweep.cells())

    def _parts(self, folder: Path) -> Parts:
        root, name = folder / "sweeps", self.name
        return sweep_parts(
            self.sweep, root, self.probes, self.batch, self.stop_below, name
        )

    def is_stored(self, folder: Path) -> bool:
        """Whether every batch is complete."""
        return self._parts(folder).find() is not None

    def run(
        self, folder: Path, watch: ProgressCallback = no_progress, fresh: bool = False
    ) -> Evidence:
        """Train the batches that are missing; the arrays are read when they are used."""
        found = run_sweep(
            self.sweep,
            folder / "sweeps",
            self.probes,
            self.batch,
            watch,
            fresh,
            self.stop_below,
            self.name,
        )
        return Evidence(datasets={self.name: found})

    def describe(self, evidence: Evidence) -> Description:
        """By the experiment that is varied, and what is varied in it."""
        base, axes = self.sweep.base, self.sweep.axes
        varied = {f"over {name}": list(values) for name, values in axes.items()}
        settings = settings_of(base) | varied
        return self._describe(evidence, choose_form(base), base.precision, settings)
