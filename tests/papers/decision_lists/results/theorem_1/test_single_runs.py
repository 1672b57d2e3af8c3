"""Theorem 1 on recorded runs, also on those that show nothing."""

import dataclasses
import math
import warnings

import jax
import numpy as np
import pytest
import xarray as xr

from piste.experiment import Experiment, Schedule
from piste.papers.decision_lists.models import OneHot
from piste.papers.decision_lists.results.theorem_1.single_runs import run_verdict
from piste.papers.decision_lists.tasks import DecisionLists
from piste.papers.decision_lists.theory import attention_theorem
from piste.rules import GD, Flow
from piste.values import to_json
from support.decision_lists import HOLDS, OPEN, UNMET, VIOLATED
from support.plain import DEFAULT

NAN = math.nan


RUN = Experiment(
    task=DecisionLists(6, 3, 2),
    model=OneHot(train="attention", start="permutation"),
    rule=Flow(time_step=0.1),
    steps=4,
    record=Schedule(),
)


OTHER = {"task": DEFAULT.task, "model": DEFAULT.model}


def trajectory(margin, step=1.0, **changes) -> xr.Dataset:
    """A run with given margins at equal distances of time."""
    experiment = dataclasses.replace(RUN, **changes)
    steps = np.arange(len(margin))
    data = xr.Dataset({"margin": ("step", np.array(margin, float))}, {"step": steps})
    data = data.assign_coords(time=("step", step * steps))
    return data.assign_attrs(experiment=to_json(experiment))


@pytest.mark.parametrize(
    ("run", "outcome"),
    [
        (trajectory([0, -1, 1, 2]), HOLDS),
        (trajectory([0, -1, 1], step=1e4), VIOLATED),
        (trajectory([0, -1, -1, 1], step=1e4), VIOLATED),
        (trajectory([0, -1, -1], step=1e4), VIOLATED),
        (trajectory([0, -1, -1]), OPEN),  # too short
        (trajectory([0, NAN, 1]), OPEN),
        (trajectory([NAN, NAN, NAN]), OPEN),
        (trajectory([1, 1, 1]), OPEN),
        (trajectory([]), OPEN),
        (trajectory([0, -1, 1, 2], rule=GD(learning_rate=0.1)), UNMET),
        (trajectory([0, 1], model=OneHot(start="permutation")), UNMET),
        (trajectory([0, 1], model=OneHot(train="attention")), UNMET),
        (
            trajectory(
                [0, 1],
                model=OneHot(train="attention", start="permutation", value_scale=3.0),
            ),
            UNMET,
        ),
        (trajectory([0, -1, 1]).drop_vars("time"), OPEN),
        (trajectory([0, -1, 1]).drop_attrs(), OPEN),
        (trajectory([0, 1], **OTHER), OPEN),
    ],
)
def test_theorem_1_on_a_run(run, outcome):
    verdict = run_verdict(run)
    assert verdict.outcome == outcome, verdict.sentence()


def test_a_run_is_judged_in_64_bits_wherever_it_is_judged():
    with jax.enable_x64(False), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run_verdict(trajectory([0, -1, 1, 2])).outcome == HOLDS


def test_a_coarse_record_around_the_bound_is_inconclusive():
    bound = attention_theorem(RUN.task.instance(key=jax.random.key(0))).bound
    # The bound depends on the sizes alone where all sets are equally likely.
    run = trajectory([0, -1, 1], step=0.75 * bound)
    verdict = run_verdict(run)
    assert verdict.outcome == OPEN and "too coarse" in verdict.measured
