"""Batched starts, constants and descents against one run, NumPy and least squares."""

import dataclasses

import jax.numpy as jnp
import numpy as np

from piste.papers.kernels import presets
from piste.papers.kernels.models import KernelLayer
from piste.papers.kernels.results._descents import (
    LOSS,
    descend,
    draw_starts,
    theorem_1_constants,
    value_floors,
)
from piste.papers.kernels.theory import convergence_theorem
from piste.testing import assert_close
from piste.training import build

SEEDS = range(3)


def test_constants_do_not_depend_on_what_is_trained():
    start = draw_starts(presets.REGRESSION, KernelLayer(heads=2), SEEDS)
    batched = theorem_1_constants("gaussian", *start)
    experiment = presets.thm_1_gaussian()
    model = KernelLayer(heads=2, kernel="gaussian", train="QKV")
    for seed in SEEDS:
        form = build(dataclasses.replace(experiment, model=model, seed=seed)).form
        one = convergence_theorem("gaussian", form.weights, form.data, "QKV")
        assert_close(batched.learning_rate[seed], one.learning_rate, slack=1e3)
        assert_close(batched.rate[seed], one.rate, slack=1e3)


def test_a_batched_descent_is_the_residual_recursion():
    """W^V alone: R ← R − η Σ_h B_h B_hᵀ R W_h^Oᵀ W_h^O, in NumPy."""
    data, weights = draw_starts(presets.REGRESSION, KernelLayer(heads=2), SEEDS)
    rates, times = jnp.array([0.01, 0.02, 0.03]), np.array([0, 1, 7])
    found = descend("softmax", "V", (data, weights), rates, times, (LOSS,))["loss"]
    for seed in SEEDS:
        b = features_by_head(data.tokens[seed], weights, seed)
        norms = (np.asarray(weights.output[seed]) ** 2).sum((1, 2))
        kernel = np.einsum("h,hrd,hsd->rs", norms, b, b)
        rest, losses = np.asarray(data.targets[seed]).reshape(-1), []
        for step in range(8):
            if step in times:
                losses.append((rest**2).sum() / 2)
            rest = rest - float(rates[seed]) * kernel @ rest
        assert_close(found[seed], np.array(losses), slack=1e3)


def features_by_head(tokens, weights, seed):
    tokens, found = np.asarray(tokens), []
    for query, key in zip(weights.query[seed], weights.key[seed], strict=True):
        scores = np.einsum("ind,dw,ew,ime->inm", tokens, query, key, tokens)
        s = np.exp(scores / query.shape[1] ** 0.5)
        s = s / s.sum(-1, keepdims=True)
        found.append((s @ tokens).reshape(-1, tokens.shape[-1]))
    return np.stack(found)


def test_the_floor_is_zero_exactly_where_heads_suffice():
    for heads, enough in ((3, False), (4, True)):
        data, weights = draw_starts(presets.REGRESSION, KernelLayer(heads=heads), SEEDS)
        share = value_floors("gaussian", data, weights) / (data.targets**2).sum(
            (1, 2, 3)
        )
        assert ((share < 1e-12) == enough).all()
