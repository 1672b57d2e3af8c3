"""The figures of the paper, by name: those for which the runs are there."""

import jax
import numpy as np
import pandas as pd

from piste.dynamics import draw
from piste.experiment import Experiment
from piste.figures import Picture
from piste.figures import decision_list_bounds as bound_figures
from piste.figures import decision_list_training as training_figures
from piste.figures import decision_lists as figures
from piste.theory.decision_lists import attention_theorem
from piste.values import from_json

from . import captions, presets
from .empirical_claims import first_perfect_steps
from .flow_claims import FOUND, lost
from .presets import RULES
from .reading import NAMES, by_kind, cells, numbers, size_of
from .studies import SIZES, joint_name
from .tables import persistence_table


def pictures(evidence) -> dict[str, Picture]:
    """Draw all figures from the runs of the studies."""
    found = {"task": _task()}
    if "dirichlet" in evidence and _perfect(evidence["dirichlet"][0]):
        found["scores"] = _scores(evidence["dirichlet"][0])
    flows = [evidence[n][0] for n in ("theorem-1", "dirichlet") if n in evidence]
    flows = [run for run in flows if _perfect(run)]
    if flows:
        found["margins"] = _margins(flows)
    groups = _groups(evidence)
    if groups:
        found["bounds"] = bound_figures.bounds(groups, captions.bounds(groups))
    if {"scale", "scale-small"} <= set(evidence):
        found["scale"] = _scale(evidence)
    if "persistence" in evidence:
        found["persistence"] = _persistence(evidence)
    if "theorem-2" in evidence:
        found["descents"] = _descents(evidence["theorem-2"])
    if {"value-alone", "empirics"} <= set(evidence):
        found["values"] = _values(evidence)
    joint = {(s, r): joint_name(s, r) for s in SIZES for r in RULES}
    if set(joint.values()) <= set(evidence):
        found["success"] = _success(evidence, joint)
    return found


def _experiment(run) -> Experiment:
    return from_json(Experiment, run.attrs["experiment"])


def _instance(experiment: Experiment):
    with jax.enable_x64(True):
        return draw(experiment).data


def _perfect(run) -> bool:
    """Whether there is a first perfect moment, by which times are measured."""
    return "time" in run.coords and bool(np.isfinite(figures.perfect_time(run)))


def _task() -> Picture:
    """The first sequence, in lexicographic order, in which lists decide differently."""
    instance = _instance(presets.empirics())
    tokens, _ = instance.sequences.rows()
    deciders = np.asarray(instance.deciders(tokens))
    own = (deciders == tokens).sum(1)
    place = int(np.flatnonzero(own == own.min())[0])
    row = tokens[place]
    lists = [instance.lists[a, : instance.list_lengths[a]].tolist() for a in row]
    labels = np.asarray(instance.labels(tokens))[place]
    words = captions.task((instance.vocabulary, instance.length, instance.list_bound))
    return figures.one_sequence(row, lists, deciders[place], labels, words)


def _scores(run) -> Picture:
    experiment = _experiment(run)
    instance = _instance(experiment)
    unit = instance.length / attention_theorem(instance).scale
    return figures.scores(run, instance.lists, unit, captions.scores(experiment))


def _margins(flows) -> Picture:
    runs, units, limits = {}, [], []
    for run in flows:
        experiment = _experiment(run)
        words = captions.flow_in_words(experiment)
        if words in runs:
            continue
        instance = _instance(experiment)
        theorem = attention_theorem(instance)
        runs[words] = run
        units.append(instance.length / theorem.scale)
        limits.append(theorem.bound)
    words = captions.margins(next(iter(runs)), len(runs))
    return figures.margins(runs, units, limits[0], words)


def _groups(evidence) -> dict:
    """Times and bounds, by what was followed."""
    found = {w: evidence[name] for name, w in _GROUPS.items() if name in evidence}
    if "attention-descents" in evidence:
        data = evidence["attention-descents"]
        found["gradient descent on W"] = data.assign(time=data.descent_time)
    if "repetition" in evidence:
        found["independent, with repetition"] = evidence["repetition"]
    return found


_GROUPS = {
    "uniform": "uniform sets",
    "others": "Dirichlet, support, Poisson",
    "dirichlet-support": "Dirichlet weights on some sets",
}


def _scale(evidence) -> Picture:
    data = [evidence[name] for name in ("scale", "scale-small")]
    named = {size_of(cells(each)[0]): each for each in data}
    return bound_figures.scale(named, captions.scale(named))


def _persistence(evidence) -> Picture:
    names = ("persistence", "persistence-large", FOUND)
    paths, chosen = [], 0
    for name in (name for name in names if name in evidence):
        for kind, data in by_kind(evidence[name]).items():
            found = _paths(NAMES[kind], data, name == FOUND)
            chosen += len(found) if name == FOUND else 0
            paths += found
    data = evidence["persistence"]
    follow, step = (float(numbers(data, n).max()) for n in ("follow", "resolution"))
    words = captions.persistence(len(paths) - chosen, chosen, follow, step)
    return bound_figures.persistence(paths, persistence_table(evidence), words)


def _paths(name: str, data, chosen: bool) -> list[pd.DataFrame]:
    """The margins of the instances that lose perfection, each as a table."""
    return [
        pd.DataFrame(
            {
                "sequences": name,
                "instance": size_of(cells(data)[cell]),
                "cell": cell,
                "t/t*": np.asarray(data.multiple),
                "margin": np.asarray(data.path[cell]),
                "chosen": chosen,
            }
        )
        for cell in np.flatnonzero(lost(data))
    ]


def _descents(data) -> Picture:
    names = [f"{size_of(cell)}, {int(cell.sets)}" for cell in cells(data)]
    return bound_figures.descents(data, names, captions.descents())


def _values(evidence) -> Picture:
    alone, run = evidence["value-alone"], evidence["empirics"][0]
    words = captions.values(alone, _experiment(run))
    return training_figures.values(alone, run, words)


def _success(evidence, joint) -> Picture:
    sweeps = {(str(s), r): evidence[name] for (s, r), name in joint.items()}
    steps = {pair: first_perfect_steps(data) for pair, data in sweeps.items()}
    size = training_figures.middle_size(sweeps)
    words = captions.success(sweeps[size, next(iter(RULES))].sizes["cell"], size)
    return training_figures.success(sweeps, steps, words)
