"""Populations given by a list of sequences: all sets, a finite support, or a batch."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from piste.models.one_hot import OneHotWeights, label_loss, label_margin, token_logits
from piste.tasks.decision_lists import Instance

from ._base import AbstractPopulation
from .cases import Cases


class Listed(AbstractPopulation):
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

    @staticmethod
    def of(
        instance: Instance,
        tokens: Int[Array | np.ndarray, "sequence position"],
        probability: Float[Array | np.ndarray, " sequence"],
    ) -> "Listed":
        """Label the sequences: with NumPy, or, inside compiled programs, with JAX."""
        size = instance.vocabulary
        cases = _cases(instance, tokens, probability)
        return Listed(
            tokens=tokens,
            labels=instance.labels(tokens),
            probability=probability,
            cases=cases,
            frequency=_sums(cases.query, cases.weight, size),
            column=np.arange(size),
            entries=np.ones((size, size)),
            length=instance.length,
            repeats=instance.sequences.repeats,
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
        weights = OneHotWeights(attention, value)

        def one(tokens, labels):
            return label_loss(token_logits(weights, tokens), labels)

        return jax.vmap(one)(self.tokens, self.labels)

    def label_margins(
        self, attention: Float[Array, "token token"], value: Float[Array, "label token"]
    ) -> Float[Array, "sequence position"]:
        """How far the logit of the label leads, for any matrices."""
        weights = OneHotWeights(attention, value)

        def one(tokens, labels):
            return label_margin(token_logits(weights, tokens), labels)

        return jax.vmap(one)(self.tokens, self.labels)

    def condense(
        self, attention: Float[Array, "token token"]
    ) -> Float[Array, "key column"]:
        """The matrix itself: this engine assumes no symmetry."""
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


def _sums(place, weight, size: int):
    if isinstance(place, np.ndarray):
        return np.bincount(place, weight, size)
    return jnp.zeros(size).at[place].add(weight)
