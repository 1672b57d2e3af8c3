"""What the two marked points of a Pathfinder image tell about its label, and nothing else.

As drawn, here and in the Long Range Arena, they tell the label in two of three images;
an accuracy means tracing only as far as it is above that.
"""

import dataclasses

import numpy as np
import xarray as xr

from piste.tasks import Pathfinder
from piste.tasks.pathfinder import TEST, TRAIN
from piste.values import option, value

from ...presets import PATHFINDER, pathfinder_paper

TREES, LEAF = 200, 5
"""Trees of the forest, and images in a leaf of one, at least."""
MOST_IMAGES = 20_000
"""Training images that the forest sees: more tell it no more."""


@value
class MarkerForests:
    """Accuracies of forests on the four coordinates of the markers, over seeds."""

    seeds: int = option(default=8, minimum=1)

    def parts(self) -> int:
        """One for every kind of images."""
        return len(IMAGES)

    def part(self, index: int) -> xr.Dataset:
        """Train a forest on the markers of every seed of one kind of images."""
        name = list(IMAGES)[index]
        seeds = np.arange(self.seeds)
        scores = [marker_accuracy(IMAGES[name], int(seed)) for seed in seeds]
        names = np.full(self.seeds, name)
        return xr.Dataset(
            {"accuracy": ("cell", scores)},
            {"seed": ("cell", seeds), "images": ("cell", names)},
        )


def marker_accuracy(task: Pathfinder, seed: int) -> float:
    """The test accuracy of a forest that sees where the markers are, in either order."""
    # It takes a second to import, and only this needs it.
    from sklearn.ensemble import RandomForestClassifier

    trained = task.drawing(min(task.train_samples, MOST_IMAGES), seed=seed, first=TRAIN)
    tested = task.drawing(min(task.test_samples, 4000), seed=seed, first=TEST)
    both = np.concatenate([trained.markers, trained.markers[:, ::-1]])
    forest = RandomForestClassifier(TREES, min_samples_leaf=LEAF, random_state=seed)
    forest.fit(both.reshape(-1, 4), np.tile(trained.labels, 2))
    return float(forest.score(tested.markers.reshape(-1, 4), tested.labels))


_PAPER = pathfinder_paper().task
assert isinstance(_PAPER, Pathfinder)
IMAGES = {
    "desk": PATHFINDER,
    "desk, as drawn": dataclasses.replace(PATHFINDER, balanced=False),
    "paper": _PAPER,
}
"""The images of the presets, and those of the desk before they were balanced."""
