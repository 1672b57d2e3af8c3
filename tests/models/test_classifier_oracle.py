"""The classifier and all of its gradients against PyTorch, in float64."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.models import classifier
from piste.models.classifier import Classifier
from piste.testing import assert_close

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed; pip install '.[oracle]'"
)
functional = torch.nn.functional
pytestmark = pytest.mark.oracle

VOCABULARY, LENGTH, CLASSES, BATCH = 11, 9, 3, 4


def torch_logits(model, w, tokens, mask):
    """The classifier as PyTorch would have it, with the padding keys left out."""
    x = w.embedding[tokens] + w.position[: tokens.shape[1]]
    for block in w.blocks:
        x = x + torch_attention(model, block, torch_norm(block.attention_norm, x), mask)
        inner = torch_gelu(torch_linear(block.mlp_in, torch_norm(block.mlp_norm, x)))
        x = x + torch_linear(block.mlp_out, inner)
    x = torch_norm(w.norm, x)
    pooled = torch.stack(
        [states[real].mean(0) for states, real in zip(x, mask, strict=True)]
    )
    return torch_linear(w.head_out, torch_gelu(torch_linear(w.head_in, pooled)))


def torch_attention(model, block, x, mask):
    width = model.dimension // model.heads
    outputs = []
    for states, real in zip(x, mask, strict=True):
        heads = []
        for head in range(model.heads):
            columns = slice(head * width, (head + 1) * width)
            q, k, v = (
                states @ matrix[:, columns]
                for matrix in (block.query, block.key, block.value)
            )
            k, v = k[real], v[real]
            if model.kernel == "softmax":
                mixed = functional.scaled_dot_product_attention(
                    q[None], k[None], v[None]
                )
                heads.append(mixed[0])
            else:
                squares = ((q[:, None] - k) ** 2).sum(-1)
                heads.append(torch.exp(-squares / (2 * width**0.5)) @ v)
        outputs.append(torch_linear(block.output, torch.cat(heads, 1)))
    return torch.stack(outputs)


def torch_norm(norm, x):
    return functional.layer_norm(x, x.shape[-1:], norm.scale, norm.shift)


def torch_linear(linear, x):
    return x @ linear.matrix + linear.bias


def torch_gelu(x):
    return functional.gelu(x, approximate="tanh")


def perturbed(weights):
    """Biases, scales and shifts away from 0 and 1, so that each is seen."""
    rng = np.random.default_rng(5)
    return jax.tree.map(lambda x: x + 0.3 * rng.normal(size=x.shape), weights)


@pytest.mark.parametrize("kernel", ["softmax", "gaussian"])
def test_logits_loss_and_gradients(kernel):
    model = Classifier(dimension=8, hidden=12, heads=2, kernel=kernel)
    sizes = {"vocabulary": VOCABULARY, "length": LENGTH, "classes": CLASSES}
    weights = perturbed(model.init(key=jax.random.key(3), **sizes))
    rng = np.random.default_rng(7)
    tokens = rng.integers(0, VOCABULARY, (BATCH, LENGTH - 1))
    mask = rng.random((BATCH, LENGTH - 1)) < 0.6
    mask[0], mask[:, 2] = True, True
    labels = np.array([0, 2, 1, 1])

    leaves, tree = jax.tree.flatten(weights)
    tensors = [torch.tensor(np.asarray(leaf), requires_grad=True) for leaf in leaves]
    w = jax.tree.unflatten(tree, tensors)
    truth = torch_logits(model, w, torch.tensor(tokens), torch.tensor(mask))
    loss = functional.cross_entropy(truth, torch.tensor(labels))
    loss.backward()

    def our_loss(weights):
        found = classifier.logits(model, weights, jnp.array(tokens), jnp.array(mask))
        return classifier.cross_entropy(found, jnp.array(labels)), found

    (ours, found), gradient = eqx.filter_value_and_grad(our_loss, has_aux=True)(weights)
    assert_close(found, truth.detach().numpy(), slack=10)
    assert_close(ours, loss.item(), slack=10)
    for leaf, tensor in zip(jax.tree.leaves(gradient), tensors, strict=True):
        assert_close(leaf, tensor.grad.numpy(), slack=100)
