"""All claims of the paper, in the order in which it makes them."""

from .results import descent_on_w, random_weights, value_alone
from .results.theorem_1 import (
    first_perfect_times,
    persistence,
    repetition,
    scale,
    single_runs,
    unseen_sequences,
)
from .results.theorem_2 import all_sequences, short_sequences, support

CLAIMS = (
    *single_runs.CLAIMS,
    *first_perfect_times.CLAIMS,
    *repetition.CLAIMS,
    *unseen_sequences.CLAIMS,
    *scale.CLAIMS,
    *persistence.CLAIMS,
    *descent_on_w.CLAIMS,
    *support.CLAIMS,
    *all_sequences.CLAIMS,
    *short_sequences.CLAIMS,
    *value_alone.CLAIMS,
    *random_weights.CLAIMS,
)
