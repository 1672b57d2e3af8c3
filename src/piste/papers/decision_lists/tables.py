"""All tables of the paper, in the order of its page."""

from . import coverage
from .results import descent_on_w, random_weights, value_alone
from .results.theorem_1 import (
    first_perfect_times,
    persistence,
    repetition,
    scale,
    unseen_sequences,
)
from .results.theorem_2 import all_sequences, short_sequences, support

TABLES = (
    *coverage.TABLES,
    *first_perfect_times.TABLES,
    *repetition.TABLES,
    *unseen_sequences.TABLES,
    *scale.TABLES,
    *persistence.TABLES,
    *descent_on_w.TABLES,
    *support.TABLES,
    *all_sequences.TABLES,
    *short_sequences.TABLES,
    *random_weights.TABLES,
    *value_alone.TABLES,
)
