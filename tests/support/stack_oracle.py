"""A stack of attention layers by explicit loops over layers, heads, tokens, neurons."""

import math

import numpy as np


def norm(x):
    """LayerNorm of one token, at length 1."""
    centred = x - sum(x) / len(x)
    return centred / math.sqrt(sum(centred**2) + 1e-12)


def attention(model, query, key, x):
    """Attention weights: head, query token, key token."""
    width = model.key_width // model.heads
    s = np.zeros((model.heads, len(x), len(x)))
    for head in range(model.heads):
        rows = slice(head * width, (head + 1) * width)
        for one in range(len(x)):
            q = query[rows] @ x[one]
            keys = [key[rows] @ other for other in x]
            if model.kernel == "softmax":
                top = max(q @ k for k in keys)
                powers = [math.exp(q @ k - top) for k in keys]
                s[head, one] = [power / sum(powers) for power in powers]
            else:
                s[head, one] = [math.exp(-((q - k) ** 2).sum() / 2) for k in keys]
    return s


def head_of(model, neuron):
    """The head that a value neuron belongs to."""
    return neuron // (model.value_width // model.heads)


def hidden(model, layer, x):
    """The tokens after one hidden layer."""
    read = [norm(token) for token in x] if model.layer_norm else x
    query, key, value, output = (
        np.asarray(part) for part in (layer.query, layer.key, layer.value, layer.output)
    )
    s = attention(model, query, key, read)
    after = []
    for one in range(len(x)):
        update = np.zeros(len(x[one]))
        for neuron in range(model.value_width):
            weights = s[head_of(model, neuron), one]
            seen = sum(weights[a] * (value[neuron] @ read[a]) for a in range(len(x)))
            update = update + output[:, neuron] * seen
        after.append(x[one] + update if model.residual else update)
    return after


def forward(model, weights, x):
    """The output of a stack on one sample, the read-out's attention, what it reads."""
    x = list(np.asarray(x))
    for layer in weights.hidden:
        x = hidden(model, layer, x)
    read = [norm(token) for token in x] if model.layer_norm else x
    readout = weights.readout
    s = attention(model, np.asarray(readout.query), np.asarray(readout.key), read)
    f = 0.0
    for sign, matrix in ((1, readout.value_plus), (-1, readout.value_minus)):
        for neuron, row in enumerate(np.asarray(matrix)):
            for one in range(len(x)):
                weights_here = s[head_of(model, neuron), one]
                seen = sum(weights_here[a] * (row @ read[a]) for a in range(len(x)))
                f += sign * seen / model.value_width
    return f, s, np.stack(read)
