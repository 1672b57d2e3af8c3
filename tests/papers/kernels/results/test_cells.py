"""Cells are selected by words and by numbers."""

import xarray as xr

from piste.papers.kernels.results.cells import final_share, select


def test_cells_are_selected_by_their_words_and_numbers():
    data = xr.Dataset(
        {
            "kernel": ("cell", ["softmax", "gaussian"]),
            "heads": ("cell", [4, 8]),
            "loss": (("cell", "step"), [[3.0, 1.0], [2.0, 2.0]]),
        },
        {"step": [0, 5]},
    )
    assert final_share(select(data, kernel="gaussian")).tolist() == [1.0]
    assert final_share(select(data, heads=8)).tolist() == [1.0]
    assert not select(data, kernel="gaussian", heads=4).sizes["cell"]
