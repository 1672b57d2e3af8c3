r"""Softmax and Gaussian attention in blocks of queries, with their own backward pass.

Both kernels have weights $P_{ij} = \exp(q_i\cdot k_j + a_i + b_j)$:

- Gaussian: $a_i = -\|q_i\|^2/2$ and $b_j = -\|k_j\|^2/2$;
- softmax: $a_i = -\log\sum_j\exp(q_i\cdot k_j + b_j)$ and $b_j = 0$;

and $b_j = -\infty$ removes a padding key. One head of one sequence is worked on at a time,
a block of its queries against all of its keys, so that a block's weights stay in the
cache. The backward pass computes them again instead of reading them back from memory
(Dao et al. 2022, arXiv:2205.14135), and every product in it has its large operand as it
lies in memory: with $G$ the gradient of the output $O = PV$,

$$
dP = G V^\top,\quad dS = P\odot(dP - \delta),\quad dQ = dS\,K,\quad
dK^\top = Q^\top dS,\quad dV^\top = G^\top P.
$$

For softmax $\delta_i = G_i\cdot O_i$. For the Gaussian $\delta = 0$, and the sums that its
norms need are known without another pass: $\sum_j dS_{ij} = G_i\cdot O_i$ and
$\sum_i dS_{ij} = V_j\cdot dV_j$.

The Gaussian sees differences $q_i - k_j$ alone, but norms and products round off what all
queries and keys have in common: the mean of the real keys is subtracted from both first.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float

ROWS, BLOCK = 128, 2**18
"""Most queries and most weights of a block; measured, at 256 and 1024 keys."""

Queries = Float[Array, "item query width"]
Keys = Float[Array, "item key width"]
Values = Float[Array, "item key channel"]
Output = Float[Array, "item query channel"]
Real = Bool[Array, "item key"]


# --- softmax -------------------------------------------------------------------------


@jax.custom_vjp
def softmax_attention(
    queries: Queries, keys: Keys, values: Values, real: Real
) -> Output:
    """Mean of the values of all real keys, weighted by the softmax of $q·k$."""
    return _softmax_forward(queries, keys, values, real)[0]


def _softmax_forward(queries, keys, values, real):
    output, log_sums = _each_item(
        _softmax_item, queries, keys, values, _bias(real, keys.dtype)
    )
    return output, (queries, keys, values, real, output, log_sums)


def _softmax_item(queries, keys, values, b):
    def block(q):
        scores = _outer(q, keys) + b
        # Without a real key the maximum is -inf, and -inf - -inf is not a number.
        highest = jnp.maximum(scores.max(-1), jnp.finfo(scores.dtype).min)
        p = jnp.exp(scores - highest[:, None])
        sums = p.sum(-1)
        sums = jnp.where(sums > 0, sums, 1)
        return p @ values / sums[:, None], highest + jnp.log(sums)

    return _in_blocks(block, keys.shape[0], queries)


def _softmax_backward(saved, g):
    queries, keys, values, real, output, log_sums = saved
    delta = (g * output).sum(-1)
    arrays = queries, keys, values, -log_sums, _bias(real, keys.dtype), g, delta
    return *_each_item(_backward_item, *arrays), None


softmax_attention.defvjp(_softmax_forward, _softmax_backward)


# --- Gaussian ------------------------------------------------------------------------


@jax.custom_vjp
def gaussian_attention(
    queries: Queries, keys: Keys, values: Values, real: Real
) -> Output:
    r"""Sum of the values of all real keys, weighted by $\exp(-\|q-k\|^2/2)$."""
    return _gaussian_forward(queries, keys, values, real)[0]


def _gaussian_forward(queries, keys, values, real):
    queries, keys = centred(queries, keys, real)
    a, b = _half_norms(queries), _half_norms(keys) + _bias(real, keys.dtype)
    output = _each_item(_gaussian_item, queries, keys, values, a, b)
    return output, (queries, keys, values, real, output)


def _gaussian_item(queries, keys, values, a, b):
    def block(q, a):
        return jnp.exp(_outer(q, keys) + a[:, None] + b) @ values

    return _in_blocks(block, keys.shape[0], queries, a)


def _gaussian_backward(saved, g):
    queries, keys, values, real, output = saved
    a, b = _half_norms(queries), _half_norms(keys) + _bias(real, keys.dtype)
    arrays = queries, keys, values, a, b, g, jnp.zeros_like(a)
    dq, dk, dv = _each_item(_backward_item, *arrays)
    dq = dq - queries * (g * output).sum(-1, keepdims=True)
    dk = dk - keys * (values * dv).sum(-1, keepdims=True)
    return dq, dk, dv, None


gaussian_attention.defvjp(_gaussian_forward, _gaussian_backward)


def centred(queries: Queries, keys: Keys, real: Real) -> tuple[Queries, Keys]:
    """Subtract the mean of the real keys from all queries and keys."""
    count = jnp.maximum(real.sum(-1), 1).astype(keys.dtype)
    # Differences ignore the centre, so their derivatives do. A key of padding may be
    # anything, and must not move it.
    centre = jnp.where(real[..., None], keys, 0).sum(-2) / count[:, None]
    centre = lax.stop_gradient(centre)
    return queries - centre[:, None], keys - centre[:, None]


# --- what both share -----------------------------------------------------------------


def _backward_item(queries, keys, values, a, b, g, delta):
    """Gradients of the queries, keys and values of one head of one sequence."""

    def block(sums, rows):
        q, a, g, delta = rows
        p = jnp.exp(_outer(q, keys) + a[:, None] + b)
        ds = p * (_outer(g, values) - delta[:, None])
        dk, dv = sums
        return (dk + _inner(q, ds), dv + _inner(g, p)), ds @ keys

    length = queries.shape[0]
    start = jnp.zeros_like(keys.T), jnp.zeros_like(values.T)
    blocks = _cut((queries, a, g, delta), keys.shape[0])
    (dk, dv), dq = lax.scan(block, start, blocks)
    return dq.reshape(-1, dq.shape[-1])[:length], dk.T, dv.T


def _in_blocks(function: Callable, keys: int, *rows: Array) -> Any:
    """Apply a function of some queries to all of them, a block at a time."""
    found = lax.map(lambda block: function(*block), _cut(rows, keys))
    length = rows[0].shape[0]
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:])[:length], found)


def _cut(rows: tuple[Array, ...], keys: int) -> tuple[Array, ...]:
    """Equal blocks of rows, filled up with zeros: their gradients are zero."""
    length = rows[0].shape[0]
    count = -(-length // max(1, min(ROWS, BLOCK // keys)))
    size = -(-length // count)
    fill = count * size - length

    def cut(x):
        x = jnp.pad(x, [(0, fill)] + [(0, 0)] * (x.ndim - 1)) if fill else x
        return x.reshape(count, size, *x.shape[1:])

    return tuple(map(cut, rows))


def _each_item(function: Callable, *arrays: Array) -> Any:
    return lax.map(lambda item: function(*item), arrays)


def _outer(
    left: Float[Array, "row width"], right: Float[Array, "column width"]
) -> Float[Array, "row column"]:
    r"""$L R^\top$."""
    return lax.dot_general(left, right, (((1,), (1,)), ((), ())))


def _inner(
    left: Float[Array, "row width"], right: Float[Array, "row column"]
) -> Float[Array, "width column"]:
    r"""$L^\top R$."""
    return lax.dot_general(left, right, (((0,), (0,)), ((), ())))


def _bias(real: Real, dtype: jnp.dtype) -> Float[Array, "item key"]:
    return jnp.where(real, jnp.zeros((), dtype), -jnp.inf)


def _half_norms(x: Float[Array, "item row width"]) -> Float[Array, "item row"]:
    return -(x * x).sum(-1) / 2
