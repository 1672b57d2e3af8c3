"""What a set of Pathfinder images is like; all lengths follow from the canvas."""

import math

from piste.errors import field_error
from piste.values import option, value

PADDLES = {"easy": 6, "intermediate": 9, "hard": 14}
"""Paddles in each of the two contours, on a canvas of 32 pixels."""

SCALE = 2
"""Strokes are drawn on a canvas this many times finer, then resized."""

PADDING = 1
"""Pixels along the border that no contour may enter."""


def _rounded(number: float) -> int:
    """The nearest whole number, halves up."""
    return math.floor(number + 0.5)


@value
class PathfinderImages:
    r"""Two dashed contours among distractors, and two markers on one or on both.

    Linsley et al. 2018, with the numbers of the Long Range Arena (Tay et al. 2021), whose
    canvas has 32 pixels. A contour is a chain of *paddles*, short strokes with gaps. With
    $u = \max(1, \lfloor N/32 \rceil)$ for a canvas of $N$ pixels, all lengths in a chain
    are multiples of $u$; where a canvas is not $32u$ pixels wide, contours have more
    or fewer paddles in proportion. A small canvas is the fuller one all the same (ink on
    0.21 of 16×16 pixels, 0.13 of 32×32), because strokes do not become thinner. A paddle is
    in the way of others once the next one of its contour is drawn, so that contours keep
    apart, but may touch or cross where their newest paddles meet, as in the original.
    """

    difficulty: str = option(default="hard", choices=tuple(PADDLES))
    """How long the contours are: 6, 9 or 14 paddles on 32, 64 or 128 pixels."""
    canvas: int = option(default=32, minimum=16, maximum=256)
    """Width and height in pixels, $N$."""
    distractors: int = option(default=10, minimum=0, maximum=100)
    r"""Distractors attempted on a canvas of $32u$ pixels, on others by area.

    One that finds no place in five tries is left out: most do by the original's quirk,
    which leaves about 3, 3 and 2 in an easy, intermediate and hard image; without it
    there are about 10, 10 and 8.
    """
    quirks: bool = option(default=False)
    """Whether to keep two flaws of the original images, which are not of the task's idea.

    There, a kernel was one pixel off, so that on 32 pixels the first contour and every
    distractor begin up-left (-150° to -121°), and distractors are 4/3 as bright.
    """

    balanced: bool = option(default=False)
    """Whether to choose scenes so that the places of the markers tell nothing.

    As drawn, the two positions alone give the label in two of three images, here and in
    the original. See :mod:`~piste.datasets.pathfinder.balanced`.
    """
    paddles: int = option(default=0, minimum=0, maximum=100)
    """Paddles in each of the two contours; 0 takes those of the difficulty."""
    marker_radius: float = option(default=1.5, greater_than=0, maximum=8)
    """Radius of a marker, in units of $u$ pixels."""
    marker_distance: float = option(default=0.0, minimum=0)
    """The least distance of the two markers, in pixels."""
    gap: int = option(default=0, minimum=0, maximum=8)
    """Dark pixels between the two contours; 0 lets them touch, as in the original."""
    brightness: float = option(default=0.9, greater_than=0, maximum=1)
    """How bright the strokes of a contour are at most, where a marker is 1."""

    def __post_init__(self):
        if self.contour_paddles < 1:
            raise field_error("paddles", self.paddles, "must be at least 1")
        if self.balanced and self.quirks:
            expected = "has cues that balancing is to remove; must be false"
            raise field_error("quirks", self.quirks, expected)

    @property
    def unit(self) -> int:
        """Pixels of the shortest length, $u$."""
        return max(1, _rounded(self.canvas / 32))

    @property
    def paddle_length(self) -> int:
        """Length of a stroke, $L = 2u$ pixels."""
        return 2 * self.unit

    @property
    def margin(self) -> int:
        """Free pixels round a stroke, $m = u$; strokes in a chain are $2m$ apart."""
        return self.unit

    @property
    def stroke(self) -> int:
        """Width of a stroke on the finer canvas: $u$, so $u/2$ pixels of the image."""
        return self.unit

    @property
    def marker_pixels(self) -> float:
        """Radius of a marker in pixels."""
        return self.marker_radius * self.unit

    @property
    def seed_distance(self) -> int:
        """Pixels between the origins of the two contours: 7 on 32, in proportion."""
        return 7 * self.canvas // 32

    @property
    def contour_paddles(self) -> int:
        """Paddles in each of the two contours."""
        by_difficulty = PADDLES[self.difficulty] * self.canvas / (32 * self.unit)
        return self.paddles or _rounded(by_difficulty)

    @property
    def distractor_paddles(self) -> int:
        """Paddles of a distractor: a third of a contour's, and at least 2."""
        return max(2, self.contour_paddles // 3)

    @property
    def attempts(self) -> int:
        """Distractors attempted on this canvas."""
        return _rounded(self.distractors * (self.canvas / (32 * self.unit)) ** 2)

    @property
    def contrast(self) -> float:
        """What the strokes of a contour are multiplied by.

        Those of one pixel have a peak of 0.6 after resizing, wider ones of 1.
        """
        return self.brightness / (0.6 if self.unit == 1 else 1.0)

    @property
    def distractor_contrast(self) -> float:
        """Brightness of a distractor's strokes: a contour's, or 4/3 of it by quirk."""
        return self.contrast * 4 / 3 if self.quirks else self.contrast

    @property
    def reach(self) -> int:
        """Pixels from a stroke's first point to the edge of its stamp."""
        return self.paddle_length + math.ceil(self.stroke / SCALE) + self.margin
