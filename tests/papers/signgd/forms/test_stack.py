"""Training a stack: as the paper's model where it is one, and as differences say."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from papers.signgd.two_token import small
from piste import training
from piste.errors import InputError
from piste.papers.signgd.forms.support import support_blocks
from piste.papers.signgd.models import StackWeights
from piste.papers.signgd.probes import PROBES
from piste.papers.signgd.stages import detect
from piste.store import Store, run_in_memory
from piste.testing import assert_close
from support import decimal_stack, reference, stack_oracle
from support.small import finish, run, start

WIDTHS = {"model__key_width": 6, "model__value_width": 4}
VARIANTS = {
    "heads": {"model__heads": 2},
    "bare": {"model__depth": 2, "model__heads": 2},
    "deep": {"model__depth": 2, "model__residual": True},
    "norm": {"model__depth": 2, "model__residual": True, "model__layer_norm": True},
}
COUNTS = "near_zero_gradients"

every_variant = pytest.mark.parametrize("name", VARIANTS)


def variant(name, rule="signgd", **changes):
    return small(rule, model="stack", **(WIDTHS | VARIANTS[name] | changes))


@pytest.mark.parametrize("rule", ["signgd", "normalised-gd"])
def test_one_head_and_one_layer_train_as_the_papers_model(rule):
    stack = run(small(rule, model="stack", form="full"))
    paper = run(small(rule, form="full"))
    assert_close(stack.state.params.readout, paper.state.params, slack=100)
    assert set(stack.records) == set(paper.records)
    for probe in stack.records:
        assert_close(stack.records[probe], paper.records[probe], slack=100)


@every_variant
def test_gradients_are_those_of_central_differences(name):
    form = run(variant(name, form="full")).system.form
    evaluate = partial(jax.jit(lambda form, w: form.loss_and_gradient(w)), form)
    weights, step = form.initial(), 1e-5
    loss, gradient = evaluate(weights)
    rng = np.random.default_rng(0)
    for _ in range(3):
        along = jax.tree.map(lambda x: jnp.asarray(rng.normal(size=x.shape)), gradient)
        ahead = jax.tree.map(lambda x, d: x + step * d, weights, along)
        behind = jax.tree.map(lambda x, d: x - step * d, weights, along)
        measured = (evaluate(ahead)[0] - evaluate(behind)[0]) / (2 * step)
        products = jax.tree.map(lambda g, d: (g * d).sum(), gradient, along)
        assert abs(measured - sum(jax.tree.leaves(products))) < 1e-6 * loss
    assert all(np.asarray(leaf).any() for leaf in jax.tree.leaves(gradient))


@every_variant
def test_the_records_are_those_of_explicit_loops(name):
    experiment = variant(name, steps=40)
    done, begun = run(experiment), start(experiment)
    assert set(done.records) == {p.name for p in PROBES}
    assert not done.records[COUNTS].any()
    for when, weights in ((0, begun.weights), (-1, done.state.params)):
        truth = observed(experiment.model, weights, begun)
        for probe in truth:
            assert_close(done.records[probe][when], truth[probe], slack=100)


def observed(model, weights, begun):
    """Every probe by explicit loops: the read-out on what it reads, the stack's f."""
    x, labels = reference.tokens(begun.data), np.asarray(begun.data.labels)
    passes = [stack_oracle.forward(model, weights, sample) for sample in x]
    s = np.stack([sum(heads) / model.heads for _, heads, _ in passes])
    margins = labels * np.array([f for f, _, _ in passes])
    read = np.stack([tokens for _, _, tokens in passes])
    plain = products(weights.readout, read, labels)
    return (
        plain
        | on_test(model, weights, begun.test)
        | {
            "train_loss": np.log1p(np.exp(-margins)).mean(),
            "attention_signal_signal": s[:, 0, 0],
            "attention_noise_signal": s[:, 1, 0],
        }
    )


def products(readout, read, labels):
    """Inner products with y_i times the tokens that are read; signals in the mean."""
    value = np.asarray(readout.value_plus - readout.value_minus).mean(0)
    query, key = np.asarray(readout.query), np.asarray(readout.key)
    signed = labels[:, None, None] * read
    return {
        "value_signal": np.mean([value @ x[0] for x in signed]),
        "value_noise": np.array([value @ x[1] for x in signed]),
        "query_signal": np.mean([query @ x[0] for x in signed], axis=0),
        "key_signal": np.mean([key @ x[0] for x in signed], axis=0),
        "query_noise": np.stack([query @ x[1] for x in signed], axis=1),
        "key_noise": np.stack([key @ x[1] for x in signed], axis=1),
    }


def on_test(model, weights, test):
    x, labels = reference.tokens(test), np.asarray(test.labels)
    outputs = [stack_oracle.forward(model, weights, sample)[0] for sample in x]
    margins = labels * np.array(outputs)
    return {
        "test_loss": np.log1p(np.exp(-margins)).mean(),
        "test_error": (margins <= 0).mean(),
    }


@every_variant
def test_it_learns(name):
    losses = run(variant(name)).records["train_loss"]
    assert losses[-1] < 0.5 * losses[0]


def test_nothing_leaks_from_the_test_set_into_training():
    form = run(variant("norm")).system.form

    def loss_on(test):
        return dataclasses.replace(form, test=test).loss_and_gradient(form.weights)[0]

    slopes = jax.jit(jax.grad(loss_on, allow_int=True))(form.test)
    assert not np.asarray(slopes.basis).any() and not np.asarray(slopes.labels).any()


def test_an_output_depends_on_its_own_sample_alone():
    form = run(variant("norm")).system.form

    def outputs(basis):
        data = dataclasses.replace(form.data, basis=basis)
        return dataclasses.replace(form, data=data).view(form.weights).outputs

    slopes = np.asarray(jax.jit(jax.jacobian(outputs))(form.data.basis))
    depends = np.abs(slopes).sum(-1) > 0
    # Row 0 is the signal, which all samples share; row i + 1 is the noise of sample i.
    np.testing.assert_array_equal(depends[:, 1:], np.eye(6, dtype=bool))


def test_seeds_of_one_variant_share_a_program():
    systems = [training.build(variant("heads", seed=seed)) for seed in (0, 1)]
    plan = training.Plan.of(variant("heads", steps=16))
    before = training.run_chunk._cache_size()
    records = [finish(system, plan).records["train_loss"] for system in systems]
    assert training.run_chunk._cache_size() <= before + 1
    assert not np.array_equal(*records)


def test_a_float32_run_stays_in_float32():
    done = run(variant("norm", precision="float32", steps=40))
    leaves = jax.tree.leaves((done.system, done.state, done.records))
    kinds = {leaf.dtype.name for leaf in leaves if leaf.dtype.kind == "f"}
    assert kinds == {"float32"}
    double = run(variant("norm", steps=40)).records["train_loss"]
    assert_close(done.records["train_loss"], double, slack=10)


def test_a_stored_run_is_that_in_memory(tmp_path):
    experiment = variant("norm", steps=40)
    stored = Store(tmp_path).run(experiment).trajectory()
    for name, array in run_in_memory(experiment).items():
        np.testing.assert_array_equal(stored[name], array)


@pytest.mark.parametrize("form", ["reduced", "gram"])
def test_the_reduced_forms_do_not_hold(form):
    assert training.choose_form(variant("heads")) == "exact"
    assert training.choose_form(variant("heads", rule="adam")) == "full"
    assert training.choose_form(variant("heads", model__kernel="gaussian")) == "full"
    with pytest.raises(InputError) as caught:
        training.choose_form(variant("heads", form=form))
    line = (
        f"form = {form}: does not hold for model stack, rule signgd and kernel softmax"
    )
    line += "; must be auto, exact, full"
    assert str(caught.value) == line


@jax.jit
def gradient(form, params):
    return form.loss_and_gradient(params)[1]


@every_variant
def test_exact_signs_are_those_of_the_gradient_where_it_can_be_computed(name):
    full, exact = (
        run(variant(name, form=f, steps=40)).system for f in ("full", "exact")
    )
    params = run(variant(name, form="full", steps=40)).state.params
    plain, scaled = gradient(full.form, params), gradient(exact.form, params)
    for one, other in zip(*map(jax.tree.leaves, (plain, scaled)), strict=True):
        np.testing.assert_array_equal(np.sign(one), np.sign(other))


def test_one_layer_has_the_exact_signs_of_the_papers_model():
    """Far beyond the range of floating point: z near 1,500 and margins near 900."""
    experiment = small("signgd", model="stack")
    begun = start(experiment)
    loud = scaled_up(begun.weights.readout, 700.0, 3000.0)
    stack = form_at(experiment, StackWeights((), loud))
    paper = form_at(small("signgd", form="exact"), loud)
    signs = gradient(stack, stack.initial())
    reduced = gradient(paper, paper.initial())
    width = small("signgd").model.key_width
    blocks = support_blocks(np.asarray(begun.data.basis), merge=True)
    for part, columns in (("query", slice(0, width)), ("key", slice(width, None))):
        here = np.sign(np.asarray(getattr(signs.readout, part)))[:, blocks.single]
        there = np.asarray(reduced.attention)[: blocks.single.size, columns].T
        np.testing.assert_array_equal(here, there)
    plain = form_at(small("signgd", model="stack", form="full"), StackWeights((), loud))
    rounded = gradient(plain, plain.initial()).readout.query
    lost = np.asarray(rounded == 0) & np.asarray(signs.readout.query != 0)
    assert lost.sum() > 50  # what plain arithmetic makes of them


def test_two_layers_have_the_signs_of_a_thousand_digits():
    """Scores and margins of several hundred: nothing of the gradient is left in floats."""
    experiment = variant("deep", **TINY)
    begun = start(experiment)
    loud = dataclasses.replace(
        begun.weights, readout=scaled_up(begun.weights.readout, 250.0, 5000.0)
    )
    form = form_at(experiment, loud)
    view = jax.jit(lambda form, weights: form.view(weights))(form, loud)
    assert np.asarray(view.margins()).min() > 750 and not view.near_zero.any()
    x, labels = reference.tokens(begun.data), np.asarray(begun.data.labels)
    found = gradient(form, loud)
    signs = [np.sign(np.asarray(leaf)) for leaf in jax.tree.leaves(found)]
    rng = np.random.default_rng(0)
    for leaf, sign in enumerate(signs):
        place = tuple(int(rng.integers(size)) for size in sign.shape)
        where = (leaf, place)
        truth = decimal_stack.gradient_sign(experiment.model, loud, x, labels, where)
        assert truth == sign[place] != 0
    _, plain = form_at(variant("deep", form="full", **TINY), loud).loss_and_gradient(
        loud
    )
    assert not any(np.asarray(leaf).any() for leaf in jax.tree.leaves(plain))


TINY = {
    "task__samples": 2,
    "task__dimension": 4,
    "task__noise_coordinates": 3,
    "model__key_width": 2,
    "model__value_width": 2,
}


def scaled_up(readout, attention, value):
    return dataclasses.replace(
        readout,
        query=attention * readout.query,
        key=attention * readout.key,
        value_plus=value * jnp.abs(readout.value_plus),
        value_minus=-value * jnp.abs(readout.value_minus),
    )


def form_at(experiment, weights):
    begun = dataclasses.replace(start(experiment), weights=weights)
    return training.build(experiment, start=begun).form


def test_the_stage_detector_runs_on_it_unchanged():
    stack, paper = small(model="stack"), small()
    here, there = (detect(run_in_memory(each)) for each in (stack, paper))
    steps = {name: found.step for name, found in here.boundaries.items()}
    assert steps == {name: found.step for name, found in there.boundaries.items()}
    assert steps["I"] is not None and steps["IVa is o(1)"] is not None


@every_variant
def test_the_value_noise_turns_with_the_tokens_that_are_read(name):
    found = detect(run_in_memory(variant(name))).boundaries
    assert found["I"].step is not None
