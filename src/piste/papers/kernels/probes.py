"""Probes of token regression: the loss, its gradient, features and Jacobians."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from piste.attention import KERNELS
from piste.probes import RARELY, Extremes, Probe, hessian_extremes

from .models import (
    MATRICES,
    KernelWeights,
    attention,
    features,
    multi_head,
    squared_loss,
)
from .tasks import RegressionData


def relative_resolution(dtype: Any, shape: tuple[int, ...]) -> float:
    r"""$\epsilon\max(m, n)$: what an SVD resolves of a matrix, in units of $\sigma_{max}$.

    >>> relative_resolution("float64", (3, 4)) == 4 * 2**-52
    True
    """
    return float(jnp.finfo(dtype).eps * max(shape))


def resolution(
    largest: Float[Array, "*batch"], shape: tuple[int, ...]
) -> Float[Array, "*batch"]:
    r"""$\epsilon\max(m, n)\,\sigma_{max}$: below it a singular value is rounding.

    >>> round(float(resolution(jnp.float32(2.0), (3, 4))) / 2**-23)
    8
    """
    return relative_resolution(largest.dtype, shape) * largest


def singular_values(
    matrix: Float[Array, "row column"],
) -> Float[Array, " singular_value"]:
    """Singular values, largest first; those that an SVD cannot tell from zero are zero."""
    values = jnp.linalg.svd(matrix, compute_uv=False)
    known = values > resolution(values[0], matrix.shape)
    return jnp.where(known, values, 0)


class RegressionView(eqx.Module):
    """A layer with its data, and the weights that it started from."""

    weights: KernelWeights
    initial: KernelWeights
    data: RegressionData
    kernel: str = eqx.field(static=True)
    train: str = eqx.field(static=True)

    def loss(self) -> Float[Array, ""]:
        r"""$f(M) = \frac12\sum_i\|\mathrm{MH}(M; X_i) - y_i\|^2$."""
        return squared_loss(KERNELS[self.kernel], self.weights, self.data)

    def gradient_norm(self) -> Float[Array, ""]:
        r"""$\|\nabla f\|$ with respect to all trained matrices."""
        slopes = self._gradient(self._trained()).values()
        return jnp.sqrt(jnp.stack([(slope**2).sum() for slope in slopes]).sum())

    def hessian_extremes(self) -> Extremes:
        r"""$\lambda_{min}$ and $\lambda_{max}$ of the Hessian in all trained matrices."""
        return hessian_extremes(self._gradient, self._trained())

    def _trained(self) -> dict[str, Array]:
        names = (MATRICES[letter] for letter in self.train)
        return {name: getattr(self.weights, name) for name in names}

    def _gradient(self, trained: dict[str, Array]) -> dict[str, Array]:
        def loss(trained):
            weights = dataclasses.replace(self.weights, **trained)
            return squared_loss(KERNELS[self.kernel], weights, self.data)

        return jax.grad(loss)(trained)

    def distance(self, name: str) -> Float[Array, ""]:
        """Distance of a matrix, all heads together, from its initialisation."""
        difference = getattr(self.weights, name) - getattr(self.initial, name)
        return jnp.sqrt((difference**2).sum())

    def feature_values(self) -> Float[Array, " singular_value"]:
        r"""Singular values of $B$, largest first; there are $\min(Nn, HD)$."""
        b = features(KERNELS[self.kernel], self.weights, self.data.tokens)
        return singular_values(b)

    def jacobian_values(
        self, names: tuple[str, ...]
    ) -> Float[Array, " singular_value"]:
        """Singular values of the outputs' Jacobian in some matrices, largest first."""
        return jacobian_values(KERNELS[self.kernel], self.weights, self.data, names)

    def attention(self) -> Float[Array, "head token token"]:
        """Attention weights of the first sequence."""
        return attention(KERNELS[self.kernel], self.weights, self.data.tokens[0])


def jacobian_values(kernel, weights: KernelWeights, data: RegressionData, names):
    r"""Singular values of $J$, the Jacobian of all outputs in the named matrices.

    $J$ is computed in full, so that small values are good to rounding of the largest;
    what is smaller than that is zero.
    """
    parts = {name: getattr(weights, name) for name in names}

    def outputs(parts, tokens):
        return multi_head(kernel, dataclasses.replace(weights, **parts), tokens)

    rows = jax.vmap(jax.jacrev(outputs), in_axes=(None, 0))(parts, data.tokens)
    size = data.targets.size
    flat = [rows[name].reshape(size, -1) for name in names]
    return singular_values(jnp.concatenate(flat, -1))


_DISTANCES = {
    letter: Probe(
        f"{name}_distance",
        rf"$\|W^{letter}_t - W^{letter}_0\|_F$",
        f"how far the {name} matrices have moved from initialisation",
        lambda view, name=name: view.distance(name),
    )
    for letter, name in MATRICES.items()
}

_COMMON = (
    Probe(
        "train_loss",
        "$f(M_t)$",
        "half the squared error of all outputs",
        RegressionView.loss,
    ),
    Probe(
        "gradient_norm",
        r"$\|\nabla f(M_t)\|$",
        "norm of the gradient in the trained matrices",
        RegressionView.gradient_norm,
    ),
    Probe(
        "feature_min",
        r"$\sigma_{min}(B_t)$",
        "least singular value of the features; 0 below what an SVD resolves",
        lambda view: view.feature_values()[-1],
    ),
    Probe(
        "feature_max",
        r"$\sigma_{max}(B_t)$",
        "largest singular value of the features",
        lambda view: view.feature_values()[0],
    ),
    Probe(
        "query_jacobian_min",
        r"$\sigma_{min}(J_Q)$",
        "least singular value of the outputs' Jacobian in the query matrices; 0 below "
        "what an SVD resolves",
        lambda view: view.jacobian_values(("query",))[-1],
        along=RARELY,
    ),
    Probe(
        "query_jacobian_max",
        r"$\sigma_{max}(J_Q)$",
        "largest singular value of the outputs' Jacobian in the query matrices",
        lambda view: view.jacobian_values(("query",))[0],
        along=RARELY,
    ),
    Probe(
        "attention",
        r"$S_{1h}$",
        "attention of the first sequence, query token by key token",
        RegressionView.attention,
        ("head", "query_token", "key_token"),
        along=RARELY,
    ),
)


def regression_probes(train: str) -> tuple[Probe, ...]:
    """Probes of a layer that trains some of its matrices."""
    return _COMMON + tuple(_DISTANCES[letter] for letter in train)
