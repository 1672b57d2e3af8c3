"""The better run of a seed."""

import numpy as np

from piste.papers.kernels.results.theorem_2.queries import index_of_better


def test_a_run_that_is_not_finite_is_never_the_better_one():
    losses = [np.array([[1.0, np.nan], [1.0, 2.0]]), np.array([[1.0, 5.0], [1.0, 3.0]])]
    assert index_of_better(losses).tolist() == [1, 0]
