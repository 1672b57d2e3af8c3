"""Training in compiled chunks: some records, each after a number of steps."""

import dataclasses
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from piste.errors import field_error
from piste.experiment import Experiment
from piste.installed import bring_members
from piste.probes import BROUGHT, OFTEN, RARELY, Probe
from piste.probes.curvature import hessian_extremes
from piste.rules import (
    AbstractDescent,
    AbstractFlow,
    AbstractRule,
    flow_time_per_step,
)

from ._base import AbstractForm, State
from .abilities import (
    apply_updates,
    compiler_options_of,
    evaluation_gradient,
    gradient_norm,
    placed,
    weight_unit,
)
from .flow import EVENT, OUTCOMES, FlowSettings, Units, flow_for
from .rates import RateFactor

Records = dict[str, Array]


class FlowState(eqx.Module):
    """How the last solve of a flow ended, and the solver's steps so far."""

    outcome: Int[Array, ""]
    solver_steps: Int[Array, ""]


def _hessian_ends(given) -> Float[Array, " end"]:
    form, params = given
    found = hessian_extremes(lambda p: evaluation_gradient(form, p), params)
    return jnp.stack([found.smallest, found.largest])


CURVATURE = Probe(
    "hessian_extremes",
    r"$\lambda_{\min}, \lambda_{\max}$",
    "smallest and largest eigenvalue of the Hessian of the training loss",
    _hessian_ends,
    ("end",),
    ("smallest", "largest"),
    along=RARELY,
    on_form=True,
)


def brought_probes(
    form: AbstractForm, may_see: Callable[[type], bool]
) -> tuple[Probe, ...]:
    """The probes that others have added to the views of a form.

    ``may_see`` tells of a class of views whether the form is said to have it.
    """
    bring_members()
    chosen = {kind: probes for kind, probes in BROUGHT.items() if may_see(kind)}
    if not chosen:
        return ()
    # Shapes alone: the class of a view is all that is asked, and data may be large.
    params = jax.eval_shape(form.initial)
    views = {
        False: jax.eval_shape(form.view, params),
        True: jax.eval_shape(form.test_view, params),
    }
    added = [
        probe
        for kind, probes in chosen.items()
        for probe in probes.values()
        if isinstance(views[probe.on_test], kind)
    ]
    names = {probe.name for probe in form.probes()}
    for probe in added:
        if probe.name in names:
            expected = "is the name of a probe of this form; must be another one"
            raise field_error("probe", probe.name, expected)
    return tuple(added)


class System(eqx.Module):
    """All that a step needs and does not change: the form and the rule."""

    form: AbstractForm
    rule: AbstractRule
    only: tuple[str, ...] = eqx.field(static=True, default=())
    """Names of the probes to measure; empty for all that the form has."""
    curvature: bool = eqx.field(static=True, default=False)
    """Whether the ends of the Hessian's spectrum are measured too."""
    brought: tuple[Probe, ...] = eqx.field(static=True, default=())
    """Probes from outside. Part of the system, because a compiled program measures what
    it was compiled for, whatever has been added or taken away since."""
    rate: RateFactor | None = None
    """By what a step's update is multiplied; None for 1."""

    def probes(self) -> tuple[Probe, ...]:
        """What is measured."""
        known = (*self.form.probes(), *self.brought)
        known += (CURVATURE,) if self.curvature else ()
        return tuple(p for p in known if not self.only or p.name in self.only)

    def start(self) -> State:
        """The state before the first step."""
        params = self.form.initial()
        # −1 is "not yet": no divergence, and no weights that stand still.
        zero = jnp.zeros((), int)
        if isinstance(self.rule, AbstractFlow):
            return State(params, FlowState(zero, zero), zero, zero - 1, zero - 1)
        assert isinstance(self.rule, AbstractDescent)
        transform = self.rule.transform(self._norm)
        return State(params, transform.init(params), zero, zero - 1, zero - 1)

    def advance(self, state: State, steps: Int[Array, ""]) -> State:
        """So many steps of training; under the flow, the time of so many in one solve."""
        if isinstance(self.rule, AbstractFlow):
            # The record at time 0 and the filling of the last chunk take no time, and
            # then there is nothing to solve.
            flowing = functools.partial(self._flow, state, steps)
            return jax.lax.cond(steps > 0, flowing, lambda: state)
        return jax.lax.fori_loop(0, steps, lambda _, s: self.step(s), state)

    def step(self, state: State) -> State:
        """One pure step of a discrete rule."""
        assert isinstance(self.rule, AbstractDescent)
        loss, gradient = self.form.loss_and_gradient(state.params, state.step)
        transform = self.rule.transform(self._norm)
        updates, rule = transform.update(gradient, state.rule, state.params)
        if self.rate is not None:
            factor = self.rate(state.step)
            # In each weight's own type: a float64 factor would make float32 weights wider.
            updates = jax.tree.map(
                lambda part: factor.astype(part.dtype) * part, updates
            )
        # The step of the first one is kept.
        broken = (state.diverged < 0) & ~jnp.isfinite(loss)
        return State(
            params=apply_updates(self.form, state.params, updates),
            rule=rule,
            step=state.step + 1,
            diverged=jnp.where(broken, state.step, state.diverged),
            still=state.still,
        )

    def _norm(self, gradient: PyTree) -> Float[Array, ""]:
        return gradient_norm(self.form, gradient)

    def _flow(self, state: State, steps: Int[Array, ""]) -> State:
        rule = self.rule
        assert isinstance(rule, AbstractFlow)
        time_step, how = rule.time_per_step(), rule.solver_settings()
        ended = flow_for(
            _slope,
            state.params,
            steps * time_step,
            data=self.form,
            units=Units(weight_unit(self.form), time_step),
            settings=FlowSettings(
                how.solver, how.rtol, how.atol, max_steps=how.max_steps
            ),
        )
        # A solver that gives up is the flow's divergence: the run ends with a reason.
        failed = (state.diverged < 0) & (ended.outcome > EVENT)
        taken = state.rule.solver_steps + ended.steps
        return State(
            params=jax.tree.map(lambda part: part[0], ended.params),
            rule=FlowState(ended.outcome, taken.astype(state.step.dtype)),
            step=state.step + steps,
            # What is recorded next is not of its time: the last one that is counts.
            diverged=jnp.where(failed, state.step, state.diverged),
            still=state.still,
        )

    def time_step(self) -> Float[Array, "*cell"] | None:
        """Flow time that a step stands for; none where steps are no Euler steps of it."""
        step = flow_time_per_step(self.rule) if self.rate is None else None
        return None if step is None else jnp.asarray(step)

    def ending(self, state: State) -> str:
        """Why a run stopped early, in words; empty if it did not."""
        if int(state.diverged) < 0:
            return ""
        if isinstance(state.rule, FlowState) and int(state.rule.outcome) > EVENT:
            how = OUTCOMES[int(state.rule.outcome)]
            return f"the flow stopped before the next record: {how}"
        return "the loss is not finite"

    def checked(self, before: State, state: State, records: Records) -> State:
        """Note a divergence that a record shows, and whether any weight has moved."""
        loss = records.get("train_loss", jnp.zeros(()))
        broken = (state.diverged < 0) & ~jnp.isfinite(loss)
        diverged = jnp.where(broken, state.step, state.diverged)
        # Weights that stand still have done so since the record before this one.
        since = jnp.where(before.still < 0, before.step, before.still)
        still = jnp.where(_moved(before.params, state.params), -1, since)
        # Where no step was taken nothing can have moved, which says nothing.
        still = jnp.where(state.step == before.step, before.still, still)
        return dataclasses.replace(state, diverged=diverged, still=still)

    def measure(self, state: State, rare: Bool[Array, ""]) -> Records:
        """All probes; those that are measured rarely are zero unless asked for."""
        # Both branches of a condition must have the same shapes; the zeros are dropped
        # on the host by _measured.
        rarely = jax.eval_shape(lambda: self._measure(state, RARELY))
        zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), rarely)
        return self._measure(state, OFTEN) | jax.lax.cond(
            rare, lambda: self._measure(state, RARELY), lambda: zeros
        )

    def _measure(self, state: State, along: str) -> Records:
        form, params = self.form, state.params
        views = {False: form.view(params), True: form.test_view(params)}
        probes = [probe for probe in self.probes() if probe.along == along]
        return {
            p.name: p.compute((form, params) if p.on_form else views[p.on_test])
            for p in probes
        }


def _moved(before: PyTree, after: PyTree) -> Bool[Array, ""]:
    """Whether any number of two trees differs; a NaN does from everything."""
    pairs = zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True)
    return jnp.stack([(one != other).any() for one, other in pairs]).any()


def _slope(params: PyTree, form: AbstractForm) -> PyTree:
    """The gradient as it moves the parameters, which some forms apply in their way."""
    _, gradient = form.loss_and_gradient(params)
    # How far it moves zeros is what the form makes of it.
    downhill = jax.tree.map(jnp.negative, gradient)
    moved = apply_updates(form, jax.tree.map(jnp.zeros_like, params), downhill)
    return jax.tree.map(jnp.negative, moved)


def _chunk(
    system: System,
    state: State,
    gaps: Int[Array, " record"],
    tests: Bool[Array, " record"],
) -> tuple[State, Records]:
    """Advance by each gap and measure, all in one compiled program."""

    def record(before, plan):
        gap, test = plan
        state = system.advance(before, gap)
        records = system.measure(state, test)
        return system.checked(before, state, records), records

    return jax.lax.scan(record, state, (gaps, tests))


run_chunk = jax.jit(_chunk)


# One program for each set of options, as all chunks of a run share one.
@functools.cache
def _compiled(options: frozenset[tuple[str, int | bool]]):
    """The same program for a form that tells the compiler something."""
    return jax.jit(_chunk, compiler_options=dict(options)) if options else run_chunk


@dataclass(frozen=True)
class Plan:
    """The records of a run, cut into chunks of one length, so that one program runs all."""

    times: np.ndarray
    tests: np.ndarray
    chunk: int

    @staticmethod
    def of(experiment: Experiment) -> "Plan":
        """The plan that an experiment's schedule makes."""
        times = experiment.record.times(experiment.steps)
        tests = experiment.record.tests(times.size)
        return Plan(times, tests, experiment.record.chunk)

    @property
    def chunks(self) -> int:
        """How many chunks there are."""
        return -(-self.times.size // self.chunk)

    def block(self, index: int) -> slice:
        """The records of one chunk."""
        return slice(index * self.chunk, min((index + 1) * self.chunk, self.times.size))

    def test_block(self, index: int) -> slice:
        """The test records of one chunk, counted among test records."""
        block = self.block(index)
        return slice(self.tests[: block.start].sum(), self.tests[: block.stop].sum())

    def gaps(self, index: int) -> np.ndarray:
        """Steps before each record of a chunk; the last chunk is filled up with zeros."""
        block = self.block(index)
        gaps = np.diff(self.times, prepend=0)[block]
        return np.pad(gaps, (0, self.chunk - gaps.size))

    def flags(self, index: int) -> np.ndarray:
        """Which records of a chunk measure the test probes."""
        flags = self.tests[self.block(index)]
        return np.pad(flags, (0, self.chunk - flags.size))


@dataclass(frozen=True)
class Chunk:
    """What one chunk gave: its place, the state after it, and the records on the host."""

    index: int
    state: State
    records: dict[str, np.ndarray]


Stop = Callable[[dict[str, np.ndarray]], np.ndarray]
"""Tells of every record of a chunk whether training is to end there."""


def train(
    system: System, plan: Plan, state: State, start: int = 0, stop: Stop | None = None
) -> Iterator[Chunk]:
    """Run the chunks from ``start`` on; end after one in which the loss diverged.

    With ``stop`` it ends at the first record of which that is true: the last chunk has no
    records after it, and the state of that record.
    """
    program = _compiled(frozenset(compiler_options_of(system.form).items()))
    state = placed(system.form, state)
    # A stored state may be that of a run which diverged: there is nothing to go on with.
    if int(state.diverged) >= 0:
        return
    for chunk in chunks_of(program, system, plan, state, start):
        ends = np.flatnonzero(stop(chunk.records)) if stop else np.empty(0, int)
        if ends.size:
            yield _cut(program, system, plan, state, chunk, int(ends[0]))
            return
        yield chunk
        state = chunk.state
        if int(state.diverged) >= 0:
            return


def _cut(program, system: System, plan: Plan, before: State, chunk: Chunk, last: int):
    """The chunk up to a record: the same program, with no steps after it."""
    gaps = plan.gaps(chunk.index)
    # Run again with no steps after the record: a chunk returns only its last state, and
    # a shorter one would have to be compiled.
    gaps[last + 1 :] = 0
    state, _ = program(system, before, gaps, plan.flags(chunk.index))
    often = {p.name for p in system.probes() if p.along == OFTEN}
    tests = int(plan.flags(chunk.index)[: last + 1].sum())
    records = {
        name: part[: last + 1 if name in often else tests]
        for name, part in chunk.records.items()
    }
    return Chunk(chunk.index, state, records)


def chunks_of(
    program: Callable[..., tuple[State, Records]],
    system: System,
    plan: Plan,
    state: State,
    start: int = 0,
    axis: int = 0,
) -> Iterator[Chunk]:
    """Run chunk after chunk; ``axis`` is that of the records in what comes back."""
    along = {probe.name: probe.along for probe in system.probes()}
    for index in range(start, plan.chunks):
        state, records = program(system, state, plan.gaps(index), plan.flags(index))
        kept = {
            name: _measured(np.asarray(part), along[name], plan, index, axis)
            for name, part in records.items()
        }
        del records  # before the next ones are there
        yield Chunk(index, state, kept)
        del kept


def _measured(
    part: np.ndarray, along: str, plan: Plan, index: int, axis: int
) -> np.ndarray:
    """Drop the filling of the last chunk, and test records that were not measured."""
    block = plan.block(index)
    chosen = slice(block.stop - block.start) if along == OFTEN else plan.flags(index)
    return part[(slice(None),) * axis + (chosen,)]
