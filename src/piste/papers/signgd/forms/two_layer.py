"""The two-layer transformer in four arithmetics that train alike."""

import abc
import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from piste.attention import KERNELS
from piste.training import AbstractForm

from ..models import TwoLayerWeights, logistic_loss, matrix_form
from ..probes import PROBES, TwoTokenView
from ..tasks import TwoTokenData
from .closed_form import (
    Gradients,
    column_scaled,
    count_near_zero,
    exact_sign,
    row_gradients,
    token_gradients,
)
from .near_zero import SampleGradients, count_near_zero_entries
from .views import softmax_margins, token_view


class ReducedWeights(eqx.Module):
    r"""The mean value $v$, and $[W_Q, W_K]$ with one row per coordinate."""

    value: Float[Array, " coordinate"]
    attention: Float[Array, "coordinate two_neurons"]


class FullForm(AbstractForm):
    """All weights, the matrix form, gradients by automatic differentiation."""

    weights: TwoLayerWeights
    data: TwoTokenData
    test: TwoTokenData
    kernel: str = eqx.field(static=True)

    def initial(self):
        """All four weight matrices."""
        return self.weights

    def loss_and_gradient(self, params, step=0):
        """Differentiate the matrix form."""
        return jax.value_and_grad(self._loss)(params)

    def _loss(self, params):
        f = jax.vmap(lambda tokens: matrix_form(params, tokens, KERNELS[self.kernel]))
        return logistic_loss(self.data.labels * f(self.data.tokens())).mean()

    def view(self, params):
        """Inner products with the training tokens, and the count of undecided signs."""
        counts = count_near_zero_entries(
            self._sample_gradients(params), self.data.tokens()
        )
        return dataclasses.replace(self._project(params, self.data), near_zero=counts)

    def _sample_gradients(self, params) -> SampleGradients:
        """What each sample adds to the gradient."""

        def loss(params, tokens, label):
            f = matrix_form(params, tokens, KERNELS[self.kernel])
            return logistic_loss(label * f) / self.data.labels.size

        one = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))
        gradients = one(params, self.data.tokens(), self.data.labels)
        # All value neurons have one gradient: the first stands for them.
        value = gradients.value_plus[:, :1]
        return SampleGradients(value, gradients.query, gradients.key)

    def test_view(self, params):
        """Inner products with the test tokens."""
        return self._project(params, self.test)

    def _project(self, params, data):
        attention = jnp.concatenate([params.query, params.key])
        products = data.basis @ params.mean_value(), data.basis @ attention.T
        return token_view(products, data, self.kernel)

    def probes(self):
        """All of them."""
        return PROBES


class AbstractReducedForm(AbstractForm):
    r"""One value vector in place of $2m_v$ of them; gradients in closed form.

    All value neurons of a class have the same gradient $±\nabla_v/m_v$, so a rule that
    is odd and acts entry by entry moves $v$ by twice its step.
    """

    data: eqx.AbstractVar[TwoTokenData]
    value_width: eqx.AbstractVar[int]

    def apply(self, params, updates):
        """Move both classes' values: twice the step on their mean difference."""
        return ReducedWeights(
            params.value + 2 * updates.value, params.attention + updates.attention
        )

    def norm(self, gradient):
        """Norm over all weights: every value neuron of both classes counts."""
        value, attention = self.squares(gradient)
        return jnp.sqrt(2 * self.value_width * value + attention)

    @abc.abstractmethod
    def squares(
        self, gradient: ReducedWeights
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """Squared norms of the value part and the attention part."""

    def probes(self):
        """All of them."""
        return PROBES

    def _rows(self, params) -> tuple[Float[Array, ""], ReducedWeights]:
        """The loss, and the plain coefficient of every basis row in the gradients."""
        loss, tokens = token_gradients(self.project(params))
        parts = [tokens.query.plain(), tokens.key.plain()]
        attention = self.data.collect(jnp.concatenate(parts, -1))
        value = self.data.collect(tokens.value.plain())[:, 0]
        return loss, ReducedWeights(value / self.value_width, attention)

    @abc.abstractmethod
    def project(self, params: ReducedWeights) -> TwoTokenView:
        """Inner products with the training tokens."""


class SupportForm(AbstractReducedForm):
    """Only the coordinates that occur in the training data: no other ever moves.

    Under a rule of signs, coordinates that occur in a single sample move alike, and one
    coordinate stands for them all.
    """

    weights: ReducedWeights
    data: TwoTokenData
    test: TwoTokenData
    offsets: tuple[Float[Array, " test_row"], Float[Array, "test_row two_neurons"]]
    """What the coordinates that never move contribute to the test inner products."""
    value_width: int = eqx.field(static=True)
    copies: Float[Array, " coordinate"]
    """How many coordinates of the model each one stands for."""
    exact: bool = eqx.field(static=True)
    """Take signs with coefficients rescaled in log space: for SignGD only."""

    def initial(self):
        """The weights on the coordinates of the data."""
        return self.weights

    def loss_and_gradient(self, params, step=0):
        """The loss and the gradient, or in exact mode the gradient's exact sign."""
        if self.exact:
            return self._loss_and_sign(params)
        loss, rows = self._rows(params)
        basis = self.data.basis
        return loss, ReducedWeights(rows.value @ basis, basis.T @ rows.attention)

    def _loss_and_sign(self, params):
        loss, tokens = token_gradients(self.project(params))
        value, query, key = (
            exact_sign(self.data.basis, row_gradients(part, self.data))
            for part in (tokens.value, tokens.query, tokens.key)
        )
        return loss, ReducedWeights(value[:, 0], jnp.concatenate([query, key], -1))

    def squares(self, gradient):
        """Norms in the usual metric."""
        return (gradient.value**2).sum(), (gradient.attention**2).sum()

    def project(self, params):
        """Inner products with the training tokens."""
        basis = self.data.basis
        products = basis @ params.value, basis @ params.attention
        return token_view(products, self.data, "softmax")

    def view(self, params):
        """Inner products, with the count of undecided signs."""
        view = self.project(params)
        _, tokens = token_gradients(view)
        counts = _count_near_zero(tokens, self.data, self.exact, self.copies)
        return dataclasses.replace(view, near_zero=counts)

    def test_view(self, params):
        """The margins of the test samples."""
        basis = self.test.basis
        value, attention = self.offsets
        products = basis @ params.value + value, basis @ params.attention + attention
        return softmax_margins(products, self.test)


class GramForm(AbstractReducedForm):
    r"""Coefficients of the data: under GD all movement is in the span of the basis.

    With $W = W_0 + B^\top A$ the inner products are $P = P_0 + G A$, $G = BB^\top$, and
    the gradient in $A$'s terms is the coefficient matrix itself.
    """

    weights: ReducedWeights
    """The coefficients, zero at first."""
    products: tuple[Float[Array, " row"], Float[Array, "row two_neurons"]]
    """Initial inner products with the training basis, $P_0$."""
    gram: Float[Array, "row row"]
    data: TwoTokenData
    test: TwoTokenData
    test_products: tuple[
        Float[Array, " test_row"], Float[Array, "test_row two_neurons"]
    ]
    test_gram: Float[Array, "test_row row"]
    value_width: int = eqx.field(static=True)

    def initial(self):
        """Zero coefficients."""
        return self.weights

    def loss_and_gradient(self, params, step=0):
        """The gradient as coefficients of the basis."""
        return self._rows(params)

    def squares(self, gradient):
        """Norms in the metric of the Gram matrix."""
        value = gradient.value @ self.gram @ gradient.value
        attention = (gradient.attention * (self.gram @ gradient.attention)).sum()
        return value, attention

    def project(self, params):
        """Inner products with the training tokens."""
        return token_view(
            self._moved(params, self.products, self.gram), self.data, "softmax"
        )

    def view(self, params):
        """Inner products, with the count of entries of the gradient near zero."""
        view = self.project(params)
        _, tokens = token_gradients(view)
        counts = _count_near_zero(tokens, self.data, exact=False)
        return dataclasses.replace(view, near_zero=counts)

    def test_view(self, params):
        """The margins of the test samples."""
        return softmax_margins(
            self._moved(params, self.test_products, self.test_gram), self.test
        )

    def _moved(self, params, start, gram):
        return start[0] + gram @ params.value, start[1] + gram @ params.attention


def _count_near_zero(tokens: Gradients, data: TwoTokenData, exact: bool, copies=None):
    """Counts for the value, the query and the key, in the arithmetic that is used."""
    copies = jnp.ones(data.basis.shape[1]) if copies is None else copies
    counts = []
    for part in (tokens.value, tokens.query, tokens.key):
        basis, factor = data.basis, data.collect(part.plain())
        if exact:
            rows = row_gradients(part, data)
            basis, factor = column_scaled(basis, rows.log_scale), rows.factor
        counts.append(count_near_zero(basis, factor, copies.astype(basis.dtype)))
    return jnp.stack(counts)
