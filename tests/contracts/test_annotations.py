"""The shapes in annotations are really checked while tests run."""

import jax.numpy as jnp
import jaxtyping
import pytest

from piste.attention import attend
from piste.attention.kernels import softmax
from piste.probes.classification import SetScores


def test_a_wrong_shape_is_refused():
    with pytest.raises(jaxtyping.TypeCheckError):
        attend(softmax, jnp.ones((2, 3)), jnp.ones((2, 4)), jnp.ones((2, 1)))


def test_a_module_of_the_wrong_shape_is_refused():
    with pytest.raises(jaxtyping.TypeCheckError):
        SetScores(jnp.ones((3, 2)), jnp.zeros(4, int))
