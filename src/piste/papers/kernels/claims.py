"""All claims of the paper, in the order in which it makes them."""

from .results import landscapes
from .results.real_tasks import image_controls, learning, speed
from .results.theorem_1 import acceptance, bounds, region, scale, width
from .results.theorem_2 import controls, convergence, gradient

CLAIMS = (
    *bounds.CLAIMS,
    *acceptance.CLAIMS,
    *region.CLAIMS,
    *width.CLAIMS,
    *scale.CLAIMS,
    *convergence.CLAIMS,
    *gradient.CLAIMS,
    *controls.CLAIMS,
    *learning.CLAIMS,
    *image_controls.CLAIMS,
    *speed.CLAIMS,
    *landscapes.CLAIMS,
)
