"""A probe measures one named quantity while a model trains."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jaxtyping import Array, Float

OFTEN = "step"
"""The dimension of what is measured at every record."""
RARELY = "test_step"
"""The dimension of what costs more: measured at every so many records."""


@dataclass(frozen=True)
class Probe:
    """What is measured: a pure function of the view of a model on some data."""

    name: str
    symbol: str
    """LaTeX, as in the paper."""
    meaning: str
    """One line in plain words."""
    compute: Callable[[Any], Float[Array, "..."]]
    dims: tuple[str, ...] = ()
    along: str = OFTEN
    on_test: bool = False
    """Whether the data is the test set."""
    on_form: bool = False
    """Whether it is a function of the form and its parameters, not of a view."""
