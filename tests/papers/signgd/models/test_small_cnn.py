"""The small CNN and its gradients against PyTorch, and against finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.models.classifier import cross_entropy
from piste.papers.signgd.models import SmallCNN
from piste.papers.signgd.tasks import LabelledDigits
from piste.testing import assert_close

MODEL, TASK = SmallCNN(channels=3), LabelledDigits()


@pytest.fixture(scope="module")
def weights():
    with jax.enable_x64(True):
        return MODEL.draw_weights(TASK, key=jax.random.key(3))


def some_images(side: int) -> np.ndarray:
    return np.random.default_rng(side).normal(size=(4, side, side))


LABELS = np.array([0, 3, 9, 3])


def loss(weights, images):
    found = MODEL.logits(weights, jnp.asarray(images))
    return cross_entropy(found, jnp.asarray(LABELS))


def torch_loss(torch, leaves, images):
    """Convolutions, means and the head as PyTorch has them."""
    functional = torch.nn.functional
    first, first_bias, second, second_bias, head, bias = leaves

    def layer(maps, matrix, bias):
        # Rows of the matrix are place by place, then channel by channel.
        kernel = matrix.reshape(3, 3, maps.shape[1], -1).permute(3, 2, 0, 1)
        maps = functional.conv2d(maps, kernel, bias, padding=1)
        return functional.avg_pool2d(functional.gelu(maps, approximate="tanh"), 2)

    maps = layer(torch.tensor(images)[:, None], first, first_bias)
    maps = layer(maps, second, second_bias)
    found = maps.mean((2, 3)) @ head + bias
    return found, functional.cross_entropy(found, torch.tensor(LABELS))


@pytest.mark.oracle
@pytest.mark.parametrize("side", [8, 7])  # an odd side leaves a row out
def test_logits_and_gradients_are_those_of_torch(weights, side):
    torch = pytest.importorskip("torch", reason="pip install '.[oracle]'")
    images = some_images(side)
    with jax.enable_x64(True):
        logits = MODEL.logits(weights, jnp.asarray(images))
        slopes = jax.tree.leaves(jax.grad(loss)(weights, images))
    leaves = [
        torch.tensor(np.asarray(leaf), requires_grad=True)
        for leaf in jax.tree.leaves(weights)
    ]
    found, value = torch_loss(torch, leaves, images)
    value.backward()
    assert_close(logits, found.detach().numpy())
    for slope, leaf in zip(slopes, leaves, strict=True):
        assert_close(slope, leaf.grad.numpy())


def test_gradients_are_differences(weights):
    images = some_images(8)
    with jax.enable_x64(True):
        slope = jax.grad(loss)(weights, images)
        keys = iter(jax.random.split(jax.random.key(0), 6))
        way = jax.tree.map(lambda w: jax.random.normal(next(keys), w.shape), weights)
        ends = [
            loss(jax.tree.map(lambda w, d, s=s: w + s * d, weights, way), images)
            for s in (1e-5, -1e-5)
        ]
        parts = jax.tree.map(lambda g, d: (g * d).sum(), slope, way)
        along = sum(jax.tree.leaves(parts))
    np.testing.assert_allclose((ends[0] - ends[1]) / 2e-5, along, rtol=1e-7)


def test_a_convolution_moves_with_the_image(weights):
    """Away from the border an image and its shifted copy have equal logits."""
    images = np.zeros((2, 16, 16))
    patch = np.random.default_rng(0).normal(size=(3, 3))
    images[0, 5:8, 5:8], images[1, 9:12, 5:8] = patch, patch
    with jax.enable_x64(True):
        first, second = MODEL.logits(weights, jnp.asarray(images))
    assert_close(first, np.asarray(second))
