r"""The cases of a population loss with $V = cP$: what a query may see, and how likely.

A query $a$ in a sequence sees tokens $b$ with multiplicities $N_b$ and attends to each
with mass $p_b \propto N_b e^{W[b,a]}$. With $V = cP$ its loss is

    −c p_d + log( Σ_b e^{c p_b} + L − #distinct ),      d the label-determining token,

so the permutation drops out and column $a$ of $W$ matters for queries $a$ alone. Tokens
with equal score and multiplicity form a *group*; every exact population is a table of
cases made of groups, and this file is the one place where their loss is computed.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int


class Cases(eqx.Module):
    """A table of cases; arrays may be NumPy's or JAX's."""

    query: Int[Array | np.ndarray, " case"]
    """The column of the scores that holds the query."""
    key: Int[Array | np.ndarray, "case group"]
    """The row of the scores for each group."""
    copies: Float[Array | np.ndarray, "case group"]
    """How often each token of the group occurs, $N_b$."""
    tokens: Float[Array | np.ndarray, "case group"]
    """How many distinct tokens the group has; none if it is absent."""
    decider: Int[Array | np.ndarray, " case"]
    """The group that determines the label (it has one token)."""
    weight: Float[Array | np.ndarray, " case"]
    """Probability that a random position is this case; sums to one."""
    vocabulary: Float[Array | np.ndarray, ""]
    """Tokens, $L$."""

    def losses(
        self, scores: Float[Array, "key column"], scale: Float[Array, ""] | float
    ) -> Float[Array, " case"]:
        """The loss of every case with $V = cP$, $c$ the scale."""
        logits = scale * self.attention(scores)
        own = _pick(logits, self.decider)
        leads = jnp.where(self.decides, -jnp.inf, logits - own[:, None])
        top = jax.lax.stop_gradient(jnp.maximum(leads.max(-1), -own))
        absent = self.vocabulary - self.tokens.sum(-1)
        # Against log 1 of the label itself: gradients keep their digits as f → 1.
        others = (self.tokens * jnp.exp(leads - top[:, None])).sum(-1)
        return jnp.logaddexp(0, top + jnp.log(others + absent * jnp.exp(-own - top)))

    def attention(
        self, scores: Float[Array, "key column"]
    ) -> Float[Array, "case group"]:
        """The mass $p_b$ on each token of each group."""
        logs = self.log_masses(scores)
        top = jax.lax.stop_gradient(logs.max(-1, keepdims=True))
        mass = jnp.where(self.present, jnp.exp(logs - top), 0)
        return mass / (self.tokens * mass).sum(-1, keepdims=True)

    def log_masses(
        self, scores: Float[Array, "key column"]
    ) -> Float[Array, "case group"]:
        r"""$W[b,a] + \log N_b$, and $-\infty$ for absent groups."""
        copies = jnp.where(self.present, self.copies, 1)
        logs = scores[self.key, self.query[:, None]] + jnp.log(copies)
        return jnp.where(self.present, logs, -jnp.inf)

    @property
    def present(self) -> Bool[Array | np.ndarray, "case group"]:
        """Which groups occur in which cases."""
        return self.tokens > 0

    @property
    def decides(self) -> Bool[Array | np.ndarray, "case group"]:
        """Which group determines the label."""
        return np.arange(self.key.shape[-1]) == self.decider[:, None]

    def margin(self, scores: Float[Array, "key column"]) -> Float[Array, ""]:
        r"""The least lead of a decider, $\min \log (N_d e^{W[d,a]} / N_b e^{W[b,a]})$.

        Classification with $V = cP$ is perfect if and only if it is positive.
        """
        logs = self.log_masses(scores)
        others = jnp.where(self.decides, -jnp.inf, logs).max(-1)
        leads = _pick(logs, self.decider) - others
        return jnp.where(self.weight > 0, leads, jnp.inf).min()

    def padded(self, cases: int, groups: int) -> "Cases":
        """The same population in a larger table: cases of weight 0, absent groups."""
        rows, columns = cases - len(self.query), groups - self.key.shape[1]

        def fill(part, value=0):
            part = np.asarray(part)
            widths = [(0, rows), (0, columns)][: part.ndim]
            return np.pad(part, widths, constant_values=value)

        tokens = fill(self.tokens)
        tokens[len(self.query) :, 0] = 1
        return Cases(
            query=fill(self.query),
            key=fill(self.key),
            copies=fill(self.copies, 1),
            tokens=tokens,
            decider=fill(self.decider),
            weight=fill(self.weight),
            vocabulary=self.vocabulary,
        )


def _pick(
    table: Float[Array, "case group"], group: Int[Array | np.ndarray, " case"]
) -> Float[Array, " case"]:
    return jnp.take_along_axis(table, group[:, None], axis=-1)[:, 0]
