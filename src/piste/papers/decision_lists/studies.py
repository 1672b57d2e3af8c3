"""What ``piste reproduce decision-lists`` runs."""

from collections.abc import Sequence

from piste.reproduction import CalculationStudy, RunStudy, Study, SweepStudy
from piste.sweeps import Sweep

from . import presets
from .attention_descents import AttentionDescents
from .calculations import FirstPerfect, Repetition, ScaleSweep
from .descents import Descents
from .instances import RandomInstances
from .persistence import Persistence
from .unseen import UnseenSequences

SIZES = ((8, 3, 2), (10, 4, 3), (16, 4, 3))
"""L, n, M of the training from random weights."""
SEEDS = 8
JOINT_PROBES = (
    "train_loss",
    "margin",
    "accuracy",
    "decider_attention",
    "value_cosine_centred",
)
LOST = RandomInstances(
    "dirichlet-support",
    count=1,
    smallest=24,
    largest=24,
    shortest=4,
    longest=4,
    list_bounds="4",
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
        *_empirics(),
    )


def available(found: Sequence[Study]) -> list[Study]:
    """All of them: nothing here is read from disk."""
    return list(found)


def _theorem_1() -> tuple[Study, ...]:
    others = RandomInstances("others", count=90, largest=14, longest=4)
    weighted = RandomInstances("dirichlet-support", count=30, largest=14, longest=4)
    return (
        RunStudy("theorem-1", "gradient flow, (30, 6, 4)", (presets.thm_1(),)),
        CalculationStudy(
            "uniform",
            "Theorem 1 on 200 random uniform instances",
            FirstPerfect(),
        ),
        CalculationStudy(
            "others",
            "Theorem 1 on 90 random instances: Dirichlet, support, Poisson",
            FirstPerfect(others, batch=45),
        ),
        CalculationStudy(
            "dirichlet-support",
            "Theorem 1 on 30 random instances with Dirichlet weights on some sets",
            FirstPerfect(weighted),
        ),
    )


def _beyond_theorem_1() -> tuple[Study, ...]:
    small = ScaleSweep(vocabulary=12, length=4, list_bound=3)
    return (
        RunStudy(
            "dirichlet",
            "gradient flow, Dirichlet weights on sets, (12, 4, 3)",
            (presets.thm_1_dirichlet(),),
        ),
        CalculationStudy("scale", "Theorem 1 over c, (30, 6, 4)", ScaleSweep()),
        CalculationStudy("scale-small", "Theorem 1 over c, (12, 4, 3)", small),
        CalculationStudy("repetition", "tokens that repeat", Repetition()),
        CalculationStudy(
            "unseen",
            "Theorem 1 on some sets: are all other sequences right?",
            UnseenSequences(),
        ),
    )


def _persistence() -> tuple[Study, ...]:
    each = RandomInstances(
        "each",
        count=1500,
        largest=9,
        longest=4,
        list_bounds="4",
        list_lengths="fixed",
        support_sets=24,
        seed=1,
    )
    return (
        CalculationStudy(
            "persistence",
            "is perfection kept? five distributions, small sizes",
            Persistence(each, batch=150),
        ),
        CalculationStudy(
            "persistence-large",
            "is perfection kept? uniform sets, larger sizes",
            Persistence(RandomInstances(seed=1)),
        ),
        CalculationStudy(
            "persistence-found",
            "an instance of (24, 4, 4), chosen because it loses perfection",
            Persistence(LOST),
        ),
    )


def _descents() -> tuple[Study, ...]:
    return (
        CalculationStudy(
            "attention-descents",
            "gradient descent on W alone at η ≤ 1/λ_max, five distributions",
            AttentionDescents(),
        ),
        CalculationStudy(
            "theorem-2",
            "Theorem 2 on instances that meet its conditions",
            Descents(),
        ),
    )


def _empirics() -> tuple[Study, ...]:
    names = {
        "gd": presets.empirics,
        "signgd": presets.empirics_signgd,
        "adam": presets.empirics_adam,
    }
    runs = tuple(preset() for preset in names.values())
    alone = Sweep(presets.value_alone(), {"seed": range(SEEDS)})
    return (
        RunStudy("empirics", "W and V from random weights, (10, 4, 3)", runs),
        *(_joint(size, rule) for size in SIZES for rule in names),
        SweepStudy(
            "value-alone",
            "V alone under uniform attention, (8, 3, 2)",
            alone,
            probes=("train_loss", "accuracy", "value_cosine", "value_cosine_centred"),
            batch=1,
        ),
    )


def joint_name(size: tuple[int, int, int], rule: str) -> str:
    """The name of a study of training from random weights."""
    return f"joint-{rule}-{size[0]}"


def joint_names() -> tuple[str, ...]:
    """The names of all studies of training from random weights."""
    return tuple(joint_name(size, rule) for size in SIZES for rule in presets.RULES)


def _joint(size: tuple[int, int, int], rule: str) -> Study:
    return SweepStudy(
        joint_name(size, rule),
        f"W and V from random weights, {size}, {rule}",
        Sweep(presets.joint(*size, rule), {"seed": range(SEEDS)}),
        probes=JOINT_PROBES,
        # One at a time: products of many small matrices are slow side by side.
        batch=1,
    )
