"""Probes of decision lists: the order of scores, margins, and V against P."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from piste.probes import OFTEN, RARELY, Probe, summarise


class ListView(eqx.Module):
    """A one-hot model on a population of sequences, by cases.

    A *case* is a position of a sequence, or many that look alike to the model.
    """

    loss: Float[Array, ""]
    standard_error: Float[Array, ""]
    """Of the loss, where it is a mean over a random batch; else 0."""
    margins: Float[Array, " case"]
    """How far the label leads, positive if the position is classified right."""
    decided: Float[Array, " case"]
    """Attention on the label-determining token."""
    weight: Float[Array, " case"]
    """Probability of the case."""
    attention: Float[Array, "key query"] | None = None
    """$W$, where it is small enough to be recorded."""
    value: Float[Array, "label token"] | None = None
    """$V$, where it is trained."""
    lists: Int[Array, "token slot"] | None = None
    list_lengths: Int[Array, " token"] | None = None
    permutation: Int[Array, " token"] | None = None

    def margin(self) -> Float[Array, ""]:
        """The least margin of a position that can occur."""
        return jnp.where(self.weight > 0, self.margins, jnp.inf).min()

    def accuracy(self) -> Float[Array, ""]:
        """Probability that a random position is classified right, or NaN."""
        share = (self.weight * (self.margins > 0)).sum()
        return jnp.where(jnp.isnan(self.margins).any(), jnp.nan, share)

    def decider_attention(self) -> Float[Array, ""]:
        """Expected attention on the label-determining token."""
        return (self.weight * self.decided).sum()

    def ordering(self) -> Float[Array, "token slot"]:
        r"""$W[a_k,a] - W[a_{k+1},a]$, and for $a_m = a$ the lead on all other tokens."""
        w, lists, lengths = self.attention, self.lists, self.list_lengths
        assert w is not None and lists is not None and lengths is not None
        own = jnp.arange(len(lists))
        listed = w[lists, own[:, None]]
        others = jnp.where(_outside(lists), w.T, -jnp.inf).max(-1)
        after = jnp.roll(listed, -1, axis=1)
        slot = jnp.arange(lists.shape[1])
        leads = jnp.where(slot < lengths[:, None] - 1, listed - after, jnp.nan)
        last = (w[own, own] - others)[:, None]
        return jnp.where(slot == lengths[:, None] - 1, last, leads)

    def cosine(self, centred: bool) -> Float[Array, ""]:
        r"""Cosine of $V$ with $P$; centred, both lose their row and column means.

        Adding a constant to a row of logits' columns changes no probability, so only
        the doubly centred one is about what the model says.
        """
        value, pi = self.value, self.permutation
        assert value is not None and pi is not None
        target = jnp.zeros_like(value).at[pi, jnp.arange(len(pi))].set(1)
        if centred:
            value, target = _centred(value), _centred(target)
        norms = jnp.linalg.norm(value) * jnp.linalg.norm(target)
        return (value * target).sum() / jnp.where(norms > 0, norms, 1)


def _outside(lists: Int[Array, "token slot"]) -> Bool[Array, "query key"]:
    """Which tokens are not in the list of a query."""
    keys = jnp.arange(len(lists))
    return (lists[:, :, None] != keys).all(1)


def _centred(matrix: Float[Array, "label token"]) -> Float[Array, "label token"]:
    rows = matrix - matrix.mean(0)
    return rows - rows.mean(1, keepdims=True)


LOSS = Probe(
    "train_loss", r"$\mathcal{L}(W, V)$", "population loss", lambda view: view.loss
)
LOSS_ERROR = Probe(
    "loss_error",
    r"$\mathrm{se}(\mathcal{L})$",
    "standard error of the population loss, estimated on a batch",
    lambda view: view.standard_error,
)
CASE_PROBES = (
    Probe(
        "margin",
        r"$\min_{s,j}\,\mathrm{margin}$",
        "least lead of a label: perfect classification where it is positive",
        ListView.margin,
    ),
    Probe("accuracy", r"$\Pr[\mathrm{right}]$", "share right", ListView.accuracy),
    Probe(
        "decider_attention",
        r"$E[p_{b^*}]$",
        "expected attention on the label-determining token",
        ListView.decider_attention,
    ),
)
MATRIX_PROBES = (
    Probe(
        "ordering",
        r"$W[a_k,a] - W[a_{k+1},a]$",
        "lead of each token of a list on the next, of the last on all others",
        ListView.ordering,
        ("token", "slot"),
        along=OFTEN,
    ),
    Probe(
        "attention_matrix",
        r"$W$",
        "attention scores, key by query token",
        lambda view: view.attention,
        ("key", "query"),
        along=RARELY,
    ),
)
VALUE_PROBES = (
    Probe(
        "value_cosine",
        r"$\cos(V, P)$",
        "cosine of the value matrix with the permutation",
        lambda view: view.cosine(centred=False),
    ),
    Probe(
        "value_cosine_centred",
        r"$\cos(\bar V, \bar P)$",
        "the same, both doubly centred",
        lambda view: view.cosine(centred=True),
    ),
    Probe(
        "value_matrix",
        r"$V$",
        "value matrix, label by token",
        lambda view: view.value,
        ("label", "token"),
        along=RARELY,
    ),
)
summarise("margin", "accuracy")
