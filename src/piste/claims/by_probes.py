"""Members that read some probes: whatever run measures all of them can be given to one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import xarray as xr

from piste.brought import is_brought
from piste.errors import field_error
from piste.registry import Family


@dataclass(frozen=True)
class ReadsProbes:
    """A function of a trajectory, and the probes that it reads."""

    name: str
    needs: tuple[str, ...]
    """The probes that it reads."""
    function: Callable[[xr.Dataset], Any]

    def fits(self, trajectory: xr.Dataset) -> bool:
        """Whether a run has measured all that it reads."""
        return set(self.needs) <= set(trajectory)


M = TypeVar("M", bound=ReadsProbes)


def first_fitting(family: Family[M], trajectory: xr.Dataset) -> M | None:
    """The member for a run: one that a user brings before ours, the newest of those."""
    fitting = [member for member in family.newest_first() if member.fits(trajectory)]
    # Sorting keeps the order of equals.
    return next(iter(sorted(fitting, key=lambda m: not is_brought(m.function))), None)


def check_needs(noun: str, name: str, needs: Sequence[str]) -> None:
    """Refuse what does not name the probes that it reads."""
    if isinstance(needs, str) or not needs:
        raise field_error(noun, name, f"must say which probes it needs, not {needs!r}")
