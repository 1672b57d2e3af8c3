"""All claims of the paper, in the order in which it makes them."""

from . import landscape_claims, real_claims, theorem_1_claims, theorem_2_claims

CLAIMS = (
    *theorem_1_claims.CLAIMS,
    *theorem_2_claims.CLAIMS,
    *real_claims.CLAIMS,
    *landscape_claims.CLAIMS,
)
