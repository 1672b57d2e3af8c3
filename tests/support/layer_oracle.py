"""The multi-head layer by explicit loops over sequences, heads, tokens and outputs."""

import numpy as np

from support.reference import attention_row


def attention(kernel, weights, x):
    """Attention weights of one sequence: head, query token, key token."""
    query, key = np.asarray(weights.query), np.asarray(weights.key)
    heads, _, width = query.shape
    s = np.zeros((heads, len(x), len(x)))
    for head in range(heads):
        # Dividing queries and keys by d^{1/4} divides their products by √d.
        keys = [token @ key[head] / width**0.25 for token in x]
        for one, token in enumerate(x):
            q = token @ query[head] / width**0.25
            s[head, one] = attention_row(q, keys, kernel)
    return s


def outputs(kernel, weights, tokens):
    """MH of all sequences: sequence, token, output."""
    value, output = np.asarray(weights.value), np.asarray(weights.output)
    found = np.zeros((*tokens.shape[:2], output.shape[-1]))
    for i, x in enumerate(np.asarray(tokens)):
        s = attention(kernel, weights, x)
        for head in range(len(value)):
            for k in range(len(x)):
                mixed = sum(s[head, k, j] * x[j] for j in range(len(x)))
                found[i, k] += mixed @ value[head] @ output[head]
    return found


def features(kernel, weights, tokens):
    """The matrix B, row by row."""
    rows = []
    for x in np.asarray(tokens):
        s = attention(kernel, weights, x)
        for k in range(len(x)):
            rows.append(np.concatenate([s[head, k] @ x for head in range(len(s))]))
    return np.stack(rows)


def loss(kernel, weights, data):
    """Half the squared error of all outputs."""
    error = outputs(kernel, weights, data.tokens) - np.asarray(data.targets)
    return 0.5 * sum(float(e) ** 2 for e in error.ravel())
