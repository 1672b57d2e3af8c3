"""A probe measures one named quantity while a model trains."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jaxtyping import Array, Float

from piste.errors import field_error
from piste.registry import where_written

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
    """The axes of what is measured."""
    labels: tuple[str, ...] = ()
    """Names of the places along the last axis, where they have names."""
    along: str = OFTEN
    """Whether it is measured at every record or only at some."""
    on_test: bool = False
    """Whether the data is the test set."""
    on_form: bool = False
    """Whether it is a function of the form and its parameters, not of a view."""


SUMMARY: list[str] = ["train_loss", "test_loss"]
"""Probes of one number whose last value says how a run went."""


def summarise(*names: str) -> None:
    """Say that the last values of these probes belong to the summary of a run."""
    SUMMARY.extend(name for name in names if name not in SUMMARY)


BROUGHT: dict[type, dict[str, Probe]] = {}
"""Probes that were added to views from outside, by the class of the view."""


def probe(
    name: str,
    *,
    of: type,
    symbol: str,
    meaning: str,
    dims: tuple[str, ...] = (),
    labels: tuple[str, ...] = (),
    along: str = OFTEN,
    on_test: bool = False,
):
    """Add a function of a view as a probe: every run that has such a view measures it.

    ``of`` is the class of the view, ``dims`` names the axes of what is measured, and
    ``labels`` the places along the last of them.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise field_error("probe", name, "must be a name that Python takes")

    def add(compute: Callable[[Any], Float[Array, "..."]]):
        known = BROUGHT.setdefault(of, {})
        if name in known and where_written(known[name].compute) != where_written(
            compute
        ):
            expected = "is the name of another probe already; choose another name"
            raise field_error("probe", name, expected)
        known[name] = Probe(
            name, symbol, meaning, compute, dims, labels, along, on_test
        )
        return compute

    return add
