"""Pathfinder images: reproducible, valid, and without the cues of the original."""

import subprocess
import sys

import numpy as np
import pytest

from piste.datasets.pathfinder import PADDLES, PathfinderImages, generate
from piste.datasets.pathfinder.stamps import marker
from piste.errors import InputError

SETTINGS = PathfinderImages(difficulty="easy")


def message(call) -> str:
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def assert_same(one, other):
    for name, part in vars(one).items():
        np.testing.assert_array_equal(part, getattr(other, name), err_msg=name)


# --- one stream for each image --------------------------------------------------------


def test_an_image_depends_on_its_number_alone(monkeypatch):
    whole = generate(SETTINGS, 60, seed=5)
    monkeypatch.setattr("piste.datasets.pathfinder.drawing.CHUNK", 7)
    assert_same(generate(SETTINGS, 60, seed=5), whole)
    part = generate(SETTINGS, 20, seed=5, first=33)
    np.testing.assert_array_equal(part.images, whole.images[33:53])
    np.testing.assert_array_equal(part.labels, whole.labels[33:53])


def test_seeds_and_numbers_give_different_images():
    one, other = (generate(SETTINGS, 50, seed=seed).images for seed in (0, 1))
    assert len(np.unique(np.concatenate([one, other]), axis=0)) == 100


def test_the_images_never_change():
    """A change here changes every data set of a seed: say so in the changelog."""
    drawing = generate(PathfinderImages(canvas=16), 3, seed=0)
    assert drawing.labels.tolist() == [0, 0, 0]
    assert drawing.markers.tolist() == [
        [[9, 7], [6, 13]],
        [[11, 8], [2, 13]],
        [[7, 12], [10, 3]],
    ]


def test_no_images_are_no_images():
    assert generate(SETTINGS, 0, seed=0).images.shape == (0, 32, 32)


def test_the_compiler_is_loaded_only_for_drawing():
    """It takes half a second, which commands that draw nothing must not wait for."""
    code = "import sys, piste.tasks, piste.figures; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


# --- what every image has -------------------------------------------------------------


@pytest.mark.parametrize("quirks", [False, True])
@pytest.mark.parametrize("canvas", [16, 20, 32, 47, 64])
@pytest.mark.parametrize("level", PADDLES)
def test_markers_are_the_ends_that_the_label_says(level, canvas, quirks):
    settings = PathfinderImages(difficulty=level, canvas=canvas, quirks=quirks)
    drawing = generate(settings, 12, seed=2)
    assert drawing.images.shape == (12, canvas, canvas)
    for k, (origin, terminal) in enumerate(drawing.markers):
        starts = (drawing.origins[k] == origin).all(1)
        ends = (drawing.terminals[k] == terminal).all(1)
        assert starts.any() and ends.any()
        # both ends of one contour, or one of each (two may end in one pixel)
        assert (starts & ends).any() == drawing.labels[k] or ends.all()
    distance = drawing.origins[:, 1] - drawing.origins[:, 0]
    assert (np.abs(np.hypot(*distance.T) - settings.seed_distance) < 0.8).all()
    assert (drawing.placed <= settings.attempts).all()


def test_markers_are_the_brightest_without_quirks():
    drawing = generate(SETTINGS, 50, seed=0)
    for image, points in zip(drawing.images, drawing.markers, strict=True):
        for row, column in points:
            disc = marker(SETTINGS, int(row), int(column))
            assert (image >= disc).all()
    assert drawing.images.max((1, 2)).tolist() == [255] * 50


def test_labels_are_fair_coins_that_no_one_evens_out():
    labels = generate(SETTINGS, 4000, seed=1).labels
    assert abs(labels.mean() - 0.5) < 4 * 0.5 / 4000**0.5
    groups = labels.reshape(40, 100).sum(1)
    assert 9 < groups.var(ddof=1) < 55  # 25, between 0.001 and 0.999 of chi-squared


def test_without_distractors_there_are_two_contours():
    drawing = generate(PathfinderImages(difficulty="easy", distractors=0), 30, seed=0)
    assert not drawing.placed.any()
    more = generate(SETTINGS, 30, seed=0)
    np.testing.assert_array_equal(drawing.markers, more.markers)
    assert (more.images.astype(int) >= drawing.images).all()
    assert (more.images > drawing.images).any((1, 2)).all()


# --- the quirks, and that they are gone -----------------------------------------------


def test_quirks_make_contours_begin_up_left_and_distractors_bright():
    drawing = generate(PathfinderImages(difficulty="easy", quirks=True), 400, seed=0)
    first, second = drawing.headings.T
    assert (first.min(), first.max()) == (-150, -121)
    assert np.histogram(second, 4, (-180, 180))[0].min() > 60
    # distractors peak between 2 · 101/255 and 2 · 153/255
    bright = drawing.placed > 4
    assert np.median(_marker_levels(drawing, bright)) < 245
    assert (_marker_levels(drawing, drawing.placed == 0) == 255).all()


def test_without_quirks_the_cues_are_gone():
    drawing = generate(SETTINGS, 3000, seed=0)
    for headings in drawing.headings.T:
        # not uniform, since some starts succeed more often, but none is rare
        share = np.histogram(headings, 12, (-180, 180))[0] / 3000
        assert (np.abs(share - 1 / 12) < 0.05).all()
    assert (_marker_levels(drawing, drawing.placed > 0) == 255).all()
    # Distractors change nothing in what contours look like.
    alone = generate(PathfinderImages(difficulty="easy", distractors=0), 200, seed=0)
    inside = alone.images > 0
    brighter = drawing.images[:200][inside] > alone.images[inside]
    assert brighter.mean() < 0.1


def _marker_levels(drawing, chosen):
    rows, columns = drawing.markers[chosen, 0].T
    return drawing.images[chosen, rows, columns]


# --- bad input ------------------------------------------------------------------------


@pytest.mark.parametrize("canvas", [0, 8, 15])
def test_a_canvas_too_small_for_its_contours(canvas):
    expected = f"canvas = {canvas}: must be at least 16"
    assert message(lambda: PathfinderImages(canvas=canvas)) == expected


def test_a_wrong_level_and_negative_numbers():
    assert message(lambda: PathfinderImages(difficulty="harder")) == (
        "difficulty = harder: must be one of easy, intermediate, hard"
    )
    expected = "distractors = -1: must be at least 0"
    assert message(lambda: PathfinderImages(distractors=-1)) == expected
    expected = "count = -2: must be at least 0"
    assert message(lambda: generate(SETTINGS, -2, seed=0)) == expected


def test_an_image_without_a_place_for_its_contours_is_given_up(monkeypatch):
    monkeypatch.setattr("piste.datasets.pathfinder.drawing.LIMIT", 1)
    hard = PathfinderImages()
    assert message(lambda: generate(hard, 50, seed=0)) == (
        "canvas = 32: has no place for two contours of 14 paddles "
        "(image 0 of seed 0 was begun 1 times)"
    )
