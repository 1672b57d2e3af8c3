"""Images from settings and a seed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt8

from piste.errors import field_error

from .settings import PathfinderImages
from .stamp_tables import border, tables
from .stamps import marker

CHUNK = 1000
"""Images of 32 pixels between two looks at the keyboard; no image depends on it."""
LIMIT = 1_000_000
"""Starts after which an image is given up; hard images take some 30 of them."""


@dataclass(frozen=True)
class Drawing:
    """Images, and how each was made. Points are (row, column)."""

    images: UInt8[np.ndarray, "image row column"]
    labels: Int[np.ndarray, " image"]
    """1 where the markers are on one contour, else 0."""
    markers: Int[np.ndarray, "image end axis"]
    """The origin and the terminal that are marked."""
    origins: Int[np.ndarray, "image contour axis"]
    """First points of the two contours."""
    terminals: Int[np.ndarray, "image contour axis"]
    """Their last points."""
    headings: Int[np.ndarray, "image contour"]
    """Degrees at which they begin; 0 is to the right, 90 downward."""
    placed: Int[np.ndarray, " image"]
    """Distractors that found a place."""
    starts: Int[np.ndarray, " image"]
    """How often the two contours were begun."""


class DrawBuffers(NamedTuple):
    """Arrays that the compiled code fills."""

    contours: UInt8[np.ndarray, "image row column"]
    distractors: UInt8[np.ndarray, "image row column"]
    labels: Int[np.ndarray, " image"]
    marked: Int[np.ndarray, " image"]
    headings: Int[np.ndarray, "image contour"]
    origins: Int[np.ndarray, "image contour axis"]
    terminals: Int[np.ndarray, "image contour axis"]
    placed: Int[np.ndarray, " image"]
    starts: Int[np.ndarray, " image"]


Chosen = tuple[np.ndarray, np.ndarray]
"""The labels of some scenes, and the two points that are marked in each."""
Choose = Callable[[DrawBuffers, slice], Chosen]
"""Chooses them for the scenes of a slice of all numbers."""


def as_drawn(scenes: DrawBuffers, some: slice = slice(None)) -> Chosen:
    """The label that was drawn: the origin of one contour, the end of it or the other."""
    each = np.arange(scenes.labels.size)
    other = np.where(scenes.labels == 1, scenes.marked, 1 - scenes.marked)
    ends = scenes.origins[each, scenes.marked], scenes.terminals[each, other]
    return scenes.labels, np.stack(ends, 1)


def generate(
    settings: PathfinderImages, count: int, *, seed: int, first: int = 0
) -> Drawing:
    """Draw the images number ``first`` to ``first + count - 1`` of a seed.

    Each image has a random stream of its own, so that a set can be drawn in parts: an
    image depends on the settings, the seed and its number alone. Labels are fair coins.
    """
    for name, given in (("count", count), ("seed", seed), ("first", first)):
        if given < 0:
            raise field_error(name, given, "must be at least 0")
    return draw_numbers(settings, np.arange(first, first + count), seed)


def draw_numbers(
    settings: PathfinderImages,
    numbers: Int[np.ndarray, " image"],
    seed: int,
    choose: Choose = as_drawn,
    distractors: bool = True,
) -> Drawing:
    """Draw the images of some numbers; ``choose`` says what is marked and how it is lit.

    Without distractors only they are missing: they come after the contours.
    """
    chunk = max(1, CHUNK * 32**2 // settings.canvas**2)
    parts = []
    for done in range(0, max(numbers.size, 1), chunk):
        some = slice(done, done + chunk)
        scenes = _scenes(settings, numbers[some], seed, distractors)
        parts.append(_finished(settings, scenes, choose(scenes, some)))
    return joined(parts)


def joined(parts: Sequence[Drawing]) -> Drawing:
    """Several sets of images as one."""
    names = Drawing.__dataclass_fields__
    return Drawing(
        **{name: np.concatenate([getattr(p, name) for p in parts]) for name in names}
    )


def _scenes(
    settings: PathfinderImages, numbers: np.ndarray, seed: int, distractors: bool
) -> DrawBuffers:
    # numba takes half a second to import, and only this needs it.
    from .growth import fill

    out = _room(settings.canvas, numbers.size)
    failed = fill(
        np.uint64(seed % 2**64),
        numbers,
        settings.attempts if distractors else 0,
        LIMIT,
        np.array([settings.marker_distance, settings.gap], float),
        border(settings),
        tables(settings),
        (settings.contour_paddles, settings.distractor_paddles),
        out,
    )
    if failed >= 0:
        expected = (
            f"has no place for two contours of {settings.contour_paddles} paddles"
        )
        tried = f"image {numbers[failed]} of seed {seed} was begun {LIMIT} times"
        raise field_error("canvas", settings.canvas, f"{expected} ({tried})")
    return out


def _room(canvas: int, count: int) -> DrawBuffers:
    images, numbers = (count, canvas, canvas), (count,)
    points = (count, 2, 2)
    return DrawBuffers(
        contours=np.zeros(images, np.uint8),
        distractors=np.zeros(images, np.uint8),
        labels=np.zeros(numbers, np.int64),
        marked=np.zeros(numbers, np.int64),
        headings=np.zeros((count, 2), np.int64),
        origins=np.zeros(points, np.int64),
        terminals=np.zeros(points, np.int64),
        placed=np.zeros(numbers, np.int64),
        starts=np.zeros(numbers, np.int64),
    )


# --- from strokes to an image ---------------------------------------------------------


def _finished(
    settings: PathfinderImages, out: DrawBuffers, chosen: "Chosen"
) -> Drawing:
    labels, markers = chosen
    light = np.maximum(
        _lit(out.contours, settings.contrast),
        _lit(out.distractors, settings.distractor_contrast),
    )
    _mark(settings, light, markers)
    return Drawing(
        images=_stretched(light),
        labels=labels,
        markers=markers,
        origins=out.origins,
        terminals=out.terminals,
        headings=out.headings,
        placed=out.placed,
        starts=out.starts,
    )


def _lit(levels: UInt8[np.ndarray, "image row column"], contrast: float) -> np.ndarray:
    """Strokes at a contrast. The original keeps them in float32, which decides halves."""
    brightness = contrast * (np.arange(256) / 255)
    return brightness.astype(np.float32).astype(float)[levels]


def _mark(settings: PathfinderImages, light: np.ndarray, markers: np.ndarray) -> None:
    """Add the markers to the images, in place."""
    for image, points in zip(light, markers.tolist(), strict=True):
        for row, column in points:
            np.maximum(image, marker(settings, row, column) / 255, out=image)


def _stretched(
    light: Float[np.ndarray, "image row column"],
) -> UInt8[np.ndarray, "image row column"]:
    """Grey levels, the brightest pixel of each image at 255."""
    white = light.max((1, 2), keepdims=True, initial=1e-12)
    return np.floor(light * (255 / white) + 0.5).astype(np.uint8)
