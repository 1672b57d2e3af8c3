"""Annotations are really checked while tests run, the shapes in them too."""

from collections.abc import Callable

import jax.numpy as jnp
import jaxtyping
import pytest
from jaxtyping import Array, Float, PyTree

from piste import errors, registry
from piste.attention import attend
from piste.attention.kernels import softmax
from piste.probes.classification import SetScores
from piste.sweeps import Cell
from support.shapes import may_have_axes


def test_a_wrong_shape_is_refused():
    with pytest.raises(jaxtyping.TypeCheckError):
        attend(softmax, jnp.ones((2, 3)), jnp.ones((2, 4)), jnp.ones((2, 1)))


def test_a_module_of_the_wrong_shape_is_refused():
    with pytest.raises(jaxtyping.TypeCheckError):
        SetScores(jnp.ones((3, 2)), jnp.zeros(4, int))


def test_a_wrong_type_is_refused_where_no_axes_are():
    with pytest.raises(TypeError, match="violates type hint"):
        errors.dashed(3)


def test_a_wrong_result_is_refused_where_no_axes_are(monkeypatch):
    monkeypatch.setitem(registry._NAMES, int, 3)
    with pytest.raises(TypeError, match="violates type hint"):
        registry.name_of(5)


def test_a_value_of_the_wrong_type_is_refused():
    with pytest.raises(TypeError, match="violates type hint"):
        Cell("first", {}, 3)


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (Float[Array, "row"], True),
        (Float[Array, "row"] | None, True),
        (Callable[[list[Float[Array, "row"]]], int], True),
        (PyTree, True),
        (PyTree[Float[Array, "row"], "tree"], True),
        ("tuple[Float[Array, 'row']]", True),
        ("InputError", True),
        (dict[str, tuple[int, ...]] | None, False),
        (Callable[..., Array], False),
    ],
)
def test_axes_are_found_wherever_they_are_in_an_annotation(hint, expected):
    assert may_have_axes(hint) is expected
