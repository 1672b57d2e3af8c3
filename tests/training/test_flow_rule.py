"""Gradient flow as a rule: every task can be trained by it, and every ending is said."""

import dataclasses

import jax
import numpy as np
import pytest

from piste import training
from piste.experiment import Experiment
from piste.papers.decision_lists.models import OneHot
from piste.papers.decision_lists.tasks import DecisionLists
from piste.rules import GD, Flow
from piste.store import Store, run_in_memory
from piste.values import override
from support.tiny import TINY

TIME = 40.0
FLOW = dataclasses.replace(
    override(TINY, {"steps": 8, "model.init-scale": 1.0}),
    rule=Flow(time_step=TIME / 8, rtol=1e-10, atol=1e-12),
)


def descent(steps: int, **changes) -> Experiment:
    experiment = override(FLOW, {"steps": steps, **changes})
    return dataclasses.replace(experiment, rule=GD(learning_rate=TIME / steps))


@pytest.mark.parametrize("kernel", ["softmax", "gaussian"])
def test_descent_follows_the_flow_with_an_error_of_the_order_of_its_step(kernel):
    changes = {"model.kernel": kernel}
    exact = run_in_memory(override(FLOW, changes))
    steps = np.array([64, 128, 256, 512])
    errors = []
    for count in steps:
        run = run_in_memory(descent(int(count), **changes))
        np.testing.assert_allclose(run.time[-1], exact.time[-1])
        gap = run.margins[-1].values - exact.margins[-1].values
        errors.append(np.abs(gap).max())
    moved = exact.margins[-1] - exact.margins[0]
    assert errors[0] < 0.2 * float(np.abs(moved).max())
    slope = np.polyfit(np.log(1 / steps), np.log(errors), 1)[0]
    assert abs(slope - 1) < 0.1


def test_time_is_recorded_for_the_flow_and_for_descent_only(tmp_path):
    store = Store(tmp_path)
    flowed = store.run(FLOW).trajectory()
    np.testing.assert_allclose(flowed.time, flowed.step * TIME / 8)
    assert flowed.time.dims == ("step",) and "time" in flowed.coords
    assert "time" in store.run(descent(16)).trajectory().coords
    assert "time" not in run_in_memory(TINY).coords


def test_a_flow_that_fails_is_an_outcome(tmp_path):
    hasty = dataclasses.replace(FLOW, rule=Flow(time_step=5.0, max_steps=2))
    run = Store(tmp_path).run(hasty)
    ended = "the flow stopped before the next record: step limit"
    assert run.manifest.ended == ended and run.manifest.diverged == 0
    # Where the solver got to by then is a state of another time, and not recorded.
    assert run.trajectory().step.values.tolist() == [0]


def test_an_interrupted_flow_goes_on_to_the_same_bits(tmp_path):
    experiment = override(FLOW, {"steps": 40, "record.chunk": 8, "record.dense": 40})
    whole = Store(tmp_path / "whole").run(experiment).trajectory()

    def stop(step, loss):
        if step >= 15:
            raise KeyboardInterrupt

    store = Store(tmp_path / "parts")
    with pytest.raises(KeyboardInterrupt):
        store.run(experiment, watch=stop)
    again = store.run(experiment).trajectory()
    for name in ("train_loss", "margins"):
        np.testing.assert_array_equal(again[name], whole[name])


def repeating(scale: float, solver: str = "auto") -> Experiment:
    """Tokens that repeat: scores must travel log(n − 1) in units of n/c."""
    model = OneHot(train="attention", start="permutation", value_scale=scale)
    rule = Flow(time_step=1e-4, solver=solver)
    return Experiment(
        task=DecisionLists(8, 3, 2, distribution="iid"), model=model, rule=rule
    )


def test_a_solver_is_settled_by_stiffness():
    edge = 100 * 3 / np.log(2)
    assert training.build(repeating(0.99 * edge)).rule.solver == "tsit5"
    assert training.build(repeating(1.01 * edge)).rule.solver == "kvaerno5"
    assert training.build(repeating(1.0, "kvaerno5")).rule.solver == "kvaerno5"


def test_a_batch_of_flows_is_one_program():
    experiments = [dataclasses.replace(FLOW, seed=seed) for seed in range(2)]
    systems = [training.build(each, pad_for_batching=True) for each in experiments]
    shapes = [jax.tree.map(np.shape, system) for system in systems]
    assert shapes[0] == shapes[1]
