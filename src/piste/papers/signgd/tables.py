"""All tables of the paper, in the order in which the page shows them."""

from . import coverage
from .results import (
    adam,
    background,
    image_generalisation,
    persistence,
    stage_4_alignment,
    stage_order,
    stage_rules,
    synthetic_generalisation,
    table_1,
)

TABLES = (
    *coverage.TABLES,
    *stage_order.TABLES,
    *stage_4_alignment.TABLES,
    *table_1.TABLES,
    *adam.TABLES,
    *synthetic_generalisation.TABLES,
    *image_generalisation.TABLES,
    *persistence.TABLES,
    *stage_rules.TABLES,
    *background.TABLES,
)
