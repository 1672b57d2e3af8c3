"""What ``piste reproduce kernels`` runs."""

from collections.abc import Sequence

from piste.papers import data_at_hand
from piste.reproduction import CalculationStudy, RunStudy, Study

from . import presets
from .calculations import Acceptance, Scale, Transition
from .long_runs import Promised, Region
from .queries import Queries
from .real_studies import ON_IMDB, real_studies


def studies(quick: bool) -> tuple[Study, ...]:
    """All studies; with ``quick`` the pair of Theorem 2, and few seeds of the others."""
    return _quick() if quick else (*_whole(), *real_studies())


def available(found: Sequence[Study]) -> list[Study]:
    """All, but those of IMDb only where it can be had."""
    imdb = presets.imdb_desk().task
    if any(study.name in ON_IMDB for study in found) and not data_at_hand(imdb):
        return [study for study in found if study.name not in ON_IMDB]
    return list(found)


def _whole() -> tuple[Study, ...]:
    pair = (presets.thm_2_softmax(), presets.thm_2_gaussian())
    both = (presets.thm_1_softmax(), presets.thm_1_gaussian())
    return (
        RunStudy("pair", "Theorem 2: Q alone from the matched start, H = 8", pair),
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
            Promised(),
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
            Queries(cases="4,random,2", seeds=100, first_seed=2000),
        ),
    )


def _quick() -> tuple[Study, ...]:
    acceptance = Acceptance(heads="8", seeds=3)
    queries = Queries(cases="8,matched,6", seeds=8)
    pair = (presets.thm_2_softmax(), presets.thm_2_gaussian())
    return (
        RunStudy("pair", "Theorem 2: Q alone from the matched start, H = 8", pair),
        CalculationStudy("acceptance", "the case that attains β, H = 8", acceptance),
        CalculationStudy("queries", "Theorem 2 on 8 seeds, H = 8", queries),
    )
