"""The paper's figures: ``declared.py`` says which, the others draw them."""

from .declared import FIGURES
from .generalisation import against_snr, persistence, signal_share, what_it_sees
from .rules import disparity, rules, similarity
from .stages import attention, losses, overview, query_key, value_noise
from .switches import snapshots, stage_times, switches

__all__ = [
    "FIGURES",
    "against_snr",
    "attention",
    "disparity",
    "losses",
    "overview",
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
