"""The figures of the paper, by name: those for which the runs are there."""

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
from ..generalisation import RULES, images, over_seeds, synthetic
from ..optimiser_claims import BOUNDARIES, beta_table, betas
from ..persistence_claims import variants
from ..slides import TIMES
from ..stages import detect
from ..studies import VARIANTS
from ..tasks import NoisyImages
from ..theorem_claims import signal_ratios
from . import generalisation, rules, stages, switches

_SPARSITY_CAPTION = (
    "What the value has learnt of the signal, as a share of the noise, over s at one SNR "
    "and d = 10 s: each seed, their mean, and the line 1/√s through the first mean."
)
_PERSISTENCE_CAPTION = (
    "What becomes of each boundary in every seed of each variant (a mark for each seed), "
    "with the median step of those that meet its condition for good."
)


# --- the stages -----------------------------------------------------------------------


def _of_first(draw: Callable[[xr.Dataset], Picture]) -> Callable[[Evidence], Picture]:
    return lambda evidence: draw(evidence.runs("stages")[0])


def _of_all(
    draw: Callable[[Sequence[xr.Dataset]], Picture],
) -> Callable[[Evidence], Picture]:
    return lambda evidence: draw(evidence.runs("stages"))


def _stage_times(evidence: Evidence) -> Picture:
    return switches.stage_times(summary(evidence.timelines("stages", detect)), TIMES)


def _sparsity(evidence: Evidence) -> Picture:
    ratios = signal_ratios(evidence.dataset("sparsity"))
    return generalisation.signal_share(*ratios, _SPARSITY_CAPTION)


# --- rules ----------------------------------------------------------------------------


def _similarity(evidence: Evidence) -> Picture:
    return rules.similarity(beta_table(evidence), BOUNDARIES)


def _disparity(evidence: Evidence) -> Picture:
    cells = [
        (f"Adam ({b1:g}, {b2:g})", part)
        for (b1, b2), part in betas(evidence.dataset("adam"))
    ]
    return rules.disparity(evidence.dataset("signgd"), cells)


def _rules(evidence: Evidence) -> Picture:
    gd = evidence.dataset("gd")
    cells = [
        (f"GD {rate:g}", gd.isel(cell=gd.learning_rate.values == rate))
        for rate in dict.fromkeys(gd.learning_rate.values)
    ]
    signgd, normalised = evidence.dataset("signgd"), evidence.dataset("normalised-gd")
    return rules.rules(signgd, cells, normalised)


def _persistence(evidence: Evidence) -> Picture:
    kept = {variant.title: variant.boundaries for variant in evidence.once(variants)}
    return generalisation.persistence(kept, _PERSISTENCE_CAPTION)


# --- generalisation -------------------------------------------------------------------


def _snr(evidence: Evidence) -> Picture:
    last = int(evidence.dataset(f"snr-{RULES[0]}").test_step[-1])
    caption = (
        f"Signal and noise, T = {last:,}: test error and loss against SNR ‖μ‖/(σ_p√s) "
        "(mean error, median loss, range over seeds)."
    )
    return generalisation.against_snr(over_seeds(synthetic(evidence)), caption)


def _on_images(data: str, preset: Callable[[], Experiment]) -> tuple[Figure, Figure]:
    """Errors against SNR, and what the model sees."""
    caption = (
        f"Noisy {data}, 3 against 7: test error and loss against SNR, taken when the "
        "training loss is at most 0.01, or at the last step where it never is (mean error, "
        "median loss, range over seeds)."
    )

    def errors(evidence: Evidence) -> Picture:
        return generalisation.against_snr(over_seeds(images(evidence, data)), caption)

    needs = tuple(f"{data}-{rule}" for rule in RULES)
    return (
        Figure(data, errors, needs),
        Figure(f"{data}_samples", lambda evidence: _samples(preset()), needs),
    )


def _samples(experiment: Experiment) -> Picture:
    start, task = draw(experiment), experiment.task
    assert isinstance(task, NoisyImages)
    names = (f"{task.positive_class}", f"{task.negative_class}")
    with jax.enable_x64(True):
        tokens = np.asarray(start.data.tokens())
    labels = np.asarray(start.data.labels)
    seen = f"What the model sees: an image token and a noise token, SNR {task.snr:g}."
    return generalisation.what_it_sees(tokens, labels, names, seen)


# --- all figures ----------------------------------------------------------------------

_STAGES = ("stages",)

FIGURES = (
    Figure("overview", _of_first(stages.overview), _STAGES),
    Figure("stage_times", _stage_times, _STAGES),
    Figure("value_noise", _of_first(stages.value_noise), _STAGES),
    Figure("query_key", _of_first(stages.query_key), _STAGES),
    Figure("attention", _of_first(stages.attention), _STAGES),
    Figure("switches", _of_all(switches.switches), _STAGES),
    Figure("snapshots", _of_first(switches.snapshots), _STAGES),
    Figure("losses", _of_all(stages.losses), _STAGES),
    Figure("sparsity", _sparsity, ("sparsity",)),
    Figure("similarity", _similarity, ("signgd", "adam")),
    Figure("disparity", _disparity, ("signgd", "adam")),
    Figure("rules", _rules, ("signgd", "gd", "normalised-gd")),
    Figure("snr", _snr, tuple(f"snr-{rule}" for rule in RULES)),
    *_on_images("mnist", presets.mnist),
    *_on_images("digits", presets.digits),
    Figure("persistence", _persistence, tuple(VARIANTS)),
)
