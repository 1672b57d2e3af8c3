"""Hypothesis strategies for values, read off their own declared limits."""

import dataclasses
import math
import typing

from hypothesis import strategies as st

from piste.experiment import Experiment, Schedule
from piste.models import MODELS, Classifier
from piste.rules import RULES
from piste.tasks import TASKS, Pathfinder
from support.contract_rows import collected, fit_classifier


def _field(field: dataclasses.Field, kind: type) -> st.SearchStrategy:
    limits = field.metadata
    if "choices" in limits:
        return st.sampled_from(tuple(limits["choices"]))
    if kind is bool:
        return st.booleans()
    if kind is int:
        return st.integers(limits.get("minimum", -1000), limits.get("maximum", 5000))
    if kind is float:
        return st.floats(
            min_value=limits.get("greater_than", limits.get("minimum", -1e6)),
            max_value=limits.get("less_than", limits.get("maximum", 1e6)),
            exclude_min="greater_than" in limits,
            exclude_max="less_than" in limits,
            allow_nan=False,
        )
    return st.just(field.default)


def fields(cls: type) -> dict[str, st.SearchStrategy]:
    """A strategy for every field of a value class, within its limits."""
    hints = typing.get_type_hints(cls)
    return {f.name: _field(f, hints[f.name]) for f in dataclasses.fields(cls)}


def _fit_pathfinder(parts: dict) -> dict:
    """Cues of the original are not balanced away."""
    return parts | {"quirks": parts["quirks"] and not parts["balanced"]}


_FITS = {Classifier: fit_classifier, Pathfinder: _fit_pathfinder} | collected("FITS")
"""How fields that depend on each other are made to agree."""


def members(cls: type) -> st.SearchStrategy:
    """Values of a class, with fields that agree."""
    fit = _FITS.get(cls, lambda parts: parts)
    return st.fixed_dictionaries(fields(cls)).map(lambda parts: cls(**fit(parts)))


def experiments() -> st.SearchStrategy[Experiment]:
    """Experiments of any task, model and rule."""
    parts = fields(Experiment) | {
        "task": st.one_of([members(cls) for cls in TASKS.values()]),
        "model": st.one_of([members(cls) for cls in MODELS.values()]),
        "rule": st.one_of([members(cls) for cls in RULES.values()]),
        "record": members(Schedule),
    }
    return st.builds(Experiment, **parts)


def reals(bound: float = 10.0) -> st.SearchStrategy[float]:
    """Ordinary numbers, without the subnormal ones that processors flush to zero."""
    return st.floats(-bound, bound, allow_subnormal=False).filter(
        lambda x: x == 0 or math.fabs(x) > 1e-100
    )
