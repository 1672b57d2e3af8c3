"""Rates are chosen by some seeds, and rules compared by the others."""

import numpy as np
import xarray as xr

from piste.papers.signgd.results.background import log_losses, tune


def cells(losses: dict[float, list[float]]) -> xr.Dataset:
    """Last losses by rate, one for each seed; the first is the same for all."""
    rates = np.repeat(list(losses), 5)
    last = np.concatenate(list(losses.values()))
    curves = np.stack([np.full_like(last, 2.3), last], 1)
    coords = {
        "learning_rate": ("cell", rates),
        "seed": ("cell", np.tile(range(5), len(losses))),
    }
    return xr.Dataset(
        {
            "train_loss": (("cell", "step"), curves),
            "test_accuracy": (("cell", "test_step"), curves / 10),
        },
        coords | {"step": [0, 9], "test_step": [0, 9]},
    )


def test_the_tuning_seeds_choose_and_the_others_compare():
    one = tune(
        cells({0.1: [1, 1, 1, 0, 0], 0.3: [0.1, 0.1, 0.1, 10, 100], 1.0: [np.nan] * 5})
    )
    assert one.rate == 0.3 and one.is_inside
    np.testing.assert_allclose(one.losses, [1, 2])


def test_a_best_rate_at_the_end_of_the_grid_is_told():
    assert not tune(cells({0.1: [1.0] * 5, 0.3: [2.0] * 5})).is_inside


def test_a_loss_that_is_no_number_is_the_worst_and_tiny_ones_are_equal():
    found = log_losses(cells({0.1: [np.nan, np.inf, 1e-9, 1e-7, 1.0]}))
    np.testing.assert_allclose(found, [np.inf, np.inf, -6, -6, 0])
