"""The picture of a whole run: every quantity of the paper on one page."""

import xarray as xr

from piste.figures import (
    BLUE,
    ORANGE,
    PINK,
    Picture,
    canvas,
    run_overview,
    stages_found,
    styled,
)

from .panels import (
    choose_pairs,
    draw_attention,
    draw_by_vote,
    draw_losses,
    draw_symbols,
    draw_vote_key,
    figure_data,
    finish,
)
from .stages import REQUIRED_PROBES, detect

OVERVIEW_PROBES = (
    *REQUIRED_PROBES,
    "value_signal",
    "attention_signal_signal",
    "train_loss",
    "test_loss",
    "test_error",
)
"""The probes that the picture shows: a run that measures them all gets it."""
DATA_COLUMNS = (
    "value_noise",
    "value_signal",
    "query_signal",
    "key_signal",
    "attention_signal_signal",
    "attention_noise_signal",
    "train_loss",
    "test_loss",
    "test_error",
    "query_noise",
    "key_noise",
)
"""The same probes in the order of the picture's data."""


@run_overview("four stages of sign descent", needs=OVERVIEW_PROBES)
@styled
def overview(trajectory: xr.Dataset) -> Picture:
    """Draw all quantities on one page, with the stages that were found shaded."""
    timeline = detect(trajectory)
    figure, axes = canvas(4, 2, 8.2, sharex=True)
    value, attention, *by_vote, loss, error = axes.ravel()
    value.plot(trajectory.step, trajectory.value_noise, color=BLUE, lw=0.6, alpha=0.6)
    value.plot(trajectory.step, trajectory.value_signal, color=ORANGE)
    draw_symbols(
        value, (trajectory.value_noise, BLUE), (trajectory.value_signal, ORANGE)
    )
    draw_attention(attention, trajectory)
    probes = ("query_noise", "key_noise", "query_signal", "key_signal")
    for panel, probe in zip(by_vote, probes, strict=True):
        draw_by_vote(panel, trajectory, probe)
        panel.set_title(trajectory[probe].attrs["symbol"], loc="left", y=1.09)
    draw_vote_key(by_vote[0])
    draw_losses(loss, trajectory)
    error.plot(trajectory.test_step, trajectory.test_error, color=PINK)
    error.set_ylim(0, max(0.7, 1.05 * float(trajectory.test_error.max())))
    titles = ("mean value", "softmax outputs", "loss", "test error")
    for panel, title in zip((value, attention, loss, error), titles, strict=True):
        panel.set_title(title, loc="left", y=1.09)
    for panel in axes.ravel():
        finish(panel, trajectory, timeline)
    for panel in axes[:-1].ravel():
        panel.set_xlabel("")
    shown = trajectory.assign(
        query_noise=choose_pairs(trajectory.query_noise),
        key_noise=choose_pairs(trajectory.key_noise),
    )
    caption = f"Every observable of the paper in one run. {stages_found(timeline)}"
    return Picture(figure, figure_data(shown, DATA_COLUMNS), caption)
