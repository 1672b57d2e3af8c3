"""All claims of the paper, in the order in which it makes them."""

from . import descent_claims, empirical_claims, flow_claims, theorem_claims

CLAIMS = (
    *theorem_claims.CLAIMS,
    *flow_claims.CLAIMS,
    *descent_claims.CLAIMS,
    *empirical_claims.CLAIMS,
)
