"""What ``piste reproduce signgd`` runs."""

import dataclasses

from piste.papers import Study

from .presets import autodiff, stages


def studies(quick: bool) -> tuple[Study, ...]:
    """All studies, or with ``quick`` the stages alone on two seeds and half as long."""
    if quick:
        short = dataclasses.replace(stages(), steps=1000)
        return (Study("stages", "four stages, exact sign", seeds(short, 2)),)
    precise = dataclasses.replace(autodiff(), precision="float64")
    return (
        Study("stages", "four stages, exact sign", seeds(stages(), 6)),
        Study("autodiff-64", "four stages, autodiff float64", seeds(precise, 3)),
        Study("autodiff-32", "four stages, autodiff float32", seeds(autodiff(), 3)),
    )


def seeds(experiment, count: int) -> tuple:
    """One experiment over several seeds."""
    return tuple(dataclasses.replace(experiment, seed=seed) for seed in range(count))
