"""Training the multi-head layer: any subset of its matrices, and what is recorded."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste import training
from piste.papers.kernels import probes as regression
from piste.papers.kernels.forms import RegressionForm
from piste.papers.kernels.models import (
    MATRICES,
    SUBSETS,
    KernelLayer,
    draw_data_and_weights,
)
from piste.papers.kernels.probes import regression_probes
from piste.papers.kernels.tasks import TokenRegression
from piste.probes import OFTEN, RARELY, Extremes
from piste.rules import GD
from piste.testing import assert_close
from support import layer_oracle
from support.small import finish

TASK = TokenRegression(sequences=3, length=2, dimension=4, outputs=2)
PLAN = training.Plan(np.arange(0, 41, 4), np.arange(11) % 5 == 0, 11)


def form_of(kernel="gaussian", train="QKV", seed=0, **fields):
    model = KernelLayer(
        heads=2, width=3, kernel=kernel, train=train, values="random", **fields
    )
    return RegressionForm.of(model, *draw_data_and_weights(TASK, model, seed=seed))


@functools.cache
def trained(kernel="gaussian", train="QKV"):
    # Linear attention makes a cubic of the weights, which larger steps blow up.
    rate = 0.002 if kernel == "linear" else 0.02
    return finish(training.System(form_of(kernel, train), GD(rate)), PLAN)


@pytest.mark.parametrize("kernel", ["softmax", "gaussian-mean"])
def test_gradients_are_those_of_central_differences(kernel):
    form, step = form_of(kernel), 1e-5
    params = form.initial()
    loss, gradient = form.loss_and_gradient(params)
    assert_close(loss, np.array(layer_oracle.loss(kernel, form.weights, form.data)))
    rng = np.random.default_rng(0)
    for name in params:
        for _ in range(4):
            at = tuple(rng.integers(size) for size in params[name].shape)
            ends = [
                layer_oracle.loss(
                    kernel,
                    form.merged(params | {name: params[name].at[at].add(sign * step)}),
                    form.data,
                )
                for sign in (1, -1)
            ]
            measured = (ends[0] - ends[1]) / (2 * step)
            assert abs(measured - float(gradient[name][at])) < 1e-8 * (1 + float(loss))


@pytest.mark.parametrize("train", SUBSETS)
def test_only_what_is_trained_moves(train):
    done = trained("gaussian", train)
    names = {MATRICES[letter] for letter in train}
    assert set(done.state.params) == names
    losses = done.records["train_loss"]
    assert (np.diff(losses) < 0).all()
    distances = {name for name in done.records if name.endswith("_distance")}
    assert distances == {f"{name}_distance" for name in names}
    for name in names:
        moved = done.records[f"{name}_distance"]
        assert moved[0] == 0 and (moved[1:] > 0).all()


def test_training_some_matrices_is_a_step_of_all_with_the_others_held():
    whole = form_of("softmax").loss_and_gradient(form_of("softmax").initial())
    part = form_of("softmax", "KV")
    loss, gradient = part.loss_and_gradient(part.initial())
    assert_close(loss, whole[0])
    assert_close(gradient, {name: whole[1][name] for name in ("key", "value")})


@pytest.mark.parametrize("kernel", ["softmax", "gaussian", "linear"])
def test_the_records_are_those_of_dense_formulas(kernel):
    done = trained(kernel)
    form = done.system.form
    ends = {0: form.initial(), -1: done.state.params}
    for when, params in ends.items():
        truth = observed(kernel, form, params)
        assert set(truth) == set(done.records)
        for name in truth:
            # The smallest singular values are known to rounding of the largest.
            assert_close(done.records[name][when], truth[name], slack=1e3)


def observed(kernel, form, params):
    """Every probe from loops, numpy's singular values and central differences."""
    weights = form.merged(params)
    b = np.linalg.svd(
        layer_oracle.features(kernel, weights, form.data.tokens), compute_uv=False
    )
    q = np.linalg.svd(query_jacobian(kernel, form, params), compute_uv=False)
    _, gradient = form.loss_and_gradient(params)
    flat = np.concatenate([np.ravel(part) for part in gradient.values()])
    first = np.asarray(form.data.tokens[0])
    start = form.initial()
    moved = {
        f"{name}_distance": np.linalg.norm(np.ravel(params[name] - start[name]))
        for name in params
    }
    return moved | {
        "train_loss": np.array(layer_oracle.loss(kernel, weights, form.data)),
        "gradient_norm": np.linalg.norm(flat),
        "feature_min": b[-1],
        "feature_max": b[0],
        "query_jacobian_min": q[-1],
        "query_jacobian_max": q[0],
        "attention": layer_oracle.attention(kernel, weights, first),
    }


def query_jacobian(kernel, form, params):
    """By forward differentiation of all outputs at once, against our reverse mode."""

    def outputs(query):
        weights = form.merged(params | {"query": query})
        scale = 3**-0.25
        q, k = (
            scale * jnp.einsum("ntd,hdw->nhtw", form.data.tokens, matrix)
            for matrix in (weights.query, weights.key)
        )
        products = jnp.einsum("nhtw,nhsw->nhts", q, k)
        squares = ((q[:, :, :, None] - k[:, :, None]) ** 2).sum(-1)
        s = {
            "softmax": jax.nn.softmax(products, -1),
            "gaussian": jnp.exp(-squares / 2),
            "linear": products,
        }[kernel]
        values = jnp.einsum(
            "nsd,hdw,hwo->nhso", form.data.tokens, weights.value, weights.output
        )
        return jnp.einsum("nhts,nhso->nto", s, values)

    jacobian = jax.jacfwd(outputs)(params["query"])
    return np.asarray(jacobian).reshape(form.data.targets.size, -1)


def test_the_view_s_hessian_is_that_of_the_form_s_gradient(monkeypatch):
    """The ends themselves are Lanczos', which has its own tests."""
    monkeypatch.setattr(regression, "hessian_extremes", Extremes)
    form = form_of("softmax", "KV")
    gradient, at = form.view(form.initial()).hessian_extremes()
    assert at.keys() == form.initial().keys()
    for name, part in form.loss_and_gradient(at)[1].items():
        assert_close(gradient(at)[name], part, slack=100)


def test_rare_probes_are_recorded_rarely():
    done = trained()
    rare = {p.name for p in regression_probes("QKV") if p.along == RARELY}
    assert rare == {"query_jacobian_min", "query_jacobian_max", "attention"}
    for name, record in done.records.items():
        assert len(record) == (3 if name in rare else 11)


@pytest.mark.parametrize("probe", regression_probes("QKV"), ids=lambda p: p.name)
def test_a_probe_says_what_it_is_and_has_its_axes(probe):
    assert probe.symbol.startswith("$") and probe.symbol.endswith("$")
    assert probe.meaning and "\n" not in probe.meaning and not probe.on_test
    assert probe.along in (OFTEN, RARELY) and probe.name.isidentifier()
    sizes = {"head": 2, "query_token": 2, "key_token": 2}
    shape = trained().records[probe.name].shape[1:]
    assert shape == tuple(sizes[dim] for dim in probe.dims)


def test_seeds_train_as_a_batch_as_they_do_alone():
    forms = [form_of(seed=seed) for seed in range(3)]
    batch = jax.tree.map(lambda *leaves: jnp.stack(leaves), *forms)

    @jax.jit
    @jax.vmap
    def last_loss(form):
        system = training.System(form, GD(0.02))
        state = jax.lax.fori_loop(0, 20, lambda _, s: system.step(s), system.start())
        return form.loss_and_gradient(state.params)[0]

    alone = [
        last_loss(jax.tree.map(lambda leaf: leaf[None], form))[0] for form in forms
    ]
    assert_close(last_loss(batch), jnp.stack(alone), slack=10)


def test_a_float32_form_stays_in_float32():
    form = jax.tree.map(lambda leaf: leaf.astype("float32"), form_of("gaussian"))
    rule = jax.tree.map(lambda leaf: jnp.asarray(leaf, "float32"), GD(0.02))
    done = finish(training.System(form, rule), PLAN)
    leaves = jax.tree.leaves((done.state, done.records))
    assert {leaf.dtype.name for leaf in leaves if leaf.dtype.kind == "f"} == {"float32"}
    assert_close(done.records["train_loss"], trained().records["train_loss"], slack=10)


def test_the_targets_alone_make_the_loss_of_a_layer_without_values():
    form = form_of()
    silent = dataclasses.replace(form.weights, value=0 * form.weights.value)
    view = dataclasses.replace(form, weights=silent).view({})
    assert_close(view.loss(), (form.data.targets**2).sum() / 2)
    assert float(view.jacobian_values(("query",))[0]) == 0
