"""A stack of softmax layers in decimal numbers of any length, differentiated by steps.

Central differences need twice the digits of the smallest derivative, and decimals have
them: this sees derivatives of 1e-700, which no formula of ours had a hand in.
"""

import decimal
import functools
from decimal import Decimal

import jax
import numpy as np

DIGITS, STEP = 1900, Decimal(10) ** -500


def gradient_sign(model, weights, x, labels, where):
    """The sign of the loss's derivative by one weight: a leaf and a place in it."""
    number, place = where
    with decimal.localcontext(prec=DIGITS, Emin=-(10**6), Emax=10**6):
        leaves, tree = jax.tree.flatten(weights)
        exact = [_decimals(np.asarray(leaf)) for leaf in leaves]
        tokens, losses = _decimals(np.asarray(x)), []
        for move in (STEP, -STEP):
            moved = [leaf.copy() for leaf in exact]
            moved[number][place] += move
            losses.append(_loss(model, moved, tree, tokens, labels))
        return int((losses[0] - losses[1]).compare(Decimal(0)))


def _decimals(array):
    return np.vectorize(Decimal, otypes=[object])(array.astype(float))


def _loss(model, leaves, tree, tokens, labels):
    weights = jax.tree.unflatten(tree, leaves)
    total = Decimal(0)
    for x, label in zip(tokens, labels, strict=True):
        margin = int(label) * _forward(model, weights, x)
        total += _log_one_plus(_exp(-margin)) if margin > -1000 else -margin
    return total


@functools.cache
def _exp(x):
    """Most of the time goes here, and a moved weight leaves many arguments alone."""
    return x.exp()


def _log_one_plus(small):
    """Of tiny numbers by its series, to more than all digits: ``ln`` takes longer."""
    if small > Decimal(10) ** -100:
        return (1 + small).ln()
    return sum((-small) ** n / -n for n in range(1, 21))


def _attention(query, key, x):
    q, k = x @ query.T, x @ key.T
    rows = []
    for one in q:
        z = one @ (k[0] - k[1])
        small = _exp(-abs(z))
        large, little = 1 / (1 + small), small / (1 + small)
        rows.append([large, little] if z > 0 else [little, large])
    return np.array(rows, object)


def _forward(model, weights, x):
    for layer in weights.hidden:
        s = _attention(layer.query, layer.key, x)
        update = (s @ (x @ layer.value.T)) @ layer.output.T
        x = x + update if model.residual else update
    readout = weights.readout
    s = _attention(readout.query, readout.key, x)
    value = (readout.value_plus - readout.value_minus).sum(0) / model.value_width
    return (s.sum(0) * (x @ value)).sum()
