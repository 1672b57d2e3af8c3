"""Evidence: what the studies of a paper left, for its claims, figures and tables.

Trajectories stay on disk until a number of theirs is used, and are dropped with whoever
used it: a reproduction may have gigabytes of them, and each claim looks at a few.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload

import xarray as xr

from piste.claims import Claim, Judgements, Timeline, judge, stages

T = TypeVar("T")
Find = Callable[[xr.Dataset], Timeline]
"""Finds the stages of a run."""


class Datasets(Sequence[xr.Dataset]):
    """Datasets of which every reader gets a copy of its own.

    Arrays that are on disk are read into the copy when they are used, and go with it.
    """

    def __init__(self, stored: Sequence[xr.Dataset]):
        # Joined evidence takes what is there as it is: nobody has read it yet.
        same = isinstance(stored, Datasets)
        self._stored: tuple = stored._stored if same else tuple(stored)

    @overload
    def __getitem__(self, index: int) -> xr.Dataset: ...
    @overload
    def __getitem__(self, index: slice) -> "Datasets": ...
    def __getitem__(self, index):
        if isinstance(index, slice):
            return Datasets(self._stored[index])
        return self._stored[index].copy()

    def __len__(self) -> int:
        return len(self._stored)


class Evidence(Mapping[str, Any]):
    """By the name of a study: trajectories, one dataset of all cells, or surfaces.

    >>> import xarray as xr
    >>> evidence = Evidence(datasets={"scale": xr.Dataset({"beta": ("cell", [1, 2])})})
    >>> evidence.has("scale"), evidence.has("scale", "pair"), evidence.count("scale")
    (True, False, 2)
    """

    def __init__(
        self,
        *,
        runs: Mapping[str, Sequence[xr.Dataset]] | None = None,
        datasets: Mapping[str, xr.Dataset] | None = None,
        surfaces: Mapping[str, Sequence[xr.Dataset]] | None = None,
    ):
        self._runs = {name: Datasets(found) for name, found in (runs or {}).items()}
        self._datasets = dict(datasets or {})
        self._surfaces = {n: Datasets(found) for n, found in (surfaces or {}).items()}
        self._names = [*self._runs, *self._datasets, *self._surfaces]
        self._measured: dict[tuple, Any] = {}

    def __or__(self, other: "Evidence") -> "Evidence":
        """The evidence of both, in this order."""
        joined = Evidence(
            runs=self._runs | other._runs,
            datasets=self._datasets | other._datasets,
            surfaces=self._surfaces | other._surfaces,
        )
        joined._names = list(dict.fromkeys((*self._names, *other._names)))
        return joined

    # --- what is there ----------------------------------------------------------------

    def runs(self, name: str) -> Datasets:
        """The trajectories of a study of runs, each read when it is used."""
        return _find(self._runs, name, "runs")

    def dataset(self, name: str) -> xr.Dataset:
        """All cells of a sweep or of a calculation, along a dimension ``cell``."""
        return _find(self._datasets, name, "dataset").copy()

    def surfaces(self, name: str) -> Datasets:
        """The pairs of loss surfaces of a study of landscapes."""
        return _find(self._surfaces, name, "surfaces")

    def has(self, *names: str) -> bool:
        """Whether all these studies are there."""
        return set(names) <= set(self._names)

    def __getitem__(self, name: str) -> Datasets | xr.Dataset:
        if name in self._datasets:
            return self.dataset(name)
        return _find(self._runs | self._surfaces, name, "study")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    # --- what is known of it ----------------------------------------------------------

    def _parts(self, name: str) -> Sequence[xr.Dataset]:
        many = self._runs | self._surfaces
        return many[name] if name in many else [self._datasets[name]]

    def count(self, name: str) -> int:
        """Runs, cells or pairs of surfaces of a study."""
        return sum(part.sizes.get("cell", 1) for part in self._parts(name))

    def seconds(self, name: str) -> float:
        """How long a study took when it was run."""
        return sum(part.attrs.get("seconds", 0.0) for part in self._parts(name))

    def notes(self) -> list[str]:
        """What the stored results say of themselves, each sentence once."""
        every = [
            f"{name}: {note}"
            for name in self
            for part in self._parts(name)
            for note in part.attrs.get("notes", ())
        ]
        return list(dict.fromkeys(every))

    # --- what is computed once --------------------------------------------------------

    def once(self, measure: Callable[["Evidence"], T]) -> T:
        """What a function of the evidence gives; it is called the first time only."""
        return self._remembered((measure,), lambda: measure(self))

    def of_run(self, name: str, index: int, measure: Callable[[xr.Dataset], T]) -> T:
        """What a function gives of one run of a study; it is called once for each."""
        key = (name, index, measure)
        return self._remembered(key, lambda: measure(self.runs(name)[index]))

    def of_each(self, name: str, measure: Callable[[xr.Dataset], T]) -> list[T]:
        """The same of every run of a study."""
        places = range(len(self.runs(name)))
        return [self.of_run(name, index, measure) for index in places]

    def timeline(self, name: str, index: int, find: Find = stages) -> Timeline:
        """The stages of one run of a study."""
        return self.of_run(name, index, find)

    def timelines(self, name: str, find: Find = stages) -> list[Timeline]:
        """The stages of every run of a study."""
        return self.of_each(name, find)

    def first_timeline(self, name: str) -> Timeline | None:
        """The stages of the first run of a study; None where it has no runs."""
        return self.timeline(name, 0) if self._runs.get(name) else None

    def judged(self, claims: Sequence[Claim]) -> Judgements:
        """The verdicts on some claims, judged the first time only."""
        return self._remembered(("judged", *claims), lambda: judge(claims, self))

    def _remembered(self, key: tuple, compute: Callable[[], T]) -> T:
        if key not in self._measured:
            self._measured[key] = compute()
        return self._measured[key]


def _find(drawer: Mapping[str, T], name: str, noun: str) -> T:
    if name not in drawer:
        there = ", ".join(drawer) or "none"
        raise KeyError(f"no {noun} '{name}' in the evidence; there are: {there}")
    return drawer[name]
