"""Images with classes: what is chosen, how it is scaled, and what is refused."""

import numpy as np
import pytest

from piste.errors import InputError
from piste.papers.signgd.tasks import LabelledDigits

TASK = LabelledDigits(train_samples=100, test_samples=50)


def test_a_seed_chooses_and_standardises():
    loaded = TASK.load()
    train, test = TASK.datasets(loaded, seed=3)
    again, _ = TASK.datasets(loaded, seed=3)
    other, _ = TASK.datasets(loaded, seed=4)
    np.testing.assert_array_equal(train.images, again.images)
    assert not np.array_equal(train.images, other.images)
    assert train.images.shape == (100, 8, 8) and test.images.shape == (50, 8, 8)
    np.testing.assert_allclose(train.images.mean(), 0, atol=1e-12)
    np.testing.assert_allclose(train.images.std(), 1, rtol=1e-12)


def test_images_keep_their_labels_and_the_shares_of_the_classes():
    loaded = TASK.load()
    train, _ = TASK.datasets(loaded, seed=0)
    by_pixels = {
        np.round(image / image.max(), 9).tobytes(): label
        for image, label in zip(
            loaded.train_images.astype(float), loaded.train_labels, strict=True
        )
    }
    # Undo the standardisation: the darkest pixel of every digit is 0.
    raw = train.images - train.images.min((1, 2), keepdims=True)
    raw = np.round(raw / raw.max((1, 2), keepdims=True), 9)
    found = [
        by_pixels[image.reshape(loaded.train_images[0].shape).tobytes()]
        for image in raw
    ]
    np.testing.assert_array_equal(found, train.labels)
    assert np.bincount(train.labels, minlength=10).min() >= 9


@pytest.mark.parametrize("field", ["train", "test"])
def test_more_images_than_there_are_is_refused(field):
    with pytest.raises(InputError, match=f"{field}-samples.*must be at most"):
        LabelledDigits(**{f"{field}_samples": 10_000}).load()


def test_a_batch_is_a_part_of_the_training_set():
    with pytest.raises(InputError, match="batch"):
        LabelledDigits(train_samples=8, batch=9)
