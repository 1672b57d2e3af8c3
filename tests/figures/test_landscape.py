"""Pictures of surfaces, also of those that are flat or not finite."""

import numpy as np
import pytest
import xarray as xr

from piste.figures import landscape

GRID = np.linspace(-1, 1, 5)
A, B = np.meshgrid(GRID, GRID, indexing="ij")
BOWL = 1 + A**2 + 2 * B**2
LOSSES = {
    "plain": [BOWL, 2 * BOWL],
    "wide": [BOWL, 1000 * BOWL],
    "flat": [0 * BOWL, 0 * BOWL],
    "broken": [np.where(A > 0.4, np.nan, BOWL), np.where(B > 0.4, np.inf, BOWL)],
    "nothing": [np.full((5, 5), np.nan)] * 2,
}


def part(losses, weights="trained") -> xr.Dataset:
    way = np.array([[[0.9, 0.3], [2.0, 0.1], [0.0, 0.0]]] * 2)
    arrays = {
        "loss": (
            ("kernel", "weights", "window", "first", "second"),
            np.stack(losses)[:, None, None],
        ),
        "reach": (("kernel", "weights", "window"), np.array([[[1.0]], [[2.0]]])),
        "coordinates": (("kernel", "snapshot", "axis"), way),
        "true_loss": (("kernel", "snapshot"), np.array([[3.0, 2, 1]] * 2)),
        "projected_loss": (("kernel", "snapshot"), np.array([[2.0, 1.5, 1]] * 2)),
        "step": (("kernel", "snapshot"), np.array([[10, 20, 30]] * 2)),
        "explained_share": (("kernel",), np.array([0.25, 0.0004])),
        "centre": (("kernel", "weights"), np.array([[2], [1]])),
    }
    words = {"kernel": ["softmax", "gaussian"], "weights": [weights]}
    grid = {"window": ["reach"], "first": GRID, "second": GRID}
    return xr.Dataset(arrays, words | grid, {"labels": ["$W^Q$", "$W^K$"]})


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("draw", [landscape.contours, landscape.surfaces])
def test_it_draws(draw, kind):
    picture = draw(part(LOSSES[kind]), "caption")
    assert len(picture.png(60)) > 3000
    # The data behind it: row 7 is the second kernel's point (−0.5, 0), reaching to 2.
    row = picture.data.iloc[25 + 7]
    assert (row["kernel"], row["first"], row["second"]) == ("gaussian", -1.0, 0)
    np.testing.assert_equal(row["loss"], LOSSES[kind][1][1, 2])


@pytest.mark.parametrize("draw", [landscape.contours, landscape.surfaces])
def test_four_kernels_and_swapped_weights_are_drawn(draw):
    given = part(LOSSES["plain"], weights="swapped")
    names = ["gaussian-rows", "gaussian-mean"]
    four = xr.concat([given, given.assign_coords(kernel=names)], "kernel")
    picture = draw(four, "caption", weights="swapped")
    titles = [axes.get_title() for axes in picture.figure.axes[:4]]
    assert titles == ["softmax", "gaussian", *names]
    # Nothing was trained, so no way is drawn.
    assert not any(axes.lines for axes in picture.figure.axes)


def test_the_words_say_what_the_plane_leaves_out():
    words = landscape.describe(part(LOSSES["plain"]))
    assert "softmax around step 30: plane explains 25.00 % of the trajectory" in words
    assert "gaussian around step 20: plane explains 0.04 %" in words
    assert "true / projected loss 3 / 2 → 1 / 1" in words
