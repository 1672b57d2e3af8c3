"""Loss surfaces: all models in two numbers, and the first pair of surfaces."""

from collections.abc import Callable

import pandas as pd
import xarray as xr

from piste.figures import Picture, landscape
from piste.landscape import HEADLINE, comparable, metrics_table
from piste.reproduction import Evidence, Figure

from ..results.landscapes import STUDIES, surveyed_task


def _figures(study: str) -> tuple[Figure, Figure, Figure]:
    """All models in two numbers; and the first pair of surfaces, from above and bent."""

    def models(evidence: Evidence) -> Picture | None:
        matched = comparable(evidence.surfaces(study))
        if not matched:
            return None
        table = metrics_table(matched)
        return landscape.pairs(table, HEADLINE, _pairs_caption(study, table))

    def first_pair(draw: Callable[[xr.Dataset, str], Picture]):
        def draw_first(evidence: Evidence) -> Picture | None:
            matched = comparable(evidence.surfaces(study))
            if not matched:
                return None
            return draw(matched[0], _surfaces_caption(study, matched[0]))

        return draw_first

    return (
        Figure(study, models, needs=(study,)),
        Figure(f"{study}-contours", first_pair(landscape.contours), needs=(study,)),
        Figure(f"{study}-surfaces", first_pair(landscape.surfaces), needs=(study,)),
    )


def _pairs_caption(study: str, table: pd.DataFrame) -> str:
    planes = table.groupby("model").direction.nunique()
    models = f"{len(planes)} model" + ("s" if len(planes) != 1 else "")
    each = f"{planes.min()}" if planes.min() == planes.max() else "some"
    return (
        f"{surveyed_task(study)}. How rough the loss is around the weights after both "
        f"stages: each line is one of {models} (the median over {each} "
        f"{'plane' if each == '1' else 'planes'}), solid where the Gaussian kernel is the "
        "smoother; thick is the median of the models."
    )


def _surfaces_caption(study: str, surfaces: xr.Dataset) -> str:
    first, second = (name.replace("$", "") for name in surfaces.attrs["labels"])
    return (
        f"{surveyed_task(study)}. Loss on fixed training data along a direction in {first} "
        f"and one in {second}, centred at matched loss; model of seed "
        f"{surfaces.attrs['model']}, plane {surfaces.attrs['direction']}. "
        f"{landscape.describe(surfaces)}"
    )


FIGURES = tuple(figure for study in STUDIES for figure in _figures(study))
