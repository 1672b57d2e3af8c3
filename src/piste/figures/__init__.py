"""Figures: trajectory in, picture out, one style."""

from .generalisation import against_snr, persistence, signal_share, what_it_sees
from .pathfinder import pathfinder
from .rules import disparity, rules, similarity
from .stages import attention, losses, overview, query_key, value_noise
from .style import (
    Picture,
    canvas,
    end_label,
    inside_label,
    shade,
    spread_labels,
    styled,
)
from .switches import snapshots, stage_times, switches

__all__ = [
    "Picture",
    "against_snr",
    "attention",
    "canvas",
    "disparity",
    "end_label",
    "inside_label",
    "losses",
    "overview",
    "pathfinder",
    "persistence",
    "query_key",
    "rules",
    "shade",
    "signal_share",
    "similarity",
    "snapshots",
    "spread_labels",
    "stage_times",
    "styled",
    "switches",
    "value_noise",
    "what_it_sees",
]
