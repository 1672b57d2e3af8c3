"""Figures of the four stages of one run: trajectory in, picture out."""

import numpy as np
import xarray as xr

from piste.figures import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    Picture,
    canvas,
    stage_bands,
    stages_found,
    styled,
)

from ..panels import (
    choose_pairs,
    draw_attention,
    draw_by_vote,
    draw_symbols,
    draw_vote_key,
    figure_data,
    finish,
)
from ..stages import EVEN_ATTENTION, detect


@styled
def value_noise(trajectory: xr.Dataset) -> Picture:
    """Stage I: the mean value against the noise of each sample, in three zooms."""
    timeline = detect(trajectory)
    figure, axes = canvas(1, 3, 2.3)
    shown = trajectory.assign(key_noise=choose_pairs(trajectory.key_noise))
    last = int(trajectory.step[-1])
    for panel, end in zip(axes[0], (min(4, last), min(40, last), last), strict=True):
        early = shown.sel(step=slice(0, end))
        keys = early.key_noise.transpose("step", "pair").values
        panel.plot(early.step, early.value_noise, color=BLUE, lw=0.8, alpha=0.7)
        panel.plot(early.step, early.value_signal, color=ORANGE)
        panel.plot(early.step, keys, color=GREEN, lw=0.4, alpha=0.35)
        panel.axhline(0, color=BLACK, lw=0.5, ls=":")
        panel.set(xlim=(0, end), xlabel="step $t$")
        stage_bands(panel, timeline)
    draw_symbols(
        axes[0, 0],
        (trajectory.value_noise, BLUE),
        (trajectory.value_signal, ORANGE),
        (trajectory.key_noise, GREEN),
    )
    caption = (
        "The mean value's inner product with each training noise, ⟨v, y_iξ_i⟩, beside "
        f"⟨v, μ⟩ and the key noise. Three zooms of one run. {stages_found(timeline)}"
    )
    data = figure_data(shown, ["value_noise", "value_signal", "key_noise"])
    return Picture(figure, data, caption)


@styled
def query_key(trajectory: xr.Dataset) -> Picture:
    """Query and key, noise and signal, through all stages."""
    timeline = detect(trajectory)
    probes = ("query_noise", "key_noise", "query_signal", "key_signal")
    figure, axes = canvas(2, 2, 4.4, sharex=True)
    for panel, probe in zip(axes.ravel(), probes, strict=True):
        draw_by_vote(panel, trajectory, probe)
        panel.set_title(trajectory[probe].attrs["symbol"], loc="left", y=1.11)
        finish(panel, trajectory, timeline)
    for panel in axes[0]:
        panel.set_xlabel("")
    draw_vote_key(axes[0, 0])
    shown = trajectory.assign(
        query_noise=choose_pairs(trajectory.query_noise),
        key_noise=choose_pairs(trajectory.key_noise),
    )
    caption = (
        f"Query and key noise of {shown.sizes['pair']} pairs (s, i) and the signals of "
        "all neurons, by the final sign of the neuron's query signal: its vote. Vertical "
        f"axes are linear near zero and logarithmic beyond. {stages_found(timeline)}"
    )
    return Picture(figure, figure_data(shown, probes), caption)


@styled
def attention(trajectory: xr.Dataset) -> Picture:
    r"""Softmax outputs $s_{11}$ and $s_{21}$, linear and logarithmic."""
    timeline = detect(trajectory)
    figure, axes = canvas(1, 2, 2.5)
    for panel in axes[0]:
        draw_attention(panel, trajectory)
        finish(panel, trajectory, timeline)
    probes = ["attention_signal_signal", "attention_noise_signal"]
    low, high = _range_of(trajectory[probes])
    axes[0, 0].set_ylim(min(0.0, 1.05 * low), max(0.62, 1.05 * high))
    axes[0, 0].axhline(EVEN_ATTENTION, color=BLACK, lw=0.5, ls=":")
    axes[0, 1].set(yscale="log", ylim=(1e-30, 3))
    for panel in axes[0]:
        panel.set_ylabel("attention")
    caption = (
        "Attention of the signal token (s_11) and of the noise token (s_21) on the signal "
        "token: mean and range over samples, on a linear and a logarithmic axis. "
        f"{stages_found(timeline)}"
    )
    return Picture(figure, figure_data(trajectory, probes), caption)


def _range_of(series: xr.Dataset) -> tuple[float, float]:
    """The smallest and the largest number of some series."""
    values = [one.values for one in series.data_vars.values()]
    low = min(float(np.nanmin(one)) for one in values)
    return low, max(float(np.nanmax(one)) for one in values)
