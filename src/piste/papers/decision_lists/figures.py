"""The figures of the paper, by name: those for which the runs are there."""

import jax
import numpy as np

from piste.dynamics import draw
from piste.experiment import Experiment
from piste.figures import Picture
from piste.figures import decision_lists as figures
from piste.theory.decision_lists import attention_theorem
from piste.values import from_json

from . import presets
from .empirical_claims import first_perfect_steps
from .presets import RULES
from .studies import SIZES, joint_name
from .theorem_claims import cells, size_of


def pictures(evidence) -> dict[str, Picture]:
    """Draw all figures from the runs of the studies."""
    found = {"task": _task()}
    if "dirichlet" in evidence:
        found["scores"] = _scores(evidence["dirichlet"][0])
    if "theorem-1" in evidence:
        found["margins"] = _margins(evidence)
    groups = {
        words: evidence[name] for name, words in _GROUPS.items() if name in evidence
    }
    if groups:
        found["bounds"] = figures.bounds(groups, _BOUNDS)
    if {"scale", "scale-small"} <= set(evidence):
        named = {size_of(cells(evidence[n])[0]): evidence[n] for n in _SCALES}
        found["scale"] = figures.scale(named, _SCALE)
    if "theorem-2" in evidence:
        found["descents"] = _descents(evidence["theorem-2"])
    if {"value-alone", "empirics"} <= set(evidence):
        run = evidence["empirics"][0]
        found["values"] = figures.values(evidence["value-alone"], run, _VALUES)
    joint = {(s, r): joint_name(s, r) for s in SIZES for r in RULES}
    if set(joint.values()) <= set(evidence):
        found["success"] = _success(evidence, joint)
    return found


def _instance(experiment: Experiment):
    with jax.enable_x64(True):
        return draw(experiment).data


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
    return figures.one_sequence(row, lists, deciders[place], labels, _TASK)


def _scores(run) -> Picture:
    experiment = from_json(Experiment, run.attrs["experiment"])
    instance = _instance(experiment)
    unit = instance.length / attention_theorem(instance).scale
    return figures.scores(run, instance.lists, unit, _SCORES)


def _margins(evidence) -> Picture:
    runs = {
        words: evidence[name][0] for name, words in _FLOWS.items() if name in evidence
    }
    theorems = []
    for run in runs.values():
        instance = _instance(from_json(Experiment, run.attrs["experiment"]))
        theorems.append((instance.length, attention_theorem(instance)))
    units = [length / theorem.scale for length, theorem in theorems]
    return figures.margins(runs, units, theorems[0][1].bound, _MARGINS)


def _descents(data) -> Picture:
    names = [f"{size_of(cell)}, {int(cell.sets)}" for cell in cells(data)]
    return figures.descents(data, names, _DESCENTS)


def _success(evidence, joint) -> Picture:
    sweeps = {(str(s), r): evidence[name] for (s, r), name in joint.items()}
    steps = {pair: first_perfect_steps(data) for pair, data in sweeps.items()}
    return figures.success(sweeps, steps, _SUCCESS)


_GROUPS = {
    "uniform": "uniform sets",
    "others": "Dirichlet, support, Poisson",
    "repetition": "independent, with repetition",
}
_FLOWS = {
    "theorem-1": "uniform (30, 6, 4)",
    "dirichlet": "Dirichlet (12, 4, 3)",
}
_SCALES = ("scale", "scale-small")
_TASK = (
    "The task: every token of a sequence has a list; the first of it that occurs in the "
    "sequence (shaded) determines the label through the permutation π. Tokens that do not "
    "occur are grey. (L, n, M) = (10, 4, 3)."
)
_SCORES = (
    "Gradient flow on W, Dirichlet weights on sets, (12, 4, 3): attention scores in units "
    "of n/c. A numeral k marks the key that stands at place k of the query's list: the "
    "order of the scores becomes the order of the list."
)
_MARGINS = (
    "Gradient flow on W; t* is the first perfect moment (dashed). Left: uniform sets, "
    "(30, 6, 4): the lead of every token of a list on the next one, by place k (of the "
    "last on all tokens outside). Right: the least lead of a label, perfect where positive."
)
_BOUNDS = (
    "Theorem 1 on random instances: first perfect time against the stated bound. Every "
    "point below the dotted line keeps the bound; with repetition some do not (an arrow: "
    "not perfect within 100 bounds)."
)
_SCALE = (
    "Time to perfection when V = fcP, for factors f of the stated scale c (dotted: the "
    "bound). Flows that are not perfect within 1000 bounds are left out."
)
_DESCENTS = (
    "Theorem 2: gradient descent on W and V with η = 1/max λ_max of the path. Left: the "
    "least margin of a label; the dot is the first perfect step. Right: the growth of the "
    "largest curvature along the path."
)
_VALUES = (
    "V alone under uniform attention, (8, 3, 2), 8 seeds (median and range): V turns to P, "
    "but labels stay wrong. Right: V after training together with W by GD, (10, 4, 3), "
    "tokens sorted by their label: proportional to P, up to constants."
)
_SUCCESS = (
    "W and V from small random weights: median and range over 8 seeds at the middle size, "
    "and the first perfect step and success rate at every size (GD green, SignGD blue, "
    "Adam pink)."
)
