r"""The constants of the two theorems on attention kernels, from the start of a run alone.

**Theorem 1.** With $B_h = [S_{ih}X_i]_i$ the layer is $\sum_h B_h W_h^V W_h^O$, so with
the residual $R$ ($Nn\times o$, $f = \frac12\|R\|^2$)

    ‖∇f‖² ≥ Σ_h ‖B_hᵀ R W_h^Oᵀ‖² ≥ min_h σ²_min(W_h^O) Σ_h ‖B_hᵀ R‖² ≥ 2β f,
    β = min_h σ²_min(W_h^O) · σ²_min(B),    B = [B_1, …, B_H].

It takes $HD \geq Nn$ and $d \geq o$ for β to be positive. A step $\eta \leq 1/L$ then
gives $f(M_t) \leq (1-\eta\beta)^t f(M_0)$ where $B$ stays near $B_0$; if $W^V$ alone is
trained it stays there for good. The poster has $\sigma_{min}$ of the *stacked* $W^O$
($Hd\times o$) in its place: $\sigma^2_{min}$ of a stack is at least the sum over the
heads, about $H$ times too large for the second inequality.

**The rate is attained.** Train $W^V$ alone from 0 with $W_h^{O\top}W_h^O = \alpha^2 I$ in
every head and targets along the left singular vector of $\sigma_{min}(B_0)$. A step maps
$R$ to $R - \eta\sum_h B_hB_h^\top R W_h^{O\top}W_h^O = (I - \eta\alpha^2 BB^\top)R$, and
$R_0$ is an eigenvector: $f(M_t) = (1-\eta\beta)^{2t} f(M_0)$ exactly, with
$\beta = \alpha^2\sigma^2_{min}(B_0)$. The logarithmic rate is $2\eta\beta$, twice the
bound's, because $f$ is the square of what shrinks.

**Theorem 2.** Training $W^Q$ alone, the same argument has the Jacobian $J_Q$ of all
outputs: $\|\nabla f\|^2 \geq 2\sigma^2_{min}(J_Q) f$, and a descent along which
$\sigma_{min}(J_Q)$ does not fall moves $W^Q$ by at most $\sqrt{2f_0}/\sigma_{min}(J_Q)$.
Softmax saturated at one key has $J_Q \approx 0$ and goes nowhere.

**Resolution.** A singular value below $\epsilon\max(m,n)\sigma_{max}$ is what rounding
leaves of the matrix. Here it is zero, so that no constant rests on it.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from piste.attention import KERNELS
from piste.claims import Condition, inequality

from .models import MATRICES, KernelWeights, attention, features, squared_loss
from .probes import jacobian_values, resolution, singular_values
from .tasks import RegressionData


def least_singular(matrix: Float[Array, "row column"]) -> Float[Array, ""]:
    r"""$\min_{\|u\|=1}\|u^\top A\|$: zero where there are more rows than columns.

    Zero too where an SVD cannot tell it from zero.
    """
    return _least(singular_values(matrix), matrix.shape)


def _least(values: Float[Array, " singular_value"], shape: tuple[int, ...]):
    rows, columns = shape
    return values[-1] if rows <= columns else jnp.zeros_like(values[-1])


def shrinkage(
    rate: Float[Array, "*batch"], steps: Int[Array, "*step"] | int
) -> Float[Array, "*shape"]:
    r"""$(1-x)^t$: what $t$ steps leave of a loss that shrinks by $1-x$ at each."""
    # In log space, because ηβ is often below machine epsilon.
    return jnp.exp(steps * jnp.log1p(-rate))


class ConvergenceTheorem(eqx.Module):
    r"""Theorem 1: $f(M_t) \leq (1-\eta\beta)^t f(M_0)$, with both readings of β."""

    feature_least: Float[Array, ""]
    r"""$\sigma_{min}(B_0)$; zero below the resolution."""
    feature_resolution: Float[Array, ""]
    r"""The least $\sigma$ of $B_0$ that an SVD can tell from zero."""
    head_output_least: Float[Array, ""]
    r"""$\min_h\sigma_{min}(W_h^O)$."""
    stacked_output_least: Float[Array, ""]
    r"""$\sigma_{min}$ of all heads' $W^O$ on top of each other."""
    jacobian_largest: Float[Array, ""]
    r"""$\sigma_{max}(J_0)$, the Jacobian of all outputs in the trained matrices."""
    initial_loss: Float[Array, ""]
    rows: int = eqx.field(static=True)
    """$Nn$."""
    columns: int = eqx.field(static=True)
    """$HD$."""
    width: int = eqx.field(static=True)
    outputs: int = eqx.field(static=True)

    @property
    def rate(self) -> Float[Array, "*batch"]:
        r"""$\beta = \min_h\sigma^2_{min}(W_h^O)\,\sigma^2_{min}(B_0)$: the valid one."""
        return (self.head_output_least * self.feature_least) ** 2

    @property
    def stacked_rate(self) -> Float[Array, "*batch"]:
        r"""$\sigma^2_{min}(W^O)\,\sigma^2_{min}(B_0)$ with $W^O$ stacked, as printed."""
        return (self.stacked_output_least * self.feature_least) ** 2

    @property
    def learning_rate(self) -> Float[Array, "*batch"]:
        r"""$\eta = \frac12/\sigma^2_{max}(J_0)$."""
        return 0.5 / self.jacobian_largest**2

    @property
    def reach(self) -> Float[Array, "*batch"]:
        r"""$\sqrt{2f_0/\beta}$: how far the weights move at most while β lasts."""
        return jnp.sqrt(2 * self.initial_loss / self.rate)

    def bound(self, steps: Int[Array, " step"]) -> Float[Array, " step"]:
        r"""$(1-\eta\beta)^t f(M_0)$."""
        return self._shrunk(self.rate, steps)

    def stacked_bound(self, steps: Int[Array, " step"]) -> Float[Array, " step"]:
        """The same with the stacked reading."""
        return self._shrunk(self.stacked_rate, steps)

    def hardest_loss(self, steps: Int[Array, " step"]) -> Float[Array, " step"]:
        r"""$(1-\eta\beta)^{2t} f(M_0)$: the loss itself in the case that attains β."""
        return self._shrunk(self.rate, 2 * steps)

    def _shrunk(self, rate, steps):
        return self.initial_loss * shrinkage(self.learning_rate * rate, steps)

    def steps_until(self, share: float) -> Float[Array, "*batch"]:
        r"""Steps after which the bound promises $f \leq$ share $\cdot f_0$; ∞ if never."""
        return jnp.log(share) / jnp.log1p(-self.learning_rate * self.rate)

    def conditions(self) -> tuple[Condition, ...]:
        """What the theorem asks for, one by one."""
        least, spread = float(self.head_output_least), float(self.feature_least)
        wide, narrow = self.columns, self.rows
        return (
            inequality("HD ≥ Nn", wide, narrow, wide >= narrow),
            inequality("d ≥ o", self.width, self.outputs, self.width >= self.outputs),
            inequality("W_h^O has full rank", least, 0, least > 0),
            inequality(
                "σ_min(B₀) > 0", spread, float(self.feature_resolution), spread > 0
            ),
        )


def convergence_theorem(
    kernel: str, weights: KernelWeights, data: RegressionData, train: str = "QKV"
) -> ConvergenceTheorem:
    """The constants of Theorem 1; arrays throughout, so that seeds can be batched."""
    function, names = KERNELS[kernel], tuple(MATRICES[letter] for letter in train)
    b = features(function, weights, data.tokens)
    values = singular_values(b)
    by_output = weights.output.swapaxes(-1, -2)
    return ConvergenceTheorem(
        feature_least=_least(values, b.shape),
        feature_resolution=resolution(values[0], b.shape),
        head_output_least=jax.vmap(least_singular)(by_output).min(),
        stacked_output_least=least_singular(jnp.concatenate(by_output, -1)),
        jacobian_largest=jacobian_values(function, weights, data, names)[0],
        initial_loss=squared_loss(function, weights, data),
        rows=b.shape[0],
        columns=b.shape[1],
        width=weights.output.shape[1],
        outputs=weights.output.shape[2],
    )


class QueryTheorem(eqx.Module):
    r"""Theorem 2: what decides whether training $W^Q$ alone gets anywhere."""

    jacobian_least: Float[Array, ""]
    r"""$\sigma_{min}(J_Q)$ at the start, over the outputs; zero below the resolution."""
    jacobian_largest: Float[Array, ""]
    r"""$\sigma_{max}(J_Q)$ at the start."""
    initial_loss: Float[Array, ""]
    largest_share: Float[Array, ""]
    """Share of a row's attention that its largest weight has, the mean: 1 is one-hot."""

    @property
    def rate(self) -> Float[Array, "*batch"]:
        r"""$\sigma^2_{min}(J_Q)$: $f$ shrinks by $1-\eta\beta$ at least while it lasts."""
        return self.jacobian_least**2

    @property
    def reach(self) -> Float[Array, "*batch"]:
        r"""$\sqrt{2f_0}/\sigma_{min}(J_Q)$: how far $W^Q$ moves at most while it lasts."""
        return jnp.sqrt(2 * self.initial_loss) / self.jacobian_least

    def bound(
        self, learning_rate: float, steps: Int[Array, " step"]
    ) -> Float[Array, " step"]:
        r"""$(1-\eta\beta)^t f(M_0)$ with $\beta = \sigma^2_{min}(J_Q)$."""
        return self.initial_loss * shrinkage(learning_rate * self.rate, steps)


def query_theorem(
    kernel: str, weights: KernelWeights, data: RegressionData
) -> QueryTheorem:
    r"""The constants of Theorem 2; more outputs than entries of $W^Q$ have no rate."""
    function = KERNELS[kernel]
    values = jacobian_values(function, weights, data, ("query",))
    full = data.targets.size <= weights.query.size
    s = jax.vmap(lambda tokens: attention(function, weights, tokens))(data.tokens)
    size = jnp.abs(s)
    # Rows without any attention (a Gaussian far from all keys) have no share.
    total = jnp.maximum(size.sum(-1), jnp.finfo(size.dtype).tiny)
    return QueryTheorem(
        jacobian_least=values[-1] if full else jnp.zeros_like(values[-1]),
        jacobian_largest=values[0],
        initial_loss=squared_loss(function, weights, data),
        largest_share=(size.max(-1) / total).mean(),
    )
