"""What to compare of two kernels, and on which planes."""

from piste.attention import KERNELS
from piste.errors import field_error
from piste.values import option, value

from . import planes, surface


@value
class Comparison:
    """What to compare, and on which planes."""

    plane: str = option(default="qk", choices=planes.KINDS)
    """How the two directions are chosen."""
    points: int = option(default=surface.POINTS, minimum=5)
    """Points along a side of the grid; odd, so that the centre is one."""
    reach: float = option(default=1.0, greater_than=0)
    """How far the grid goes each way."""
    steps_two: int = option(default=0, minimum=0)
    """Steps of the second stage; 0 takes as many as the first has."""
    kernel_two: str = option(default="gaussian", choices=KERNELS)
    """The kernel that is compared with that of the first stage."""
    models: int = option(default=3, minimum=1)
    """Models, each with a seed of its own."""
    directions: int = option(default=3, minimum=1)
    """Planes for each model; one where nothing is drawn."""
    snapshots: int = option(default=21, minimum=3)
    """Snapshots of a second stage, among which losses are matched."""

    def __post_init__(self):
        if self.points % 2 == 0:
            raise field_error("points", self.points, "must be odd")

    def planes(self) -> int:
        """Planes for each model."""
        return self.directions if self.plane in ("qk", "random") else 1

    def pairs(self) -> int:
        """Pairs of surfaces."""
        return self.models * self.planes()

    def work(self, steps: int, pairs: int) -> int:
        """Steps and points up to the end of a pair, after first stages of so many."""
        models = -(-pairs // self.planes())  # its first pair waits for both stages
        trained = models * (steps + 2 * (self.steps_two or steps))
        return trained + 2 * pairs * self.points**2
