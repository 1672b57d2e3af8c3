"""All tables of the paper, in the order of its page."""

from . import coverage
from .results import landscapes
from .results.real_tasks import harder_images, image_controls, learning, rates
from .results.theorem_1 import acceptance, bounds, region, scale
from .results.theorem_2 import queries

TABLES = (
    *coverage.TABLES,
    *acceptance.TABLES,
    *bounds.TABLES,
    *region.TABLES,
    *scale.TABLES,
    *queries.TABLES,
    *learning.TABLES,
    *image_controls.TABLES,
    *harder_images.TABLES,
    *rates.TABLES,
    *landscapes.TABLES,
)
