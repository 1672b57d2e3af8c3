"""Runs that may be averaged: equal in everything but the seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import xarray as xr

from piste.errors import InputError, dashed, field_error

TAGS = ("type",)
"""Keys that name the class of a value in a stored experiment."""


@dataclass(frozen=True)
class Group:
    """Runs of one experiment, and what sets it apart from the other groups."""

    runs: tuple[xr.Dataset, ...]
    """One for each seed, in the order of the seeds."""
    differs: dict[str, Any]
    """Dotted fields in which the groups differ, with the values of this one."""

    @property
    def seeds(self) -> list[int]:
        """The seeds of its runs."""
        return [_seed(run) for run in self.runs]

    def difference_text(self) -> str:
        """What sets it apart: ``model.kernel = gaussian``; empty if nothing does."""
        return ", ".join(f"{name} = {given}" for name, given in self.differs.items())


def by_experiment(runs: Sequence[xr.Dataset]) -> list[Group]:
    """Group runs that are equal but for the seed, in the order in which they come.

    Means, medians and tests over seeds are over the runs of one group: other runs are
    other experiments. A seed that comes twice would count twice, and is refused.
    """
    groups: dict[tuple, list[xr.Dataset]] = {}
    for run in runs:
        settings = _settings(run)
        groups.setdefault(tuple(sorted(settings.items())), []).append(run)
    for group in groups.values():
        _check_seeds(group)
    names = _differing([dict(settings) for settings in groups])
    return [
        Group(
            tuple(sorted(group, key=_seed)),
            {name: dict(key)[name] for name in names if name in dict(key)},
        )
        for key, group in groups.items()
    ]


def labelled(runs: Sequence[xr.Dataset]) -> list[xr.Dataset]:
    """The runs with an attribute ``label`` that no two of them share."""
    return [
        run.assign_attrs(
            label=", ".join(filter(None, (group.difference_text(), f"seed {seed}")))
        )
        for group in by_experiment(runs)
        for run, seed in zip(group.runs, group.seeds, strict=True)
    ]


def one_experiment(runs: Sequence[xr.Dataset]) -> Group:
    """All runs, if nothing but the seed sets them apart; else a line that names it."""
    groups = by_experiment(runs)
    if len(groups) == 1:
        return groups[0]
    if not groups:
        raise field_error("runs", "none", "must be at least one")
    found = " and ".join(group.difference_text() or "the rest" for group in groups[:2])
    expected = f"differ in {found}; must be of one experiment, with several seeds"
    raise field_error("runs", f"{len(runs)} runs", expected)


def _differing(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    every = {name: None for known in settings for name in known}
    missing = object()
    return [n for n in every if len({known.get(n, missing) for known in settings}) > 1]


def _check_seeds(group: Sequence[xr.Dataset]) -> None:
    seeds = [_seed(run) for run in group]
    for seed in seeds:
        if seeds.count(seed) > 1:
            raise field_error("seed", seed, "equal runs; must be one for each seed")


def _seed(run: xr.Dataset) -> int:
    return int(run.attrs["experiment"]["seed"])


def _settings(run: xr.Dataset) -> dict[str, Any]:
    """All fields of a run's experiment but the seed, by dotted names."""
    if "experiment" not in run.attrs:
        raise InputError("run: has no experiment; must be a trajectory of piste")
    return {k: v for k, v in _flat(run.attrs["experiment"]).items() if k != "seed"}


def _flat(given: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(given, Mapping):
        return {path: str(given) if isinstance(given, list) else given}
    found: dict[str, Any] = {}
    for key, part in given.items():
        name = f"{path}.{dashed(key)}" if path else dashed(key)
        found |= _flat(part, path if key in TAGS and path else name)
    return found
