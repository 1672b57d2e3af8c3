"""The model, its loss and its gradients against PyTorch's automatic differentiation."""

import jax
import numpy as np
import pytest

from papers.signgd.two_token import small
from piste.attention import KERNELS
from piste.papers.signgd.models import matrix_form
from piste.testing import assert_close
from piste.training import build
from support import reference
from support.small import run, start

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed; pip install '.[oracle]'"
)

pytestmark = pytest.mark.oracle
NAMES = ("value_plus", "value_minus", "query", "key")
ATTENTION = {
    "softmax": lambda k, q: torch.softmax(k @ q, 0),
    "gaussian": lambda k, q: torch.exp(-((k - q) ** 2).sum(1) / 2),
    "gaussian-rows": lambda k, q: torch.softmax(-((k - q) ** 2).sum(1) / 2, 0),
    "gaussian-mean": lambda k, q: torch.exp(-((k - q) ** 2).sum(1) / 2) / len(k),
    "linear": lambda k, q: k @ q,
    "none": lambda k, q: 0 * (k @ q),
}
"""The weights of one query on the keys, for every kernel."""


def tensors(weights):
    return {
        name: torch.tensor(np.asarray(getattr(weights, name)), requires_grad=True)
        for name in NAMES
    }


def torch_output(w, x, kernel):
    """F₁ − F₋₁ for one sample ``x`` (token, dimension), query token by query token."""
    q, k = x @ w["query"].T, x @ w["key"].T
    total = 0.0
    for token in range(2):
        mixed = ATTENTION[kernel](k, q[token]) @ x
        plus, minus = w["value_plus"] @ mixed, w["value_minus"] @ mixed
        total = total + plus.mean() - minus.mean()
    return total


def torch_loss(w, x, y, kernel):
    f = torch.stack([torch_output(w, xi, kernel) for xi in x])
    return torch.nn.functional.softplus(-y * f).mean(), f


@pytest.fixture(scope="module")
def torch_data():
    data = start(small()).data
    x = torch.tensor(reference.tokens(data))
    return x, torch.tensor(np.asarray(data.labels))


@pytest.mark.parametrize("scale", [1.0, 30.0], ids=["small-weights", "large-weights"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_output_loss_and_gradients(kernel, scale, torch_data):
    experiment = small("gd", model__kernel=kernel, form="full")
    begun = start(experiment)
    weights = jax.tree.map(lambda part: scale * part, begun.weights)
    w, (x, y) = tensors(weights), torch_data
    loss, f = torch_loss(w, x, y, kernel)
    loss.backward()

    ours = jax.vmap(lambda tokens: matrix_form(weights, tokens, KERNELS[kernel]))
    assert_close(ours(begun.data.tokens()), f.detach().numpy())
    our_loss, gradient = build(experiment).form.loss_and_gradient(weights)
    assert_close(our_loss, loss.detach().numpy())
    for name in NAMES:
        assert_close(getattr(gradient, name), w[name].grad.numpy())


def test_a_sign_descent_run(torch_data):
    experiment = small(steps=100, form="full")
    w, (x, y) = tensors(start(experiment).weights), torch_data
    losses = []
    for _ in range(101):
        loss, _ = torch_loss(w, x, y, "softmax")
        losses.append(loss.item())
        grads = torch.autograd.grad(loss, list(w.values()))
        with torch.no_grad():
            for part, grad in zip(w.values(), grads, strict=True):
                part -= experiment.rule.learning_rate * grad.sign()
    done = run(experiment)
    assert_close(done.records["train_loss"], np.array(losses)[done.plan.times])
