"""Two-stage training: one kernel first, then the same weights go on with any kernel.

Both stages see the same data, also where a task's targets depend on the kernel; the
rule's memory goes on too, so with the kernel unchanged two stages are one run.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import PyTree

from piste.errors import InputError, field_error
from piste.experiment import Experiment
from piste.store import (
    CHECKPOINT,
    Fresh,
    ProgressCallback,
    Store,
    load_state,
    no_progress,
)
from piste.training import (
    Plan,
    State,
    System,
    build,
    choose_form,
    draw,
    fixed_loss,
    ranked_forms,
    train,
)
from piste.values import override

from .planes import Loss
from .projection import stacked
from .surface import values_at

SNAPSHOTS = 21
"""Snapshots of a stage, its beginning and end included."""


@dataclass(frozen=True)
class TrainingPhase:
    """A stage of training: snapshots of the parameters along the way."""

    kernel: str
    system: System
    steps: np.ndarray
    """The step of every snapshot, counted from the first stage's beginning."""
    losses: np.ndarray
    """The loss at every snapshot."""
    params: PyTree
    """All snapshots: arrays have a first axis over them."""

    @classmethod
    def of(
        cls, kernel: str, system: System, steps: np.ndarray, kept: Sequence[PyTree]
    ) -> "TrainingPhase":
        """A stage from its snapshots, whose losses are computed."""
        params = stacked(kept)
        losses = values_at(fixed_loss(system.form), params)
        return cls(kernel, system, steps, np.asarray(losses), params)

    @property
    def loss(self) -> Loss:
        """The loss as a function of the parameters."""
        return fixed_loss(self.system.form)

    def snapshot(self, index: int) -> PyTree:
        """The parameters at one snapshot."""
        return jax.tree.map(lambda part: part[index], self.params)

    def snapshots(self) -> list[PyTree]:
        """All of them, one after the other."""
        return [self.snapshot(index) for index in range(len(self.steps))]


def in_full_form(experiment: Experiment) -> Experiment:
    """The experiment in the form that has all weights, if it leaves the choice open.

    The reduced forms hold for softmax alone, and have other parameters.
    """
    if experiment.form != "auto" or choose_form(experiment) == "full":
        return experiment  # as it is, so that a run of it that is stored is found
    names = [entry.name for entry in ranked_forms(experiment)]
    return (
        dataclasses.replace(experiment, form="full") if "full" in names else experiment
    )


def first_stage(
    experiment: Experiment,
    store: Store | None = None,
    watch: ProgressCallback = no_progress,
    fresh: Fresh = False,
) -> State:
    """Train an experiment to its end; a store resumes it, or has it already."""
    experiment = in_full_form(experiment)
    with jax.enable_x64(True):
        system = build(experiment)
        if store is None:
            system = dataclasses.replace(system, only=("train_loss",))
            *_, last = train(system, Plan.of(experiment), system.start())
            state = last.state
        else:
            run = store.run(experiment, "stage-one", watch, fresh)
            state, _ = load_state(run.folder / CHECKPOINT, system.start())
    if int(state.diverged) >= 0:
        at = f"ended at step {int(state.diverged)}: {system.ending(state)}"
        raise InputError(
            f"first stage: {at}; must train to its end; try a smaller learning rate"
        )
    return state


def second_system(experiment: Experiment, kernel: str) -> System:
    """The system of the second stage: another kernel, the data of the first."""
    experiment = in_full_form(experiment)
    other = override(experiment, {"model.kernel": kernel})
    start = draw(experiment)
    system = build(other, start=start)
    like = build(experiment, start=start).form.initial()
    found = system.form.initial()
    if _shape(found) != _shape(like):
        raise field_error(
            "kernel",
            kernel,
            f"has other parameters than {experiment.model.attention} in this form; must "
            "have the same; choose a form that holds for both",
        )
    return dataclasses.replace(system, only=("train_loss",))


def _shape(params: PyTree):
    return jax.tree.structure(params), [x.shape for x in jax.tree.leaves(params)]


def snapshot_times(steps: int, snapshots: int) -> np.ndarray:
    """Steps of a stage at which to keep the weights: closer together at first.

    A new kernel makes the loss fall fast at first, and snapshots there match others.

    >>> snapshot_times(100, 6).tolist()
    [0, 4, 16, 36, 64, 100]
    """
    share = np.linspace(0, 1, snapshots) ** 2
    return np.unique((steps * share).round().astype(int))


def continue_training(
    system: System, state: State, times: np.ndarray, done: int = 0
) -> Iterator[tuple[int, State, float]]:
    """The state at every snapshot from ``done`` on, with its number and its loss."""
    # One record per chunk, so that every state on the way comes back.
    plan = Plan(times, np.zeros(times.size, bool), 1)
    for chunk in train(system, plan, state, done):
        yield chunk.index, chunk.state, float(chunk.records["train_loss"][-1])


def second_stage(
    experiment: Experiment,
    state: State,
    kernel: str,
    steps: int,
    snapshots: int = SNAPSHOTS,
) -> TrainingPhase:
    """Go on from the state of a first stage with a kernel, for so many steps."""
    if steps < 1:
        raise field_error("steps-two", steps, "must be at least 1")
    if snapshots < 3:
        raise field_error("snapshots", snapshots, "must be at least 3")
    with jax.enable_x64(True):
        system = second_system(experiment, kernel)
        times = snapshot_times(steps, snapshots)
        kept = [found.params for _, found, _ in continue_training(system, state, times)]
        return TrainingPhase.of(
            kernel, system, int(state.step) + times[: len(kept)], kept
        )


def two_stages(
    experiment: Experiment,
    kernels: tuple[str, ...],
    steps: int,
    snapshots: int = SNAPSHOTS,
) -> dict[str, TrainingPhase]:
    """Train an experiment, then go on with each kernel from the same weights."""
    state = first_stage(experiment)
    return {
        kernel: second_stage(experiment, state, kernel, steps, snapshots)
        for kernel in kernels
    }
