"""The contract of an update rule, and the open family of all rules."""

import abc
import dataclasses
from collections.abc import Callable
from typing import (
    ClassVar,
    NamedTuple,
    Protocol,
    TypeVar,
    dataclass_transform,
    runtime_checkable,
)

import optax
from jaxtyping import Array, Float, PyTree

from piste.registry import class_family
from piste.values import option, register

R = TypeVar("R", bound="AbstractRule")

Norm = Callable[[PyTree], Float[Array, ""]]
"""The Euclidean norm of a gradient of all weights, in whatever form it is stored."""


@runtime_checkable
class Surroundings(Protocol):
    """What a rule may ask of the form that it trains, before the first step."""

    def curvature(self) -> Float[Array, ""]:
        """Compute the largest curvature of the loss at the initial parameters."""
        ...

    def stiff(self, time: float) -> bool:
        """Tell whether the flow over a time needs an implicit solver."""
        ...


@dataclasses.dataclass(frozen=True)
class AbstractRule(abc.ABC):  # noqa: B024 (a rule descends or flows)
    """How a model is trained: a frozen value.

    The properties below are promises that the exact reductions rely on. A rule that
    promises nothing trains in the full form, which is always right.
    """

    odd: ClassVar[bool] = False
    """Opposite gradients give opposite updates."""
    entrywise: ClassVar[bool] = False
    """Acts entry by entry up to a common factor, and leaves weights without a gradient
    where they are."""
    along_gradient: ClassVar[bool] = False
    """Moves along the gradient, and so stays in the span of the data."""
    equal_steps: ClassVar[bool] = False
    """Every entry with a gradient moves by the same length, however small the gradient:
    entries whose gradients share a sign move together."""
    sign_of_gradient: ClassVar[bool] = False
    """Sees only the sign of the present gradient, which may then come in any scale."""


@dataclasses.dataclass(frozen=True)
class AbstractDescent(AbstractRule):
    """A rule of discrete steps."""

    @abc.abstractmethod
    def transform(self, norm: Norm) -> optax.GradientTransformation:
        """Give the update as an optax transformation.

        ``norm`` measures a gradient of all weights; the sum of squares of what the
        transformation is given is not that in every form.
        """


class SolverSettings(NamedTuple):
    """How a flow is integrated between two records."""

    solver: str
    rtol: float
    atol: float
    max_steps: int


@dataclasses.dataclass(frozen=True)
class AbstractFlow(AbstractRule):
    """A rule of continuous time: gradient flow, with a step of the run as a time."""

    @abc.abstractmethod
    def time_per_step(self) -> float:
        """Give the time that a step of the run lasts."""

    @abc.abstractmethod
    def solver_settings(self) -> SolverSettings:
        """Give what the solver is to do; the solver may be ``auto`` until it settles."""


# --- what some rules can do besides: they have the method or have not -----------------


@runtime_checkable
class Settles(Protocol):
    """A rule of which something depends on the form and its start."""

    def settle(self, form: Surroundings) -> AbstractRule:
        """Give the rule with all of that filled in."""
        ...


@runtime_checkable
class MeasuresCurvature(Protocol):
    """A rule that may measure the curvature when it settles."""

    @property
    def measures_curvature(self) -> bool:
        """Whether these settings do, which takes memory."""
        ...


@runtime_checkable
class HasFlowTime(Protocol):
    """A rule whose steps are steps of the gradient flow."""

    def time_per_step(self) -> float:
        """Give the time of the gradient flow that a step stands for."""
        ...


def settled(rule: AbstractRule, form: Surroundings) -> AbstractRule:
    """Fill in whatever of a rule depends on the form and its start."""
    return rule.settle(form) if isinstance(rule, Settles) else rule


def measures_curvature(rule: AbstractRule) -> bool:
    """Tell whether a rule measures the curvature before the first step."""
    return isinstance(rule, MeasuresCurvature) and rule.measures_curvature


def flow_time_per_step(rule: AbstractRule) -> float | None:
    """Give the time of the flow that a step stands for; None if it is no step of it."""
    return rule.time_per_step() if isinstance(rule, HasFlowTime) else None


RULES = class_family("rule", AbstractRule)
"""All rules by name; :func:`rule` adds to it."""


@dataclass_transform(frozen_default=True, field_specifiers=(option, dataclasses.field))
def rule(name: str) -> Callable[[type[R]], type[R]]:
    """Make a class a rule that every experiment can name."""
    return register(RULES, name)
