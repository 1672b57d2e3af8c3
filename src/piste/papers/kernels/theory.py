r"""Constants of the two theorems on attention kernels, from a run's initial state alone.

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
Softmax saturated at one key has $J_Q \approx 0$ and stays where it is.

**Resolution.** A singular value below $\epsilon\max(m,n)\sigma_{max}$ is what rounding
leaves of the matrix. Here it is zero, so that no constant rests on it.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from piste.attention import KERNELS
from piste.claims import Condition, inequality

from .models import MATRICES, KernelWeights, attention, features, squared_loss
from .probes import jacobian_values, resolution, singular_values
from .tasks import RegressionData

STEP_FRACTION = 0.5
r"""Step size of Theorem 1 in units of $1/\sigma^2_{max}(J_0)$."""
ATTAINED_RATE = 2.0
r"""Logarithmic rate of the loss in units of ηβ where the bound's rate is attained."""


def least_singular_value(matrix: Float[Array, "row column"]) -> Float[Array, ""]:
    r"""$\min_{\|u\|=1}\|u^\top A\|$: zero where there are more rows than columns.

    Zero too where an SVD cannot tell it from zero.
    """
    return _least_over_rows(singular_values(matrix), matrix.shape)


def _least_over_rows(values: Float[Array, " singular_value"], shape: tuple[int, ...]):
    rows, columns = shape
    return values[-1] if rows <= columns else jnp.zeros_like(values[-1])


def shrinkage(
    rate: Float[Array, "*batch"], steps: Int[Array, "*step"] | int
) -> Float[Array, "*shape"]:
    r"""$(1-x)^t$: the share of a loss that is left if each step shrinks it by $1-x$."""
    # In log space, because ηβ is often below machine epsilon.
    return jnp.exp(steps * jnp.log1p(-rate))


WIDE, FULL_RANK, RESOLVED = "HD ≥ Nn", "W_h^O has full rank", "σ_min(B₀) > 0"
"""Names of the conditions on a layer."""


def is_wide(sizes: Any) -> Any:
    """HD ≥ Nn, the condition of both theorems; of one layer, or of many at once."""
    return sizes.columns >= sizes.rows


def requirements(constants: Any) -> dict[str, Any]:
    """Which conditions of Theorem 1 are met, by name.

    ``constants`` has the fields of :class:`ConvergenceTheorem` of the same names: it is
    one, or a dataset with a value for each run.
    """
    return {
        WIDE: is_wide(constants),
        FULL_RANK: constants.head_output_min > 0,
        RESOLVED: constants.feature_min > constants.feature_resolution,
    }


class ConvergenceTheorem(eqx.Module):
    r"""Theorem 1: $f(M_t) \leq (1-\eta\beta)^t f(M_0)$, with both readings of β."""

    feature_min: Float[Array, ""]
    r"""$\sigma_{min}(B_0)$; zero below the resolution."""
    feature_resolution: Float[Array, ""]
    r"""The smallest singular value of $B_0$ that an SVD can tell from zero."""
    head_output_min: Float[Array, ""]
    r"""$\min_h\sigma_{min}(W_h^O)$."""
    stacked_output_min: Float[Array, ""]
    r"""$\sigma_{min}$ of all heads' $W^O$ stacked on top of each other."""
    jacobian_max: Float[Array, ""]
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
        return (self.head_output_min * self.feature_min) ** 2

    @property
    def stacked_rate(self) -> Float[Array, "*batch"]:
        r"""$\sigma^2_{min}(W^O)\,\sigma^2_{min}(B_0)$ with $W^O$ stacked, as printed."""
        return (self.stacked_output_min * self.feature_min) ** 2

    @property
    def learning_rate(self) -> Float[Array, "*batch"]:
        r"""$\eta = \frac12/\sigma^2_{max}(J_0)$."""
        return STEP_FRACTION / self.jacobian_max**2

    @property
    def reach(self) -> Float[Array, "*batch"]:
        r"""$\sqrt{2f_0/\beta}$: the farthest that the weights move while β holds."""
        return jnp.sqrt(2 * self.initial_loss / self.rate)

    def bound(self, steps: Int[Array, " step"]) -> Float[Array, " step"]:
        r"""$(1-\eta\beta)^t f(M_0)$."""
        return self._shrunken_loss(self.rate, steps)

    def stacked_bound(self, steps: Int[Array, " step"]) -> Float[Array, " step"]:
        """The same with the stacked reading."""
        return self._shrunken_loss(self.stacked_rate, steps)

    def hardest_loss(self, steps: Int[Array, " step"]) -> Float[Array, " step"]:
        r"""$(1-\eta\beta)^{2t} f(M_0)$: the loss itself in the case that attains β."""
        return self._shrunken_loss(self.rate, 2 * steps)

    def _shrunken_loss(self, rate, steps):
        return self.initial_loss * shrinkage(self.learning_rate * rate, steps)

    def steps_to_promise(self, share: float) -> Float[Array, "*batch"]:
        r"""Steps after which the bound promises $f \leq$ share $\cdot f_0$; ∞ if never."""
        return jnp.log(share) / jnp.log1p(-self.learning_rate * self.rate)

    def conditions(self) -> tuple[Condition, ...]:
        """All conditions of the theorem, with the numbers on both sides."""
        met = {name: bool(flag) for name, flag in requirements(self).items()}
        least, limit = float(self.feature_min), float(self.feature_resolution)
        return (
            inequality(WIDE, self.columns, self.rows, met[WIDE]),
            inequality("d ≥ o", self.width, self.outputs, self.width >= self.outputs),
            inequality(FULL_RANK, float(self.head_output_min), 0, met[FULL_RANK]),
            inequality(RESOLVED, least, limit, met[RESOLVED]),
        )


def convergence_theorem(
    kernel: str, weights: KernelWeights, data: RegressionData, train: str = "QKV"
) -> ConvergenceTheorem:
    """Compute the constants of Theorem 1; all are arrays, so that seeds can be batched."""
    function, names = KERNELS[kernel], tuple(MATRICES[letter] for letter in train)
    b = features(function, weights, data.tokens)
    values = singular_values(b)
    by_output = weights.output.swapaxes(-1, -2)
    return ConvergenceTheorem(
        feature_min=_least_over_rows(values, b.shape),
        feature_resolution=resolution(values[0], b.shape),
        head_output_min=jax.vmap(least_singular_value)(by_output).min(),
        stacked_output_min=least_singular_value(jnp.concatenate(by_output, -1)),
        jacobian_max=jacobian_values(function, weights, data, names)[0],
        initial_loss=squared_loss(function, weights, data),
        rows=b.shape[0],
        columns=b.shape[1],
        width=weights.output.shape[1],
        outputs=weights.output.shape[2],
    )


class QueryTheorem(eqx.Module):
    r"""Theorem 2: the constants that decide whether training $W^Q$ alone converges."""

    jacobian_min: Float[Array, ""]
    r"""$\sigma_{min}(J_Q)$ at the start, over the outputs; zero below the resolution."""
    jacobian_max: Float[Array, ""]
    r"""$\sigma_{max}(J_Q)$ at the start."""
    initial_loss: Float[Array, ""]
    largest_share: Float[Array, ""]
    """Share of a row's attention that its largest weight has, the mean: 1 is one-hot."""

    @property
    def rate(self) -> Float[Array, "*batch"]:
        r"""$\beta = \sigma^2_{min}(J_Q)$: a step shrinks $f$ by $1-\eta\beta$ or more."""
        return self.jacobian_min**2

    @property
    def reach(self) -> Float[Array, "*batch"]:
        r"""$\sqrt{2f_0}/\sigma_{min}(J_Q)$: the farthest that $W^Q$ moves while β holds."""
        return jnp.sqrt(2 * self.initial_loss) / self.jacobian_min

    def bound(
        self, learning_rate: float, steps: Int[Array, " step"]
    ) -> Float[Array, " step"]:
        r"""$(1-\eta\beta)^t f(M_0)$ with $\beta = \sigma^2_{min}(J_Q)$."""
        return self.initial_loss * shrinkage(learning_rate * self.rate, steps)


def least_squared_gradient(jacobian_min: Any, loss: Any) -> Any:
    r"""$2\sigma^2_{min}(J_Q) f$, the lower bound of $\|\nabla f\|^2$; any arrays."""
    return 2 * jacobian_min**2 * loss


def query_theorem(
    kernel: str, weights: KernelWeights, data: RegressionData
) -> QueryTheorem:
    r"""Compute the constants of Theorem 2; β = 0 if outputs outnumber entries of $W^Q$."""
    function = KERNELS[kernel]
    values = jacobian_values(function, weights, data, ("query",))
    full = data.targets.size <= weights.query.size
    s = jax.vmap(lambda tokens: attention(function, weights, tokens))(data.tokens)
    size = jnp.abs(s)
    # A Gaussian query far from all keys has no attention: its share is then 0, not NaN.
    total = jnp.maximum(size.sum(-1), jnp.finfo(size.dtype).tiny)
    return QueryTheorem(
        jacobian_min=values[-1] if full else jnp.zeros_like(values[-1]),
        jacobian_max=values[0],
        initial_loss=squared_loss(function, weights, data),
        largest_share=(size.max(-1) / total).mean(),
    )
