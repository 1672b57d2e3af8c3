"""Studies of the paper: what ``piste reproduce kernels`` runs."""

import dataclasses
from collections.abc import Sequence

from piste.experiment import Experiment
from piste.landscape import Comparison
from piste.papers import data_at_hand
from piste.reproduction import CalculationStudy, LandscapeStudy, RunStudy, Study

from . import presets
from .presets import COMPARED_KERNELS
from .results import landscapes
from .results.theorem_1.acceptance import Acceptance
from .results.theorem_1.region import Region
from .results.theorem_1.runs import PromisedRuns, Transition
from .results.theorem_1.scale import Scale
from .results.theorem_2.cases import CONSTRUCTION, RANDOM_SCALE_2
from .results.theorem_2.queries import Queries

NEED_IMDB = ("imdb", "landscape-text")
"""Studies that train on IMDb."""
IMDB_SEEDS, PATHFINDER_SEEDS = 3, 2
TEXT_SURVEY = Comparison(points=25, models=10, directions=2, snapshots=41)
"""Ten models: a sign test can tell 9 of 10 from chance. Few points: each is 64 reviews."""
IMAGE_SURVEY = Comparison(
    points=25, models=6, directions=1, snapshots=41, steps_two=300
)
"""Six models, the fewest that a sign test can tell from chance; some are those of the
study "pathfinder"."""


def studies(quick: bool) -> tuple[Study, ...]:
    """All studies; with ``quick`` the pair of Theorem 2, and few seeds of the others."""
    return _quick() if quick else (*_theory(), *_real_tasks(), *_landscapes())


def available(wanted: Sequence[Study]) -> list[Study]:
    """Leave out the studies of IMDb where the data set is not available."""
    imdb = presets.imdb_desk().task
    if any(study.name in NEED_IMDB for study in wanted) and not data_at_hand(imdb):
        return [study for study in wanted if study.name not in NEED_IMDB]
    return list(wanted)


def _pair() -> RunStudy:
    pair = (presets.thm_2_softmax(), presets.thm_2_gaussian())
    return RunStudy("pair", "Theorem 2: Q alone from the matched start, H = 8", pair)


def _theory() -> tuple[Study, ...]:
    both = (presets.thm_1_softmax(), presets.thm_1_gaussian())
    return (
        _pair(),
        RunStudy("runs", "Theorem 1: Q, K, V trained, HD/Nn = 2", both),
        CalculationStudy(
            "acceptance",
            "the case that attains β: hardest targets, equal heads, V alone",
            Acceptance(),
        ),
        CalculationStudy(
            "transition",
            "Theorem 1 over HD/Nn, V alone and Q, K, V",
            Transition(),
        ),
        CalculationStudy(
            "promised",
            "the same runs until the bound promises half of the loss",
            PromisedRuns(),
        ),
        CalculationStudy(
            "region",
            "how far Q, K, V move, and the ends of the Hessian's spectrum",
            Region(),
        ),
        CalculationStudy(
            "scale", "Theorem 1's constants over the scale of Q, K", Scale()
        ),
        CalculationStudy(
            "queries",
            "Theorem 2 on 20 seeds: the construction and its controls",
            Queries(),
        ),
        CalculationStudy(
            "control-100",
            "Theorem 2's control of scale 2 on 100 more seeds",
            Queries.of_cases(RANDOM_SCALE_2, seeds=100, first_seed=2000),
        ),
    )


def _quick() -> tuple[Study, ...]:
    acceptance = Acceptance(heads=(8,), seeds=3)
    queries = Queries.of_cases(CONSTRUCTION[0], seeds=8)
    return (
        _pair(),
        CalculationStudy("acceptance", "the case that attains β, H = 8", acceptance),
        CalculationStudy("queries", "Theorem 2 on 8 seeds, H = 8", queries),
    )


# --- real tasks and landscapes ---------------------------------------------------------


def with_both_kernels(experiment: Experiment, seeds: int) -> tuple[Experiment, ...]:
    """Run an experiment with both kernels over some seeds, kernels in turn."""
    return tuple(
        dataclasses.replace(
            experiment,
            model=dataclasses.replace(experiment.model, kernel=kernel),
            seed=seed,
        )
        for seed in range(seeds)
        for kernel in COMPARED_KERNELS
    )


def _real_tasks() -> tuple[Study, ...]:
    return (
        RunStudy(
            "imdb",
            "IMDb as 128 words, both kernels",
            with_both_kernels(presets.imdb_desk(), IMDB_SEEDS),
            needs_data=True,
        ),
        RunStudy(
            "pathfinder",
            "Pathfinder, easy, 16×16, both kernels",
            with_both_kernels(presets.pathfinder_desk(), PATHFINDER_SEEDS),
            needs_data=True,
        ),
    )


def _landscapes() -> tuple[Study, ...]:
    """Loss surfaces after two stages of training, text and images."""
    settings = {"landscape-text": TEXT_SURVEY, "landscape-images": IMAGE_SURVEY}
    return tuple(
        LandscapeStudy(
            study,
            f"loss surfaces of {settings[study].models} models, softmax first",
            landscapes.first_stage(study),
            settings[study],
            needs_data=True,
        )
        for study in landscapes.STUDIES
    )
