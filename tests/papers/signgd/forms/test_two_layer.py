"""All forms of a model train alike, and as the dense oracle says."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from papers.signgd.two_token import forms_of, small
from piste import training
from piste.attention import KERNELS
from piste.errors import InputError
from piste.papers.signgd.forms import assembly as two_token
from piste.papers.signgd.forms.support import support_blocks
from piste.papers.signgd.probes import PROBES
from piste.testing import assert_close
from support import reference
from support.small import finish, run, start

RULES = ("signgd", "gd", "normalised-gd", "adam", "lion")
PAIRS = [(rule, form) for rule in RULES for form in forms_of(rule) if form != "full"]
ARITHMETIC_PROBE = "near_zero_gradients"
"""The one probe that depends on the arithmetic; the Gram form has none of it."""


def test_which_forms_hold():
    assert {rule: forms_of(rule) for rule in RULES} == {
        "signgd": ["full", "reduced", "exact"],
        "gd": ["full", "reduced", "gram"],
        "normalised-gd": ["full", "reduced", "gram"],
        "adam": ["full", "reduced"],
        "lion": ["full", "reduced"],
    }


def assert_alike(one, other, slack):
    assert set(one.records) - {ARITHMETIC_PROBE} == set(other.records) - {
        ARITHMETIC_PROBE
    }
    for name in one.records:
        if name != ARITHMETIC_PROBE:
            assert_close(one.records[name], other.records[name], slack=slack)


@pytest.mark.parametrize(("rule", "form"), PAIRS)
def test_every_form_trains_as_the_full_one(rule, form):
    full, other = run(small(rule, form="full")), run(small(rule, form=form))
    losses = full.records["train_loss"]
    assert losses[-1] < 0.5 * losses[0] and int(full.state.diverged) == -1
    # Adam divides by gradients, and so by their rounding.
    assert_alike(other, full, slack=100 if rule == "adam" else 1)


@pytest.mark.parametrize("rule", ["signgd", "lion"])
def test_merged_coordinates_train_as_single_ones(rule, monkeypatch):
    merged = run(small(rule, form="reduced"))
    monkeypatch.setattr(
        two_token,
        "support_blocks",
        lambda basis, merge, minimum_width: support_blocks(basis, False),
    )
    experiment = small(rule, form="reduced")
    system = training.build(experiment)
    assert float(system.form.copies.max()) == 1 < float(merged.system.form.copies.max())
    single = finish(system, training.Plan.of(experiment))
    assert_alike(single, merged, slack=1)
    np.testing.assert_array_equal(
        single.records[ARITHMETIC_PROBE], merged.records[ARITHMETIC_PROBE]
    )


def test_blocks_cover_each_coordinate_of_the_data_once():
    basis = np.asarray(start(small()).data.basis)
    for merge in (False, True):
        blocks = support_blocks(basis, merge)
        covered = np.abs(np.asarray(blocks.stretch(jnp.eye(basis.shape[1])))).sum(1)
        np.testing.assert_array_equal(covered, (basis != 0).any(0))
        assert blocks.width % 64 == 0 and blocks.copies.size == blocks.width
        assert blocks.copies.sum() == covered.sum()


@pytest.mark.parametrize("rule", RULES)
def test_the_last_records_are_those_of_the_dense_oracle(rule):
    experiment = small(rule, form="full")
    begun, full = start(experiment), run(experiment)
    truth = observed(begun, full.state.params)
    for form in forms_of(rule):
        records = run(small(rule, form=form)).records
        assert set(records) - {ARITHMETIC_PROBE} == set(truth)
        for name in truth:
            assert_close(records[name][-1], truth[name], slack=100)


def observed(begun, weights, kernel="softmax"):
    """Every probe by the dense oracle."""
    x, labels = reference.tokens(begun.data), np.asarray(begun.data.labels)
    mu = np.zeros(x.shape[-1])
    mu[0] = small().task.signal_norm
    tests = reference.tokens(begun.test), np.asarray(begun.test.labels)
    return reference.observe(weights, x, labels, mu, kernel) | {
        "test_loss": np.array(reference.loss(weights, *tests, kernel)),
        "test_error": np.array(reference.error(weights, *tests, kernel)),
    }


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_first_records_are_those_of_the_initial_weights(kernel):
    experiment = small("gd", form="full", model__kernel=kernel, steps=30)
    begun, done = start(experiment), run(experiment)
    for when, weights in ((0, begun.weights), (-1, done.state.params)):
        truth = observed(begun, weights, kernel)
        for name in truth:
            assert_close(done.records[name][when], truth[name])
    assert set(done.records) == {probe.name for probe in PROBES}


@pytest.mark.parametrize("rule", ["gd", "normalised-gd"])
def test_norms_are_those_of_all_weights(rule):
    norms = []
    for form in forms_of(rule):
        done = run(small(rule, form=form))
        for params in (done.system.form.initial(), done.state.params):
            _, gradient = done.system.form.loss_and_gradient(params)
            norms.append(float(training.gradient_norm(done.system.form, gradient)))
    truth = reference_norms(rule)
    assert_close(np.reshape(norms, (-1, 2)), np.tile(truth, (3, 1)), slack=10)


def reference_norms(rule):
    experiment = small(rule, form="full")
    begun = start(experiment)
    x, labels = reference.tokens(begun.data), np.asarray(begun.data.labels)
    both = begun.weights, run(experiment).state.params
    found = [reference.gradients(weights, x, labels).values() for weights in both]
    return np.array([np.sqrt(sum((g**2).sum() for g in parts)) for parts in found])


def test_normalised_gd_moves_all_weights_by_the_learning_rate():
    experiment = small("normalised-gd", form="full")
    system = training.build(experiment)
    before = system.start()
    after = jax.jit(lambda system, state: system.step(state))(system, before)
    moved = jax.tree.map(lambda a, b: ((a - b) ** 2).sum(), after.params, before.params)
    length = np.sqrt(float(sum(jax.tree.leaves(moved))))
    assert_close(length, experiment.rule.learning_rate)


@pytest.mark.parametrize(
    ("rule", "form"), [("signgd", "exact"), ("gd", "gram"), ("adam", "full")]
)
def test_a_float32_run_stays_in_float32_and_near_float64(rule, form):
    single = run(small(rule, form=form, precision="float32", steps=60))
    double = run(small(rule, form=form, steps=60))
    for tree in (single.system, single.state, single.records):
        kinds = {leaf.dtype for leaf in jax.tree.leaves(tree) if leaf.dtype.kind == "f"}
        assert kinds == {np.dtype("float32")}
    here, there = single.records["train_loss"], double.records["train_loss"]
    assert here.dtype == np.float32 and not np.array_equal(here, there)
    assert_close(here, there, slack=10)


def test_a_float32_run_starts_from_the_same_numbers():
    single = training.build(small("gd", form="full", precision="float32"))
    rounded = jax.tree.map(lambda x: x.astype("float32"), start(small()).weights)
    assert_close(single.start().params, rounded, slack=0)


CHOICES = [
    ({}, "exact"),
    ({"rule": "gd"}, "gram"),
    ({"rule": "normalised-gd"}, "gram"),
    ({"rule": "adam"}, "reduced"),
    ({"rule": "lion"}, "reduced"),
    ({"model__kernel": "gaussian"}, "full"),
    ({"form": "full"}, "full"),
]


@pytest.mark.parametrize(("changes", "form"), CHOICES)
def test_the_form_that_auto_chooses(changes, form):
    assert training.choose_form(small(**changes)) == form


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"rule": "adam", "form": "exact"},
            "form = exact: does not hold for model two-layer, rule adam "
            "and kernel softmax; "
            "must be auto, reduced, full",
        ),
        (
            {"form": "gram"},
            "form = gram: does not hold for model two-layer, rule signgd "
            "and kernel softmax; "
            "must be auto, exact, reduced, full",
        ),
        (
            {"rule": "gd", "form": "reduced", "model__kernel": "gaussian"},
            "form = reduced: does not hold for model two-layer, rule gd "
            "and kernel gaussian; "
            "must be auto, full",
        ),
    ],
)
def test_a_form_that_does_not_hold_is_refused(changes, line):
    with pytest.raises(InputError) as caught:
        training.build(small(**changes))
    assert str(caught.value) == line


def test_drawing_is_a_function_of_the_experiment_alone():
    one, other = training.draw(small()), training.draw(small("adam", form="full"))
    for here, there in zip(_leaves(one), _leaves(other), strict=True):
        np.testing.assert_array_equal(here, there)


def _leaves(begun):
    return jax.tree.leaves(dataclasses.astuple(begun))


def test_the_gram_form_holds_where_samples_outnumber_dimensions():
    changes = {"task__samples": 11, "task__dimension": 8, "task__noise_coordinates": 3}
    gram, full = (
        run(small("gd", form=form, steps=60, **changes)) for form in ("gram", "full")
    )
    assert gram.state.params.value.shape == (12,)
    assert_alike(gram, full, slack=1)
