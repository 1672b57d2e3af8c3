r"""Gradient flow, $\dot w = -\nabla L(w)$, by adaptive integration (diffrax).

The equation is solved in units: $w = w_s u$ and $t = t_s\tau$, so that tolerances and the
first step mean the same for every problem. A flow that does not get to its end is not an
error: how it ended is part of what is returned, and the number of steps is bounded.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import optimistix as optx
from jaxtyping import Array, Bool, Float, Int, PyTree

from piste.values import option, value

Gradient = Callable[[PyTree, Any], PyTree]
"""The gradient at parameters, given data."""

SOLVERS = {"tsit5": diffrax.Tsit5, "kvaerno5": diffrax.Kvaerno5}
OUTCOMES = ("reached the end", "event", "step limit", "solver failed")
END, EVENT, LIMIT, FAILED = range(4)


@value
class FlowSettings:
    """How a flow is integrated."""

    solver: str = option(default="tsit5", choices=tuple(SOLVERS))
    """The method: explicit (tsit5), or implicit for stiff flows (kvaerno5)."""
    rtol: float = option(default=1e-6, greater_than=0)
    """Relative tolerance of a step."""
    atol: float = option(default=1e-7, greater_than=0)
    """Absolute tolerance of a step, in units of the parameters."""
    first_step: float = option(default=1e-3, greater_than=0)
    """First step, in units of time."""
    max_steps: int = option(default=16_384, minimum=1)
    """Steps after which a flow ends unfinished."""


class Units(eqx.Module):
    """The natural size of a change of the parameters, and the time it takes."""

    params: Float[Array, ""] | float = 1.0
    time: Float[Array, ""] | float = 1.0


class FlowSolution(eqx.Module):
    """Where a flow went, and how it ended; records not reached are infinite in time."""

    times: Float[Array, " record"]
    params: PyTree
    """As given, with an axis for the records in front."""
    outcome: Int[Array, ""]
    """Place in ``OUTCOMES``."""
    steps: Int[Array, ""]

    def ended(self) -> str:
        """How the flow ended, in words."""
        return OUTCOMES[int(self.outcome)]


@eqx.filter_jit
def flow(
    gradient: Gradient,
    params: PyTree,
    times: Float[Array, " record"],
    *,
    data: Any = None,
    units: Units | None = None,
    settings: FlowSettings | None = None,
) -> FlowSolution:
    """Follow the flow from time 0 and record the parameters at the given times.

    ``data`` goes to the gradient as it is, so that one program serves many data sets.
    """
    units, settings = units or Units(), settings or FlowSettings()
    scaled = times / units.time
    solution = _solve(
        gradient, params, data, units, settings, scaled[-1], diffrax.SaveAt(ts=scaled)
    )
    return _flowed(solution, units)


@eqx.filter_jit
def flow_until(
    gradient: Gradient,
    height: Callable[[PyTree, Any], Float[Array, ""]],
    params: PyTree,
    horizon: Float[Array, ""] | float,
    *,
    data: Any = None,
    units: Units | None = None,
    settings: FlowSettings | None = None,
) -> FlowSolution:
    """Follow the flow until ``height`` rises through zero, at most to the horizon.

    The one record is the moment of the event, found by bisection inside the step; or,
    as the outcome tells, where the flow ended without it.
    """
    units, settings = units or Units(), settings or FlowSettings()

    def scaled_height(t, y, args, **kwargs):
        return height(_times(units.params, y), args[0])

    event = diffrax.Event(scaled_height, Crossing(), direction=True)
    end, save = jnp.asarray(horizon / units.time), diffrax.SaveAt(t1=True)
    solution = _solve(gradient, params, data, units, settings, end, save, event)
    return _flowed(solution, units)


@eqx.filter_jit
def flow_for(
    gradient: Gradient,
    params: PyTree,
    time: Float[Array, ""] | float,
    *,
    data: Any = None,
    units: Units | None = None,
    settings: FlowSettings | None = None,
) -> FlowSolution:
    """Follow the flow for a time; the one record is where it got to, however it ended."""
    units, settings = units or Units(), settings or FlowSettings()
    end, save = jnp.asarray(time / units.time), diffrax.SaveAt(t1=True)
    # As a list: the solver's loops refuse trees with empty parts (a stack of depth 1).
    leaves, tree = jax.tree.flatten(params)

    def slopes(leaves, data):
        return jax.tree.leaves(gradient(jax.tree.unflatten(tree, leaves), data))

    ended = _flowed(_solve(slopes, leaves, data, units, settings, end, save), units)
    return dataclasses.replace(ended, params=jax.tree.unflatten(tree, ended.params))


class _Bracket(eqx.Module):
    lower: Float[Array, ""]
    upper: Float[Array, ""]
    exact: Bool[Array, ""]


class Crossing(optx.AbstractRootFinder):
    """Bisection for a rising function, which looks at the upper end first.

    In a batch, diffrax also searches the flows that had no event, with a function that
    is zero at the upper end; optimistix's own bisection takes these for errors.
    """

    rtol: float = 1e-12
    atol: float = 0.0
    norm: ClassVar[Callable] = jnp.abs

    def init(self, fn, y, args, options, f_struct, aux_struct, tags):
        """Bracket the crossing by the step in which it was noticed."""
        lower, upper = (
            jnp.asarray(options[end], y.dtype) for end in ("lower", "upper")
        )
        return _Bracket(lower, upper, jnp.array(False))

    def step(self, fn, y, args, options, state, tags):
        """Keep the half in which the function rises through zero."""
        height, aux = fn(y, args)
        lower = jnp.where(height < 0, y, state.lower)
        upper = jnp.where(height < 0, state.upper, y)
        exact = state.exact | (height == 0)
        after = jnp.where(exact, y, lower + (upper - lower) / 2)
        return after, _Bracket(lower, upper, exact), aux

    def terminate(self, fn, y, args, options, state, tags):
        """Stop at a bracket of a few units in the last place, or at an exact zero."""
        narrow = state.upper - state.lower <= self.rtol * jnp.abs(state.upper)
        return narrow | state.exact, optx.RESULTS.successful

    def postprocess(self, fn, y, aux, args, options, state, tags, result):
        """Return the upper end of the bracket, where the function is not negative."""
        return jnp.where(state.exact, y, state.upper), aux, {}


def _solve(gradient, params, data, units, settings, end, save, event=None):
    def velocity(t, scaled, args):
        data, units = args
        slope = gradient(_times(units.params, scaled), data)
        return _times(-units.time / units.params, slope)

    return diffrax.diffeqsolve(
        diffrax.ODETerm(velocity),
        SOLVERS[settings.solver](),
        t0=0.0,
        t1=end,
        dt0=jnp.minimum(settings.first_step, end),
        y0=_times(1 / units.params, params),
        args=(data, units),
        saveat=save,
        event=event,
        stepsize_controller=diffrax.PIDController(settings.rtol, settings.atol),
        max_steps=settings.max_steps,
        throw=False,
    )


def _times(factor, tree: Any) -> Any:
    return jax.tree.map(lambda part: factor * part, tree)


def _flowed(solution: diffrax.Solution, units: Units) -> FlowSolution:
    result, codes = solution.result, diffrax.RESULTS
    outcome = jnp.where(result == codes.successful, END, FAILED)
    outcome = jnp.where(result == codes.event_occurred, EVENT, outcome)
    outcome = jnp.where(result == codes.max_steps_reached, LIMIT, outcome)
    return FlowSolution(
        times=_times(units.time, solution.ts),
        params=_times(units.params, solution.ys),
        outcome=outcome,
        steps=solution.stats["num_steps"],
    )
