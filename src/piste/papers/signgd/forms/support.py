"""Which coordinates move, and which of them move alike."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


@dataclass(frozen=True)
class CoordinateBlocks:
    r"""A few coordinates in place of many: $w_j = w_j(0) + \pm(u_b - u_b(0))$ in block $b$.

    First come coordinates that stand for themselves, then blocks of several, then
    padding up to the width.
    """

    single: np.ndarray
    """Coordinates that stand for themselves."""
    signs: np.ndarray
    """A column for each block of several: ±1 at its coordinates, 0 elsewhere."""
    means: np.ndarray
    """Columns that average a block's weights so that inner products are kept."""
    width: int

    @property
    def copies(self) -> np.ndarray:
        """How many coordinates each block stands for."""
        merged = np.abs(self.signs).sum(0)
        return self._pad(np.concatenate([np.ones(self.single.size), merged]))

    def stretch(self, rows: Float[Array, "row dimension"]) -> Float[Array, "row block"]:
        """Inner products of rows with a unit move of each block."""
        parts = [rows[:, self.single], rows @ jnp.asarray(self.signs)]
        missing = self.width - sum(part.shape[1] for part in parts)
        # Joined at once: test sets are large, and every step would be a copy of one.
        still = jnp.zeros((rows.shape[0], missing), rows.dtype)
        return jnp.concatenate([*parts, still], axis=1)

    def keep(
        self, weights: Float[Array, "dimension *neuron"]
    ) -> Float[Array, "block *neuron"]:
        """The weights of the blocks at the start."""
        parts = [weights[self.single], jnp.asarray(self.means).T @ weights]
        return self._pad(jnp.concatenate(parts))

    def _pad(self, blocks: Any) -> Any:
        missing = [(0, self.width - len(blocks))] + [(0, 0)] * (blocks.ndim - 1)
        pad = np.pad if isinstance(blocks, np.ndarray) else jnp.pad
        return pad(blocks, missing)


def support_blocks(
    basis: np.ndarray, merge: bool, minimum_width: int = 0
) -> CoordinateBlocks:
    r"""The blocks on which training happens.

    Coordinates outside every row have no gradient. If a coordinate $j$ occurs in row $r$
    alone, the sign of its gradient is $\mathrm{sgn}(C_r)\,\mathrm{sgn}(B_{rj})$: with
    ``merge`` all lone coordinates of a row form one block. Padding brings the width to a
    multiple of 64, and to ``minimum_width``, so that seeds share one compiled program.
    """
    present = basis != 0
    lone = merge & (present.sum(0) == 1)
    single = np.flatnonzero(present.any(0) & ~lone)
    entries = np.where(present & lone, basis, 0)[: len(basis) if merge else 0].T
    sizes = np.maximum(np.abs(entries).sum(0), np.finfo(float).tiny)
    width = -(-max(single.size + entries.shape[1], minimum_width) // 64) * 64
    return CoordinateBlocks(single, np.sign(entries), entries / sizes, width)
