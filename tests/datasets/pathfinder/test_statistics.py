"""With its quirks, the generator has the statistics of the original one.

Each reference is the statistic of ``n`` images. It must lie where those of groups of
``n`` of our images lie.
"""

import functools
import os
from pathlib import Path

import numpy as np
import pytest

from piste.datasets.pathfinder import PathfinderImages, generate

REFERENCE = Path(os.environ.get("PISTE_DATA", "")) / "pathfinder_reference/easy.npz"
needs_reference = pytest.mark.skipif(
    not REFERENCE.is_file(), reason="PISTE_DATA names no folder with the reference"
)

GROUPS = 24
FAR = 3.5
"""Standard errors; 60 numbers are compared, of which one in 2,000 would be further."""

# level, distractors attempted, images: placed, pixel mean and std (of 255), shares of
# pixels above 0 and above 64, starts
TABLE = {
    ("easy", 10, 300): (3.21, 0.0504, 0.168, 0.225, 0.075, 24),
    ("intermediate", 10, 100): (2.96, 0.0684, 0.191, 0.297, 0.105, 64),
    ("hard", 10, 100): (2.18, 0.0865, 0.206, 0.375, 0.138, 320),
    ("hard", 5, 60): (1.13, 0.0785, 0.199, 0.340, 0.125, 306),
}

# markers of one contour, then of two: mean and standard deviation of their distance
DISTANCES = {
    ("easy", 10, 300): ((14.8, 3.3), (14.7, 4.0)),
    ("hard", 10, 100): ((13.1, 5.3), (12.3, 5.0)),
}


@functools.cache
def drawn(level, distractors, size):
    settings = PathfinderImages(level, distractors=distractors, quirks=True)
    return generate(settings, GROUPS * size, seed=11)


def groups(drawing, size):
    """The statistics of a row of the table, for each group of images."""
    pixels = drawing.images.reshape(-1, size, 32 * 32)
    placed, starts = (x.reshape(-1, size) for x in (drawing.placed, drawing.starts))
    light = pixels / 255
    return np.stack(
        [
            placed.mean(1),
            light.mean((1, 2)),
            light.std((1, 2)),
            (pixels > 0).mean((1, 2)),
            (pixels > 64).mean((1, 2)),
            starts.mean(1),
        ],
        1,
    )


def assert_among(references, found, rounding):
    """Each reference is within ``FAR`` standard errors of the groups' mean."""
    error = found.std(0, ddof=1) * np.sqrt(1 + 1 / len(found)) + np.array(rounding)
    distance = (np.array(references) - found.mean(0)) / error
    assert (np.abs(distance) < FAR).all(), (distance, found.mean(0))


@pytest.mark.parametrize("row", TABLE)
def test_the_table_of_statistics(row):
    rounding = (0.005, 0.00005, 0.0005, 0.0005, 0.0005, 0.5)
    assert_among(TABLE[row], groups(drawn(*row), row[2]), rounding)


@pytest.mark.parametrize("row", DISTANCES)
def test_distances_of_markers(row):
    drawing = drawn(*row)
    distance = np.hypot(*(drawing.markers[:, 0] - drawing.markers[:, 1]).T)
    for label, reference in ((1, DISTANCES[row][0]), (0, DISTANCES[row][1])):
        part = distance[drawing.labels == label]
        size = row[2] // 2
        part = part[: len(part) // size * size].reshape(-1, size)
        found = np.stack([part.mean(1), part.std(1)], 1)
        assert_among(reference, found, (0.05, 0.05))


def test_where_contours_begin_and_end():
    drawing = drawn("hard", 10, 100)
    first, second = drawing.origins.swapaxes(0, 1)
    assert (first.min(), first.max()) == (14, 16)
    assert (second.min(), second.max()) == (7, 23)
    assert (drawing.terminals.min(), drawing.terminals.max()) == (2, 29)


# --- against the images themselves ----------------------------------------------------


@pytest.fixture(scope="module")
def reference():
    return dict(np.load(REFERENCE))


def z(ours, theirs):
    """Differences of means over images, in standard errors."""
    error = ours.var(0) / len(ours) + theirs.var(0) / len(theirs)
    return (ours.mean(0) - theirs.mean(0)) / np.sqrt(np.maximum(error, 1e-12))


@needs_reference
def test_the_statistics_of_the_reference_images(reference):
    drawing = drawn("easy", 10, 300)
    pixels = reference["x"].reshape(1, 300, -1)
    theirs = (
        reference["placed"].mean(),
        (pixels / 255).mean(),
        (pixels / 255).std(),
        (pixels > 0).mean(),
        (pixels > 64).mean(),
        reference["tries"].mean(),
    )
    assert_among(theirs, groups(drawing, 300), 0)


@needs_reference
def test_every_grey_level_is_as_frequent_as_in_the_reference(reference):
    """Strokes and markers are drawn alike, to the last level of 255."""

    def counts(images):
        return np.stack([np.bincount(image.ravel(), minlength=256) for image in images])

    ours, theirs = counts(drawn("easy", 10, 300).images), counts(reference["x"])
    common = ours.mean(0) > 0.1  # so that a normal law holds for 300 images
    assert np.abs(z(ours[:, common], theirs[:, common])).max() < 5
    assert not theirs[:, ours.sum(0) == 0].any()


@needs_reference
def test_every_place_is_as_bright_as_in_the_reference(reference):
    def blocks(images):
        return images.reshape(-1, 8, 4, 8, 4).mean((2, 4)).reshape(-1, 64)

    distance = z(blocks(drawn("easy", 10, 300).images), blocks(reference["x"]))
    assert np.abs(distance).max() < 4.5
    assert (distance**2).mean() < 2


@needs_reference
def test_contours_begin_and_end_where_they_do_in_the_reference(reference):
    drawing = drawn("easy", 10, 300)
    for ours, theirs in ((drawing.origins, "orig"), (drawing.terminals, "term")):
        moments = [
            np.concatenate([points.reshape(-1, 4), points.reshape(-1, 4) ** 2], 1)
            for points in (ours.astype(float), reference[theirs].astype(float))
        ]
        assert np.abs(z(*moments)).max() < 4
