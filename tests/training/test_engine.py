"""The engine: when it records, what it keeps, when it stops, how often it compiles."""

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piste import training
from piste.experiment import Schedule
from piste.probes import OFTEN
from piste.testing import assert_close
from piste.training import Plan, run_chunk
from support.small import finish, run, stacked
from support.tiny import tiny

RECORDS = st.builds(
    Schedule, st.integers(1, 50), st.integers(1, 9), chunk=st.integers(1, 20)
)


@given(RECORDS, st.integers(1, 3000))
def test_times_are_dense_then_ever_thinner(record, steps):
    times = record.times(steps)
    gaps = np.diff(times)
    assert times[0] == 0 and times[-1] == steps
    dense = min(record.dense, steps)
    np.testing.assert_array_equal(times[: dense + 1], np.arange(dense + 1))
    assert (np.diff(gaps[:-1]) >= 0).all() and (gaps > 0).all()
    # The gap is a power of two, and within a factor of two of time over ``dense``.
    inner = gaps[:-1]
    assert (inner & (inner - 1) == 0).all()
    assert (inner <= np.maximum(1, 2 * times[:-2] / record.dense)).all()
    assert (inner >= times[:-2] / record.dense).all()


@given(RECORDS, st.integers(1, 3000))
def test_a_plan_cuts_the_records_into_equal_chunks(record, steps):
    times = record.times(steps)
    plan = Plan(times, record.tests(times.size), record.chunk)
    gaps = [plan.gaps(index) for index in range(plan.chunks)]
    flags = [plan.flags(index) for index in range(plan.chunks)]
    assert {part.size for part in gaps + flags} == {record.chunk}
    assert np.concatenate(gaps).sum() == steps
    np.testing.assert_array_equal(np.concatenate(gaps).cumsum()[: times.size], times)
    filling = np.concatenate(flags)[times.size :]
    assert not filling.any() and filling.size < record.chunk
    blocks = [range(times.size)[plan.block(index)] for index in range(plan.chunks)]
    assert [place for block in blocks for place in block] == list(range(times.size))


@given(RECORDS, st.integers(1, 3000))
def test_every_chunk_and_the_end_are_tested(record, steps):
    times = record.times(steps)
    plan = Plan(times, record.tests(times.size), record.chunk)
    assert all(plan.flags(index)[0] for index in range(plan.chunks))
    assert plan.tests[-1]
    sizes = [
        plan.test_block(i).stop - plan.test_block(i).start for i in range(plan.chunks)
    ]
    assert sizes == [plan.flags(index).sum() for index in range(plan.chunks)]
    assert sum(sizes) == plan.tests.sum()


def test_records_have_the_length_of_the_plan():
    done = run(tiny())
    for probe in done.system.form.probes():
        often = probe.along == OFTEN
        length = done.plan.times.size if often else done.plan.tests.sum()
        assert done.records[probe.name].shape[0] == length
    assert int(done.state.step) == 300


def test_recording_does_not_touch_training():
    dense = run(tiny())
    thin = run(tiny(record__dense=3, record__chunk=4))
    assert thin.plan.times.size < dense.plan.times.size / 2
    assert_close(thin.state, dense.state, slack=0)


def test_resuming_at_a_chunk_gives_the_same_bits():
    system, plan = run(tiny("adam")).system, Plan.of(tiny("adam"))
    chunks = list(training.train(system, plan, system.start()))
    middle = jax.tree.map(np.asarray, chunks[1].state)
    again = list(training.train(system, plan, middle, start=2))
    assert [chunk.index for chunk in again] == [chunk.index for chunk in chunks[2:]]
    assert_close(again[-1].state, chunks[-1].state, slack=0)
    assert_close(again[-1].records, chunks[-1].records, slack=0)


@pytest.mark.parametrize("kernel", ["softmax", "linear"])
def test_divergence_is_recorded_with_its_step(kernel):
    experiment = tiny("gd", model__kernel=kernel, rule__learning_rate=1e200)
    done = run(experiment)
    step, losses = int(done.state.diverged), done.records["train_loss"]
    # Every step is recorded this early, and a record may see it before the step does.
    assert step == np.flatnonzero(~np.isfinite(losses))[0] > 0
    assert step <= first_broken_step(done.system)
    # Training ends with the chunk, long before the end of the plan.
    assert losses.size == experiment.record.chunk < done.plan.times.size


def first_broken_step(system):
    """By single steps, looking at the loss before each."""
    state, step = system.start(), jax.jit(lambda state: system.step(state))
    loss = jax.jit(lambda params: system.form.loss_and_gradient(params)[0])
    for _ in range(10):
        if not np.isfinite(loss(state.params)):
            return int(state.step)
        state = step(state)
    raise AssertionError("the loss stayed finite")


def test_a_run_that_does_not_diverge_says_so():
    assert int(run(tiny()).state.diverged) == -1


SWEEP = [
    {"seed": 0},
    {"seed": 1},
    {"seed": 2},
    {"rule__learning_rate": 1e-3},
    {"task__noise_scale": 1.0},
    {"task__noise_scale": 0.5, "model__init_scale": 0.2},
]


@pytest.mark.parametrize("rule", ["signgd", "gd", "normalised-gd", "adam", "lion"])
def test_seeds_and_floats_share_one_compiled_program(rule):
    before, losses = run_chunk._cache_size(), []
    for changes in SWEEP:
        experiment = tiny(rule, **({"steps": 20, "record__chunk": 7} | changes))
        done = finish(training.build(experiment), Plan.of(experiment))
        losses.append(done.records["train_loss"][-1])
    assert run_chunk._cache_size() == before + 1
    assert len(set(losses)) == len(SWEEP)


@pytest.mark.parametrize("rule", ["signgd", "gd"])
def test_a_batch_of_two_is_two_single_runs(rule):
    singles = [run(tiny(rule, seed=seed)) for seed in (0, 1)]
    plan = singles[0].plan
    systems = stacked([done.system for done in singles])
    state = jax.vmap(lambda system: system.start())(systems)
    batch = jax.vmap(run_chunk, in_axes=(0, 0, None, None))
    state, records = batch(systems, state, plan.gaps(0), plan.flags(0))
    for place, done in enumerate(singles):
        for probe in done.system.form.probes():
            if probe.along == OFTEN:
                truth = done.records[probe.name][: plan.chunk]
                assert_close(records[probe.name][place], truth, slack=10)
    assert state.step.tolist() == [plan.times[plan.chunk - 1]] * 2
