"""A small transformer on the patches of an image: the core classifier's blocks."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from piste.errors import field_error
from piste.models import AbstractModel, Classifier, ClassifierWeights, model
from piste.models.classifier import Linear, attention, gelu
from piste.values import option


class PatchWeights(eqx.Module):
    """The linear map of a patch to a token, and a classifier's weights after it."""

    patch: Linear
    rest: ClassifierWeights


@model("patch-transformer")
class PatchTransformer(AbstractModel):
    """Square patches as tokens, then the blocks and the head of the core classifier.

    Pre-LN, learned positions, GELU, mean over the patches; no dropout.
    """

    patch: int = option(default=2, minimum=1)
    """Width and height of a patch, in pixels."""
    layers: int = option(default=1, minimum=1, maximum=1000)
    """Number of blocks."""
    dimension: int = option(default=32, minimum=1)
    """Dimension of a token, $D$."""
    hidden: int = option(default=64, minimum=1)
    """Neurons of the MLPs in the blocks and in the head."""
    heads: int = option(default=2, minimum=1)
    """Attention heads."""

    def __post_init__(self):
        self._classifier()  # refuses what it refuses

    def _classifier(self) -> Classifier:
        return Classifier(
            layers=self.layers,
            dimension=self.dimension,
            hidden=self.hidden,
            heads=self.heads,
            dropout=0.0,
        )

    def draw_weights(self, task: Any, *, key: Key[Array, ""]) -> PatchWeights:
        """The weights for the images and classes of a task."""
        if task.side % self.patch:
            expected = f"must divide the side of an image, {task.side}"
            raise field_error("model.patch", self.patch, expected)
        patch_key, rest_key = jax.random.split(key)
        pixels, count = self.patch**2, (task.side // self.patch) ** 2
        matrix = jax.random.normal(patch_key, (pixels, self.dimension)) / pixels**0.5
        rest = self._classifier().init(
            key=rest_key, vocabulary=1, length=count, classes=task.classes
        )
        # Patches take the place of a table of tokens.
        rest = eqx.tree_at(lambda w: w.embedding, rest, None)
        return PatchWeights(Linear(matrix, jnp.zeros(self.dimension)), rest)

    def logits(
        self, weights: PatchWeights, images: Float[Array, "image height width"]
    ) -> Float[Array, "image class"]:
        """Logits of some images."""
        model, rest = self._classifier(), weights.rest
        x = weights.patch(self._patches(images)) + rest.position
        mask = jnp.ones(x.shape[:2], bool)
        for block in rest.blocks:
            x = x + attention(model, block, x, mask)
            x = x + block.mlp_out(gelu(block.mlp_in(block.mlp_norm(x))))
        return rest.head_out(gelu(rest.head_in(rest.norm(x).mean(1))))

    def _patches(
        self, images: Float[Array, "image height width"]
    ) -> Float[Array, "image patch pixel"]:
        count, side, size = len(images), images.shape[1] // self.patch, self.patch
        cut = images.reshape(count, side, size, side, size).swapaxes(2, 3)
        return cut.reshape(count, side**2, size**2)
