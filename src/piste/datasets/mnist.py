"""MNIST, from its four original IDX files (LeCun, Cortes and Burges)."""

import functools
import math
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from piste.errors import InputError

from ._base import ImageSet, grey
from .cache import File, Source, locate, unzipped

SIDE = 28

SOURCE = Source(
    name="mnist",
    files={
        "train-images-idx3-ubyte.gz": File(
            size=9912422,
            sha256="440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        ),
        "train-labels-idx1-ubyte.gz": File(
            size=28881,
            sha256="3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        ),
        "t10k-images-idx3-ubyte.gz": File(
            size=1648877,
            sha256="8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        ),
        "t10k-labels-idx1-ubyte.gz": File(
            size=4542,
            sha256="f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
    },
    mirrors=(
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://raw.githubusercontent.com/fgnt/mnist/master/",
    ),
)


def load(folder: str = "") -> ImageSet:
    """Load the 60,000 training and 10,000 test images, checked to be the originals."""
    return _load(locate(SOURCE, folder))


@functools.lru_cache(maxsize=1)
def _load(folder: Path) -> ImageSet:
    return ImageSet(*_pair(folder, "train"), *_pair(folder, "t10k"))


def _pair(folder: Path, part: str) -> tuple[np.ndarray, np.ndarray]:
    """The images and the labels of one part, as many of the one as of the other."""
    path = folder / f"{part}-labels-idx1-ubyte.gz"
    images = read_idx(folder / f"{part}-images-idx3-ubyte.gz", rank=3)
    labels = read_idx(path, rank=1)
    if images.shape[1:] != (SIDE, SIDE):
        size = "×".join(map(str, images.shape[1:]))
        raise InputError(f"{folder}: has {size} images; must be {SIDE}×{SIDE}")
    if len(labels) != len(images):
        expected = f"must be one for each of {len(images)} images"
        raise InputError(f"{path}: has {len(labels)} labels; {expected}")
    return grey(images, white=255), labels.astype(np.int64)


def read_idx(path: Path, *, rank: int) -> UInt8[np.ndarray, "*axis"]:
    """Read a compressed IDX file of bytes with ``rank`` axes.

    The header is 0, 0, 8 (for bytes), the rank, and each length as four bytes, the most
    significant first; the rest is the array in C order.
    """
    content = unzipped(path)
    expected = bytes([0, 0, 8, rank])
    if content[:4] != expected:
        found = content[:4].hex() or "nothing"
        raise InputError(f"{path}: begins with {found}; must be {expected.hex()} (IDX)")
    start = 4 + 4 * rank
    if len(content) < start:
        raise InputError(f"{path}: has {len(content)} bytes; must have a whole header")
    shape = tuple(map(int, np.frombuffer(content[4:start], ">u4")))
    size = len(content) - start
    if size != math.prod(shape):
        shown = "×".join(map(str, shape))
        raise InputError(f"{path}: has {size} bytes of data; must be {shown}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
