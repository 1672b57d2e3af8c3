"""What a form can do besides training: each ability is a protocol that it has or has not.

This is the one place where abilities are asked for. A form has one by defining its methods;
without them the functions below do what is right for weights that are stored as they are.
"""

from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PyTree

from piste.probes.curvature import hessian_extremes

from ._base import AbstractForm, State


@runtime_checkable
class HasFixedLoss(Protocol):
    """A form whose step sees another loss or gradient than the one to be shown."""

    def evaluation_loss(self, params: PyTree) -> Float[Array, ""]:
        """Compute the loss as a fixed function of the parameters."""
        ...

    def gradient(self, params: PyTree) -> PyTree:
        """Compute the gradient of that function; its derivative is the Hessian."""
        ...


@runtime_checkable
class AppliesUpdates(Protocol):
    """A form whose parameters do not move as the weights that they stand for."""

    def apply(self, params: PyTree, updates: PyTree) -> PyTree:
        """Add a rule's updates to the parameters."""
        ...


@runtime_checkable
class HasNorm(Protocol):
    """A form whose gradient has other entries than that of all weights."""

    def norm(self, gradient: PyTree) -> Float[Array, ""]:
        """Compute the Euclidean norm of the gradient of all weights."""
        ...


@runtime_checkable
class Curved(Protocol):
    """A form that knows a curvature of its own, such as that of Gauss and Newton."""

    def curvature(self, params: PyTree) -> Float[Array, ""]:
        """Compute the largest curvature of the loss."""
        ...


@runtime_checkable
class Stiff(Protocol):
    """A form whose flow has a scale of its own and may need an implicit solver."""

    def unit(self) -> Float[Array, ""] | float:
        """Give the natural size of a change of a weight: the unit of tolerances."""
        ...

    def stiff(self, time: float) -> bool:
        """Tell whether the flow over a time needs an implicit solver."""
        ...


@runtime_checkable
class Sharded(Protocol):
    """A form whose work is shared out over several devices."""

    def shares(self) -> int:
        """Give the number of devices; rounding depends on it."""
        ...

    def placed(self, state: State) -> State:
        """Put the state on the devices where a step leaves it: one program, not two."""
        ...

    def compiler_options(self) -> dict[str, int | bool]:
        """Give what the compiler of a chunk of training should be told."""
        ...


ABILITIES = (HasFixedLoss, AppliesUpdates, HasNorm, Curved, Stiff, Sharded)
"""All abilities; :func:`piste.testing.check_form` refuses half of one."""


def evaluation_loss(form: AbstractForm, params: PyTree) -> Float[Array, ""]:
    """Compute the loss as a fixed function of the parameters, whatever a step's batch."""
    if isinstance(form, HasFixedLoss):
        return form.evaluation_loss(params)
    return form.loss_and_gradient(params)[0]


def fixed_loss(form: AbstractForm):
    """Give that loss as a function of the parameters alone, which is a tree for JAX."""
    return jax.tree_util.Partial(evaluation_loss, form)


def evaluation_gradient(form: AbstractForm, params: PyTree) -> PyTree:
    """Compute the gradient of that loss; its derivative is the Hessian."""
    if isinstance(form, HasFixedLoss):
        return form.gradient(params)
    return form.loss_and_gradient(params)[1]


def apply_updates(form: AbstractForm, params: PyTree, updates: PyTree) -> PyTree:
    """Add a rule's updates to the parameters."""
    if isinstance(form, AppliesUpdates):
        return form.apply(params, updates)
    return optax.apply_updates(params, updates)


def gradient_norm(form: AbstractForm, gradient: PyTree) -> Float[Array, ""]:
    """Compute the Euclidean norm of the gradient of all weights."""
    if isinstance(form, HasNorm):
        return form.norm(gradient)
    squares = [jnp.sum(part**2) for part in jax.tree.leaves(gradient)]
    return jnp.sqrt(sum(squares, start=jnp.zeros((), squares[0].dtype)))


def largest_curvature(form: AbstractForm, params: PyTree) -> Float[Array, ""]:
    """Compute the largest curvature: the form's own, or that of the Hessian."""
    if isinstance(form, Curved):
        return form.curvature(params)
    return hessian_extremes(lambda p: evaluation_gradient(form, p), params).largest


def weight_unit(form: AbstractForm) -> Float[Array, ""] | float:
    """Give the unit of absolute tolerances of a flow."""
    return form.unit() if isinstance(form, Stiff) else 1.0


def shares_of(form: AbstractForm) -> int:
    """Give the number of devices that share the work."""
    return form.shares() if isinstance(form, Sharded) else 1


def placed(form: AbstractForm, state: State) -> State:
    """Put a state on the devices where a step leaves it."""
    return form.placed(state) if isinstance(form, Sharded) else state


def compiler_options_of(form: AbstractForm) -> dict[str, int | bool]:
    """Give what the compiler of a chunk of training should be told."""
    return form.compiler_options() if isinstance(form, Sharded) else {}


class FormAtStart(eqx.Module):
    """What a rule may ask of a form before the first step (``rules.Surroundings``)."""

    form: AbstractForm

    def curvature(self) -> Float[Array, ""]:
        """Compute the largest curvature at the initial parameters."""
        return largest_curvature(self.form, self.form.initial())

    def stiff(self, time: float) -> bool:
        """Tell whether the flow over a time needs an implicit solver."""
        return isinstance(self.form, Stiff) and self.form.stiff(time)
