"""The figures of the paper, by name: those for which the runs are there."""

import jax
import numpy as np

from piste import figures
from piste.claims import detect, summary
from piste.dynamics import draw
from piste.figures import Picture

from . import presets
from .generalisation import RULES, images, over_seeds, synthetic
from .optimiser_claims import BOUNDARIES, beta_table, betas
from .persistence_claims import variants
from .slides import TIMES
from .studies import VARIANTS
from .theorem_claims import signal_ratios


def pictures(evidence) -> dict[str, Picture]:
    """Draw all figures from the runs of the studies."""
    found = {}
    if "stages" in evidence:
        found |= _stages(evidence["stages"])
    if "sparsity" in evidence:
        ratios = signal_ratios(evidence["sparsity"])
        found["sparsity"] = figures.signal_share(*ratios, _SPARSITY_CAPTION)
    if {"signgd", "adam"} <= set(evidence):
        found |= _adam(evidence)
    if {"signgd", "gd", "normalised-gd"} <= set(evidence):
        found |= _gd(evidence)
    if all(f"snr-{rule}" in evidence for rule in RULES):
        table = over_seeds(synthetic(evidence))
        found["snr"] = figures.against_snr(table, _snr_caption(evidence))
    for data, preset in (("mnist", presets.mnist), ("digits", presets.digits)):
        if all(f"{data}-{rule}" in evidence for rule in RULES):
            found |= _images(evidence, data, preset())
    if set(VARIANTS) <= set(evidence):
        kept = {variant.title: variant.boundaries for variant in variants(evidence)}
        found["persistence"] = figures.persistence(kept, _PERSISTENCE_CAPTION)
    return found


def _stages(runs) -> dict[str, Picture]:
    one = runs[0]
    return {
        "overview": figures.overview(one),
        "stage_times": figures.stage_times(summary(map(detect, runs)), TIMES),
        "value_noise": figures.value_noise(one),
        "query_key": figures.query_key(one),
        "attention": figures.attention(one),
        "switches": figures.switches(runs),
        "snapshots": figures.snapshots(one),
        "losses": figures.losses(runs),
    }


def _adam(evidence) -> dict[str, Picture]:
    cells = [
        (f"Adam ({b1:g}, {b2:g})", part) for (b1, b2), part in betas(evidence["adam"])
    ]
    return {
        "similarity": figures.similarity(beta_table(evidence), BOUNDARIES),
        "disparity": figures.disparity(evidence["signgd"], cells),
    }


def _gd(evidence) -> dict[str, Picture]:
    gd = evidence["gd"]
    rates = dict.fromkeys(gd.learning_rate.values)
    cells = [
        (f"GD {rate:g}", gd.isel(cell=gd.learning_rate.values == rate))
        for rate in rates
    ]
    return {
        "rules": figures.rules(evidence["signgd"], cells, evidence["normalised-gd"])
    }


def _images(evidence, data: str, experiment) -> dict[str, Picture]:
    start = draw(experiment)
    task = experiment.task
    names = (f"{task.positive_class}", f"{task.negative_class}")
    with jax.enable_x64(True):
        tokens = np.asarray(start.data.tokens())
    labels = np.asarray(start.data.labels)
    seen = f"What the model sees: an image token and a noise token, SNR {task.snr:g}."
    caption = (
        f"Noisy {data}, 3 against 7: test error and loss against SNR, taken when the "
        "training loss is at most 0.01, or at the last step where it never is (mean error, "
        "median loss, range over seeds)."
    )
    return {
        data: figures.against_snr(over_seeds(images(evidence, data)), caption),
        f"{data}_samples": figures.what_it_sees(tokens, labels, names, seen),
    }


_PERSISTENCE_CAPTION = (
    "What becomes of each boundary in every seed of each variant (a mark for each seed), "
    "with the median step of those that meet its condition for good."
)
_SPARSITY_CAPTION = (
    "What the value has learnt of the signal, as a share of the noise, over s at one SNR "
    "and d = 10 s: each seed, their mean, and the line 1/√s through the first mean."
)


def _snr_caption(evidence) -> str:
    last = int(evidence[f"snr-{RULES[0]}"].test_step[-1])
    return (
        f"Signal and noise, T = {last:,}: test error and loss against SNR ‖μ‖/(σ_p√s) "
        "(mean error, median loss, range over seeds)."
    )
