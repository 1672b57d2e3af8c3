"""Pathfinder images as sequences of pixels."""

import numpy as np

from piste.datasets.pathfinder import (
    PADDLES,
    Drawing,
    PathfinderImages,
    generate,
    generate_balanced,
)
from piste.values import option

from ._base import task
from .token_sequences import (
    AbstractSequenceTask,
    SequenceSets,
    TokenSequences,
    check_size,
)

# Image numbers at which the sets begin, so that no size of one changes another.
TRAIN, VALIDATION, TEST = 0, 2**40, 2**41


@task("pathfinder")
class Pathfinder(AbstractSequenceTask):
    """Whether a dashed contour joins two markers, from the pixels row by row.

    A token is one of 256 grey levels. All images are drawn by the seed; each has its own
    random stream, so that a smaller set is the beginning of a larger one.
    """

    padded = False

    difficulty: str = option(default="hard", choices=tuple(PADDLES))
    """How long the contours are."""
    canvas: int = option(default=32, minimum=16, maximum=256)
    """Width and height in pixels; sequences have its square as length."""
    distractors: int = option(default=10, minimum=0, maximum=100)
    """Distractors attempted on 32 pixels, on others in proportion to the area."""
    quirks: bool = option(default=False)
    """Whether to draw like the Long Range Arena, with cues that are not of the task."""
    balanced: bool = option(default=False)
    """Whether to choose images so that the places of the markers tell nothing."""
    paddles: int = option(default=0, minimum=0, maximum=100)
    """Strokes in each of the two contours; 0 takes those of the difficulty."""
    marker_radius: float = option(default=1.5, greater_than=0, maximum=8)
    """Radius of a marker, in pixels of a canvas of 32."""
    marker_distance: float = option(default=0.0, minimum=0)
    """The least distance of the two markers, in pixels."""
    gap: int = option(default=0, minimum=0, maximum=8)
    """Dark pixels between the two contours; 0 lets them touch, as in the original."""
    brightness: float = option(default=0.9, greater_than=0, maximum=1)
    """How bright contours are at most, where a marker is 1."""
    train_samples: int = option(default=160_000, minimum=1)
    """Size of the training set."""
    validation_samples: int = option(default=20_000, minimum=0)
    """Size of the validation set."""
    test_samples: int = option(default=20_000, minimum=1)
    """Size of the test set."""
    batch: int = option(default=32, minimum=1)
    """Sequences of a training step."""

    def __post_init__(self):
        self.images  # noqa: B018 (it refuses what cannot be drawn)

    @property
    def images(self) -> PathfinderImages:
        """What the images are like."""
        return PathfinderImages(
            difficulty=self.difficulty,
            canvas=self.canvas,
            distractors=self.distractors,
            quirks=self.quirks,
            balanced=self.balanced,
            paddles=self.paddles,
            marker_radius=self.marker_radius,
            marker_distance=self.marker_distance,
            gap=self.gap,
            brightness=self.brightness,
        )

    @property
    def vocabulary(self) -> int:
        """Number of tokens: the grey levels."""
        return 256

    @property
    def side(self) -> int:
        """Width and height of an image, in pixels."""
        return self.canvas

    @property
    def length(self) -> int:
        """Tokens in a sequence: the pixels of an image."""
        return self.canvas**2

    @property
    def classes(self) -> int:
        """Number of classes."""
        return 2

    def counts(self) -> tuple[int, int, int]:
        """The sizes that were asked for."""
        return self.train_samples, self.validation_samples, self.test_samples

    def load(self) -> None:
        """Nothing is on disk; the sizes are checked."""
        reason = "the training set has no more"
        check_size("batch", self.batch, self.train_samples, reason)

    def sequence_sets(self, loaded: None = None, *, seed: int) -> SequenceSets:
        """Draw the three sets by a seed."""
        drawings = zip(self.counts(), (TRAIN, VALIDATION, TEST), strict=True)
        return SequenceSets(*(self._sequences(n, seed, at) for n, at in drawings))

    def _sequences(self, count: int, seed: int, first: int) -> TokenSequences:
        drawing = self.drawing(count, seed=seed, first=first)
        tokens = drawing.images.reshape(count, self.length)
        return TokenSequences(tokens, np.full(count, self.length), drawing.labels)

    def drawing(self, count: int, *, seed: int, first: int = TRAIN) -> Drawing:
        """Draw so many images, with all that is known of how they were made."""
        draw = generate_balanced if self.balanced else generate
        return draw(self.images, count, seed=seed, first=first)
