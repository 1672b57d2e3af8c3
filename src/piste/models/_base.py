"""The contract of a model, and the open family of all models."""

import abc
import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, dataclass_transform

from jaxtyping import Array, Key, PyTree

from piste.registry import class_family
from piste.values import option, register

M = TypeVar("M", bound="AbstractModel")


@dataclasses.dataclass(frozen=True)
class AbstractModel(abc.ABC):
    """What is trained: a frozen value that draws its weights.

    How weights and data become a loss is the business of a form, so that one model can
    have several arithmetics.
    """

    shares_batches: ClassVar[bool] = False
    """Whether a step's batch is shared out over the devices of the machine."""
    random: ClassVar[bool] = True
    """Whether another key draws other weights; False for weights that are computed."""
    neuron_axis: ClassVar[int] = -2
    """The axis of a weight matrix along which the entries of one neuron lie."""

    @property
    def attention(self) -> str:
        """The name of its attention kernel: its field ``kernel``, if it has one."""
        return getattr(self, "kernel", "")

    @abc.abstractmethod
    def draw_weights(self, task: Any, *, key: Key[Array, ""]) -> PyTree:
        """Draw the initial weights for the sizes of a task, in float64."""


MODELS = class_family("model", AbstractModel)
"""All models by name; :func:`model` adds to it."""


@dataclass_transform(frozen_default=True, field_specifiers=(option, dataclasses.field))
def model(name: str) -> Callable[[type[M]], type[M]]:
    """Make a class a model that every experiment can name."""
    return register(MODELS, name)
