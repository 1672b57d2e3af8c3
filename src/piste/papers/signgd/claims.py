"""All claims of the paper, in the order in which it makes them."""

from .results import (
    adam,
    background,
    image_generalisation,
    persistence,
    stage_1,
    stage_2,
    stage_3,
    stage_4_alignment,
    stage_4_attention,
    stage_order,
    stage_rules,
    synthetic_generalisation,
    table_1,
    theorem,
    training_speed,
)

CLAIMS = (
    *stage_order.CLAIMS,
    *stage_1.CLAIMS,
    *stage_2.CLAIMS,
    *stage_3.CLAIMS,
    *stage_4_alignment.CLAIMS,
    *table_1.CLAIMS,
    *stage_4_attention.CLAIMS,
    *theorem.CLAIMS,
    *adam.CLAIMS,
    *training_speed.CLAIMS,
    *synthetic_generalisation.CLAIMS,
    *image_generalisation.CLAIMS,
    *persistence.CLAIMS,
    *stage_rules.CLAIMS,
    *background.CLAIMS,
)
