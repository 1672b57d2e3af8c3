"""How the tests compare numbers, for those who test code of their own."""

from typing import Any

import jax
import numpy as np

TOLERANCE = {"float16": 1e-2, "bfloat16": 1e-1, "float32": 2e-5, "float64": 1e-12}
"""Allowed error by floating-point type, as a share of the largest true entry."""


def assert_close(actual: Any, desired: Any, *, slack: float = 1.0) -> None:
    r"""Assert $\max|a - d| \leq \mathrm{slack}\cdot\tau\max|d|$, array by array.

    $\tau$ is the tolerance of the coarser of the two types. Whole numbers and truth
    values must be equal, and so must shapes, trees, NaNs and infinities.

    >>> assert_close(np.array([1.0, 1e-30]), np.array([1.0, 0.0]))
    >>> assert_close(1.0, 1.5)
    Traceback (most recent call last):
    AssertionError: at (): 1 against 1.5; error 0.5, allowed 1.5e-12
    """
    actual_leaves, actual_tree = jax.tree.flatten(actual)
    desired_leaves, desired_tree = jax.tree.flatten(desired)
    assert actual_tree == desired_tree, f"{actual_tree} against {desired_tree}"
    for one, other in zip(actual_leaves, desired_leaves, strict=True):
        _assert_array_close(np.asarray(one), np.asarray(other), slack)


def _assert_array_close(actual: np.ndarray, desired: np.ndarray, slack: float) -> None:
    assert actual.shape == desired.shape, f"{actual.shape} against {desired.shape}"
    kinds = [x.dtype.name for x in (actual, desired) if x.dtype.name in TOLERANCE]
    if not kinds:
        np.testing.assert_array_equal(actual, desired)
        return
    finite = np.isfinite(desired)
    np.testing.assert_array_equal(actual[~finite], desired[~finite])
    truth = np.where(finite, desired, 0).astype(float)
    error = np.abs(np.where(finite, actual, 0) - truth)
    allowed = (
        slack * max(TOLERANCE[kind] for kind in kinds) * np.abs(truth).max(initial=0)
    )
    if not (error <= allowed).all():
        raise AssertionError(_worst(actual, desired, error, allowed))


def _worst(actual, desired, error, allowed) -> str:
    place = np.unravel_index(np.nanargmax(error), error.shape)
    place = tuple(int(index) for index in place)
    return (
        f"at {place}: {actual[place]:.17g} against {desired[place]:.17g}; "
        f"error {error[place]:.3g}, allowed {allowed:.3g}"
    )
