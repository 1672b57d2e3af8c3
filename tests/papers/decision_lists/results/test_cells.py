"""How cells of a calculation are read: words must be known, numbers may be missing."""

import math

import pytest
import xarray as xr

from piste.errors import InputError
from piste.papers.decision_lists.results._cells import (
    by_distribution,
    distribution_of,
    missing_numbers,
    size_range_text,
    to_dataset,
    word,
)
from piste.papers.decision_lists.tasks import DISTRIBUTIONS
from piste.training import OUTCOMES
from support.decision_lists import FLOW, dataset


@pytest.mark.parametrize("given", ["", "gauss", 2.5, math.nan])
def test_a_word_that_is_not_known_is_an_error(given):
    with pytest.raises(InputError, match=r"distribution = .*: must be one of uniform"):
        distribution_of(dataset(FLOW | {"distribution": given}).isel(cell=0))
    with pytest.raises(
        InputError, match=r"outcome = .*: must be one of reached the end"
    ):
        word(dataset(FLOW | {"outcome": given}).isel(cell=0), "outcome", OUTCOMES)
    with pytest.raises(InputError, match="distribution = None: must be one of"):
        distribution_of(dataset(FLOW, "distribution").isel(cell=0))


def test_instances_are_grouped_by_their_distribution():
    cells = [dataset(FLOW | {"distribution": word}) for word in DISTRIBUTIONS * 2]
    groups = by_distribution(xr.concat(cells, "cell"))
    assert list(groups) == list(DISTRIBUTIONS)
    assert all(data.sizes["cell"] == 2 for data in groups.values())


def test_rows_of_words_and_numbers_are_a_dataset():
    data = to_dataset([FLOW, FLOW | {"vocabulary": 9, "outcome": "step limit"}])
    assert data.outcome.values.tolist() == ["event", "step limit"]
    assert size_range_text(data) == "L 8–9, n 3, M 2"


def test_missing_numbers_are_named():
    cell = dataset(FLOW | {"bound": math.inf}, "gamma").isel(cell=0)
    assert missing_numbers(cell, ("delta",)) == ""
    assert missing_numbers(cell, ("gamma", "bound")) == "no number for gamma, bound"
