"""The contract of a task, and the open family of all tasks."""

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

from piste.registry import class_family
from piste.values import option, register

T = TypeVar("T", bound="AbstractTask")


@dataclasses.dataclass(frozen=True)
class AbstractTask(abc.ABC):
    """A data distribution with known ground truth.

    A task is a frozen value: its fields say which distribution, and a seed which draw.
    """

    random: ClassVar[bool] = True
    """Whether another seed draws other data; False for data that are computed."""

    @abc.abstractmethod
    def datasets(self, loaded: Any, *, seed: Any) -> tuple[Any, Any]:
        """Draw the training and the test data from named streams of the seed.

        ``loaded`` is what the task's ``load`` gave, or None without one.

        Drawn in float64, whatever the run's precision. Where there is no test data, the
        second one is the training data again, or None.
        """


@runtime_checkable
class LoadsData(Protocol):
    """A task that reads files, or that must be checked before its data are drawn."""

    def load(self) -> Any:
        """Read what the task needs from disk.

        What is returned has an attribute ``digest``, which is part of a run's address.
        A missing or damaged file is an :class:`piste.errors.InputError`.
        """
        ...


TASKS = class_family("task", AbstractTask)
"""All tasks by name; :func:`task` adds to it."""


@dataclass_transform(frozen_default=True, field_specifiers=(option, dataclasses.field))
def task(name: str) -> Callable[[type[T]], type[T]]:
    """Make a class a task that every experiment can name."""
    return register(TASKS, name)
