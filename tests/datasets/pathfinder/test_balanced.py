"""Balanced scenes: what the markers' places tell is nothing, exactly."""

import dataclasses

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from piste.datasets.pathfinder import PathfinderImages, generate, generate_balanced
from piste.datasets.pathfinder import balanced as module
from piste.datasets.pathfinder.balanced import SYMMETRIES, marker_keys, toss, turned
from piste.errors import InputError

PLAIN = PathfinderImages(
    difficulty="easy", canvas=16, paddles=2, distractors=0, marker_distance=4.0, gap=1
)
SETTINGS = dataclasses.replace(PLAIN, balanced=True)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 2**12)


@pytest.fixture(scope="module")
def drawing():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", 2**12)
        return generate_balanced(SETTINGS, 1500, seed=3)


def orbit(points: np.ndarray, canvas: int) -> set:
    """All places of an unordered pair of points, by transposing and mirroring."""
    found = set()
    for flip in (lambda p: p, lambda p: p[:, ::-1]):
        for rows in (1, -1):
            for columns in (1, -1):
                moved = flip(points) * (rows, columns)
                moved = moved + np.where(np.array((rows, columns)) < 0, canvas - 1, 0)
                found.add(tuple(sorted(map(tuple, moved.tolist()))))
    return found


def test_every_key_has_as_many_images_of_either_label(drawing):
    keys = marker_keys(drawing.markers, 16)
    for key in np.unique(keys):
        labels = drawing.labels[keys == key]
        assert labels.sum() * 2 == labels.size
    assert drawing.labels.reshape(-1, 2).tolist() == [[0, 1]] * 750
    assert (keys.reshape(-1, 2)[:, 0] == keys.reshape(-1, 2)[:, 1]).all()


def test_keys_are_pairs_up_to_the_symmetries_of_the_square():
    random = np.random.default_rng(0)
    points = random.integers(0, 5, (60, 2, 2))
    keys = marker_keys(points, 5)
    orbits = [orbit(pair, 5) for pair in points]
    for one in range(60):
        for two in range(one):
            assert (keys[one] == keys[two]) == (orbits[one] == orbits[two])


def test_markers_are_on_one_contour_or_on_two(drawing):
    ends = np.stack([drawing.origins, drawing.terminals], 2)  # contour, end
    for k, (one, two) in enumerate(drawing.markers):
        on = [(ends[k] == point).all(-1) for point in (one, two)]
        both = any(on[0][c].any() and on[1][c].any() for c in (0, 1))
        crossed = any(on[0][c].any() and on[1][1 - c].any() for c in (0, 1))
        assert both if drawing.labels[k] else crossed
        assert np.hypot(*(one - two)) >= 4


def test_a_forest_on_the_markers_is_a_coin(drawing):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", 2**12)
        other = generate_balanced(SETTINGS, 1500, seed=3, first=2**40)
    plain = [generate(PLAIN, 1500, seed=3, first=f) for f in (0, 2**40)]
    learnt, balanced = (
        RandomForestClassifier(100, min_samples_leaf=5, random_state=0)
        .fit(one.markers.reshape(-1, 4), one.labels)
        .score(two.markers.reshape(-1, 4), two.labels)
        for one, two in (plain, (drawing, other))
    )
    assert learnt > 0.62  # what balancing takes away
    assert abs(balanced - 0.5) < 4 * 0.5 / 1500**0.5


def test_a_smaller_set_is_the_beginning_of_a_larger_one(drawing):
    few = generate_balanced(SETTINGS, 101, seed=3)
    for name, part in vars(few).items():
        np.testing.assert_array_equal(part, getattr(drawing, name)[:101], name)
    assert generate_balanced(SETTINGS, 0, seed=3).images.shape == (0, 16, 16)
    again = generate_balanced(SETTINGS, 1500, seed=4)
    assert (again.images != drawing.images).any()


def test_coins_are_fair_and_every_symmetry_comes_as_often():
    coins = toss(5, np.arange(2**40, 2**40 + 40_000))
    for part in (coins.label, coins.contour, coins.ends[:, 0]):
        assert abs(part.mean() - 0.5) < 4 * 0.5 / 200
    shares = np.bincount(coins.symmetry, minlength=8) / 40_000
    assert (np.abs(shares - 1 / 8) < 4 * (7 / 64 / 40_000) ** 0.5).all()
    joined = coins.label == 1
    assert (coins.ends[joined].sum(1) == 1).all()
    assert abs((coins.ends[~joined].sum(1) == 1).mean() - 0.5) < 0.02
    # Apart from those of other seeds, and from each other.
    other = toss(6, np.arange(2**40, 2**40 + 40_000))
    assert abs((other.label == coins.label).mean() - 0.5) < 0.02
    assert abs((coins.label == coins.contour).mean() - 0.5) < 0.02


@pytest.mark.parametrize("number", range(8))
def test_an_image_is_turned_with_all_that_is_known_of_it(number):
    plain = dataclasses.replace(PLAIN, marker_radius=0.6)
    drawing = generate(plain, 20, seed=1)
    found = turned(drawing, np.full(20, number), 16)
    for k in range(20):
        (row, column), (y, x) = drawing.markers[k, 0], found.markers[k, 0]
        assert found.images[k, y, x] == drawing.images[k, row, column]
        assert sorted(found.images[k].ravel()) == sorted(drawing.images[k].ravel())
    old, new = (np.deg2rad(d.headings) for d in (drawing, found))
    along = np.stack([np.sin(old), np.cos(old)], -1) @ SYMMETRIES[number].T
    np.testing.assert_allclose(
        np.stack([np.sin(new), np.cos(new)], -1), along, atol=1e-12
    )
    assert len({turn.tobytes() for turn in SYMMETRIES}) == 8


def test_contours_with_a_gap_do_not_touch():
    for gap in (1, 2):
        settings = dataclasses.replace(PLAIN, gap=gap, marker_radius=0.1)
        for image in generate(settings, 60, seed=0).images:
            assert _pieces(image, gap) >= 2


def _pieces(image: np.ndarray, gap: int) -> int:
    """Groups of lit pixels that more than ``gap`` pixels lie between."""
    lit = set(map(tuple, np.argwhere(image > 68)))
    count = 0
    while lit:
        todo, count = [lit.pop()], count + 1
        while todo:
            row, column = todo.pop()
            near = {p for p in lit if max(abs(p[0] - row), abs(p[1] - column)) <= gap}
            lit -= near
            todo += near
    return count


def test_what_cannot_be_balanced_is_said():
    with pytest.raises(InputError, match="first = 5: must be a multiple of"):
        generate_balanced(SETTINGS, 3, seed=0, first=5)
    far = dataclasses.replace(SETTINGS, marker_distance=50.0)
    with pytest.raises(
        InputError, match="marker-distance = 50.0: leaves no two scenes"
    ):
        generate_balanced(far, 3, seed=0)
    with pytest.raises(InputError, match="quirks = True: has cues"):
        dataclasses.replace(SETTINGS, quirks=True)
