"""Resizing of 8-bit images with Lanczos' kernel, to the bit as Pillow does it."""

import functools

import numpy as np
from jaxtyping import Float, Int, UInt8

LOBES = 3
BITS = 22
"""Binary places of the weights."""


def lanczos(x: Float[np.ndarray, "*axis"]) -> Float[np.ndarray, "*axis"]:
    r"""$\mathrm{sinc}(x)\,\mathrm{sinc}(x/3)$ for $|x| < 3$, else 0."""
    return np.where(np.abs(x) < LOBES, np.sinc(x) * np.sinc(x / LOBES), 0.0)


@functools.cache
def weights(before: int, after: int) -> Int[np.ndarray, "after before"]:
    """The share of each old pixel in each new one, as multiples of $2^{-22}$.

    Old pixels that are $x$ new pixels from the centre have weight proportional to the
    kernel at $x$; beyond the edge there is nothing, and the rest is scaled up.
    """
    ratio = before / after
    centre = (np.arange(after)[:, None] + 0.5) * ratio
    place = np.arange(before)
    reach = LOBES * max(ratio, 1.0)
    inside = (place >= np.floor(centre - reach + 0.5)) & (
        place < np.floor(centre + reach + 0.5)
    )
    raw = np.where(inside, lanczos((place + 0.5 - centre) / max(ratio, 1.0)), 0.0)
    shares = raw / raw.sum(1, keepdims=True) * 2**BITS
    return np.trunc(shares + np.copysign(0.5, shares)).astype(np.int64)


def resized(image: UInt8[np.ndarray, "row column"], size: int) -> np.ndarray:
    """A square image at another size: columns first, then rows, rounded each time."""
    share = weights(image.shape[0], size)
    # black rows and columns add nothing
    rows, columns = np.flatnonzero(image.any(1)), np.flatnonzero(image.any(0))
    drawn = image[np.ix_(rows, columns)].astype(np.int64)
    narrow = _rounded(drawn @ share[:, columns].T)
    return _rounded(share[:, rows] @ narrow).astype(np.uint8)


def _rounded(sums: Int[np.ndarray, "row column"]) -> Int[np.ndarray, "row column"]:
    return np.clip((sums + (1 << (BITS - 1))) >> BITS, 0, 255)
