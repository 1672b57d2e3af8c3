"""Figures: trajectory in, picture out, one style."""

from .generalisation import against_snr, persistence, signal_share, what_it_sees
from .pathfinder import pathfinder
from .rules import disparity, rules, similarity
from .stages import attention, losses, overview, query_key, value_noise
from .style import Picture
from .switches import snapshots, stage_times, switches

__all__ = [
    "Picture",
    "against_snr",
    "attention",
    "disparity",
    "losses",
    "overview",
    "pathfinder",
    "persistence",
    "query_key",
    "rules",
    "signal_share",
    "similarity",
    "snapshots",
    "stage_times",
    "switches",
    "value_noise",
    "what_it_sees",
]
