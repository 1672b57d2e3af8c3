"""All tables of the paper, in the order of its page."""

from .results import landscapes
from .results.real_tasks import learning
from .results.theorem_1 import acceptance, bounds, region, scale
from .results.theorem_2 import queries

TABLES = (
    *acceptance.TABLES,
    *bounds.TABLES,
    *region.TABLES,
    *scale.TABLES,
    *queries.TABLES,
    *learning.TABLES,
    *landscapes.TABLES,
)
