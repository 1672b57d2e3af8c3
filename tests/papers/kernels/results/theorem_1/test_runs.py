"""Bounds, excesses and lengths of Theorem 1's runs, by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from piste.papers.kernels.results.theorem_1._constants import bounds
from piste.papers.kernels.results.theorem_1.runs import largest_excess, steps_to_test
from piste.papers.kernels.theory import ConvergenceTheorem


def theorem_with(least) -> ConvergenceTheorem:
    """Constants by hand, a cell for each σ_min(B₀); η = ½/5²."""
    one = {"feature_resolution": 1e-15, "head_output_min": 2.0}
    one |= {"stacked_output_min": 3.0, "jacobian_max": 5.0, "initial_loss": 3.0}
    size = {"rows": 4, "columns": 8, "width": 2, "outputs": 1}

    def make(least):
        arrays = {name: jnp.asarray(x, least.dtype) for name, x in one.items()}
        return ConvergenceTheorem(feature_min=least, **arrays, **size)

    return jax.vmap(make)(jnp.asarray(least))


def test_the_stored_bound_is_the_theorem_s():
    """One formula: what is judged is what ``theory`` computes."""
    times = np.array([0, 1, 7])
    found = xr.Dataset(bounds(theorem_with([0.5, 0.0]), times))
    # ηβ = 0.02 · (2 · 0.5)², and with stacked W^O 0.02 · (3 · 0.5)².
    expected = 3 * np.array([0.98**times, np.ones(3)])
    np.testing.assert_allclose(found.bound, expected, rtol=1e-12)
    expected = 3 * np.array([0.955**times, np.ones(3)])
    np.testing.assert_allclose(found.stacked_bound, expected, rtol=1e-12)


def test_the_largest_excess_by_hand():
    loss = xr.DataArray([[1.0, 0.9, 0.2], [1.0, 0.2, 1e-27]], dims=("cell", "step"))
    bound = xr.DataArray([[1.0, 0.5, 0.4], [1.0, 0.4, 1e-30]], dims=("cell", "step"))
    # 0.9/0.5; and 0.2/0.4, because 1e-27 is rounding of 1.
    np.testing.assert_allclose(largest_excess(loss, bound), [1.8, 0.5])


@pytest.mark.parametrize(
    ("longest", "steps"),
    [(100, 35), (1000, 867), (10, 10)],  # ½ is promised after 34.3 and 866.1 steps
)
def test_promised_runs_go_on_until_half_is_promised_or_no_further(longest, steps):
    assert steps_to_test(theorem_with([0.5, 0.1, 0.0]), longest) == steps
