"""A signal token and a sparse Gaussian noise token."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, Key

from piste.streams import Stream, stream
from piste.values import field_error, option, value

from .two_token import TwoTokenData


@value
class SignalNoise:
    r"""Two tokens: the signal $y\mu$ and a sparse Gaussian noise patch $\xi$.

    $y$ is uniform on $\{±1\}$, $\mu = \|\mu\| e_1$; $\xi$ has $s$ coordinates drawn
    without replacement from the other $d-1$, each $N(0, \sigma_p^2)$ (Li et al. 2025).
    """

    samples: int = option(default=20, least=1)
    """Size of the training set, $n$."""
    dimension: int = option(default=2000, least=2)
    """Dimension of a token, $d$."""
    noise_coordinates: int = option(default=200, least=1)
    """Non-zero coordinates of a noise token, $s$."""
    noise_scale: float = option(default=2.0, above=0)
    r"""Expected noise norm, $\sigma_p\sqrt{s}$."""
    signal_norm: float = option(default=1.0, above=0)
    r"""Norm of the signal, $\|\mu\|$; SNR is this over the noise scale."""
    test_samples: int = option(default=2000, least=1)
    """Size of the test set."""

    def __post_init__(self):
        if self.noise_coordinates >= self.dimension:
            rule = f"must be between 1 and dimension − 1 = {self.dimension - 1}"
            raise field_error("noise_coordinates", self.noise_coordinates, rule)

    def load(self) -> None:
        """Nothing comes from disk."""

    def datasets(
        self, loaded: None, *, seed: int | Int[Array, ""]
    ) -> tuple[TwoTokenData, TwoTokenData]:
        """Draw the training and the test set; floats and the seed may be traced."""
        train = self.sample(key=stream(seed, Stream.DATA), size=self.samples)
        test = self.sample(key=stream(seed, Stream.TEST), size=self.test_samples)
        return train, test

    def sample(self, *, key: Key[Array, ""], size: int) -> TwoTokenData:
        """Draw ``size`` independent samples."""
        label_key, place_key, normal_key = jax.random.split(key, 3)
        labels = jax.random.rademacher(label_key, (size,), dtype=float)
        places = self._places(place_key, size)
        normals = jax.random.normal(normal_key, (size, self.noise_coordinates))
        sigma_p = self.noise_scale / self.noise_coordinates**0.5
        zeros = jnp.zeros((size, self.dimension))
        noise = zeros.at[jnp.arange(size)[:, None], 1 + places].set(sigma_p * normals)
        signal = jnp.zeros((1, self.dimension)).at[0, 0].set(self.signal_norm)
        return TwoTokenData(
            basis=jnp.concatenate([signal, noise]),
            row=jnp.stack([jnp.zeros(size, int), jnp.arange(1, size + 1)]),
            weight=jnp.stack([labels, jnp.ones(size)]),
            labels=labels,
        )

    def _places(
        self, key: Key[Array, ""], size: int
    ) -> Int[Array, "sample noise_coordinate"]:
        """Draw s of the d − 1 coordinates without replacement: those with the largest keys.

        Thirty random bits, read as a positive normal float, sort as the integer does;
        XLA has a fast selection for float32 alone.
        """
        bits = jax.random.bits(key, (size, self.dimension - 1), jnp.uint32)
        keys = ((bits >> 2) + jnp.uint32(1 << 23)).view(jnp.float32)
        return jax.lax.top_k(keys, self.noise_coordinates)[1]
