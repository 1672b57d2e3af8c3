"""A study of the loss surfaces of several kernels around the weights of an experiment."""

import math
from dataclasses import dataclass
from pathlib import Path

import xarray as xr

from piste.experiment import Experiment
from piste.landscape.comparison import Comparison
from piste.landscape.survey import Survey
from piste.landscape.survey import run as run_survey
from piste.store import discard
from piste.training import choose_form
from piste.values import fields_of

from ._study import Description, ProgressCallback, Study, no_progress, shifted
from .evidence import Evidence
from .run_study import settings_of


@dataclass(frozen=True)
class LandscapeStudy(Study):
    """Surfaces of several kernels and models, and how to choose their planes."""

    experiment: Experiment
    """The first stage of training, with the first kernel."""
    settings: Comparison

    def trains(self) -> tuple[Experiment, ...]:
        """The first stage; the second has another kernel and the same size."""
        return (self.experiment,)

    def work(self) -> int:
        """The steps of all stages, and the points of all surfaces."""
        settings = self.settings
        return settings.work(self.experiment.steps, settings.parts())

    def _survey(self, folder: Path) -> Survey:
        return Survey(self.experiment, self.settings, folder, self.name)

    def is_stored(self, folder: Path) -> bool:
        """Whether the surfaces on every plane are complete."""
        return self._survey(folder).parts().find() is not None

    def run(
        self, folder: Path, watch: ProgressCallback = no_progress, fresh: bool = False
    ) -> Evidence:
        """Compare loss surfaces; one bar counts the steps of training and the points."""
        survey, steps, done = self._survey(folder), self.experiment.steps, 0

        def bars(name: str, total: int) -> ProgressCallback:
            nonlocal done
            begun, done = done, done + total
            return shifted(watch, begun)

        def after(index: int, part: xr.Dataset) -> None:
            nonlocal done
            done = self.settings.work(steps, index + 1)
            watch(done, math.nan)
            _discard_stages(survey, index)

        return Evidence(surfaces={self.name: run_survey(survey, bars, fresh, after)})

    def describe(self, evidence: Evidence) -> Description:
        """By the first stage, and what is compared."""
        first, compared = self.experiment, fields_of(self.settings)
        settings = settings_of(first)
        settings |= {f"landscape.{name}": given for name, given in compared.items()}
        return self._describe(evidence, choose_form(first), first.precision, settings)


def _discard_stages(survey: Survey, index: int) -> None:
    """Delete the stages of a model after its last plane: large, and not needed again."""
    model, direction = divmod(index, survey.settings.planes())
    if direction == survey.settings.planes() - 1:
        for kernel in survey.kernels:
            discard(survey.stage(model, kernel).folder())
