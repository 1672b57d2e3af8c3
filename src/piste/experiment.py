"""An Experiment says what to train; it fully determines a run."""

import html
from collections.abc import Iterator

import numpy as np

from piste.errors import field_error
from piste.models import AbstractModel
from piste.rules import AbstractFlow, AbstractRule
from piste.tasks import AbstractTask
from piste.values import digest, fields_of, option, value


@value
class Schedule:
    """When to measure: every step at first, then ever more thinly."""

    dense: int = option(default=200, minimum=1)
    """Every step is recorded up to here; afterwards the gap doubles as time doubles."""
    test_every: int = option(default=16, minimum=1)
    """Test probes are measured at every so many records."""
    chunk: int = option(default=32, minimum=1)
    """Records between two checkpoints; also the block size on disk."""
    every: int = option(default=0, minimum=0)
    """If above 0, every so many steps are recorded instead, from first to last."""
    curvature: bool = False
    """Whether to measure the extreme eigenvalues of the Hessian with the test probes."""

    def times(self, steps: int) -> np.ndarray:
        """The recorded steps, from 0 to ``steps``, both included.

        >>> Schedule(dense=4).times(20).tolist()
        [0, 1, 2, 3, 4, 6, 8, 12, 16, 20]
        >>> Schedule(every=8).times(20).tolist()
        [0, 8, 16, 20]
        """
        if self.every:
            return np.append(np.arange(0, steps, self.every), steps)
        blocks = [np.zeros(1, int)]
        for start, gap, count in self._stretches(steps):
            blocks.append(start + gap * np.arange(1, count))
            blocks.append(np.array([min(start + gap * count, steps)]))
        return np.concatenate(blocks)

    def count(self, steps: int) -> int:
        """How many times there are, known without a list of them.

        >>> Schedule(dense=4).count(20), Schedule(dense=10**12).count(10**12)
        (10, 1000000000001)
        """
        if self.every:
            return -(-steps // self.every) + 1
        return 1 + sum(count for _, _, count in self._stretches(steps))

    def _stretches(self, steps: int) -> Iterator[tuple[int, int, int]]:
        """Stretches of equal gaps: where each begins, its gap, and how many it has."""
        now = 0
        while now < steps:
            doublings = (now // self.dense).bit_length()
            gap, end = 1 << doublings, min(self.dense << doublings, steps)
            count = -(-(end - now) // gap)
            yield now, gap, count
            now = min(now + gap * count, steps)

    def tests(self, records: int) -> np.ndarray:
        """Which records measure the test probes: some in each chunk, and the last."""
        place = np.arange(records)
        flags = place % self.chunk % self.test_every == 0
        flags[-1] = True
        return flags


@value
class Rate:
    """How the learning rate changes while a model trains, as a factor of the rule's own."""

    warm_up: int = option(default=0, minimum=0)
    """Steps in which the rate grows from nothing to its full value, in equal parts."""
    decay: str = option(default="none", choices=("none", "linear", "cosine"))
    """How it falls from then on to the last step."""
    final: float = option(default=0.0, minimum=0, maximum=1)
    """The factor at the end of a decay."""

    @property
    def is_constant(self) -> bool:
        """Whether every step has the rule's own rate."""
        return not self.warm_up and self.decay == "none"


@value
class Experiment:
    """Task, model, rule, length, seed and arithmetic: one frozen value, one run."""

    task: AbstractTask
    """The data distribution."""
    model: AbstractModel
    """What is trained."""
    rule: AbstractRule
    """How it is trained."""
    rate: Rate = Rate()
    """How the learning rate changes on the way."""
    steps: int = option(default=2000, minimum=1)
    """Training steps, $T$."""
    record: Schedule = Schedule()
    """When to measure."""
    seed: int = option(default=0, minimum=0, maximum=2**63 - 1, is_size=False)
    """Seed of all random streams."""
    precision: str = option(default="float64", choices=("float64", "float32"))
    """Floating-point type of the training."""
    form: str = "auto"
    """Arithmetic: all weights by autodiff (full), or an exact reduction of them; which
    there are depends on the task and the model. ``auto`` takes the best that holds."""

    def __post_init__(self):
        if self.rate.is_constant:
            return
        if isinstance(self.rule, AbstractFlow):
            expected = (
                "the flow has no steps whose length could change; must be constant"
            )
            raise field_error("rate", "changing", expected)
        if self.rate.warm_up >= self.steps:
            expected = f"must be less than steps = {self.steps}"
            raise field_error("rate.warm_up", self.rate.warm_up, expected)

    @property
    def digest(self) -> str:
        """Content address: equal experiments have equal digests."""
        return digest(self)

    def _repr_html_(self) -> str:
        rows = ((k, html.escape(str(v))) for k, v in fields_of(self).items())
        cells = (f"<tr><td><code>{k}</code></td><td>{v}</td></tr>" for k, v in rows)
        return f"<table>{''.join(cells)}</table>"
