"""The multi-head layer, its loss and its gradients against PyTorch's autodiff."""

import jax.numpy as jnp
import numpy as np
import pytest

from piste.papers.kernels.forms import RegressionForm
from piste.papers.kernels.models import MATRICES, KernelLayer, draw_data_and_weights
from piste.papers.kernels.tasks import TokenRegression
from piste.testing import assert_close

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed; pip install '.[oracle]'"
)

pytestmark = pytest.mark.oracle


def distances(q, k, d):
    return -((q[:, None] - k[None]) ** 2).sum(-1) / (2 * d**0.5)


SCORES = {
    "softmax": lambda q, k, d: torch.softmax(q @ k.T / d**0.5, -1),
    "gaussian": lambda q, k, d: torch.exp(distances(q, k, d)),
    "gaussian-rows": lambda q, k, d: torch.softmax(distances(q, k, d), -1),
    "gaussian-mean": lambda q, k, d: torch.exp(distances(q, k, d)) / len(k),
    "linear": lambda q, k, d: q @ k.T / d**0.5,
}


def torch_loss(w, data, kernel):
    """½ Σ_i ‖Σ_h S_h X_i W_h^V W_h^O − y_i‖², head by head."""
    tokens, targets = (torch.tensor(np.asarray(x)) for x in (data.tokens, data.targets))
    total, (heads, _, width) = 0.0, w["query"].shape
    for x, y in zip(tokens, targets, strict=True):
        out = torch.zeros_like(y)
        for h in range(heads):
            s = SCORES[kernel](x @ w["query"][h], x @ w["key"][h], width)
            out = out + s @ x @ w["value"][h] @ w["output"][h]
        total = total + ((out - y) ** 2).sum() / 2
    return total


@pytest.mark.parametrize("scale", [1.0, 3.0])
@pytest.mark.parametrize("kernel", SCORES)
def test_loss_and_gradients(kernel, scale):
    task = TokenRegression(sequences=3, length=4, dimension=6, outputs=2)
    model = KernelLayer(
        heads=3, width=5, kernel=kernel, values="random", key_scale=scale
    )
    data, weights = draw_data_and_weights(task, model, seed=0)
    w = {
        name: torch.tensor(np.asarray(getattr(weights, name)), requires_grad=True)
        for name in ("query", "key", "value", "output")
    }
    loss = torch_loss(w, data, kernel)
    loss.backward()
    form = RegressionForm.of(model, data, weights)
    found, gradient = form.loss_and_gradient(form.initial(), jnp.zeros((), int))
    assert_close(found, loss.detach().numpy())
    assert set(gradient) == set(MATRICES.values())
    for name in gradient:
        assert_close(gradient[name], w[name].grad.numpy(), slack=10)


@pytest.mark.parametrize("kernel", ["softmax", "gaussian"])
def test_a_descent(kernel):
    model = KernelLayer(heads=3, kernel=kernel, values="random", train="QV")
    data, weights = draw_data_and_weights(TokenRegression(), model, seed=1)
    form, rate = RegressionForm.of(model, data, weights), 1e-2
    params = form.initial()
    w = {
        name: torch.tensor(np.asarray(getattr(weights, name)))
        for name in ("query", "key", "value", "output")
    }
    for _ in range(20):
        trained = [w[name].requires_grad_() for name in params]
        slopes = torch.autograd.grad(torch_loss(w, data, kernel), trained)
        for name, slope in zip(params, slopes, strict=True):
            w[name] = (w[name] - rate * slope).detach()
        _, ours = form.loss_and_gradient(params)
        params = {name: params[name] - rate * ours[name] for name in params}
    for name in params:
        assert_close(params[name], w[name].numpy(), slack=100)
