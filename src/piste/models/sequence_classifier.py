"""The contract of models that classify sequences of tokens."""

import abc
import dataclasses
from typing import Any, ClassVar

from jaxtyping import Array, Bool, Float, Int, Key, PyTree

from ._base import AbstractModel

Tokens = Int[Array, "batch position"]
Mask = Bool[Array, "batch position"]
BatchKeys = Key[Array, " batch"]


@dataclasses.dataclass(frozen=True)
class AbstractSequenceClassifier(AbstractModel):
    """A model that gives the classes of sequences logits; the core trains it on batches."""

    shares_batches = True
    needs_images: ClassVar[bool] = False
    """Whether it reads the pixels of images, and no words."""

    @abc.abstractmethod
    def logits(
        self,
        weights: PyTree,
        tokens: Tokens,
        mask: Mask,
        *,
        keys: BatchKeys | None = None,
    ) -> Float[Array, "batch class"]:
        """Compute the logits of a batch; the mask is true at real positions.

        ``keys``, one for each sequence, are for what is random while training, such as
        dropout; there are none when a set is scored.
        """

    @abc.abstractmethod
    def activations(self, task: Any) -> float:
        """Estimate how many numbers a training step keeps of one sequence."""
