"""What a paper brings to its reproduction, typed and complete before anything runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from piste.claims import Claim
from piste.errors import InputError, did_you_mean, field_error

from ._study import Study
from .displays import Figure, Table


@dataclass(frozen=True)
class Contents:
    """The studies of a paper, and what judges and shows them."""

    paper: str
    """The paper's name."""
    studies: tuple[Study, ...]
    claims: tuple[Claim, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    available: Callable[[Sequence[Study]], list[Study]] = list
    """Those of some studies whose data can be had."""

    def chosen(self, only: Sequence[str] = (), theory: bool = False) -> list[Study]:
        """The studies asked for by name; else those whose data can be had.

        With ``theory`` those among them that need no dataset. A study that runs only
        when it is named is never among the others.
        """
        studies = [s for s in self.studies if not (theory and s.needs_data)]
        if not studies:
            raise InputError(f"theory: every study of {self.paper} needs a dataset")
        names = [study.name for study in studies]
        for name in only:
            if name not in names:
                near = did_you_mean(name, names)
                expected = f"must be among {', '.join(names)}{near}"
                raise field_error("only", name, expected)
        if only:
            return [study for study in studies if study.name in only]
        return self.available([study for study in studies if not study.by_name])

    def left_out(self, studies: Sequence[Study]) -> str:
        """A line about the other studies: no data for them, or others in their place.

        A second line lists those that run only when they are named.
        """
        names = [study.name for study in studies]
        left = [study for study in self.studies if study.name not in names]
        absent = "no data at hand, or others in their place; --only NAME runs one"
        long = "they take longer; --only NAME runs one"
        lines = _left("left out", [s for s in left if not s.by_name], absent)
        lines += _left("only by name", [s for s in left if s.by_name], long)
        return f"{lines}\n" if lines else ""


def _left(words: str, studies: Sequence[Study], reason: str) -> str:
    names = ", ".join(study.name for study in studies)
    return f"  {words}: {names} ({reason})\n" if names else ""
