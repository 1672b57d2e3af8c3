r"""Slow, dense, obvious oracles in NumPy, against which tests hold the fast paths.

Everything is computed from tokens written out and full weight matrices, by loops over
samples, tokens and neurons.
"""

import decimal
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Weights = Any
"""Anything with matrices ``value_plus, value_minus, query, key``, one row per neuron."""
Labels = Sequence[float] | np.ndarray
"""One ±1 for each sample."""


def tokens(data: Any) -> np.ndarray:
    """All tokens of two-token data written out: sample, token, dimension."""
    basis, weight = np.asarray(data.basis), np.asarray(data.weight)
    samples, rows = weight.size, len(basis)
    written = np.zeros((samples, 2, basis.shape[1]))
    for sample in range(samples):
        first = 0 if rows == samples + 1 else sample
        written[sample, 0] = weight[sample] * basis[first]
        written[sample, 1] = basis[rows - samples + sample]
    return written


def attention(weights: Weights, x: np.ndarray, kernel: str = "softmax") -> np.ndarray:
    """The 2 × 2 attention weights of one sample, query token by key token."""
    s = np.zeros((2, 2))
    for query in range(2):
        q = np.asarray(weights.query) @ x[query]
        keys = [np.asarray(weights.key) @ x[token] for token in range(2)]
        s[query] = attention_row(q, keys, kernel)
    return s


def attention_row(
    q: np.ndarray, keys: Sequence[np.ndarray], kernel: str = "softmax"
) -> list[float]:
    """The attention weights of one query on all keys, for every kernel that we have."""
    products = [float(q @ k) for k in keys]
    distances = [float(((q - k) ** 2).sum()) for k in keys]
    rows = {
        "softmax": lambda: _softmax(products),
        "gaussian": lambda: [math.exp(-d / 2) for d in distances],
        "gaussian-rows": lambda: _softmax([-d / 2 for d in distances]),
        "gaussian-mean": lambda: [math.exp(-d / 2) / len(keys) for d in distances],
        "linear": lambda: products,
        "none": lambda: [0.0] * len(keys),
    }
    return rows[kernel]()


def _softmax(logits: list[float]) -> list[float]:
    powers = [math.exp(logit - max(logits)) for logit in logits]
    return [power / sum(powers) for power in powers]


def output(weights: Weights, x: np.ndarray, kernel: str = "softmax") -> float:
    r"""$f(W, X)$ of one sample, value neuron by value neuron."""
    s, f = attention(weights, x, kernel), 0.0
    for sign, matrix in ((1, weights.value_plus), (-1, weights.value_minus)):
        matrix = np.asarray(matrix)
        for neuron in matrix:
            for query in range(2):
                seen = s[query, 0] * (neuron @ x[0]) + s[query, 1] * (neuron @ x[1])
                f += sign * seen / matrix.shape[0]
    return f


def loss(
    weights: Weights, x: np.ndarray, labels: Labels, kernel: str = "softmax"
) -> float:
    r"""The mean of $\log(1+e^{-yf})$."""
    margins = [y * output(weights, xi, kernel) for xi, y in zip(x, labels, strict=True)]
    return float(np.mean([np.logaddexp(0, -margin) for margin in margins]))


def error(
    weights: Weights, x: np.ndarray, labels: Labels, kernel: str = "softmax"
) -> float:
    r"""The share of samples with $y f \leq 0$."""
    wrong = [
        y * output(weights, xi, kernel) <= 0 for xi, y in zip(x, labels, strict=True)
    ]
    return float(np.mean(wrong))


def observe(
    weights: Weights,
    x: np.ndarray,
    labels: Labels,
    mu: np.ndarray,
    kernel: str = "softmax",
) -> dict[str, np.ndarray]:
    """All probes of the training set, from full weight matrices."""
    query, key = np.asarray(weights.query), np.asarray(weights.key)
    v = np.asarray(weights.value_plus).mean(0) - np.asarray(weights.value_minus).mean(0)
    signed_noise = [y * xi[1] for xi, y in zip(x, labels, strict=True)]
    s = np.stack([attention(weights, xi, kernel) for xi in x])
    return {
        "train_loss": np.array(loss(weights, x, labels, kernel)),
        "value_signal": np.array(v @ mu),
        "value_noise": np.array([v @ noise for noise in signed_noise]),
        "query_signal": np.array([neuron @ mu for neuron in query]),
        "key_signal": np.array([neuron @ mu for neuron in key]),
        "query_noise": np.array([[w @ noise for noise in signed_noise] for w in query]),
        "key_noise": np.array([[w @ noise for noise in signed_noise] for w in key]),
        "attention_signal_signal": s[:, 0, 0],
        "attention_noise_signal": s[:, 1, 0],
    }


def gradients(weights: Weights, x: np.ndarray, labels: Labels) -> dict[str, np.ndarray]:
    r"""The gradient of the loss in every matrix, by the chain rule through softmax.

    With $p_l = \mathrm{softmax}(K q_l)$ and $c_a = \langle v, x^{(a)}\rangle$ the output
    is $f = \sum_l p_l^\top c$, so $\partial f/\partial(Kq_l) = p_l \odot (c - p_l^\top c)$.
    """
    query, key = np.asarray(weights.query), np.asarray(weights.key)
    plus, minus = np.asarray(weights.value_plus), np.asarray(weights.value_minus)
    v = plus.mean(0) - minus.mean(0)
    by_v, by_query, by_key = np.zeros_like(v), np.zeros_like(query), np.zeros_like(key)
    for xi, y in zip(x, labels, strict=True):
        margin = y * output(weights, xi)
        outer = -y / (1 + math.exp(margin)) / len(labels)
        c, s = xi @ v, attention(weights, xi)
        for token in range(2):
            by_v += outer * s[token] @ xi
            by_logits = outer * s[token] * (c - s[token] @ c)
            for other in range(2):
                by_query += by_logits[other] * np.outer(key @ xi[other], xi[token])
                by_key += by_logits[other] * np.outer(query @ xi[token], xi[other])
    return {
        "value_plus": np.tile(by_v / plus.shape[0], (plus.shape[0], 1)),
        "value_minus": np.tile(-by_v / minus.shape[0], (minus.shape[0], 1)),
        "query": by_query,
        "key": by_key,
    }


def gradient_signs(
    weights: Weights, x: np.ndarray, labels: Labels, digits: int = 60
) -> dict[str, np.ndarray]:
    """The signs of all gradient entries, in decimal arithmetic without underflow."""
    with decimal.localcontext() as context:
        context.prec = digits
        return _decimal_signs(weights, x, labels)


def _decimal_signs(weights, x, labels) -> dict[str, np.ndarray]:
    query, key = _decimals(weights.query), _decimals(weights.key)
    plus, minus = _decimals(weights.value_plus), _decimals(weights.value_minus)
    v = (plus - minus).sum(0) / plus.shape[0]
    by_v, by_query, by_key = 0 * v, 0 * query, 0 * key
    for xi, y in zip(_decimals(x), _decimals(labels), strict=True):
        q, k, c = query @ xi.T, key @ xi.T, xi @ v
        s = [
            _decimal_softmax([q[:, token] @ k[:, a] for a in range(2)])
            for token in (0, 1)
        ]
        f = sum(s[token][a] * c[a] for token in (0, 1) for a in (0, 1))
        outer = -y / (1 + (y * f).exp())
        for token in range(2):
            by_v = by_v + outer * (s[token][0] * xi[0] + s[token][1] * xi[1])
            slope = outer * s[token][0] * s[token][1] * (c[0] - c[1])
            by_query = by_query + slope * np.outer(k[:, 0] - k[:, 1], xi[token])
            by_key = by_key + slope * np.outer(q[:, token], xi[0] - xi[1])
    found = {"value": by_v, "query": by_query, "key": by_key}
    return {name: np.sign(part).astype(float) for name, part in found.items()}


def _decimals(array) -> np.ndarray:
    return np.vectorize(lambda x: decimal.Decimal(float(x)), otypes=[object])(array)


def _decimal_softmax(logits):
    powers = [(logit - max(logits)).exp() for logit in logits]
    return [power / sum(powers) for power in powers]


def near_zero(basis: np.ndarray, coefficients: np.ndarray) -> int:
    r"""Entries of $B^\top C$ with $|\sum| \leq k\epsilon\sum|\cdot|$ over $k$ terms."""
    count = 0
    for column in np.asarray(basis).T:
        rows = np.flatnonzero(column)
        for neuron in np.asarray(coefficients).T:
            terms = column[rows] * neuron[rows]
            bound = rows.size * np.finfo(column.dtype).eps * np.abs(terms).sum()
            count += bool(rows.size) and bool(abs(terms.sum()) <= bound)
    return count
