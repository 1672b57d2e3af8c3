"""What to compare of several kernels, and on which planes."""

from piste.attention import KERNELS
from piste.errors import field_error
from piste.values import option, value

from . import equal_rise, planes, surface


@value
class Comparison:
    """What to compare, and on which planes."""

    plane: str = option(default="qk", choices=planes.KINDS)
    """How the two directions are chosen."""
    points: int = option(default=surface.POINTS, minimum=5)
    """Points along a side of the grid; odd, so that the centre is one."""
    reach: float = option(default=1.0, greater_than=0)
    """How far the grid goes each way, where no rise is given."""
    rises: tuple[float, ...] = option(default=(), greater_than=0)
    """Rises of the loss at which to compare: every surface then reaches as far as its
    loss needs to change so much, in units of the loss before training."""
    steps_two: int = option(default=0, minimum=0)
    """Steps of the second stage; 0 takes as many as the first has."""
    kernels: tuple[str, ...] = option(default=("gaussian",), choices=KERNELS)
    """The kernels that are compared with that of the first stage, and each other."""
    swap: bool = False
    """Whether to compare the kernels also in the weights of the first stage as they are:
    the kernel is swapped and nothing is trained."""
    models: int = option(default=3, minimum=1)
    """Models, each with a seed of its own."""
    directions: int = option(default=3, minimum=1)
    """Planes for each model; one where nothing is drawn."""
    snapshots: int = option(default=21, minimum=3)
    """Snapshots of a second stage, among which losses are matched."""

    def __post_init__(self):
        if self.points % 2 == 0:
            raise field_error("points", self.points, "must be odd")
        for name in ("kernels", "rises"):
            given = getattr(self, name)
            if len(set(given)) < len(given):
                raise field_error(name, given, "must name each of them once")
        if not self.kernels:
            raise field_error("kernels", self.kernels, "must have at least one kernel")

    def planes(self) -> int:
        """Planes for each model."""
        return self.directions if self.plane in ("qk", "random") else 1

    def parts(self) -> int:
        """Planes of all models; the surfaces of all kernels on one are a part."""
        return self.models * self.planes()

    def weights(self) -> tuple[str, ...]:
        """The weights around which surfaces are drawn, by name."""
        return ("trained", "swapped") if self.swap else ("trained",)

    def windows(self) -> tuple[str, ...]:
        """The sizes of surfaces, in words."""
        rises = tuple(f"rise {rise:g}" for rise in self.rises)
        return rises or (f"reach {self.reach:g}",)

    def surfaces(self) -> int:
        """Surfaces of one kernel on one plane."""
        return len(self.weights()) * len(self.windows())

    def points_of_kernel(self) -> int:
        """Points at which the loss is evaluated for one kernel on one plane."""
        search = equal_rise.POINTS if self.rises else 0
        return self.surfaces() * self.points**2 + len(self.weights()) * search

    def work(self, steps: int, parts: int) -> int:
        """Steps and points up to the end of a part, after first stages of so many."""
        models = -(-parts // self.planes())  # its first part waits for all its stages
        kernels, second = 1 + len(self.kernels), self.steps_two or steps
        trained = models * (steps + kernels * second)
        return trained + parts * kernels * self.points_of_kernel()
