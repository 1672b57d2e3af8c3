import numpy as np
import pytest

from piste.datasets import load


def test_digits_are_two_halves_that_never_change():
    images = load("digits")
    assert images.train_images.shape == (899, 64)
    assert images.test_images.shape == (898, 64)
    assert (images.train_images.min(), images.train_images.max()) == (0, 1)
    assert images.train_labels[:5].tolist() == [2, 8, 2, 6, 6]
    together = np.concatenate([images.train_images, images.test_images])
    assert len(np.unique(together, axis=0)) == 1797


def test_both_halves_have_every_class():
    images = load("digits")
    for labels in (images.train_labels, images.test_labels):
        assert np.bincount(labels).min() >= 74


def test_a_loaded_set_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        load("digits").train_images[0] = 1
