"""A network without attention that sees all pixels of an image at once: a control."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from piste.models import AbstractSequenceClassifier, model
from piste.models.classifier import GREY_UNIT, Linear, gelu
from piste.models.sequence_classifier import BatchKeys, Mask, Tokens
from piste.values import option


class PixelWeights(eqx.Module):
    """The affine maps, the last of them to the classes."""

    layers: tuple[Linear, ...]


@model("pixel-mlp")
class PixelMLP(AbstractSequenceClassifier):
    """GELU networks on the grey levels of all pixels, each with a place of its own."""

    needs_images = True

    layers: int = option(default=2, minimum=1, maximum=1000)
    """Hidden layers."""
    hidden: int = option(default=128, minimum=1)
    """Neurons of each."""

    def draw_weights(self, task: Any, *, key: Key[Array, ""]) -> PixelWeights:
        """Draw matrices from N(0, 2/inputs); biases are 0."""
        sizes = [task.length, *[self.hidden] * self.layers, task.classes]
        keys = jax.random.split(key, len(sizes) - 1)
        pairs = zip(keys, sizes[:-1], sizes[1:], strict=True)
        return PixelWeights(tuple(_drawn(*pair) for pair in pairs))

    def logits(
        self,
        weights: PixelWeights,
        tokens: Tokens,
        mask: Mask,
        *,
        keys: BatchKeys | None = None,
    ) -> Float[Array, "batch class"]:
        """Compute the logits of a batch; nothing is random."""
        *hidden, last = weights.layers
        x = (tokens / GREY_UNIT).astype(last.bias.dtype)
        for layer in hidden:
            x = gelu(layer(x))
        return last(x)

    def activations(self, task: Any) -> float:
        """Count the inputs and the neurons."""
        return task.length + 2 * self.layers * self.hidden


def _drawn(key: Key[Array, ""], inputs: int, outputs: int) -> Linear:
    matrix = jax.random.normal(key, (inputs, outputs)) * (2 / inputs) ** 0.5
    return Linear(matrix=matrix, bias=jnp.zeros(outputs))
