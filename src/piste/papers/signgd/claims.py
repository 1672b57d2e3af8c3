"""All claims of the paper, in the order in which it makes them."""

from . import (
    attention_claims,
    generalisation_claims,
    optimiser_claims,
    persistence_claims,
    stage_claims,
    theorem_claims,
)

CLAIMS = (
    *stage_claims.CLAIMS,
    *attention_claims.CLAIMS,
    *theorem_claims.CLAIMS,
    *optimiser_claims.CLAIMS,
    *generalisation_claims.CLAIMS,
    *persistence_claims.CLAIMS,
)
