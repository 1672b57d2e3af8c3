"""Presets: each states its command, the time on 2 cores and what to expect."""

import dataclasses

from piste.experiment import Experiment, Schedule
from piste.rules import GD, Adam, Flow, SignGD
from piste.streams import Stream, stream

from .models import OneHot
from .tasks import DecisionLists
from .theory import attention_theorem

ATTENTION = OneHot(train="attention", start="permutation")
"""Only W is trained, from 0, with V = cP: the setting of Theorem 1."""


def thm_1() -> Experiment:
    """``piste run decision-lists/thm-1``: about 5 s.

    Gradient flow on uniform sets, (L, n, M) = (30, 6, 4). Perfect at a time some ten
    thousand times below the bound 4M/(log(L) γ).
    """
    return _flow(DecisionLists(vocabulary=30, length=6, list_bound=4))


def thm_1_dirichlet() -> Experiment:
    """``piste run decision-lists/thm-1-dirichlet``: about 10 s.

    The same with Dirichlet weights on all sets, (12, 4, 3).
    """
    task = DecisionLists(12, 4, 3, distribution="dirichlet")
    return _flow(task)


def repetition() -> Experiment:
    """``piste run decision-lists/repetition``: about 30 s.

    Independent tokens that may repeat, (16, 5, 3): the bound of Theorem 1 fails.
    """
    task = DecisionLists(16, 5, 3, list_lengths="fixed", distribution="iid")
    experiment = _flow(task)
    instance = task.instance(key=stream(0, Stream.DATA))
    # Ten times the bound: here the flow needs several times as long as it allows.
    rule = Flow(time_step=attention_theorem(instance).bound / 40)
    return dataclasses.replace(experiment, rule=rule)


def _flow(task: DecisionLists) -> Experiment:
    """The flow of Theorem 1 for twenty of its time units, δ/(16 γ log²L) each."""
    theorem = attention_theorem(task.instance(key=stream(0, Stream.DATA)))
    return Experiment(
        task=task,
        model=ATTENTION,
        rule=Flow(time_step=theorem.time_unit / 20),
        steps=400,
        record=Schedule(dense=400, test_every=4),
    )


def thm_2() -> Experiment:
    """``piste run decision-lists/thm-2``: about 30 s.

    Descent on W and V from cP on 200 sets, (64, 32, 2), at 0.15/λ_max of the start
    (the curvature grows up to 6 times on the path). Perfect at step 3 of the millions
    that Theorem 2 allows.
    """
    task = DecisionLists(
        64,
        32,
        2,
        list_lengths="fixed",
        distribution="support",
        support_sets=200,
    )
    model = OneHot(start="permutation")
    rule = GD(learning_rate=0.15, unit="curvature")
    record = Schedule(dense=50, test_every=8)
    return Experiment(task=task, model=model, rule=rule, steps=100, record=record)


def empirics() -> Experiment:
    """``piste run decision-lists/empirics``: about 5 s.

    W and V from small random weights by GD, (10, 4, 3): perfect after some 20 steps.
    """
    return joint(10, 4, 3, "gd")


def empirics_signgd() -> Experiment:
    """``piste run decision-lists/empirics-signgd``: about 5 s. Perfect near step 180."""
    return joint(10, 4, 3, "signgd")


def empirics_adam() -> Experiment:
    """``piste run decision-lists/empirics-adam``: about 5 s. Perfect near step 150."""
    return joint(10, 4, 3, "adam")


def beyond() -> Experiment:
    """``piste run decision-lists/beyond``: about 20 s. (16, 4, 3), perfect by GD too."""
    return joint(16, 4, 3, "gd")


def value_alone() -> Experiment:
    """``piste run decision-lists/value-alone``: about 5 s.

    V alone under uniform attention, (8, 3, 2): V turns to P, half of the labels stay
    wrong.
    """
    experiment = joint(8, 3, 2, "gd")
    model = OneHot(train="value")
    return dataclasses.replace(experiment, model=model, steps=2000)


RULES = {
    "gd": GD(learning_rate=10.0),
    "signgd": SignGD(learning_rate=0.01),
    "adam": Adam(learning_rate=0.01),
}
"""The rules that train W and V from small random weights."""
JOINT_SIZES = ((8, 3, 2), (10, 4, 3), (16, 4, 3))
"""L, n and M of the training from small random weights."""


def joint(vocabulary: int, length: int, list_bound: int, rule: str) -> Experiment:
    """W and V from small random weights, on uniform sets."""
    return Experiment(
        task=DecisionLists(vocabulary, length, list_bound),
        model=OneHot(),
        rule=RULES[rule],
        steps=600,
        record=Schedule(dense=100, test_every=8),
    )
