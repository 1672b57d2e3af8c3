"""A task, a model and their form that belong to no paper, small enough to train in tests.

Each sequence has a token that tells its class and a token of noise; one head of attention
reads both.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from piste.attention import KERNELS, attend
from piste.experiment import Experiment, Schedule
from piste.models import AbstractModel, model
from piste.probes import probe
from piste.rules import SignGD
from piste.streams import Stream, stream
from piste.tasks import AbstractTask, task
from piste.training import LossView, autodiff_form
from piste.values import option, override


class TinyData(eqx.Module):
    """Sequences of two tokens, and the class of each."""

    tokens: Float[Array, "sample 2 dimension"]
    labels: Float[Array, " sample"]


@task("tiny")
class Tiny(AbstractTask):
    """Plus or minus the first axis, beside Gaussian noise."""

    samples: int = option(default=6, minimum=1)
    dimension: int = option(default=8, minimum=2)
    test_samples: int = option(default=5, minimum=1)
    noise_scale: float = option(default=2.0, greater_than=0)

    def datasets(self, loaded, *, seed):
        """Draw training and test data."""
        return (
            self._draw(stream(seed, Stream.DATA), self.samples),
            self._draw(stream(seed, Stream.TEST), self.test_samples),
        )

    def _draw(self, key, count):
        classes, noise = jax.random.split(key)
        labels = 2.0 * jax.random.bernoulli(classes, shape=(count,)) - 1
        signal = labels[:, None] * jnp.eye(self.dimension)[0]
        other = jax.random.normal(noise, (count, self.dimension))
        scale = self.noise_scale / self.dimension**0.5
        return TinyData(jnp.stack([signal, scale * other], 1), labels)


@model("tiny-attention")
class TinyAttention(AbstractModel):
    """One head of attention, whose outputs are added up."""

    width: int = option(default=3, minimum=1)
    init_scale: float = option(default=0.1, minimum=0)
    kernel: str = option(default="softmax", choices=KERNELS)

    def draw_weights(self, task, *, key):
        """Draw queries, keys and values."""
        shape = (2 * self.width + 1, task.dimension)
        rows = self.init_scale * jax.random.normal(key, shape)
        query, keys, value = jnp.split(rows, [self.width, 2 * self.width])
        return TinyWeights(query, keys, value, self.kernel)


class TinyWeights(eqx.Module):
    """Queries, keys and values, and the kernel that puts them together."""

    query: Float[Array, "width dimension"]
    key: Float[Array, "width dimension"]
    value: Float[Array, "1 dimension"]
    kernel: str = eqx.field(static=True)

    def output(self, tokens: Float[Array, "2 dimension"]) -> Float[Array, ""]:
        """What both tokens read, added up."""
        of_both = (tokens @ part.T for part in (self.query, self.key, self.value))
        return attend(KERNELS[self.kernel], *of_both).sum()


@autodiff_form("full", for_task=Tiny, for_model=TinyAttention)
class TinyView(LossView):
    """The logistic loss, and the margins behind it."""

    weights: TinyWeights
    data: TinyData

    def margins(self) -> Float[Array, " sample"]:
        """How right each sample is."""
        return self.data.labels * jax.vmap(self.weights.output)(self.data.tokens)

    def loss(self):
        """The mean over all samples."""
        return jax.nn.softplus(-self.margins()).mean()


probe(
    "margins", of=TinyView, symbol="$m$", meaning="margin of a sample", dims=("sample",)
)(TinyView.margins)

RULES = {
    "signgd": {"rule": "signgd", "rule.learning-rate": 2e-3},
    "gd": {"rule": "gd", "rule.learning-rate": 0.5},
    "normalised-gd": {"rule": "normalised-gd", "rule.learning-rate": 0.02},
    "adam": {"rule": "adam", "rule.learning-rate": 2e-3},
    "lion": {"rule": "lion", "rule.learning-rate": 2e-3},
}
"""Each rule with a learning rate at which the model trains."""
TINY = Experiment(
    task=Tiny(),
    model=TinyAttention(),
    rule=SignGD(2e-3),
    steps=300,
    record=Schedule(dense=20, test_every=4, chunk=16),
)


def tiny(rule: str = "signgd", **changes) -> Experiment:
    """The experiment under a rule, with fields changed (``task__samples=3``)."""
    dotted = {name.replace("__", "."): to for name, to in changes.items()}
    return override(TINY, RULES[rule] | dotted)
