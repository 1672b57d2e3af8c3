"""Strokes and resizing, against Pillow where it is installed and against formulas."""

import numpy as np
import pytest

from piste.datasets.pathfinder import PathfinderImages
from piste.datasets.pathfinder.resize import resized, weights
from piste.datasets.pathfinder.stamp_tables import DEGREES, tables
from piste.datasets.pathfinder.stamps import disc, line, marker, paddle


@pytest.mark.parametrize(("before", "after"), [(17, 9), (64, 32), (57, 29), (9, 17)])
def test_resizing_is_pillows_to_the_bit(before, after):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    levels = np.random.default_rng(0).integers(0, 256, (before, before), np.uint8)
    levels[:3] = 255 * (levels[:3] > 99)  # overshoots, which are cut at 0 and 255
    kernel = image.Resampling.LANCZOS
    expected = np.asarray(image.fromarray(levels).resize((after, after), kernel))
    np.testing.assert_array_equal(resized(levels, after), expected)


def test_weights_sum_to_one_and_mirror():
    share = weights(17, 9)
    np.testing.assert_allclose(share.sum(1) / 2**22, 1, atol=1e-5)
    np.testing.assert_array_equal(share, share[::-1, ::-1])


def test_thin_lines_are_pillows():
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    brush = pytest.importorskip("PIL.ImageDraw")
    for row in range(4, 13):
        for column in range(4, 13):
            expected = image.new("L", (17, 17))
            brush.Draw(expected).line([(8, 8), (column, row)], fill=255, width=1)
            drawn = line(17, (row, column), 1)
            np.testing.assert_array_equal(drawn, np.asarray(expected) > 0)


def test_a_thick_line_is_all_that_is_near_the_segment():
    drawn = line(21, (10, 16), 4)
    assert np.argwhere(drawn)[:, 0].tolist().count(10) == 11  # 10 - 2 … 16 + 2
    assert drawn.sum(0)[10:17].tolist() == [5] * 7


def test_discs_have_all_points_within_their_radius():
    assert [len(disc(radius)) for radius in (0, 1, 2, 4)] == [1, 5, 13, 49]


def test_a_stroke_begins_in_the_middle_and_goes_its_way():
    settings = PathfinderImages()
    for degrees, side in (
        (0, np.s_[4, 4:7]),
        (90, np.s_[4:7, 4]),
        (180, np.s_[4, 2:5]),
    ):
        stroke, place = paddle(settings, np.deg2rad(degrees))
        assert stroke.shape == place.shape == (9, 9)
        assert stroke[side].sum() > 0.97 * stroke.sum()
        assert (place[stroke > 2] >= stroke[stroke > 2]).all()


def test_a_marker_is_white_at_its_place_and_nowhere_far():
    settings = PathfinderImages()
    image = marker(settings, 20, 9)
    away = np.hypot(*(np.indices((32, 32)) - np.array([20, 9])[:, None, None]))
    assert image[20, 9] == 255
    assert (image[away <= 1] > 170).all()
    assert not image[away >= 6].any()


@pytest.mark.parametrize("canvas", [16, 24, 32])
def test_the_misplaced_kernel_closes_all_headings_but_thirty(canvas):
    made = tables(PathfinderImages(canvas=canvas, quirks=True))
    assert DEGREES[made.open].tolist() == list(range(-150, -120))
    assert (made.origin_counts > 0).tolist() == made.open.tolist()


@pytest.mark.parametrize("canvas", [16, 23, 32, 48, 64])
def test_without_quirks_every_heading_is_open(canvas):
    made = tables(PathfinderImages(canvas=canvas))
    assert made.open.all()
    assert len(set(made.origin_counts)) == 1


def test_candidates_lie_on_a_circle_and_turns_are_below_90_degrees():
    made = tables(PathfinderImages())
    radius = np.hypot(*made.candidates.T)
    assert (np.abs(radius - 3) < 1.5).all()
    straight = made.turns[180]  # 0 degrees: to the right
    behind = made.candidates[:, 1] < 0
    assert np.allclose(straight[behind], 0, atol=1e-30)
    cosine = made.candidates[:, 1] / radius
    np.testing.assert_allclose(straight[~behind], cosine[~behind] ** 2, atol=1e-12)
