"""The test error: what is not a number is neither right nor wrong."""

import jax.numpy as jnp
import numpy as np

from piste.papers.signgd.probes import PROBES, MarginView


def test_margins_that_are_no_numbers_have_no_error():
    (error,) = (probe for probe in PROBES if probe.name == "test_error")
    assert float(error.compute(MarginView(jnp.array([1.0, -1.0])))) == 0.5
    assert np.isnan(error.compute(MarginView(jnp.array([1.0, jnp.nan]))))
