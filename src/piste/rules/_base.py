"""The contract of an update rule, and the open family of all rules."""

import abc
import dataclasses
from collections.abc import Callable
from typing import (
    Any,
    ClassVar,
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

    def initial(self) -> PyTree:
        """The parameters before training."""
        ...

    def curvature(self, params: PyTree) -> Float[Array, ""]:
        """The largest curvature of the loss."""
        ...

    def stiff(self, time: float) -> bool:
        """Whether the flow over a time needs an implicit solver."""
        ...


@dataclasses.dataclass(frozen=True)
class AbstractRule(abc.ABC):  # noqa: B024 (a flow has no transform)
    """How a model is trained: a frozen value.

    The properties below are promises that the exact reductions rely on. A rule that
    promises nothing trains in the full form, which is always right.
    """

    entrywise: ClassVar[bool] = False
    """Odd, acts entry by entry up to a common factor, and leaves weights without a
    gradient where they are."""
    along_gradient: ClassVar[bool] = False
    """Moves along the gradient, and so stays in the span of the data."""
    equal_steps: ClassVar[bool] = False
    """Every entry with a gradient moves by the same length, however small the gradient:
    entries whose gradients share a sign move together."""
    sign_of_gradient: ClassVar[bool] = False
    """Sees only the sign of the present gradient, which may then come in any scale."""

    def settle(self, form: Surroundings) -> "AbstractRule":
        """The rule with whatever depends on the form and its start filled in."""
        return self

    def time_per_step(self) -> Any:
        """The time of the gradient flow that a step stands for; None if it is no step of
        the flow.
        """  # noqa: D205
        return None


@dataclasses.dataclass(frozen=True)
class AbstractDescent(AbstractRule):
    """A rule of discrete steps."""

    @abc.abstractmethod
    def transform(self, norm: Norm) -> optax.GradientTransformation:
        """The update as an optax transformation.

        ``norm`` measures a gradient of all weights; the sum of squares of what the
        transformation is given is not that in every form.
        """


RULES = class_family("rule", AbstractRule)
"""All rules by name; :func:`rule` adds to it."""


@dataclass_transform(frozen_default=True, field_specifiers=(option, dataclasses.field))
def rule(name: str) -> Callable[[type[R]], type[R]]:
    """Make a class a rule that every experiment can name."""
    return register(RULES, name)
