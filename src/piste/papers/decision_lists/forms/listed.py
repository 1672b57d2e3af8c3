"""Populations given by a list of sequences: all sets, a finite support, or a batch."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..models import OneHotWeights, token_attention
from ..tasks import Instance
from ._base import AbstractPopulation
from .cases import Cases

MAX_PRODUCT_VOCABULARY = 256
"""The largest vocabulary for which picking columns of $W$ is a product of matrices."""


class ListedPopulation(AbstractPopulation):
    """Sequences with their probabilities; exact if they are all there are."""

    tokens: Int[Array | np.ndarray, "sequence position"]
    labels: Int[Array | np.ndarray, "sequence position"]
    probability: Float[Array | np.ndarray, " sequence"]
    cases: Cases
    frequency: Float[Array | np.ndarray, " column"]
    column: Int[np.ndarray, " token"]
    entries: Float[np.ndarray, "key column"]
    length: int = eqx.field(static=True)
    repeats: bool = eqx.field(static=True)
    kernel: str = eqx.field(static=True, default="softmax")
    """How the model attends; the cases are those of softmax."""

    @staticmethod
    def of(
        instance: Instance,
        tokens: Int[Array | np.ndarray, "sequence position"],
        probability: Float[Array | np.ndarray, " sequence"],
        kernel: str = "softmax",
    ) -> "ListedPopulation":
        """Label the sequences: with NumPy, or, inside compiled programs, with JAX."""
        size = instance.vocabulary
        cases = _cases(instance, tokens, probability)
        return ListedPopulation(
            tokens=tokens,
            labels=instance.labels(tokens),
            probability=probability,
            cases=cases,
            frequency=_sums(cases.query, cases.weight, size),
            column=np.arange(size),
            entries=np.ones((size, size)),
            length=instance.length,
            repeats=instance.sequences.repeats,
            kernel=kernel,
        )

    def loss(
        self, attention: Float[Array, "token token"], value: Float[Array, "label token"]
    ) -> Float[Array, ""]:
        r"""$\mathcal{L}(W, V)$ for any matrices."""
        return jnp.dot(self.probability, self.losses(attention, value))

    def losses(
        self, attention: Float[Array, "token token"], value: Float[Array, "label token"]
    ) -> Float[Array, " sequence"]:
        """The loss of every sequence."""
        logits = self._logits(OneHotWeights(attention, value))
        log_f = jax.nn.log_softmax(logits, axis=-1)
        return -jnp.where(self._right(), log_f, 0).sum(-1).mean(-1)

    def label_margins(
        self, attention: Float[Array, "token token"], value: Float[Array, "label token"]
    ) -> Float[Array, "sequence position"]:
        """How far the logit of the label leads, for any matrices."""
        logits, right = self._logits(OneHotWeights(attention, value)), self._right()
        others = jnp.where(right, -jnp.inf, logits).max(-1)
        return jnp.where(right, logits, 0).sum(-1) - others

    def attended(
        self, weights: OneHotWeights
    ) -> Float[Array, "sequence position token"]:
        r"""Mass on every token of the vocabulary, $p_b \propto N_b e^{W[b,a]}$.

        Written over the whole vocabulary it is two products of matrices, which is much
        faster than to gather the entries of $W$ and to scatter their gradients.
        """
        if self.kernel != "softmax":
            return jax.vmap(partial(self._attended_one, weights))(self.tokens)
        size, dtype = len(weights.attention), weights.attention.dtype
        counts = jax.nn.one_hot(self.tokens, size, dtype=dtype).sum(1)
        if size <= MAX_PRODUCT_VOCABULARY:
            here = jax.nn.one_hot(self.tokens, size, dtype=dtype)
            scores = here @ weights.attention.T
        else:
            scores = weights.attention.T[self.tokens]
        return jax.nn.softmax(scores + jnp.log(counts)[:, None], axis=-1)

    def _attended_one(self, weights: OneHotWeights, tokens):
        size, dtype = len(weights.attention), weights.attention.dtype
        here = jax.nn.one_hot(tokens, size, dtype=dtype)
        return token_attention(weights, tokens, self.kernel).T @ here

    def _logits(
        self, weights: OneHotWeights
    ) -> Float[Array, "sequence position label"]:
        return self.attended(weights) @ weights.value.T

    def _right(self) -> Bool[Array, "sequence position label"]:
        return jnp.asarray(self.labels)[..., None] == np.arange(len(self.column))

    def condense(
        self, attention: Float[Array, "token token"]
    ) -> Float[Array, "key column"]:
        """The matrix itself: no symmetry is assumed."""
        return attention


def _cases(
    instance: Instance,
    tokens: Int[Array | np.ndarray, "sequence position"],
    probability: Float[Array | np.ndarray, " sequence"],
) -> Cases:
    """A case for every position of every sequence, a group for every distinct token."""
    n = tokens.shape[1]
    equal = tokens[:, :, None] == tokens[:, None, :]
    first = np.arange(n) == equal.argmax(-1)
    decider = instance.deciders(tokens)[:, :, None] == tokens[:, None, :]
    return Cases(
        query=tokens.reshape(-1),
        key=tokens.repeat(n, axis=0),
        copies=equal.sum(-1).astype(float).repeat(n, axis=0),
        tokens=first.astype(float).repeat(n, axis=0),
        decider=decider.argmax(-1).reshape(-1),
        weight=probability.repeat(n, axis=0) / n,
        vocabulary=np.asarray(float(instance.vocabulary)),
    )


def _sums(index, weight, size: int):
    if isinstance(index, np.ndarray):
        return np.bincount(index, weight, size)
    return jnp.zeros(size).at[index].add(weight)
