"""Scenes chosen so that the places of the markers tell nothing about the label.

As drawn, the ends of one contour lie otherwise than those of two, and a forest on the two
marked positions has the label in two of three images. Here label and contour are chosen
by coin (1: both ends of one contour; 0: one end of each), and of all scenes with the same
*key*, the unordered pair of marked points up to the eight symmetries of the square,
equally many of either label are kept; then each is turned or mirrored at random. The two
markers of an image thus lie at exactly as many places with either label.

Scenes are balanced in blocks of fixed numbers, so that a smaller set of a seed is the
beginning of a larger one. Images come in pairs of one key, one of either label.
"""

import dataclasses
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Int, UInt64

from piste.errors import field_error

from .drawing import Drawing, draw_numbers, generate, joined
from .settings import PathfinderImages

BLOCK = 2**16
"""Scenes among which keys are balanced: the more, the fewer of them are left over."""
TURNS = np.array(
    [[[1, 0], [0, 1]], [[0, 1], [-1, 0]], [[-1, 0], [0, -1]], [[0, -1], [1, 0]]]
)
SYMMETRIES = np.concatenate([TURNS, TURNS @ np.array([[1, 0], [0, -1]])])
"""The symmetries of the square, as matrices for (row, column) from the middle."""


class Coins(NamedTuple):
    """What is chosen for each scene."""

    label: Int[np.ndarray, " scene"]
    contour: Int[np.ndarray, " scene"]
    ends: Int[np.ndarray, "scene marker"]
    """Which end of its contour is marked: 0 for the origin, 1 for the terminal."""
    symmetry: Int[np.ndarray, " scene"]


def generate_balanced(
    settings: PathfinderImages, count: int, *, seed: int, first: int = 0
) -> Drawing:
    """Draw so many balanced images from the scenes of a seed, beginning with a block.

    ``first`` is the number of the first scene, a multiple of :data:`BLOCK`.
    """
    if first % BLOCK:
        raise field_error("first", first, f"must be a multiple of {BLOCK}")
    parts, found = [], 0
    while found < count or not parts:
        numbers = np.arange(first, first + BLOCK)[: None if count else 0]
        kept = _kept(settings, numbers, seed)[: count - found]
        parts.append(_drawn(settings, kept, seed))
        if count and not kept.size:
            expected = f"leaves no two scenes of {BLOCK:,} with one key and both labels"
            raise field_error("marker_distance", settings.marker_distance, expected)
        found, first = found + kept.size, first + BLOCK
    return joined(parts)


def _kept(
    settings: PathfinderImages, numbers: Int[np.ndarray, " scene"], seed: int
) -> Int[np.ndarray, " image"]:
    """The numbers of the scenes of a block that are kept, pair by pair."""
    plain = dataclasses.replace(settings, balanced=False, distractors=0)
    plain = dataclasses.replace(plain, marker_distance=0.0)
    contours = generate(
        plain, numbers.size, seed=seed, first=int(numbers[0]) if numbers.size else 0
    )
    coins = toss(seed, numbers)
    markers = choose_ends(contours.origins, contours.terminals, coins)
    apart = np.hypot(*(markers[:, 0] - markers[:, 1]).T) >= settings.marker_distance
    distinct = (markers[:, 0] != markers[:, 1]).any(1)
    keys = marker_keys(markers, settings.canvas)
    table = pd.DataFrame({"number": numbers, "key": keys, "label": coins.label})
    table = table.loc[apart & distinct]
    table["rank"] = table.groupby(["key", "label"]).cumcount()
    pairs = table.pivot(
        index=["key", "rank"], columns="label", values="number"
    ).dropna()
    # A pair is there once its later scene is: this order does not depend on the others.
    order = np.argsort(pairs.to_numpy().max(1, initial=0), kind="stable")
    return pairs.to_numpy().astype(np.int64)[order].ravel()


def _drawn(settings: PathfinderImages, numbers: np.ndarray, seed: int) -> Drawing:
    coins = toss(seed, numbers)

    def choose(scenes, some: slice):
        own = Coins(*(part[some] for part in coins))
        return own.label, choose_ends(scenes.origins, scenes.terminals, own)

    plain = dataclasses.replace(settings, balanced=False, marker_distance=0.0)
    drawing = draw_numbers(plain, numbers, seed, choose)
    return turned(drawing, coins.symmetry, settings.canvas)


# --- coins ----------------------------------------------------------------------------


def toss(seed: int, numbers: Int[np.ndarray, " scene"]) -> Coins:
    """Toss the coins of some scenes: six bits of a stream of their own."""
    bits = _mixed(
        _mixed(np.full(1, seed % 2**64, np.uint64) ^ _OWN) + numbers.astype(np.uint64)
    )
    coin = [(bits >> np.uint64(40 + place)) & np.uint64(1) for place in range(4)]
    label, contour, first, second = (part.astype(np.int64) for part in coin)
    # Both ends of one contour; or any end of each.
    ends = np.stack([first, np.where(label == 1, 1 - first, second)], 1)
    symmetry = (bits >> np.uint64(50)) % np.uint64(8)
    return Coins(label, contour, ends, symmetry.astype(np.int64))


_OWN = np.uint64(0x5CE17E5C01175EED)
"""Keeps these coins apart from the random numbers that scenes are drawn with."""


def _mixed(bits: UInt64[np.ndarray, " scene"]) -> UInt64[np.ndarray, " scene"]:
    """SplitMix64 of each number, as the scenes have it."""
    with np.errstate(over="ignore"):
        bits = bits * np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def choose_ends(
    origins: Int[np.ndarray, "scene contour axis"],
    terminals: Int[np.ndarray, "scene contour axis"],
    coins: Coins,
) -> Int[np.ndarray, "scene marker axis"]:
    """The two points that are marked."""
    ends = np.stack([origins, terminals], 2)  # scene, contour, end, axis
    each = np.arange(len(ends))
    other = np.where(coins.label == 1, coins.contour, 1 - coins.contour)
    one = ends[each, coins.contour, coins.ends[:, 0]]
    two = ends[each, other, coins.ends[:, 1]]
    return np.stack([one, two], 1)


# --- symmetries -----------------------------------------------------------------------


def marker_keys(
    markers: Int[np.ndarray, "scene marker axis"], canvas: int
) -> Int[np.ndarray, " scene"]:
    """A number for each unordered pair of points up to the symmetries of the square.

    >>> pairs = np.array([[[0, 1], [2, 2]], [[3, 2], [1, 1]], [[0, 1], [2, 1]]])
    >>> one, same, other = marker_keys(pairs, 4)
    >>> bool(one == same), bool(one == other)
    (True, False)
    """
    images = np.stack([moved_points(markers, turn, canvas) for turn in SYMMETRIES])
    places = np.sort(images @ np.array([canvas, 1]), -1)
    return (places @ np.array([canvas**2, 1])).min(0)


def moved_points(points: np.ndarray, turn: np.ndarray, canvas: int) -> np.ndarray:
    """Points (row, column) after a symmetry of the canvas."""
    # Twice the distance from the middle is a whole number.
    middle = 2 * points - (canvas - 1)
    return (middle @ turn.T + (canvas - 1)) // 2


def turned(
    drawing: Drawing, symmetry: Int[np.ndarray, " image"], canvas: int
) -> Drawing:
    """Every image after a symmetry of its own, with all that is known of it."""
    images = np.empty_like(drawing.images)
    points = {
        name: getattr(drawing, name).copy()
        for name in ("markers", "origins", "terminals")
    }
    headings = drawing.headings.copy()
    rows, columns = np.indices((canvas, canvas)).reshape(2, -1)
    grid = np.stack([rows, columns], -1)
    for number, turn in enumerate(SYMMETRIES):
        some = symmetry == number
        to = moved_points(grid, turn, canvas)
        images[np.ix_(some)] = _permuted(drawing.images[some], grid, to)
        for part in points.values():
            part[some] = moved_points(part[some], turn, canvas)
        headings[some] = _turned_headings(headings[some], turn)
    return dataclasses.replace(drawing, images=images, headings=headings, **points)


def _permuted(images: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    found = np.empty_like(images)
    found[:, target[:, 0], target[:, 1]] = images[:, source[:, 0], source[:, 1]]
    return found


def _turned_headings(degrees: np.ndarray, turn: np.ndarray) -> np.ndarray:
    angle = np.deg2rad(degrees)
    rows, columns = np.moveaxis(
        np.stack([np.sin(angle), np.cos(angle)], -1) @ turn.T, -1, 0
    )
    found = np.rad2deg(np.arctan2(rows, columns)).round().astype(degrees.dtype)
    return (found + 180) % 360 - 180
