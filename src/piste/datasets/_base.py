"""What every data set of images gives, and what every one of texts gives."""

import functools
import hashlib
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Num


@dataclass(frozen=True)
class ImageSet:
    """Images as rows of grey levels in [0, 1], and the class of each."""

    train_images: Float[np.ndarray, "image pixel"]
    train_labels: Int[np.ndarray, " image"]
    test_images: Float[np.ndarray, "test_image pixel"]
    test_labels: Int[np.ndarray, " test_image"]

    def __post_init__(self):
        # A loaded set is shared by all who ask for it.
        for part in vars(self).values():
            part.flags.writeable = False

    @functools.cached_property
    def digest(self) -> str:
        """What tells these images and labels from others."""
        found = hashlib.sha256()
        for part in (
            self.train_images,
            self.train_labels,
            self.test_images,
            self.test_labels,
        ):
            found.update(repr((part.shape, part.dtype)).encode())
            found.update(np.ascontiguousarray(part).data)
        return found.hexdigest()[:16]


def grey(
    levels: Num[np.ndarray, "image ..."], white: int
) -> Float[np.ndarray, "image pixel"]:
    """Flatten the images and scale levels 0 … ``white`` to [0, 1], in float32."""
    flat = levels.reshape(levels.shape[0], -1)
    return flat.astype(np.float32) / np.float32(white)


@dataclass(frozen=True, eq=False)  # told apart by identity: comparing texts takes long
class TextSet:
    """Texts, and the class of each: 0 or 1."""

    train_texts: tuple[str, ...]
    train_labels: Int[np.ndarray, " text"]
    test_texts: tuple[str, ...]
    test_labels: Int[np.ndarray, " test_text"]

    def __post_init__(self):
        for labels in (self.train_labels, self.test_labels):
            labels.flags.writeable = False

    @functools.cached_property
    def digest(self) -> str:
        """What tells these texts and labels from others."""
        found = hashlib.blake2b(digest_size=8)
        for part in (*self.train_texts, "", *self.test_texts):
            found.update(part.encode() + b"\0")
        for labels in (self.train_labels, self.test_labels):
            found.update(labels.tobytes())
        return found.hexdigest()

    def repeats(self) -> "Repeats":
        """Count the texts that occur more than once."""
        train, test = set(self.train_texts), set(self.test_texts)
        return Repeats(
            train=len(self.train_texts) - len(train),
            test=len(self.test_texts) - len(test),
            across=len(train & test),
        )


@dataclass(frozen=True)
class Repeats:
    """Texts that occur more than once in a data set."""

    train: int
    """Training texts that are copies of another one."""
    test: int
    """Test texts that are copies of another one."""
    across: int
    """Distinct texts that are in both."""
