"""What every data set of images gives."""

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


def grey(
    levels: Num[np.ndarray, "image ..."], white: int
) -> Float[np.ndarray, "image pixel"]:
    """Flatten the images and scale levels 0 … ``white`` to [0, 1], in float32."""
    flat = levels.reshape(levels.shape[0], -1)
    return flat.astype(np.float32) / np.float32(white)
