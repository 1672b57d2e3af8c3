"""The contract of a task, and the open family of all tasks."""

import abc
import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

from piste.registry import class_family
from piste.values import option, register

T = TypeVar("T", bound="AbstractTask")


@dataclasses.dataclass(frozen=True)
class AbstractTask(abc.ABC):
    """A data distribution with known ground truth.

    A task is a frozen value: its fields say which distribution, and a seed which draw.
    """

    def load(self) -> Any:
        """What the task needs from disk, or None.

        What is returned has an attribute ``digest``, which is part of a run's address.
        A missing or damaged file is an :class:`piste.errors.InputError`.
        """
        return None

    @abc.abstractmethod
    def datasets(self, loaded: Any, *, seed: Any) -> tuple[Any, Any]:
        """Draw the training and the test data from named streams of the seed.

        Drawn in float64, whatever the run's precision. Where there is no test data, the
        second one is the training data again, or None.
        """


TASKS = class_family("task", AbstractTask)
"""All tasks by name; :func:`task` adds to it."""


@dataclass_transform(frozen_default=True, field_specifiers=(option, dataclasses.field))
def task(name: str) -> Callable[[type[T]], type[T]]:
    """Make a class a task that every experiment can name."""
    return register(TASKS, name)
