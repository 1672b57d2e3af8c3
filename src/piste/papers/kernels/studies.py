"""Studies of the paper: what ``piste reproduce kernels`` runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from piste.experiment import Experiment
from piste.landscape import Comparison
from piste.papers import data_at_hand
from piste.reproduction import CalculationStudy, LandscapeStudy, RunStudy, Study
from piste.values import override

from . import presets
from .presets import COMPARED_KERNELS
from .results import landscapes
from .results.real_tasks.harder_images import DISTRACTORS, LONG
from .results.real_tasks.markers import MarkerForests
from .results.real_tasks.rates import GRIDS, TUNING_SEEDS
from .results.real_tasks.runs import TEXT_TASKS
from .results.theorem_1.acceptance import Acceptance
from .results.theorem_1.region import Region
from .results.theorem_1.runs import PromisedRuns, Transition
from .results.theorem_1.scale import Scale
from .results.theorem_2.cases import CONSTRUCTION, RANDOM_SCALE_2
from .results.theorem_2.queries import Queries
from .thresholds import LANDSCAPE_RISES

NEED_IMDB = (*TEXT_TASKS, "imdb-sgd-rates", "landscape-text")
"""Studies that train on IMDb."""
IMDB_SEEDS, PATHFINDER_SEEDS = 5, 8
"""Seeds of the comparisons: five that all agree decide a sign test."""
DISTRACTOR_COUNTS = (4, 8, 16, 32)
"""Distractors on 32×32 pixels; a fourth of them is attempted on 16×16."""
SURVEY = Comparison(
    points=11,
    models=10,
    directions=1,
    snapshots=11,
    steps_two=100,
    kernels=landscapes.KERNELS[1:],
    rises=LANDSCAPE_RISES,
    swap=True,
)
"""Ten models: a sign test can tell 9 of 10 from chance. Few points: each is the loss of 64
sequences, and there are 24 surfaces for every model."""


def studies(quick: bool) -> tuple[Study, ...]:
    """All studies; with ``quick`` the pair of Theorem 2, and few seeds of the others."""
    return _quick() if quick else (*_theory(), *_texts(), *_images(), *_landscapes())


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


def with_kernels(
    experiment: Experiment,
    seeds: Sequence[int],
    rates: Mapping[str, float] | None = None,
    kernels: Sequence[str] = COMPARED_KERNELS,
) -> tuple[Experiment, ...]:
    """Run an experiment with some kernels over some seeds, kernels in turn.

    Each kernel may have a rate of its own.
    """
    changes = [
        {"seed": seed, "model.kernel": kernel}
        | ({"rule.learning-rate": rates[kernel]} if rates else {})
        for seed in seeds
        for kernel in kernels
    ]
    return tuple(override(experiment, change) for change in changes)


def _pixel_networks(
    seeds: Sequence[int], hidden: int, rate: float
) -> tuple[Experiment, ...]:
    changes: dict[str, Any] = {"model": "pixel-mlp", "model.hidden": hidden}
    changes |= {"model.layers": 2, "rule.learning-rate": rate}
    base = override(presets.pathfinder_desk(), changes)
    return tuple(override(base, {"seed": seed}) for seed in seeds)


def _texts() -> tuple[Study, ...]:
    seeds = range(IMDB_SEEDS)
    words, by_sgd, as_bytes = (
        presets.imdb_desk(),
        presets.imdb_sgd(),
        presets.imdb_bytes(),
    )
    tuned = [
        experiment
        for rate in GRIDS["imdb-sgd-rates"]
        for experiment in with_kernels(
            by_sgd, TUNING_SEEDS[:1], dict.fromkeys(COMPARED_KERNELS, rate)
        )
    ]
    return (
        _runs("imdb", "IMDb as 128 words, both kernels", with_kernels(words, seeds)),
        _runs(
            "imdb-sgd-rates",
            "the same by SGD over learning rates",
            tuned,
            by_name=True,
        ),
        _runs(
            "imdb-sgd",
            "the same by SGD",
            with_kernels(by_sgd, seeds, presets.SGD_RATES),
            by_name=True,
        ),
        _runs(
            "imdb-bytes",
            "IMDb as 256 bytes, both kernels",
            with_kernels(as_bytes, seeds),
            by_name=True,
        ),
    )


def _runs(
    name: str,
    meaning: str,
    experiments: Sequence[Experiment],
    by_name: bool = False,
) -> RunStudy:
    return RunStudy(name, meaning, tuple(experiments), needs_data=True, by_name=by_name)


def _images() -> tuple[Study, ...]:
    seeds, rates = range(PATHFINDER_SEEDS), presets.PATHFINDER_RATES
    desk = presets.pathfinder_desk()
    controls = with_kernels(desk, seeds, rates, ("none",))
    for hidden in presets.PIXEL_NEURONS:
        controls += _pixel_networks(seeds, hidden, rates["pixel-mlp"])
    return (
        _runs(
            "pathfinder",
            "Pathfinder, two strokes, 16×16, both kernels",
            with_kernels(desk, seeds, rates),
        ),
        _runs(
            "pathfinder-controls",
            "the same images without attention",
            controls,
        ),
        CalculationStudy(
            "pathfinder-markers",
            "what the places of the markers tell",
            MarkerForests(PATHFINDER_SEEDS),
            needs_data=True,
        ),
        *_long_images(desk, seeds, rates),
    )


def _long_images(
    desk: Experiment, seeds: Sequence[int], rates: Mapping[str, float]
) -> tuple[Study, ...]:
    """Studies of images that run only when they are named."""
    kernels = (*COMPARED_KERNELS, "none")
    tuned: tuple[Experiment, ...] = ()
    for rate in GRIDS["pathfinder-rates"]:
        tuned += with_kernels(desk, TUNING_SEEDS, dict.fromkeys(kernels, rate), kernels)
        tuned += _pixel_networks(TUNING_SEEDS, presets.PIXEL_NEURONS[0], rate)
    longer = override(desk, {"steps": 20_000, "record.every": 200})
    distracted: tuple[Experiment, ...] = ()
    for count in DISTRACTOR_COUNTS:
        changed = override(desk, {"task.distractors": count, "steps": 10_000})
        distracted += with_kernels(changed, range(4), rates)
    return (
        _runs("pathfinder-rates", "learning rates of all models", tuned, by_name=True),
        *(
            _runs(
                name,
                f"contours of {strokes} strokes for 20,000 steps",
                with_kernels(override(longer, {"task.paddles": strokes}), seeds, rates),
                by_name=True,
            )
            for name, strokes in LONG.items()
        ),
        _runs(DISTRACTORS, "with more and more distractors", distracted, by_name=True),
    )


def _landscapes() -> tuple[Study, ...]:
    """Loss surfaces around trained and around swapped weights, text and images."""
    return tuple(
        LandscapeStudy(
            study,
            f"loss surfaces of {SURVEY.models} models, {len(landscapes.KERNELS)} kernels",
            landscapes.first_stage(study),
            SURVEY,
            needs_data=True,
        )
        for study in landscapes.STUDIES
    )
