"""Constants of Theorem 1 in every cell, and the conditions that the theorem makes."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from piste.claims import Condition

from ...presets import COMPARED_KERNELS
from ...theory import (
    FULL_RANK,
    RESOLVED,
    STEP_FRACTION,
    ConvergenceTheorem,
    requirements,
)
from ...thresholds import BOUND_ROUNDING, USEFUL_SHARE
from ..cells import labels, singular_value_words, wide_enough

CONSTANTS = (
    "kernel",
    "seed",
    "rows",
    "columns",
    "eta",
    "feature_min",
    "feature_resolution",
    "head_output_min",
    "jacobian_max",
)
"""Variables without which the theorem's conditions cannot be judged."""


def kernels_and_heads(heads: tuple[int, ...]) -> list[tuple[str, int]]:
    """Every kernel with every number of heads: one part of a calculation for each."""
    return list(itertools.product(COMPARED_KERNELS, heads))


def constants(theorem: ConvergenceTheorem, kernel: str, seeds: range) -> dict:
    """Constants of Theorem 1 by cell, computed from the start of every seed."""
    numbers = {
        "seed": np.array(seeds),
        "rows": np.full(len(seeds), theorem.rows),
        "columns": np.full(len(seeds), theorem.columns),
        "eta": theorem.learning_rate,
        "beta": theorem.rate,
        "stacked_beta": theorem.stacked_rate,
        "feature_min": theorem.feature_min,
        "feature_resolution": theorem.feature_resolution,
        "head_output_min": theorem.head_output_min,
        "jacobian_max": theorem.jacobian_max,
        "initial_loss": theorem.initial_loss,
        "hundredth_steps": theorem.steps_to_promise(USEFUL_SHARE),
    }
    arrays = {name: ("cell", np.asarray(array)) for name, array in numbers.items()}
    return {"kernel": labels(kernel, seeds)} | arrays


def bounds(theorem: ConvergenceTheorem, times: np.ndarray) -> dict:
    """Both readings of the bound at the recorded steps, by cell."""
    steps = jnp.asarray(times)
    readings = {
        "bound": jax.vmap(lambda one: one.bound(steps))(theorem),
        "stacked_bound": jax.vmap(lambda one: one.stacked_bound(steps))(theorem),
    }
    return {name: (("cell", "step"), np.asarray(b)) for name, b in readings.items()}


# --- conditions ------------------------------------------------------------------------


def conditions(cells: xr.Dataset) -> tuple[Condition, ...]:
    """Conditions of Theorem 1 on all cells together, with the numbers that decide them."""
    met = {name: bool(flags.all()) for name, flags in requirements(cells).items()}
    output, feature = float(cells.head_output_min.min()), _worst_feature(cells)
    return (
        wide_enough(cells),
        Condition(FULL_RANK, met[FULL_RANK], f"least σ_min = {output:.3g}", output, 0),
        Condition(RESOLVED, met[RESOLVED], least_feature(cells), *feature),
        Condition(
            "η = ½/σ²_max(J₀)",
            bool(_has_step_of_theorem(cells).all()),
            f"ησ²_max(J₀) = {range_words(_step_fraction(cells), 6)}",
        ),
    )


def are_conditions_met(cells: xr.Dataset) -> np.ndarray:
    """Whether the conditions are met, for each cell by itself."""
    flags = [met.values for met in requirements(cells).values()]
    return np.logical_and.reduce([*flags, _has_step_of_theorem(cells)])


def _step_fraction(cells: xr.Dataset) -> np.ndarray:
    return (cells.eta * cells.jacobian_max**2).values


def _has_step_of_theorem(cells: xr.Dataset) -> np.ndarray:
    return np.abs(_step_fraction(cells) / STEP_FRACTION - 1) <= BOUND_ROUNDING


def least_feature(cells: xr.Dataset) -> str:
    """The least σ_min(B₀) of all seeds in words."""
    words = singular_value_words(*_worst_feature(cells))
    return f"least of {cells.sizes['cell']} seeds {words}"


def _worst_feature(cells: xr.Dataset) -> tuple[float, float]:
    """The least σ_min(B₀) of all seeds, and what an SVD resolves there."""
    worst = int(np.argmin(cells.feature_min.values))
    return float(cells.feature_min[worst]), float(cells.feature_resolution[worst])


def range_words(values: np.ndarray, digits: int = 3) -> str:
    """Smallest and largest of some numbers in words; one number if they look alike."""
    low, high = f"{values.min():.{digits}g}", f"{values.max():.{digits}g}"
    return low if low == high else f"{low} to {high}"
