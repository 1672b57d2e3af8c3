"""All claims of the paper, in the order in which it makes them."""

from . import (
    control_claims,
    landscape_claims,
    real_claims,
    region_claims,
    theorem_1_claims,
    theorem_2_claims,
    width_claims,
)

CLAIMS = (
    *theorem_1_claims.CLAIMS,
    *region_claims.CLAIMS,
    *width_claims.CLAIMS,
    *theorem_2_claims.CLAIMS,
    *control_claims.CLAIMS,
    *real_claims.CLAIMS,
    *landscape_claims.CLAIMS,
)
