"""A study of runs whose whole trajectories are kept."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xarray as xr

from piste.experiment import Experiment
from piste.store import Run, Store
from piste.training import choose_form
from piste.values import fields_of

from ._study import Description, ProgressCallback, Study, no_progress, shifted
from .evidence import Evidence


@dataclass(frozen=True)
class RunStudy(Study):
    """Some experiments, each a run of the store: seeds, or things to compare."""

    experiments: tuple[Experiment, ...]

    def trains(self) -> tuple[Experiment, ...]:
        """All of them."""
        return self.experiments

    def work(self) -> int:
        """The steps of all runs."""
        return sum(experiment.steps for experiment in self.experiments)

    def is_stored(self, folder: Path) -> bool:
        """Whether every run is complete."""
        store = Store(folder / "runs")
        return all(store.has(experiment) for experiment in self.experiments)

    def run(
        self, folder: Path, watch: ProgressCallback = no_progress, fresh: bool = False
    ) -> Evidence:
        """Train what is missing; the trajectories stay on disk until they are used."""
        store, found, done = Store(folder / "runs"), [], 0
        for experiment in self.experiments:
            name = f"{self.name}-seed={experiment.seed}"
            run = store.run(experiment, name, shifted(watch, done), fresh)
            found.append(_opened(run))
            done += experiment.steps
            watch(done, float(found[-1].train_loss[-1]))
        return Evidence(runs={self.name: found})

    def describe(self, evidence: Evidence) -> Description:
        """Describe the study by its first experiment: the others differ in few fields."""
        first = self.experiments[0]
        settings = settings_of(first)
        return self._describe(evidence, choose_form(first), first.precision, settings)


def settings_of(experiment: Experiment) -> dict[str, Any]:
    """All fields but the seed, of which a study has several."""
    return {k: given for k, given in fields_of(experiment).items() if k != "seed"}


def _opened(run: Run) -> xr.Dataset:
    return run.trajectory().assign_attrs(seconds=run.manifest.seconds)
