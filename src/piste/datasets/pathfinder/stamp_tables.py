"""All that growing a contour needs, computed once for given settings.

A paddle's *heading* is an index. The first 360 are the whole degrees from -180, which
first paddles have; the others are the candidates for a next paddle. These are always the
same points round a pivot, since pivots are whole pixels.
"""

import functools
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from .settings import PADDING, PathfinderImages
from .stamps import disc, moved, paddle, square

DEGREES = np.arange(-180, 180)


class Tables(NamedTuple):
    """Lookup tables; a heading of a next paddle is 360 plus its candidate."""

    strokes: UInt8[np.ndarray, "heading row column"]
    """What a paddle adds to the image, from its tail (first) or its head (next)."""
    places: UInt8[np.ndarray, "heading row column"]
    """What it occupies, likewise."""
    candidates: Int[np.ndarray, "candidate axis"]
    """Offsets of possible next heads from the pivot."""
    turns: Float[np.ndarray, "heading candidate"]
    r"""Weight of a candidate after a heading, $\cos^2$ of the turn."""
    steps: Int[np.ndarray, "heading axis"]
    """From a paddle's pivot to the next one's."""
    heads: Int[np.ndarray, "degree axis"]
    """From the tail of a first paddle to its head."""
    pivots: Int[np.ndarray, "degree axis"]
    """From the tail of a first paddle to its pivot, a margin before it."""
    ring: Int[np.ndarray, "degree axis"]
    """From the origin of the first contour to that of the second."""
    prints: Int[np.ndarray, "degree pixel axis"]
    """Pixels, as offsets from the tail, which must be free for a first paddle."""
    print_sizes: Int[np.ndarray, " degree"]
    """How many of them there are; the rest are fillers."""
    origins: Int[np.ndarray, "degree tail axis"]
    """Tails that the first contour may begin with."""
    origin_counts: Int[np.ndarray, " degree"]
    """How many of them there are; none for a heading that may not be drawn."""
    open: Bool[np.ndarray, " degree"]
    """Headings with which a contour or a distractor may begin."""
    near: Int[np.ndarray, "pixel axis"]
    """Offsets at most a margin long."""


@functools.lru_cache(maxsize=8)
def tables(settings: PathfinderImages) -> Tables:
    """The tables for these settings."""
    length, margin = settings.paddle_length, settings.margin
    first = np.deg2rad(DEGREES)
    candidates = _candidates(length + margin)
    following = np.arctan2(candidates[:, 0], candidates[:, 1])
    angles = np.concatenate([first, following])
    # A first paddle is drawn from its tail on, a next one from its head back.
    stamps = [paddle(settings, angle) for angle in [*first, *_flipped(following)]]
    strokes, places = (np.stack(part) for part in zip(*stamps, strict=True))
    heads = _shift(first, length)
    prints, sizes, opened = _prints(settings, places[:360])
    origins, counts = _origins(settings, prints, sizes, opened)
    return Tables(
        strokes=strokes,
        places=places,
        candidates=candidates,
        turns=_turn_weights(angles, following),
        steps=_shift(angles, length + 2 * margin),
        heads=heads,
        pivots=heads + _shift(_flipped(first), length + margin),
        ring=_ring(settings.seed_distance),
        prints=prints,
        print_sizes=sizes,
        origins=origins,
        origin_counts=counts,
        open=opened,
        near=disc(margin),
    )


def _flipped(angles: Float[np.ndarray, " angle"]) -> Float[np.ndarray, " angle"]:
    return np.where(angles < 0, angles + np.pi, angles - np.pi)


def _shift(angles: np.ndarray, distance: int) -> Int[np.ndarray, "angle axis"]:
    return moved(16, angles, distance) - 16


def _ring(distance: int) -> Int[np.ndarray, "degree axis"]:
    angles = np.deg2rad(np.arange(360))
    points = distance * np.stack([np.sin(angles), np.cos(angles)], -1)
    return np.round(points, 9).round().astype(np.int64)


def _candidates(radius: int) -> Int[np.ndarray, "candidate axis"]:
    """Distinct pixels on a circle, from one point for each pixel of arc."""
    angles = np.arange(0, 2 * np.pi, 1 / radius)
    points = radius * np.stack([np.sin(angles), np.cos(angles)], -1)
    return np.unique(np.floor(points).astype(np.int64), axis=0)


def _turn_weights(angles, following) -> Float[np.ndarray, "heading candidate"]:
    away = np.abs(angles[:, None] - following)
    turn = np.minimum(away, 2 * np.pi - away)
    return np.cos(np.minimum(turn, np.pi / 2)) ** 2


# --- where first paddles may lie ------------------------------------------------------


def _prints(settings: PathfinderImages, places: UInt8[np.ndarray, "degree row column"]):
    """The pixels that first paddles fill altogether, and the headings that are open."""
    half = settings.paddle_length + settings.margin
    off = 1 if settings.quirks else 0
    found = []
    for place in places:
        offsets = np.argwhere(place == 255) - settings.reach + off
        found.append(offsets[(np.abs(offsets) <= half).all(1)])
    sizes = np.array([len(part) for part in found])
    padded = np.zeros((360, max(sizes), 2), np.int64)
    for row, part in zip(padded, found, strict=True):
        row[: len(part)] = part
    if settings.quirks:
        return padded, sizes, np.array([_sees_all_corners(part) for part in found])
    return padded, sizes, np.ones(360, bool)


def _sees_all_corners(offsets: Int[np.ndarray, "pixel axis"]) -> bool:
    """Whether each corner of the canvas has a pixel of the print on the canvas.

    Otherwise the original's search finds a pixel with nothing to look at there, which
    it takes as a sign that no pixel at all is free.
    """
    signs = [(down, right) for down in (1, -1) for right in (1, -1)]
    return all((offsets * sign >= 0).all(1).any() for sign in signs)


def _origins(settings: PathfinderImages, prints, sizes, opened):
    """Tails in the middle, two seed distances from the edges.

    The original wants the whole print there, which large canvases have no room for at
    some headings; without its quirks the tail is enough, and no heading is rarer.
    """
    low, high = 2 * settings.seed_distance, settings.canvas - 2 * settings.seed_distance
    middle = square(low, high).reshape(-1, 2)
    origins = np.zeros((360, len(middle), 2), np.int64)
    counts = np.zeros(360, np.int64)
    for degree in np.flatnonzero(opened):
        pixels = middle[:, None] + prints[degree, : sizes[degree]]
        inside = ((pixels >= low) & (pixels < high)).all((1, 2)) | (not settings.quirks)
        counts[degree] = inside.sum()
        origins[degree, : counts[degree]] = middle[inside]
    return origins, counts


def border(settings: PathfinderImages) -> UInt8[np.ndarray, "row column"]:
    """An empty canvas: all free but the border."""
    taken = np.full((settings.canvas, settings.canvas), 255, np.uint8)
    taken[PADDING:-PADDING, PADDING:-PADDING] = 0
    return taken
