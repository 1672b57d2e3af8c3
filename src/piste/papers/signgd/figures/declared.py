"""The figures of the paper by name, each with the studies that it shows."""

import functools
from collections.abc import Callable, Sequence

import jax
import numpy as np
import xarray as xr

from piste.claims import summary
from piste.experiment import Experiment
from piste.figures import Picture
from piste.reproduction import Evidence, Figure
from piste.training import draw

from .. import presets
from ..overview import overview
from ..results.adam import adam_name, beta_table, cells_by_betas
from ..results.background import background_table, tune_rules
from ..results.image_generalisation import image_table
from ..results.persistence import summarise_variants
from ..results.stage_rules import summarise_stage_rules
from ..results.synthetic_generalisation import snr_table
from ..results.theorem import signal_ratios
from ..results.training_speed import cells_by_rate
from ..slides import BOUNDARY_STEPS
from ..stages import STAGE_ENDS, detect
from ..study_names import STAGE_RULES, VARIANTS, studies_on
from ..tasks import NoisyImages
from .background import background, background_gaps
from .boundaries import snapshots, stage_times, switches
from .generalisation import (
    against_snr,
    image_caption,
    synthetic_caption,
    what_it_sees,
)
from .inner_products import inner_products
from .loss_bands import losses
from .rule_comparison import disparity, identity, rules, similarity
from .sparsity import signal_share
from .stages import attention, query_key, value_noise
from .variants import persistence

# --- the stages -----------------------------------------------------------------------


def _of_first(
    draw_run: Callable[[xr.Dataset], Picture],
) -> Callable[[Evidence], Picture]:
    """A figure of the first seed."""
    return lambda evidence: draw_run(evidence.runs("stages")[0])


def _of_all(
    draw_runs: Callable[[Sequence[xr.Dataset]], Picture],
) -> Callable[[Evidence], Picture]:
    """A figure of all seeds."""
    return lambda evidence: draw_runs(evidence.runs("stages"))


def _stage_times(evidence: Evidence) -> Picture:
    times = summary(evidence.timelines("stages", detect))
    return stage_times(times, BOUNDARY_STEPS)


def _sparsity(evidence: Evidence) -> Picture:
    return signal_share(*signal_ratios(evidence.dataset("sparsity")))


SHOWN_BETAS = ((0.9, 0.9), (0.9, 0.999))
"""(β₁, β₂) of Adam whose inner products are drawn."""

# --- rules ----------------------------------------------------------------------------


def _similarity(evidence: Evidence) -> Picture:
    return similarity(beta_table(evidence), STAGE_ENDS)


def _disparity(evidence: Evidence) -> Picture:
    by_betas = cells_by_betas(evidence.dataset("adam"))
    adam = [(adam_name(betas), cells) for betas, cells in by_betas]
    return disparity(evidence.dataset("signgd"), adam)


def _inner_products(evidence: Evidence) -> Picture:
    """The first seed of SignGD, and of Adam with little and with usual memory."""
    adam = cells_by_betas(evidence.dataset("adam"))
    shown = [(betas, cells) for betas, cells in adam if betas in SHOWN_BETAS]
    columns = [("SignGD", evidence.dataset("signgd"))]
    columns += [(adam_name(betas), cells) for betas, cells in shown]
    return inner_products([(name, cells.isel(cell=0)) for name, cells in columns])


def _identity(evidence: Evidence) -> Picture:
    return identity(*evidence.runs("adam-zero"))


def _rules(evidence: Evidence) -> Picture:
    by_rate = cells_by_rate(evidence.dataset("gd"))
    gd = [(f"GD {rate:g}", cells) for rate, cells in by_rate.items()]
    signgd, normalised = evidence.dataset("signgd"), evidence.dataset("normalised-gd")
    return rules(signgd, gd, normalised)


def _persistence(evidence: Evidence) -> Picture:
    variants = evidence.once(summarise_variants)
    by_title = {variant.title: variant.boundaries for variant in variants}
    return persistence(by_title)


def _stage_rules(evidence: Evidence) -> Picture:
    summaries = evidence.once(summarise_stage_rules)
    return persistence({one.title: one.boundaries for one in summaries})


# --- the background -------------------------------------------------------------------


def _background(evidence: Evidence) -> Picture:
    return background(evidence.once(tune_rules))


def _background_gaps(evidence: Evidence) -> Picture:
    return background_gaps(background_table(evidence))


# --- generalisation -------------------------------------------------------------------


def _snr(evidence: Evidence) -> Picture:
    steps = int(evidence.dataset("snr-signgd").test_step[-1])
    caption = synthetic_caption(steps)
    return against_snr(snr_table(evidence), caption)


def _image_errors(evidence: Evidence, data: str) -> Picture:
    caption = image_caption(data)
    return against_snr(image_table(evidence, data), caption)


def _image_samples(evidence: Evidence, preset: Callable[[], Experiment]) -> Picture:
    experiment = preset()
    initial, task = draw(experiment), experiment.task
    assert isinstance(task, NoisyImages)
    classes = (f"{task.positive_class}", f"{task.negative_class}")
    with jax.enable_x64(True):
        tokens = np.asarray(initial.data.tokens())
    labels = np.asarray(initial.data.labels)
    return what_it_sees(tokens, labels, classes, task.snr)


def _image_figures(
    data: str, preset: Callable[[], Experiment]
) -> tuple[Figure, Figure]:
    """Errors against SNR, and what the model sees."""
    errors = functools.partial(_image_errors, data=data)
    samples = functools.partial(_image_samples, preset=preset)
    needs = studies_on(data)
    return Figure(data, errors, needs), Figure(f"{data}_samples", samples, needs)


# --- all figures ----------------------------------------------------------------------

_STAGES = ("stages",)

FIGURES = (
    Figure("overview", _of_first(overview), _STAGES),
    Figure("stage_times", _stage_times, _STAGES),
    Figure("value_noise", _of_first(value_noise), _STAGES),
    Figure("query_key", _of_first(query_key), _STAGES),
    Figure("attention", _of_first(attention), _STAGES),
    Figure("switches", _of_all(switches), _STAGES),
    Figure("snapshots", _of_first(snapshots), _STAGES),
    Figure("losses", _of_all(losses), _STAGES),
    Figure("sparsity", _sparsity, ("sparsity",)),
    Figure("identity", _identity, ("adam-zero",)),
    Figure("inner_products", _inner_products, ("signgd", "adam")),
    Figure("similarity", _similarity, ("signgd", "adam")),
    Figure("disparity", _disparity, ("signgd", "adam")),
    Figure("rules", _rules, ("signgd", "gd", "normalised-gd")),
    Figure("snr", _snr, studies_on("snr")),
    *_image_figures("mnist", presets.mnist),
    *_image_figures("digits", presets.digits),
    Figure("persistence", _persistence, tuple(VARIANTS)),
    Figure("stage_rules", _stage_rules, any_of=tuple(STAGE_RULES)),
    Figure("background", _background, ("background",)),
    Figure("background_gaps", _background_gaps, ("background",)),
)
