"""Pathfinder images as sequences of pixels."""

import numpy as np

from piste.datasets.pathfinder import PADDLES, PathfinderImages, generate
from piste.values import option

from ._base import AbstractTask, task
from .token_sequences import SequenceSets, TokenSequences, check_size

# Image numbers at which the sets begin, so that no size of one changes another.
TRAIN, VALIDATION, TEST = 0, 2**40, 2**41


@task("pathfinder")
class Pathfinder(AbstractTask):
    """Whether a dashed contour joins two markers, from the pixels row by row.

    A token is one of 256 grey levels. All images are drawn by the seed; each has its own
    random stream, so that a smaller set is the beginning of a larger one.
    """

    difficulty: str = option(default="hard", choices=tuple(PADDLES))
    """How long the contours are."""
    canvas: int = option(default=32, minimum=16, maximum=256)
    """Width and height in pixels; sequences have its square as length."""
    distractors: int = option(default=10, minimum=0, maximum=100)
    """Distractors attempted on 32 pixels, on others in proportion to the area."""
    quirks: bool = option(default=False)
    """Whether to draw like the Long Range Arena, with cues that are not of the task."""
    train_samples: int = option(default=160_000, minimum=1)
    """Size of the training set."""
    validation_samples: int = option(default=20_000, minimum=0)
    """Size of the validation set."""
    test_samples: int = option(default=20_000, minimum=1)
    """Size of the test set."""

    batch: int = option(default=32, minimum=1)
    """Sequences of a training step."""

    @property
    def images(self) -> PathfinderImages:
        """What the images are like."""
        return PathfinderImages(
            self.difficulty, self.canvas, self.distractors, self.quirks
        )

    @property
    def vocabulary(self) -> int:
        """Number of tokens: the grey levels."""
        return 256

    @property
    def length(self) -> int:
        """Tokens in a sequence: the pixels of an image."""
        return self.canvas**2

    @property
    def classes(self) -> int:
        """Number of classes."""
        return 2

    def load(self) -> None:
        """Nothing is on disk; the sizes are checked."""
        reason = "the training set has no more"
        check_size("batch", self.batch, self.train_samples, reason)

    def datasets(
        self, loaded: None, *, seed: int
    ) -> tuple[SequenceSets, TokenSequences]:
        """All three sets of a seed, and the test set by itself."""
        sets = self.sequence_sets(loaded, seed=seed)
        return sets, sets.test

    def sequence_sets(self, loaded: None = None, *, seed: int) -> SequenceSets:
        """Draw the three sets by a seed."""
        return SequenceSets(
            train=self._drawn(self.train_samples, seed, TRAIN),
            validation=self._drawn(self.validation_samples, seed, VALIDATION),
            test=self._drawn(self.test_samples, seed, TEST),
        )

    def _drawn(self, count: int, seed: int, first: int) -> TokenSequences:
        drawing = generate(self.images, count, seed=seed, first=first)
        tokens = drawing.images.reshape(count, self.length)
        return TokenSequences(tokens, np.full(count, self.length), drawing.labels)
