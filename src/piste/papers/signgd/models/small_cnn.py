"""A small convolutional network, to set beside a transformer on the same images."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from piste.models import AbstractModel, model
from piste.models.classifier import Linear, gelu
from piste.values import option

Maps = Float[Array, "image height width channel"]


class CNNWeights(eqx.Module):
    """Two convolutions of 3×3 and a head."""

    first: Linear
    second: Linear
    head: Linear


@model("small-cnn")
class SmallCNN(AbstractModel):
    """Convolution 3×3, GELU, 2×2 means, again, mean over places, linear head.

    No normalisation of activations: weights from N(0, 2/inputs), biases 0.
    """

    channels: int = option(default=16, minimum=1)
    """Channels after the first convolution; twice as many after the second."""

    def draw_weights(self, task: Any, *, key: Key[Array, ""]) -> CNNWeights:
        """The weights for the classes of a task."""
        sizes = (9, self.channels), (9 * self.channels, 2 * self.channels)
        sizes += ((2 * self.channels, task.classes),)
        keys = jax.random.split(key, len(sizes))
        return CNNWeights(*(_drawn(k, *s) for k, s in zip(keys, sizes, strict=True)))

    def logits(
        self, weights: CNNWeights, images: Float[Array, "image height width"]
    ) -> Float[Array, "image class"]:
        """Logits of some images."""
        maps = _halved(gelu(weights.first(_windows(images[..., None]))))
        maps = _halved(gelu(weights.second(_windows(maps))))
        return weights.head(maps.mean((1, 2)))


def _drawn(key: Key[Array, ""], inputs: int, outputs: int) -> Linear:
    matrix = jax.random.normal(key, (inputs, outputs)) * (2 / inputs) ** 0.5
    return Linear(matrix=matrix, bias=jnp.zeros(outputs))


def _windows(maps: Maps) -> Float[Array, "image height width window"]:
    """The 3×3 surroundings of every place, side by side; zeros outside.

    A convolution is then a product of matrices, which stays fast where several runs with
    weights of their own share a program.
    """
    height, width = maps.shape[1:3]
    padded = jnp.pad(maps, ((0, 0), (1, 1), (1, 1), (0, 0)))
    shifted = [
        padded[:, row : row + height, column : column + width]
        for row in range(3)
        for column in range(3)
    ]
    return jnp.concatenate(shifted, -1)


def _halved(maps: Maps) -> Float[Array, "image half_height half_width channel"]:
    """Means over squares of 2×2; an odd last row or column is left out."""
    count, height, width, channels = maps.shape
    cut = maps[:, : height // 2 * 2, : width // 2 * 2]
    return cut.reshape(count, height // 2, 2, width // 2, 2, channels).mean((2, 4))
