"""Several runs side by side in one compiled program: the cells of a batch.

The systems of a batch have the same shapes and differ in numbers: data, weights, rates.
They are stacked along a first axis, ``cell``.
"""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from piste.rules import AbstractDescent

from .engine import Chunk, Plan, State, System, chunks_of, run_chunk

R = TypeVar("R", bound=AbstractDescent)

ALIGNMENT = 64
"""Where the memory of an array must begin for JAX to take it over without a copy."""


@jax.jit
def run_batch(system: System, state: State, gaps, tests):
    """Advance all cells of a batch by one chunk."""
    return jax.vmap(run_chunk, in_axes=(0, 0, None, None))(system, state, gaps, tests)


def train_cells(system: System, plan: Plan) -> Iterator[Chunk]:
    """Train stacked systems from their start; records have the cells as first axis.

    Every cell takes all steps: one that diverges is data, and its numbers say so. Whoever
    reads the chunks may stop early.
    """
    state = jax.vmap(System.start)(system)
    return chunks_of(run_batch, system, plan, state, axis=1)


def at_rates(rule: R, rates: Float[Array | np.ndarray, "*cell"]) -> R:
    """A rule with a learning rate for each cell, or one that is not checked.

    A value refuses a rate that is no number; an array of them leads to an outcome.
    """
    return eqx.tree_at(lambda rule: rule.learning_rate, rule, jnp.asarray(rates))


def stack_systems(systems: Iterable[System], count: int) -> System:
    """One system of ``count`` cells, filled cell by cell: their data may be large."""
    stacks, structure = [], None
    for index, system in enumerate(systems):
        leaves, structure = jax.tree.flatten(system)
        stacks = stacks or [_empty_stack(leaf, count) for leaf in leaves]
        for stack, leaf in zip(stacks, leaves, strict=True):
            stack[index] = leaf
        del system, leaves
    assert structure is not None
    return jax.tree.unflatten(structure, [_on_device(stack) for stack in stacks])


def _empty_stack(leaf: Any, count: int) -> np.ndarray | list:
    """Room for so many arrays like one; keys of random streams are no NumPy arrays."""
    if jnp.issubdtype(jnp.result_type(leaf), jax.dtypes.prng_key):
        return [None] * count
    like = np.asarray(leaf)
    memory = np.empty(count * like.nbytes + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    inside = memory[start : start + count * like.nbytes]
    return inside.view(like.dtype).reshape(count, *like.shape)


def _on_device(stack: np.ndarray | list) -> jax.Array:
    return jnp.stack(stack) if isinstance(stack, list) else jax.device_put(stack)
