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


def part(losses) -> xr.Dataset:
    way = np.array([[[0.9, 0.3], [2.0, 0.1], [0.0, 0.0]]] * 2)
    arrays = {
        "loss": (("kernel", "first", "second"), np.stack(losses)),
        "coordinates": (("kernel", "snapshot", "axis"), way),
        "true_loss": (("kernel", "snapshot"), np.array([[3.0, 2, 1]] * 2)),
        "projected_loss": (("kernel", "snapshot"), np.array([[2.0, 1.5, 1]] * 2)),
        "step": (("kernel", "snapshot"), np.array([[10, 20, 30]] * 2)),
        "explained_share": (("kernel",), np.array([0.25, 0.0004])),
        "centre": (("kernel",), np.array([2, 1])),
    }
    grid = {"first": GRID, "second": GRID}
    about = {"labels": ["$W^Q$", "$W^K$"], "kernels": ["softmax", "gaussian"]}
    return xr.Dataset(arrays, grid, about)


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("draw", [landscape.contours, landscape.surfaces])
def test_it_draws(draw, kind):
    picture = draw(part(LOSSES[kind]), "caption")
    assert len(picture.png(60)) > 3000
    # The data behind it: row 7 is the second kernel's point (−0.5, 0).
    row = picture.data.iloc[25 + 7]
    assert (row["kernel"], row["first"], row["second"]) == ("gaussian", -0.5, 0)
    np.testing.assert_equal(row["loss"], LOSSES[kind][1][1, 2])


def test_the_words_say_what_the_plane_leaves_out():
    words = landscape.describe(part(LOSSES["plain"]))
    assert "softmax around step 30: plane explains 25.00 % of the trajectory" in words
    assert "gaussian around step 20: plane explains 0.04 %" in words
    assert "true / projected loss 3 / 2 → 1 / 1" in words
