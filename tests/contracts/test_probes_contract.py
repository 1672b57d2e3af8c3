"""One table: what every probe must say and do."""

import jax
import numpy as np
import pytest

from piste.probes import OFTEN, RARELY
from piste.probes.two_token import LAYERS, PROBES
from support.small import run, small

SIZES = {"sample": 6, "neuron": 7, "layer": len(LAYERS)}
NAMES = [probe.name for probe in PROBES]


def test_names_and_symbols_are_unique():
    assert len(set(NAMES)) == len(NAMES)
    assert len({probe.symbol for probe in PROBES}) == len(PROBES)


@pytest.mark.parametrize("probe", PROBES, ids=NAMES)
def test_a_probe_says_what_it_is(probe):
    assert probe.symbol.startswith("$") and probe.symbol.endswith("$")
    assert probe.meaning and "\n" not in probe.meaning
    assert probe.along in (OFTEN, RARELY) and probe.name.isidentifier()


@pytest.mark.parametrize("probe", PROBES, ids=NAMES)
def test_a_probe_has_the_axes_that_it_declares(probe):
    done = run(small(form="exact"))
    recorded = done.records[probe.name]
    assert recorded.shape[1:] == tuple(SIZES[dim] for dim in probe.dims)
    assert np.isfinite(recorded).all()


@pytest.mark.parametrize("probe", PROBES, ids=NAMES)
def test_a_probe_is_pure_and_keeps_the_type_of_numbers(probe):
    done = run(small(form="exact"))
    form, params = done.system.form, done.state.params
    view = form.test_view(params) if probe.on_test else form.view(params)
    here, there = probe.compute(view), jax.jit(probe.compute)(view)
    assert here.dtype == view.margins().dtype
    np.testing.assert_allclose(here, there, rtol=1e-12)
