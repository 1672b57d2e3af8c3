"""Figures: trajectory in, picture out, one style."""

from .stages import attention, losses, overview, query_key, value_noise
from .style import Picture
from .switches import snapshots, stage_times, switches

__all__ = [
    "Picture",
    "attention",
    "losses",
    "overview",
    "query_key",
    "snapshots",
    "stage_times",
    "switches",
    "value_noise",
]
