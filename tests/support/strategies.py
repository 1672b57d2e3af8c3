"""Hypothesis strategies for values, read off their own declared limits."""

import dataclasses
import math
import typing

from hypothesis import strategies as st

from piste.experiment import Experiment, Schedule
from piste.models import MODELS, Classifier
from piste.papers.decision_lists.tasks import DecisionLists
from piste.papers.kernels.tasks import TokenRegression
from piste.papers.signgd.models import PatchTransformer, Stack
from piste.papers.signgd.tasks import LabelledDigits, NoisyImages, SignalNoise
from piste.rules import RULES
from piste.tasks import TASKS, Pathfinder


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


def _fit_signal_noise(parts: dict) -> dict:
    """The noise fits into the dimension."""
    room = parts["dimension"] - 1
    return parts | {"noise_coordinates": min(parts["noise_coordinates"], room)}


def _fit_noisy_images(parts: dict) -> dict:
    """As many of each class, and two classes."""
    positive, negative = parts["positive_class"], parts["negative_class"]
    if positive == negative:
        negative = (positive + 1) % 10
    samples = parts["samples"] + parts["samples"] % 2
    return parts | {"samples": samples, "negative_class": negative}


def _fit_stack(parts: dict) -> dict:
    """Heads share out the neurons."""
    widths = {name: parts[name] for name in ("key_width", "value_width")}
    heads = min(parts["heads"], *widths.values())
    fitted = {name: width - width % heads for name, width in widths.items()}
    return parts | {"heads": heads} | fitted


def _fit_classifier(parts: dict) -> dict:
    """Heads share out the dimension; windows lie evenly around their squares."""
    heads = min(parts["heads"], parts["dimension"])
    dimension = parts["dimension"] - parts["dimension"] % heads
    fitted = parts | {"heads": heads, "dimension": dimension}
    if parts.get("window"):
        fitted["window"] = parts["stride"] + 2 * parts["window"]
    return fitted


def _fit_digits(parts: dict) -> dict:
    """A batch is no larger than the training set."""
    return parts | {"batch": min(parts["batch"], parts["train_samples"])}


def _fit_pathfinder(parts: dict) -> dict:
    """Cues of the original are not balanced away."""
    return parts | {"quirks": parts["quirks"] and not parts["balanced"]}


def _fit_lists(parts: dict) -> dict:
    """Lists fit into the vocabulary, sequences too, and few sets have weights."""
    size = min(parts["vocabulary"], 12)
    length = min(parts["length"], size)
    sets = range(-(-size // length), math.comb(size, length) + 1)
    return parts | {
        "vocabulary": size,
        "length": length,
        "list_bound": min(parts["list_bound"], size - 1),
        "support_sets": min(max(parts["support_sets"], sets[0]), sets[-1]),
    }


def _fit_regression(parts: dict) -> dict:
    """A sphere has two dimensions or more, hardest targets have one output."""
    outputs = 1 if parts["targets"] == "hardest" else parts["outputs"]
    return parts | {"dimension": parts["dimension"] + 1, "outputs": outputs}


_FITS = {
    Classifier: _fit_classifier,
    PatchTransformer: _fit_classifier,
    LabelledDigits: _fit_digits,
    DecisionLists: _fit_lists,
    Pathfinder: _fit_pathfinder,
    TokenRegression: _fit_regression,
    SignalNoise: _fit_signal_noise,
    NoisyImages: _fit_noisy_images,
    Stack: _fit_stack,
}
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
