"""Strokes and markers as little images, drawn fine and resized."""

import functools

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from .resize import resized
from .settings import SCALE, PathfinderImages


def moved(
    start: int, angle: Float[np.ndarray, "*angle"], distance: int
) -> Int[np.ndarray, "*angle axis"]:
    """The point (start, start) after a move along (sin, cos) of an angle, rounded up.

    The sum is rounded up as it is in floating point: at ±120°, say, an error in the last
    place becomes a pixel, in the original images as here.
    """
    along = np.stack([np.sin(angle), np.cos(angle)], -1)
    return np.ceil(start + distance * along).astype(np.int64)


def square(low: int, high: int) -> Int[np.ndarray, "row column axis"]:
    """The points with both coordinates in [low, high)."""
    return np.moveaxis(np.mgrid[low:high, low:high], 0, -1)


def line(size: int, end: tuple[int, int], width: int) -> Bool[np.ndarray, "row column"]:
    """A line from the centre of a square canvas, by Bresenham's rule if it is thin."""
    centre = size // 2
    drawn = np.zeros((size, size), bool)
    if width == 1:
        rows, columns = _thin(centre, end)
        drawn[rows, columns] = True
        return drawn
    place = square(0, size) - centre
    along = np.array(end) - centre
    share = np.clip(place @ along / max(along @ along, 1), 0, 1)
    return ((place - share[..., None] * along) ** 2).sum(-1) <= width**2 / 4


def _thin(centre: int, end: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """One pixel for each step along the longer side; halves go away from the centre."""
    sides = np.array(end) - centre
    steps = int(np.abs(sides).max())
    # ⌊(2ki + n) / 2n⌋ is k·i/n, rounded with halves up, in whole numbers
    turns = (2 * np.outer(np.abs(sides), np.arange(steps + 1)) + steps) // max(
        2 * steps, 1
    )
    rows, columns = centre + np.sign(sides)[:, None] * turns
    return rows, columns


def disc(radius: int) -> Int[np.ndarray, "pixel axis"]:
    """The pixels at most ``radius`` away, as offsets."""
    offsets = square(-radius, radius + 1)
    return offsets[(offsets**2).sum(-1) <= radius**2]


def _dilated(drawn: np.ndarray, radius: int) -> np.ndarray:
    padded = np.pad(drawn, radius)
    shifts = [np.roll(padded, tuple(shift), (0, 1)) for shift in disc(radius)]
    return np.any(shifts, 0)[radius:-radius, radius:-radius]


def paddle(
    settings: PathfinderImages, angle: float
) -> tuple[UInt8[np.ndarray, "row column"], UInt8[np.ndarray, "row column"]]:
    """A stroke that begins in the middle of its stamp, and the place it occupies."""
    size, fine = 2 * settings.reach + 1, 2 * SCALE * settings.reach + 1
    centre, length = SCALE * settings.reach, SCALE * settings.paddle_length
    row, column = moved(centre, np.asarray(angle), length).tolist()
    drawn = line(fine, (row, column), settings.stroke)
    taken = _dilated(drawn, SCALE * settings.margin)
    return resized(_white(drawn), size), resized(_white(taken), size)


@functools.lru_cache(maxsize=2048)
def marker(
    settings: PathfinderImages, row: int, column: int
) -> UInt8[np.ndarray, "row column"]:
    """A disc on an otherwise empty canvas; many images have one at the same place."""
    rows, columns = np.ogrid[: SCALE * settings.canvas, : SCALE * settings.canvas]
    away = (rows - SCALE * row) ** 2 + (columns - SCALE * column) ** 2
    inside = away <= (SCALE * settings.marker_pixels) ** 2
    return resized(_white(inside), settings.canvas)


def _white(drawn: np.ndarray) -> UInt8[np.ndarray, "row column"]:
    return drawn.astype(np.uint8) * np.uint8(255)
