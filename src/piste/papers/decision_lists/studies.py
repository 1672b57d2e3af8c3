"""What ``piste reproduce decision-lists`` runs."""

from collections.abc import Sequence

from piste.reproduction import CalculationStudy, RunStudy, Study, SweepStudy
from piste.sweeps import Sweep

from . import presets
from .results import descent_on_w, random_weights, value_alone
from .results.descent_on_w import AttentionDescents
from .results.instances import RandomInstances
from .results.theorem_1 import (
    first_perfect_times,
    persistence,
    repetition,
    scale,
    single_runs,
    unseen_sequences,
)
from .results.theorem_1.first_perfect_times import FirstPerfect
from .results.theorem_1.persistence import Persistence
from .results.theorem_1.repetition import Repetition
from .results.theorem_1.scale import ScaleSweep
from .results.theorem_1.unseen_sequences import UnseenSequences
from .results.theorem_2 import descents
from .results.theorem_2.descents import Descents

SEEDS = 8
"""Seeds of every sweep from random weights."""
LOSING_INSTANCE = RandomInstances(
    "dirichlet-support",
    count=1,
    min_vocabulary=24,
    max_vocabulary=24,
    min_length=4,
    max_length=4,
    min_list_bound=4,
    list_lengths="fixed",
    support_sets=200,
    first=14,
)
"""An instance of (24, 4, 4) that loses perfection, and gets it back: one of the two among
the first 300 of its kind."""


def studies(quick: bool) -> tuple[Study, ...]:
    """All studies; with ``quick`` Theorem 1 alone, on a run and on random instances."""
    theorem_1 = _theorem_1()
    if quick:
        return theorem_1
    return (
        *theorem_1,
        *_beyond_theorem_1(),
        *_persistence(),
        *_descents(),
        *_random_weights(),
    )


def available(studies: Sequence[Study]) -> list[Study]:
    """All of them: nothing here is read from disk."""
    return list(studies)


def _theorem_1() -> tuple[Study, ...]:
    others = RandomInstances("others", count=90, max_vocabulary=14, max_length=4)
    weighted = RandomInstances(
        "dirichlet-support", count=30, max_vocabulary=14, max_length=4
    )
    return (
        RunStudy(single_runs.STUDY, "gradient flow, (30, 6, 4)", (presets.thm_1(),)),
        CalculationStudy(
            first_perfect_times.UNIFORM,
            "Theorem 1 on 200 random uniform instances",
            FirstPerfect(),
        ),
        CalculationStudy(
            first_perfect_times.OTHERS,
            "Theorem 1 on 90 random instances: Dirichlet, support, Poisson",
            FirstPerfect(others, batch=45),
        ),
        CalculationStudy(
            first_perfect_times.WEIGHTED,
            "Theorem 1 on 30 random instances with Dirichlet weights on some sets",
            FirstPerfect(weighted),
        ),
    )


def _beyond_theorem_1() -> tuple[Study, ...]:
    large, small = scale.STUDIES
    small_sweep = ScaleSweep(vocabulary=12, length=4, list_bound=3)
    return (
        RunStudy(
            "dirichlet",
            "gradient flow, Dirichlet weights on sets, (12, 4, 3)",
            (presets.thm_1_dirichlet(),),
        ),
        CalculationStudy(large, "Theorem 1 over c, (30, 6, 4)", ScaleSweep()),
        CalculationStudy(small, "Theorem 1 over c, (12, 4, 3)", small_sweep),
        CalculationStudy(repetition.STUDY, "tokens that repeat", Repetition()),
        CalculationStudy(
            unseen_sequences.STUDY,
            "Theorem 1 on some sets: are all other sequences right?",
            UnseenSequences(),
        ),
    )


def _persistence() -> tuple[Study, ...]:
    each = RandomInstances(
        "each",
        count=1500,
        max_vocabulary=9,
        max_length=4,
        min_list_bound=4,
        list_lengths="fixed",
        support_sets=24,
        seed=1,
    )
    return (
        CalculationStudy(
            persistence.STUDY,
            "is perfection kept? five distributions, small sizes",
            Persistence(each, batch=150),
        ),
        CalculationStudy(
            persistence.LARGE,
            "is perfection kept? uniform sets, larger sizes",
            Persistence(RandomInstances(seed=1)),
        ),
        CalculationStudy(
            persistence.CHOSEN,
            "an instance of (24, 4, 4), chosen because it loses perfection",
            Persistence(LOSING_INSTANCE),
        ),
    )


def _descents() -> tuple[Study, ...]:
    return (
        CalculationStudy(
            descent_on_w.STUDY,
            "gradient descent on W alone at η ≤ 1/λ_max, five distributions",
            AttentionDescents(),
        ),
        CalculationStudy(
            descents.STUDY,
            "Theorem 2 on instances that meet its conditions",
            Descents(),
        ),
    )


def _random_weights() -> tuple[Study, ...]:
    runs = (presets.empirics(), presets.empirics_signgd(), presets.empirics_adam())
    return (
        RunStudy("empirics", "W and V from random weights, (10, 4, 3)", runs),
        *(_joint_study(*pair) for pair in random_weights.sizes_and_rules()),
        SweepStudy(
            value_alone.STUDY,
            "V alone under uniform attention, (8, 3, 2)",
            Sweep(presets.value_alone(), {"seed": range(SEEDS)}),
            probes=value_alone.PROBES,
            batch=1,
        ),
    )


def _joint_study(size: random_weights.Size, rule: str) -> Study:
    return SweepStudy(
        random_weights.study_name(size, rule),
        f"W and V from random weights, {size}, {rule}",
        Sweep(presets.joint(*size, rule), {"seed": range(SEEDS)}),
        probes=random_weights.PROBES,
        # One at a time: products of many small matrices are slow side by side.
        batch=1,
    )
