"""Loss surfaces: all models in three numbers, and the surfaces of the first model."""

from collections.abc import Callable

import pandas as pd
import xarray as xr

from piste.figures import Picture, landscape
from piste.landscape import HEADLINE, comparable
from piste.reproduction import Evidence, Figure

from ..results.landscapes import STUDIES, WEIGHTS, measured_surfaces, surveyed_task


def _figures(study: str) -> tuple[Figure, ...]:
    """All models in three numbers, for either weights; and one model's surfaces."""

    def models(weights: str) -> Callable[[Evidence], Picture | None]:
        def draw(evidence: Evidence) -> Picture | None:
            table = measured_surfaces(evidence, study)
            if weights not in set(table.weights):
                return None
            caption = _models_caption(study, table, weights)
            return landscape.by_kernel(table, HEADLINE, caption, weights)

        return draw

    def first_model(draw: Callable[..., Picture]):
        def draw_first(evidence: Evidence) -> Picture | None:
            matched = comparable(evidence.surfaces(study))
            if not matched:
                return None
            window = str(matched[0].window.values[-1])
            caption = _surfaces_caption(study, matched[0], window)
            return draw(matched[0], caption, weights="trained", window=window)

        return draw_first

    return (
        Figure(study, models("trained"), needs=(study,)),
        Figure(f"{study}-swapped", models("swapped"), needs=(study,)),
        Figure(f"{study}-contours", first_model(landscape.contours), needs=(study,)),
        Figure(f"{study}-surfaces", first_model(landscape.surfaces), needs=(study,)),
    )


def _models_caption(study: str, table: pd.DataFrame, weights: str) -> str:
    planes = table[table.weights == weights].groupby("model").direction.nunique()
    models = f"{len(planes)} model" + ("s" if len(planes) != 1 else "")
    each = f"{planes.min()}" if planes.min() == planes.max() else "some"
    return (
        f"{surveyed_task(study)}; {WEIGHTS[weights]}. How rough the loss is where it has "
        "risen by given shares of the loss before training: each thin line is one of "
        f"{models} (the median over {each} {'plane' if each == '1' else 'planes'}), thick "
        "is the median of the models. From softmax to gaussian-rows only the kernel "
        "changes, from there to gaussian only the normalisation."
    )


def _surfaces_caption(study: str, surfaces: xr.Dataset, window: str) -> str:
    first, second = (name.replace("$", "") for name in surfaces.attrs["labels"])
    return (
        f"{surveyed_task(study)}. Loss on fixed training data along a direction in {first} "
        f"and one in {second}, centred at matched loss, {window} of the loss before "
        f"training; model of seed {surfaces.attrs['model']}, plane "
        f"{surfaces.attrs['direction']}. {landscape.describe(surfaces)}"
    )


FIGURES = tuple(figure for study in STUDIES for figure in _figures(study))
