"""The patch transformer is the core classifier on embedded patches."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.errors import InputError
from piste.models import Classifier, classifier
from piste.papers.signgd.models import PatchTransformer
from piste.papers.signgd.tasks import LabelledDigits
from piste.testing import assert_close

SMALL = {"layers": 2, "dimension": 4, "hidden": 3, "heads": 2}
MODEL, TASK = PatchTransformer(patch=4, **SMALL), LabelledDigits()


def test_it_is_the_core_classifier_on_embedded_patches():
    """Each patch as a word of its own, whose embedding is the patch's linear map."""
    images = np.random.default_rng(0).normal(size=(3, 8, 8))
    with jax.enable_x64(True):
        weights = MODEL.draw_weights(TASK, key=jax.random.key(1))
        patches = [
            image[row : row + 4, column : column + 4].ravel()
            for image in images
            for row in (0, 4)
            for column in (0, 4)
        ]
        words = np.stack(patches) @ weights.patch.matrix + weights.patch.bias
        core = eqx.tree_at(
            lambda w: w.embedding,
            weights.rest,
            jnp.asarray(words),
            is_leaf=lambda leaf: leaf is None,
        )
        tokens = jnp.arange(12).reshape(3, 4)
        expected = classifier.logits(
            Classifier(dropout=0.0, **SMALL), core, tokens, jnp.ones((3, 4), bool)
        )
        assert_close(MODEL.logits(weights, jnp.asarray(images)), np.asarray(expected))


def test_a_patch_must_divide_the_image():
    with pytest.raises(InputError, match=r"model\.patch.*must divide.* 8"):
        PatchTransformer(patch=3).draw_weights(TASK, key=jax.random.key(0))


def test_heads_must_divide_the_dimension():
    with pytest.raises(InputError, match="dimension"):
        PatchTransformer(dimension=5, heads=2)
