"""What a paper brings to its reproduction, typed and complete before anything runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from piste.claims import Claim
from piste.errors import did_you_mean, field_error

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
            every = f"every study of {self.paper} needs a dataset"
            raise field_error("theory", theory, every)
        names = [study.name for study in studies]
        for name in only:
            if name not in names:
                near = did_you_mean(name, names)
                expected = f"must be among {', '.join(names)}{near}"
                raise field_error("only", name, expected)
        if only:
            return [study for study in studies if study.name in only]
        return self.available([study for study in studies if not study.by_name])

    def skipped_text(self, studies: Sequence[Study]) -> str:
        """A line on the studies of the paper that are not among some, and why.

        Their data are not available, or a study on other data replaces them. A second
        line lists those that run only when they are named.
        """
        names = [study.name for study in studies]
        others = [study for study in self.studies if study.name not in names]
        skipped = [study for study in others if not study.by_name]
        longer = [study for study in others if study.by_name]
        absent = "data not available, or other data used instead"
        lines = _line("skipped", skipped, absent)
        lines += _line("not run by default", longer, "they take longer")
        return f"{lines}\n" if lines else ""


def _line(verb: str, studies: Sequence[Study], reason: str) -> str:
    names = ", ".join(study.name for study in studies)
    return f"  {verb}: {names} ({reason}; run one with --only NAME)\n" if names else ""
