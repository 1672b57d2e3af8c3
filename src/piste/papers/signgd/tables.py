"""All tables of the paper, in the order in which the page shows them."""

from .results import (
    adam,
    image_generalisation,
    persistence,
    stage_4_alignment,
    stage_order,
    synthetic_generalisation,
    table_1,
)

TABLES = (
    *stage_order.TABLES,
    *stage_4_alignment.TABLES,
    *table_1.TABLES,
    *adam.TABLES,
    *synthetic_generalisation.TABLES,
    *image_generalisation.TABLES,
    *persistence.TABLES,
)
