"""Constants of the paper's theorems, and exact statements about all sequences.

Nothing here trains: a prediction never depends on what it predicts.
"""

from .all_sequences import (
    best_without_attention,
    label_leads,
    ordering_margin,
    repetition_travel,
    tied_for_ever,
    worst_case,
)
from .conditions import is_small_step, positive_mass, zero_start
from .masses import Masses, masses
from .theorem_1 import SCALE_CONDITION, AttentionTheorem, attention_theorem
from .theorem_2 import CONDITIONS, ValueTheorem, smallest_length, value_theorem

__all__ = [
    "CONDITIONS",
    "SCALE_CONDITION",
    "AttentionTheorem",
    "Masses",
    "ValueTheorem",
    "attention_theorem",
    "best_without_attention",
    "is_small_step",
    "label_leads",
    "masses",
    "ordering_margin",
    "positive_mass",
    "repetition_travel",
    "smallest_length",
    "tied_for_ever",
    "value_theorem",
    "worst_case",
    "zero_start",
]
