"""Public data sets: from a folder, from the user's cache, or downloaded."""

from collections.abc import Callable

from . import digits, imdb, mnist
from ._base import ImageSet, Repeats, TextSet

DATASETS: dict[str, Callable[[str], ImageSet]] = {
    "mnist": mnist.load,
    "digits": digits.load,
}

SIDES = {"mnist": mnist.SIDE, "digits": digits.SIDE}
"""Width and height of an image, in pixels."""


def load(name: str, folder: str = "") -> ImageSet:
    """Load a data set of images by its name; ``folder`` comes before all other places.

    >>> load("digits").train_images.shape
    (899, 64)
    """
    return DATASETS[name](folder)


__all__ = ["DATASETS", "SIDES", "ImageSet", "Repeats", "TextSet", "imdb", "load"]
