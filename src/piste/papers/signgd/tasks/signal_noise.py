"""A signal token and a sparse Gaussian noise token, with or without structure."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from piste.errors import field_error
from piste.streams import Stream, stream
from piste.tasks import AbstractTask, task
from piste.values import option

from .two_token import TwoTokenData

# --- noise: every kind has expected squared norm (σ_p √s)² ---------------------------


def _sparse(task, keys, size, common) -> Float[Array, "sample dimension"]:
    r"""The paper's: $s$ coordinates without replacement, each $N(0, \sigma_p^2)$."""
    coordinate_key, normal_key = keys
    normals = jax.random.normal(normal_key, (size, task.noise_coordinates))
    return task.scatter(task.draw_coordinates(coordinate_key, size), normals)


def _correlated(task, keys, size, common) -> Float[Array, "sample dimension"]:
    r"""The same coordinates; those at a distance $r$ have correlation $\rho^r$.

    An AR(1) sequence over all coordinates, of which only $s$ are seen: from one to the
    next at distance $r$ it is $z' = \rho^r z + \sqrt{1 - \rho^{2r}}\,\epsilon$.
    """
    coordinate_key, normal_key = keys
    coordinates = jnp.sort(task.draw_coordinates(coordinate_key, size), -1)
    normals = jax.random.normal(normal_key, (size, task.noise_coordinates))
    correlation = task.noise_correlation ** jnp.diff(coordinates, axis=-1).astype(float)

    def follow(z, step):
        correlation, fresh = step
        z = correlation * z + jnp.sqrt(1 - correlation**2) * fresh
        return z, z

    _, rest = jax.lax.scan(follow, normals[:, 0], (correlation.T, normals[:, 1:].T))
    return task.scatter(coordinates, jnp.concatenate([normals[:, :1], rest.T], -1))


def _shared(task, keys, size, common) -> Float[Array, "sample dimension"]:
    r"""A share $q$ of the variance along one direction $u$ that all samples have.

    $\xi = \sqrt{1-q}\,\xi_0 + \sqrt q\,\sigma_p\sqrt s\,g\,u$ with $\xi_0$ sparse and
    $g \sim N(0, 1)$. The unit vector $u$ is a sparse draw too, so that sparsity stays
    and orthogonality alone is lost.
    """
    coordinate_key, normal_key = keys
    normal_key, amplitude_key = jax.random.split(normal_key)
    own = _sparse(task, (coordinate_key, normal_key), size, common)
    direction = _sparse(task, jax.random.split(common), 1, common)[0]
    direction = task.noise_scale * direction / jnp.linalg.norm(direction)
    amplitudes = jax.random.normal(amplitude_key, (size, 1))
    share = task.noise_shared
    return jnp.sqrt(1 - share) * own + jnp.sqrt(share) * amplitudes * direction


NOISES = {"sparse": _sparse, "correlated": _correlated, "shared": _shared}


@task("signal-noise")
class SignalNoise(AbstractTask):
    r"""Two tokens: the signal $y\mu$ and a sparse Gaussian noise patch $\xi$.

    $y$ is uniform on $\{±1\}$, $\mu = \|\mu\| e_1$; $\xi$ has $s$ coordinates drawn
    without replacement from the other $d-1$, each $N(0, \sigma_p^2)$ (Li et al. 2025).
    The other kinds of noise relax the paper's assumption that entries are independent.
    """

    samples: int = option(default=20, minimum=1)
    """Size of the training set, $n$."""
    dimension: int = option(default=2000, minimum=2)
    """Dimension of a token, $d$."""
    noise_coordinates: int = option(default=200, minimum=1)
    """Non-zero coordinates of a noise token, $s$."""
    noise_scale: float = option(default=2.0, greater_than=0)
    r"""Expected noise norm, $\sigma_p\sqrt{s}$."""
    signal_norm: float = option(default=1.0, greater_than=0)
    r"""Norm of the signal, $\|\mu\|$; SNR is this over the noise scale."""
    test_samples: int = option(default=2000, minimum=1)
    """Size of the test set."""
    noise: str = option(default="sparse", choices=tuple(NOISES))
    """The paper's noise, or correlated between coordinates, or shared by samples."""
    noise_correlation: float = option(default=0.9, minimum=0, less_than=1)
    r"""Correlation of neighbouring coordinates of correlated noise, $\rho$."""
    noise_shared: float = option(default=0.5, minimum=0, less_than=1)
    """Share of the variance of shared noise along the common direction, $q$."""

    def __post_init__(self):
        if self.noise_coordinates >= self.dimension:
            expected = f"must be between 1 and dimension − 1 = {self.dimension - 1}"
            raise field_error("noise_coordinates", self.noise_coordinates, expected)

    def datasets(
        self, loaded: None, *, seed: int | Int[Array, ""]
    ) -> tuple[TwoTokenData, TwoTokenData]:
        """Draw the training and the test set; floats and the seed may be traced."""
        key = stream(seed, Stream.DATA)
        # A sample splits its key in three, which takes the numbers 0 to 2.
        common = jax.random.fold_in(key, 3)
        train = self.sample(key=key, size=self.samples, common=common)
        key = stream(seed, Stream.TEST)
        return train, self.sample(key=key, size=self.test_samples, common=common)

    def sample(
        self, *, key: Key[Array, ""], size: int, common: Key[Array, ""] | None = None
    ) -> TwoTokenData:
        """Draw ``size`` independent samples; ``common`` fixes what all of them share."""
        label_key, *keys = jax.random.split(key, 3)
        labels = jax.random.rademacher(label_key, (size,), dtype=float)
        common = jax.random.fold_in(key, 3) if common is None else common
        noise = NOISES[self.noise](self, keys, size, common)
        signal = jnp.zeros((1, self.dimension)).at[0, 0].set(self.signal_norm)
        return TwoTokenData(
            basis=jnp.concatenate([signal, noise]),
            weight=labels,
            labels=labels,
        )

    def scatter(
        self,
        coordinates: Int[Array, "sample noise_coordinate"],
        normals: Float[Array, "sample noise_coordinate"],
    ) -> Float[Array, "sample dimension"]:
        r"""Put standard normal values at their coordinates, scaled by $\sigma_p$."""
        size = coordinates.shape[0]
        sigma_p = self.noise_scale / self.noise_coordinates**0.5
        zeros = jnp.zeros((size, self.dimension))
        return zeros.at[jnp.arange(size)[:, None], 1 + coordinates].set(
            sigma_p * normals
        )

    def draw_coordinates(
        self, key: Key[Array, ""], size: int
    ) -> Int[Array, "sample noise_coordinate"]:
        """Draw s of the d − 1 noise coordinates without replacement: the largest keys.

        Thirty random bits, read as a positive normal float, sort as the integer does;
        XLA has a fast selection for float32 alone.
        """
        bits = jax.random.bits(key, (size, self.dimension - 1), jnp.uint32)
        keys = ((bits >> 2) + jnp.uint32(1 << 23)).view(jnp.float32)
        return jax.lax.top_k(keys, self.noise_coordinates)[1]
