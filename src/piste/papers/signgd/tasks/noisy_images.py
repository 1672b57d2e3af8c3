"""A token with an image of one of two classes, and a token of noise."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from piste.datasets import DATASETS, SIDES, ImageSet, load
from piste.errors import field_error
from piste.streams import Stream, stream
from piste.tasks import AbstractTask, task
from piste.values import option

from .two_token import TwoTokenData


class Pool(eqx.Module):
    """Images to draw from: of the first class, of the second, and of all others."""

    plus: Float[Array | np.ndarray, "plus_image dimension"]
    minus: Float[Array | np.ndarray, "minus_image dimension"]
    other: Float[Array | np.ndarray, "other_image dimension"]
    """At RMS norm 1 in training; empty where the noise is not made of images."""


class Images(eqx.Module):
    """All that sampling needs from disk."""

    train: Pool
    test: Pool
    digest: str = eqx.field(static=True, default="")
    """A digest of the data set, which tells it from others."""


def _rms(images: Float[Array, "image dimension"]) -> Float[Array, ""]:
    """Root of the mean squared norm."""
    return jnp.sqrt((images**2).sum(-1).mean())


# --- noise: every kind has expected squared norm 1 ------------------------------------


def _gaussian(task, key, size, other) -> Float[Array, "noise dimension"]:
    r"""Independent pixels, $N(0, I/d)$."""
    return jax.random.normal(key, (size, task.dimension)) / task.dimension**0.5


def _sparse(task, key, size, other) -> Float[Array, "noise dimension"]:
    r"""Draw $s$ pixels without replacement, each $N(0, 1/s)$; $s$ may be traced."""
    pixel_key, normal_key = jax.random.split(key)
    bits = jax.random.bits(pixel_key, (size, task.dimension), jnp.uint32)
    count = jnp.clip(jnp.round(task.noise_share * task.dimension), 1, task.dimension)
    last = jnp.sort(bits, -1)[:, count.astype(int) - 1]
    normals = jax.random.normal(normal_key, (size, task.dimension))
    return jnp.where(bits <= last[:, None], normals, 0) / jnp.sqrt(count)


def _correlated(task, key, size, other) -> Float[Array, "noise dimension"]:
    r"""Pixels at a distance $r$ have correlation $e^{-r^2/2\ell^2}$, variance $1/d$.

    The correlation is a product over height and width, so one root serves both.
    """
    pixels = jnp.arange(task.side, dtype=float)
    distance = (pixels[:, None] - pixels) / task.correlation_length
    levels, vectors = jnp.linalg.eigh(jnp.exp(-(distance**2) / 2))
    root = (vectors * jnp.sqrt(jnp.maximum(levels, 0))) @ vectors.T
    normals = jax.random.normal(key, (size, task.side, task.side))
    return (root @ normals @ root).reshape(size, -1) / task.dimension**0.5


def _patch(task, key, size, other) -> Float[Array, "noise dimension"]:
    """Images of all other classes, drawn with replacement."""
    indices = jax.random.randint(key, (size,), 0, other.shape[0])
    return jnp.asarray(jnp.asarray(other)[indices], float)


NOISES = {
    "gaussian": _gaussian,
    "sparse": _sparse,
    "correlated": _correlated,
    "patch": _patch,
}


@task("noisy-images")
class NoisyImages(AbstractTask):
    r"""Two tokens: an image of one of two classes, and noise $\xi$ of the same size.

    Token 1 has RMS norm 1 and token 2 expected squared norm $1/\mathrm{SNR}^2$, so that
    Gaussian noise is $N(0, \sigma^2 I_d)$ with $\sigma = 1/(\sqrt d\,\mathrm{SNR})$.
    Images that are not normalised have noise in proportion. The training images are a
    seeded choice, half of each class; the test images have fresh noise.
    """

    dataset: str = option(default="mnist", choices=tuple(DATASETS))
    """The images: 28×28 MNIST, or the 8×8 digits that need no download."""
    folder: str = option(default="")
    """Where the data is; if empty, ``PISTE_DATA`` or the user's cache."""
    positive_class: int = option(default=3, minimum=0, maximum=9, is_size=False)
    """The digit with label +1."""
    negative_class: int = option(default=7, minimum=0, maximum=9, is_size=False)
    """The digit with label −1."""
    samples: int = option(default=100, minimum=2)
    """Size of the training set, $n$, half of it from each class."""
    test_samples: int = option(default=0, minimum=0)
    """Size of the test set; 0 for all test images of the two classes."""
    snr: float = option(default=0.35, greater_than=0)
    """RMS norm of token 1 over that of token 2, SNR."""
    noise: str = option(default="gaussian", choices=tuple(NOISES))
    """What token 2 is made of; patch means an image of another class."""
    noise_share: float = option(default=0.1, greater_than=0, maximum=1)
    """Share of pixels that sparse noise touches, $s/d$."""
    correlation_length: float = option(default=2.0, greater_than=0)
    r"""Pixels over which correlated noise is alike, $\ell$."""
    normalisation: str = option(default="rms", choices=("rms", "sample", "none"))
    """Token 1 at RMS norm 1 over the training set, at norm 1 each, or as it is."""

    def __post_init__(self):
        if self.positive_class == self.negative_class:
            expected = f"must differ from positive-class = {self.positive_class}"
            raise field_error("negative_class", self.negative_class, expected)
        if self.samples % 2:
            expected = "must be even: one half for each class"
            raise field_error("samples", self.samples, expected)

    @property
    def side(self) -> int:
        """Width and height of an image, in pixels."""
        return SIDES[self.dataset]

    @property
    def dimension(self) -> int:
        """Dimension of a token: the pixels of an image, $d$."""
        return self.side**2

    def load(self) -> Images:
        """Read the images of the two classes from disk: no randomness, no tracing."""
        return self.select(load(self.dataset, self.folder))

    def select(self, images: ImageSet) -> Images:
        """The images of a data set that the task can draw from, if there are enough."""
        chosen = Images(
            train=self._pool(images.train_images, images.train_labels),
            test=self._pool(images.test_images, images.test_labels),
            digest=images.digest,
        )
        self._check_classes(chosen)
        self._check_sizes(chosen)
        return _rescale_others(chosen) if self.noise == "patch" else chosen

    def _check_sizes(self, chosen: Images) -> None:
        half = min(len(chosen.train.plus), len(chosen.train.minus))
        if self.samples > 2 * half:
            expected = f"must be at most {2 * half}: {self._describe(chosen.train)}"
            raise field_error("samples", self.samples, expected)
        available = len(chosen.test.plus) + len(chosen.test.minus)
        if self.test_samples > available:
            expected = f"must be at most {available}: {self._describe(chosen.test)}"
            raise field_error("test_samples", self.test_samples, expected)

    def _pool(self, images: np.ndarray, labels: np.ndarray) -> Pool:
        plus, minus = labels == self.positive_class, labels == self.negative_class
        other = ~plus & ~minus if self.noise == "patch" else np.zeros_like(plus)
        return Pool(images[plus], images[minus], images[other])

    def _check_classes(self, images: Images) -> None:
        for part, pool in (("training", images.train), ("test", images.test)):
            for name, of_class in (("positive", pool.plus), ("negative", pool.minus)):
                if not len(of_class):
                    field = f"{name}_class"
                    expected = f"has no {part} images in {self.dataset}"
                    raise field_error(field, getattr(self, field), expected)
            if self.noise == "patch" and not len(pool.other):
                expected = f"{self.dataset} has no {part} images of another class"
                raise field_error("noise", self.noise, expected)

    def _describe(self, pool: Pool) -> str:
        counts = (self.positive_class, pool.plus), (self.negative_class, pool.minus)
        shares = (f"{len(images)} of class {label}" for label, images in counts)
        return f"{self.dataset} has {' and '.join(shares)}"

    def datasets(
        self, images: Images, *, seed: int | Int[Array, ""]
    ) -> tuple[TwoTokenData, TwoTokenData]:
        """Draw the training and the test set; floats and the seed may be traced."""
        choice_key, noise_key = jax.random.split(stream(seed, Stream.DATA))
        raw, labels = self._draw_training(images.train, choice_key)
        norm = _rms(raw)
        noise = self._draw_noise(noise_key, labels.size, images.train, norm)
        train = _two_tokens(self._normalise(raw, norm), noise, labels)

        choice_key, noise_key = jax.random.split(stream(seed, Stream.TEST))
        raw, labels = self._draw_test(images.test, choice_key)
        noise = self._draw_noise(noise_key, labels.size, images.test, norm)
        return train, _two_tokens(self._normalise(raw, norm), noise, labels)

    def _draw_training(self, pool: Pool, key: Key[Array, ""]):
        plus_key, minus_key = jax.random.split(key)
        half = self.samples // 2
        plus = _draw_without_replacement(pool.plus, plus_key, half)
        return _join_classes(
            plus, _draw_without_replacement(pool.minus, minus_key, half)
        )

    def _draw_test(self, pool: Pool, key: Key[Array, ""]):
        raw, labels = _join_classes(pool.plus, pool.minus)
        if not self.test_samples:
            return raw, labels
        chosen = jax.random.permutation(key, labels.size)[: self.test_samples]
        return raw[chosen], labels[chosen]

    def _normalise(self, raw, norm):
        """Scale images; ``norm`` is the RMS norm of those in the training set."""
        if self.normalisation == "none":
            return raw
        if self.normalisation == "rms":
            return raw / norm
        lengths = jnp.linalg.norm(raw, axis=-1, keepdims=True)
        return raw / jnp.where(lengths == 0, 1, lengths)

    def _draw_noise(self, key, size, pool, norm):
        unit = NOISES[self.noise](self, key, size, pool.other)
        signal = norm if self.normalisation == "none" else 1.0
        return unit * (signal / self.snr)


def _rescale_others(images: Images) -> Images:
    """Bring the images of other classes to RMS norm 1, that of the training part."""
    norm = np.sqrt((images.train.other**2).sum(-1, dtype=float).mean())
    scale = np.float32(1 / norm)
    others = images.train.other * scale, images.test.other * scale
    return eqx.tree_at(lambda tree: (tree.train.other, tree.test.other), images, others)


def _draw_without_replacement(images, key: Key[Array, ""], count: int):
    """Draw images without replacement."""
    return jnp.asarray(images)[jax.random.permutation(key, images.shape[0])[:count]]


def _join_classes(plus, minus):
    """Both classes in one array, the first with label +1, the second with −1."""
    images = jnp.concatenate([jnp.asarray(plus, float), jnp.asarray(minus, float)])
    return images, jnp.where(jnp.arange(len(images)) < len(plus), 1.0, -1.0)


def _two_tokens(images, noise, labels) -> TwoTokenData:
    basis = jnp.concatenate([images, noise])
    return TwoTokenData(basis, weight=jnp.ones(labels.size), labels=labels)
