"""Images of ten digits with their classes: what a CNN and a transformer both read."""

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float, Int

from piste.datasets import DATASETS, SIDES, ImageSet, load
from piste.streams import Stream
from piste.tasks import AbstractTask, task
from piste.tasks.token_sequences import check_size, shuffler, stratified
from piste.values import option


class LabelledImages(eqx.Module):
    """Images and the class of each."""

    images: Float[np.ndarray | jax.Array, "image height width"]
    labels: Int[np.ndarray | jax.Array, " image"]


@task("labelled-digits")
class LabelledDigits(AbstractTask):
    """Which of ten digits an image shows.

    Pixels are standardised by mean and deviation over the training set. The images are a
    seeded choice that keeps the shares of the classes.
    """

    dataset: str = option(default="digits", choices=tuple(DATASETS))
    """The images: 28×28 MNIST, or the 8×8 digits that need no download."""
    folder: str = option(default="")
    """Where the data is; if empty, ``PISTE_DATA`` or the user's cache."""
    train_samples: int = option(default=512, minimum=1)
    """Size of the training set."""
    test_samples: int = option(default=256, minimum=1)
    """Size of the test set."""
    batch: int = option(default=0, minimum=0)
    """Images of a training step; 0 for the whole training set."""

    def __post_init__(self):
        reason = "the training set has no more"
        check_size("batch", self.batch, self.train_samples, reason)

    @property
    def side(self) -> int:
        """Width and height of an image, in pixels."""
        return SIDES[self.dataset]

    @property
    def classes(self) -> int:
        """Number of classes."""
        return 10

    def load(self) -> ImageSet:
        """Read the images from disk, if there are enough of them: no randomness."""
        images = load(self.dataset, self.folder)
        given = (self.train_samples, self.test_samples)
        found = (images.train_labels.size, images.test_labels.size)
        for name, size, most in zip(("train", "test"), given, found, strict=True):
            reason = f"{self.dataset} has {most} {name} images"
            check_size(f"{name}_samples", size, most, reason)
        return images

    def datasets(
        self, loaded: ImageSet, *, seed: int
    ) -> tuple[LabelledImages, LabelledImages]:
        """Choose images by the seed, and standardise them."""
        train = stratified(
            loaded.train_labels, self.train_samples, shuffler(seed, Stream.DATA)
        )
        test = stratified(
            loaded.test_labels, self.test_samples, shuffler(seed, Stream.TEST)
        )
        pixels = loaded.train_images[train].astype(np.float64)
        mean, deviation = pixels.mean(), pixels.std()

        def part(images, labels, chosen) -> LabelledImages:
            scaled = (images[chosen].astype(np.float64) - mean) / deviation
            shape = (chosen.size, self.side, self.side)
            return LabelledImages(scaled.reshape(shape), labels[chosen])

        return (
            part(loaded.train_images, loaded.train_labels, train),
            part(loaded.test_images, loaded.test_labels, test),
        )
