"""All claims of the paper, in the order in which it makes them."""

from . import theorem_1_claims, theorem_2_claims

CLAIMS = (*theorem_1_claims.CLAIMS, *theorem_2_claims.CLAIMS)
