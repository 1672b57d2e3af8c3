import numpy as np

from piste.datasets.pathfinder import PADDLES, PathfinderImages, generate
from piste.figures import pathfinder


def test_examples_of_every_level_with_either_label(tmp_path):
    settings = PathfinderImages(canvas=16)
    picture = pathfinder(settings, "Examples.", seed=3, each=2)
    data = picture.data
    assert data["difficulty"].tolist() == [level for level in PADDLES for _ in range(4)]
    assert data["label"].tolist() == [1, 1, 0, 0] * 3
    hard = generate(settings, 40, seed=3)
    shown = data.loc[data["difficulty"] == "hard"].filter(like="pixel").to_numpy()
    first = np.flatnonzero(hard.labels == 1)[:2]
    np.testing.assert_array_equal(shown[:2], hard.images[first].reshape(2, -1))
    picture.save(tmp_path, "examples")
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["examples.csv", "examples.pdf", "examples.png"]
