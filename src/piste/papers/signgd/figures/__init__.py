"""The paper's figures: ``declared.py`` says which, the others draw them.

The picture of a whole run is in ``overview.py`` of the paper, so that ``members.py`` can
register it without importing what the other figures need.
"""

from ..overview import overview
from .boundaries import snapshots, stage_times, switches
from .declared import FIGURES
from .generalisation import against_snr, what_it_sees
from .loss_bands import losses
from .rule_comparison import disparity, rules, similarity
from .sparsity import signal_share
from .stages import attention, query_key, value_noise
from .variants import persistence

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
