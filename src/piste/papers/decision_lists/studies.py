"""What ``piste reproduce decision-lists`` runs."""

from collections.abc import Sequence

from piste.papers import Study
from piste.sweeps import Sweep

from . import presets
from .calculations import FirstPerfect, Repetition, ScaleSweep
from .descents import Descents

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
FOLLOWED = 100.0
"""Flows are followed to this multiple of their first perfect time."""


def studies(quick: bool) -> tuple[Study, ...]:
    """All studies; with ``quick`` Theorem 1 alone, on its runs and 200 + 90 instances."""
    found = (*_theorem_1(), *_beyond_theorem_1(), *_theorem_2(), *_empirics())
    return found[:3] if quick else found


def available(found: Sequence[Study]) -> list[Study]:
    """All of them: nothing here is read from disk."""
    return list(found)


def _theorem_1() -> tuple[Study, ...]:
    others = FirstPerfect("others", instances=90, batch=45, largest=14, longest=4)
    return (
        Study("theorem-1", "gradient flow, (30, 6, 4)", (presets.thm_1(),)),
        Study(
            "uniform",
            "Theorem 1 on 200 random uniform instances",
            calculation=FirstPerfect(),
        ),
        Study(
            "others",
            "Theorem 1 on 90 random instances that are not uniform",
            calculation=others,
        ),
    )


def _beyond_theorem_1() -> tuple[Study, ...]:
    uniform = FirstPerfect(instances=200, follow=FOLLOWED, seed=1)
    others = FirstPerfect(
        "others", 90, 45, largest=12, longest=4, follow=FOLLOWED, seed=1
    )
    small = ScaleSweep(vocabulary=12, length=4, list_bound=3)
    return (
        Study(
            "dirichlet",
            "gradient flow, Dirichlet weights on sets, (12, 4, 3)",
            (presets.thm_1_dirichlet(),),
        ),
        Study("scale", "Theorem 1 over c, (30, 6, 4)", calculation=ScaleSweep()),
        Study("scale-small", "Theorem 1 over c, (12, 4, 3)", calculation=small),
        Study("persistence", "is perfection kept, uniform", calculation=uniform),
        Study("persistence-others", "is perfection kept, others", calculation=others),
        Study("repetition", "tokens that repeat", calculation=Repetition()),
    )


def _theorem_2() -> tuple[Study, ...]:
    words = "Theorem 2 on instances that meet its conditions"
    return (Study("theorem-2", words, calculation=Descents()),)


def _empirics() -> tuple[Study, ...]:
    names = {
        "gd": presets.empirics,
        "signgd": presets.empirics_signgd,
        "adam": presets.empirics_adam,
    }
    runs = tuple(preset() for preset in names.values())
    alone = Sweep(presets.value_alone(), {"seed": range(SEEDS)})
    return (
        Study("empirics", "W and V from random weights, (10, 4, 3)", runs),
        *(_joint(size, rule) for size in SIZES for rule in names),
        Study(
            "value-alone",
            "V alone under uniform attention, (8, 3, 2)",
            sweep=alone,
            probes=("train_loss", "accuracy", "value_cosine", "value_cosine_centred"),
            batch=1,
        ),
    )


def joint_name(size: tuple[int, int, int], rule: str) -> str:
    """The name of a study of training from random weights."""
    return f"joint-{rule}-{size[0]}"


def _joint(size: tuple[int, int, int], rule: str) -> Study:
    return Study(
        joint_name(size, rule),
        f"W and V from random weights, {size}, {rule}",
        sweep=Sweep(presets.joint(*size, rule), {"seed": range(SEEDS)}),
        probes=JOINT_PROBES,
        # One at a time: products of many small matrices are slow side by side.
        batch=1,
    )
