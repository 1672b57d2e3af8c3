"""The 8×8 digits that scikit-learn carries along: no file, no network."""

import functools

import numpy as np

from ._base import ImageSet, grey

SIDE = 8


def load(folder: str = "") -> ImageSet:
    """Load the 1797 digits, split in two halves; no folder is needed or used."""
    return _load()


@functools.cache
def _load() -> ImageSet:
    # scikit-learn takes a second to import, and only this needs it.
    from sklearn.datasets import load_digits

    levels, labels = map(np.asarray, load_digits(return_X_y=True))
    images, labels = grey(levels, white=16), labels.astype(np.int64)
    train, test = np.array_split(_order(labels.size), 2)
    return ImageSet(images[train], labels[train], images[test], labels[test])


def _order(size: int) -> np.ndarray:
    """One order for ever: NumPy promises never to change this generator's numbers."""
    return np.random.RandomState(0).permutation(size)
