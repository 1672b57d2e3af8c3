r"""Populations whose tokens are exchangeable: one column for each length of list.

Row $k < M$ of the scores stands for $a_{k+1}$ (row $m-1$ for $a$ itself), row $M$ for
every token outside the list. It holds for $W_0 = 0$ and $V = cP$, because gradients
keep the symmetry.
"""

import abc

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from piste.errors import field_error

from ..tasks import Instance
from ._base import AbstractPopulation
from .cases import Cases


class AbstractCondensedPopulation(AbstractPopulation):
    """What the populations of exchangeable tokens share."""

    lists: eqx.AbstractVar[Int[np.ndarray, "column slot"]]
    """The list of one query for each column, to read a matrix by."""
    list_lengths: eqx.AbstractVar[Int[np.ndarray, " column"]]
    """The length of the lists that a column stands for."""

    @property
    @abc.abstractmethod
    def form(self) -> str:
        """The form's name, for messages."""

    def loss(
        self, attention: Float[Array, "token token"], value: Float[Array, "label token"]
    ) -> Float[Array, ""]:
        """Not available: the symmetry needs $V = cP$."""
        expected = "holds for V = cP alone (attention_loss)"
        instead = "use enumeration or monte-carlo"
        raise field_error("form", self.form, f"{expected}; {instead}")

    def condense(
        self, attention: Float[Array, "token token"]
    ) -> Float[Array, "key column"]:
        """Read the scores off the columns of one query for each list length."""
        columns = []
        for listed, length in zip(self.lists, self.list_lengths, strict=True):
            own = listed[length - 1]
            outside = np.setdiff1d(np.arange(len(self.column)), listed[:length])[0]
            rows = np.append(listed, outside)
            used = np.append(np.arange(len(listed)) < length, True)
            columns.append(jnp.where(used, attention[rows, own], 0))
        return jnp.stack(columns, axis=1)

    def expand(
        self, scores: Float[Array, "key column"], instance: Instance
    ) -> Float[Array, "token token"]:
        """The full matrix $W$ for which the scores stand."""
        own = np.arange(instance.vocabulary)
        full = jnp.broadcast_to(scores[-1, self.column], (own.size, own.size))
        lengths = instance.list_lengths
        for slot in range(instance.lists.shape[1]):
            queries = own[slot < lengths]
            rows = instance.lists[queries, slot]
            full = full.at[rows, queries].set(scores[slot, self.column[queries]])
        return full


def columns_by_length(instance: Instance) -> dict[str, np.ndarray]:
    """The fields that group queries by the length of their lists."""
    lengths, first, column, count = np.unique(
        instance.list_lengths,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    bound = instance.lists.shape[1]
    entries = np.ones((bound + 1, 1)) * count
    entries[-1] *= instance.vocabulary - lengths
    return {
        "list_lengths": lengths,
        "lists": instance.lists[first],
        "column": column,
        "entries": entries,
        "frequency": count / count.sum(),
    }


def joined(tables: list[Cases], frequency: Float[np.ndarray, " column"]) -> Cases:
    """The cases of all columns in one table, weighed by how frequent a column is."""
    groups = max(table.key.shape[1] for table in tables)
    parts = [table.padded(len(table.query), groups) for table in tables]
    weight = np.concatenate(
        [rate * part.weight for rate, part in zip(frequency, parts, strict=True)]
    )
    query = np.repeat(np.arange(len(parts)), [len(part.query) for part in parts])
    return Cases(
        query=query,
        key=np.concatenate([part.key for part in parts]),
        copies=np.concatenate([part.copies for part in parts]),
        tokens=np.concatenate([part.tokens for part in parts]),
        decider=np.concatenate([part.decider for part in parts]),
        weight=weight,
        vocabulary=parts[0].vocabulary,
    )
