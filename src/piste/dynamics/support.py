"""Which coordinates move, and which of them move in step."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


@dataclass(frozen=True)
class Blocks:
    r"""A few coordinates in place of many: $w_j = w_j(0) + \pm(u_b - u_b(0))$ in block $b$.

    ``signs`` has a column for each block: ±1 at its coordinates, 0 elsewhere. Blocks of
    one coordinate are plain coordinates; blocks of none are filling.
    """

    signs: np.ndarray
    means: np.ndarray
    """Columns that average a block's weights so that inner products are kept."""

    @property
    def copies(self) -> np.ndarray:
        """How many coordinates each block stands for."""
        return np.abs(self.signs).sum(0)

    def stretch(self, rows: Float[Array, "row dimension"]) -> Float[Array, "row block"]:
        """Inner products of rows with a unit move of each block."""
        return rows @ jnp.asarray(self.signs)

    def keep(self, weights: Float[Array, "dimension *neuron"]):
        """The weights of the blocks at the start."""
        return jnp.asarray(self.means).T @ weights


def support_blocks(basis: np.ndarray, merge: bool, least: int = 0) -> Blocks:
    r"""The blocks on which training happens.

    Coordinates outside every row have no gradient. If a coordinate $j$ occurs in row $r$
    alone, the sign of its gradient is $\mathrm{sgn}(C_r)\,\mathrm{sgn}(B_{rj})$:
    with ``merge`` all lone coordinates of a row form one block. Filling brings the width
    to a multiple of 64, and to ``least``, so that seeds share one compiled program.
    """
    rows, dimension = basis.shape
    present = basis != 0
    lone = merge & (present.sum(0) == 1)
    single = np.flatnonzero(present.any(0) & ~lone)
    owners = range(rows) if merge else ()
    width = -(-max(single.size + len(owners), least) // 64) * 64
    signs, means = np.zeros((dimension, width)), np.zeros((dimension, width))
    signs[single, np.arange(single.size)] = means[single, np.arange(single.size)] = 1
    for block, row in enumerate(owners, start=single.size):
        alone = lone & present[row]
        entries = basis[row, alone]
        signs[alone, block] = np.sign(entries)
        means[alone, block] = entries / max(np.abs(entries).sum(), np.finfo(float).tiny)
    return Blocks(signs, means)
