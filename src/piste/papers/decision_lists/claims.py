"""All claims of the paper, in the order in which it makes them."""

from . import empirical_claims, theorem_claims

CLAIMS = (*theorem_claims.CLAIMS, *empirical_claims.CLAIMS)
