"""The figures of the paper, by name: those for which the runs are there."""

import jax
import numpy as np
import pandas as pd
import xarray as xr

from piste.experiment import Experiment
from piste.figures import Picture
from piste.reproduction import Evidence, Figure
from piste.training import draw
from piste.values import from_json

from .. import captions, presets
from ..empirical_claims import first_perfect_steps
from ..flow_claims import FOUND, lost
from ..presets import RULES
from ..reading import NAMES, by_kind, cells, numbers, size_of
from ..studies import SIZES, joint_name, joint_names
from ..tables import SCALES, persistence_table
from ..theory.bounds import attention_theorem
from . import bounds as bound_figures
from . import lists as figures
from . import training as training_figures

FLOWS = ("theorem-1", "dirichlet")
DESCENTS = "attention-descents"


def _experiment(run) -> Experiment:
    return from_json(Experiment, run.attrs["experiment"])


def _instance(experiment: Experiment):
    with jax.enable_x64(True):
        return draw(experiment).data


def _perfect(run) -> bool:
    """Whether there is a first perfect moment, by which times are measured."""
    return "time" in run.coords and bool(np.isfinite(figures.perfect_time(run)))


def _task(evidence: Evidence) -> Picture:
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


def _scores(evidence: Evidence) -> Picture | None:
    run = evidence.runs("dirichlet")[0]
    if not _perfect(run):
        return None
    experiment = _experiment(run)
    instance = _instance(experiment)
    unit = instance.length / attention_theorem(instance).scale
    return figures.scores(run, instance.lists, unit, captions.scores(experiment))


def _margins(evidence: Evidence) -> Picture | None:
    runs, units, limits = {}, [], []
    flows = [evidence.runs(name)[0] for name in FLOWS if name in evidence]
    for run in filter(_perfect, flows):
        experiment = _experiment(run)
        words = captions.flow_in_words(experiment)
        if words in runs:
            continue
        instance = _instance(experiment)
        theorem = attention_theorem(instance)
        runs[words] = run
        units.append(instance.length / theorem.scale)
        limits.append(theorem.bound)
    if not runs:
        return None
    words = captions.margins(next(iter(runs)), len(runs))
    return figures.margins(runs, units, limits[0], words)


def _bounds(evidence: Evidence) -> Picture:
    groups = _groups(evidence)
    return bound_figures.bounds(groups, captions.bounds(groups))


def _groups(evidence: Evidence) -> dict[str, xr.Dataset]:
    """Times and bounds, by what was followed."""
    known = {name: words for name, words in _GROUPS.items() if name in evidence}
    found = {words: evidence.dataset(name) for name, words in known.items()}
    if DESCENTS in evidence:
        data = evidence.dataset(DESCENTS)
        found["gradient descent on W"] = data.assign(time=data.descent_time)
    if "repetition" in evidence:
        found["independent, with repetition"] = evidence.dataset("repetition")
    return found


_GROUPS = {
    "uniform": "uniform sets",
    "others": "Dirichlet, support, Poisson",
    "dirichlet-support": "Dirichlet weights on some sets",
}


def _scale(evidence: Evidence) -> Picture:
    data = [evidence.dataset(name) for name in SCALES]
    named = {size_of(cells(each)[0]): each for each in data}
    return bound_figures.scale(named, captions.scale(named))


def _persistence(evidence: Evidence) -> Picture:
    names = ("persistence", "persistence-large", FOUND)
    paths, chosen = [], 0
    for name in (name for name in names if name in evidence):
        for kind, data in by_kind(evidence.dataset(name)).items():
            found = _paths(NAMES[kind], data, name == FOUND)
            chosen += len(found) if name == FOUND else 0
            paths += found
    data = evidence.dataset("persistence")
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


def _descents(evidence: Evidence) -> Picture:
    data = evidence.dataset("theorem-2")
    names = [f"{size_of(cell)}, {int(cell.sets)}" for cell in cells(data)]
    return bound_figures.descents(data, names, captions.descents())


def _values(evidence: Evidence) -> Picture:
    alone, run = evidence.dataset("value-alone"), evidence.runs("empirics")[0]
    words = captions.values(alone, _experiment(run))
    return training_figures.values(alone, run, words)


def _success(evidence: Evidence) -> Picture:
    sweeps = {
        (str(size), rule): evidence.dataset(joint_name(size, rule))
        for size in SIZES
        for rule in RULES
    }
    steps = {pair: first_perfect_steps(data) for pair, data in sweeps.items()}
    size = training_figures.middle_size(sweeps)
    words = captions.success(sweeps[size, next(iter(RULES))].sizes["cell"], size)
    return training_figures.success(sweeps, steps, words)


FIGURES = (
    Figure("task", _task),
    Figure("scores", _scores, ("dirichlet",)),
    Figure("margins", _margins, any_of=FLOWS),
    Figure("bounds", _bounds, any_of=(*_GROUPS, DESCENTS, "repetition")),
    Figure("scale", _scale, SCALES),
    Figure("persistence", _persistence, ("persistence",)),
    Figure("descents", _descents, ("theorem-2",)),
    Figure("values", _values, ("value-alone", "empirics")),
    Figure("success", _success, joint_names()),
)
