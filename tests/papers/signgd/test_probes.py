"""The probes of the two-layer model: their axes, their numbers, and what is none."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from papers.signgd.two_token import small
from piste.papers.signgd.probes import LAYERS, PROBES, MarginView
from support.small import run

SIZES = {"sample": 6, "neuron": 7, "layer": len(LAYERS)}
NAMES = [probe.name for probe in PROBES]


def test_names_and_symbols_are_unique():
    assert len(set(NAMES)) == len(NAMES)
    assert len({probe.symbol for probe in PROBES}) == len(PROBES)


@pytest.mark.parametrize("probe", PROBES, ids=NAMES)
def test_a_probe_has_the_axes_that_it_declares(probe):
    done = run(small(form="exact"))
    recorded = done.records[probe.name]
    assert recorded.shape[1:] == tuple(SIZES[dim] for dim in probe.dims)
    assert np.isfinite(recorded).all()


@pytest.mark.parametrize("probe", PROBES, ids=NAMES)
def test_a_probe_is_pure_and_keeps_the_type_of_numbers(probe):
    """After training too, where numbers are less smooth than at the start."""
    done = run(small(form="exact"))
    form, params = done.system.form, done.state.params
    view = form.test_view(params) if probe.on_test else form.view(params)
    here, there = probe.compute(view), jax.jit(probe.compute)(view)
    assert here.dtype == view.margins().dtype
    np.testing.assert_allclose(here, there, rtol=1e-12)


def test_margins_that_are_no_numbers_have_no_error():
    (error,) = (probe for probe in PROBES if probe.name == "test_error")
    assert float(error.compute(MarginView(jnp.array([1.0, -1.0])))) == 0.5
    assert np.isnan(error.compute(MarginView(jnp.array([1.0, jnp.nan]))))
