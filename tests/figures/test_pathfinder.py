import dataclasses

import numpy as np

from piste.datasets.pathfinder import PathfinderImages, generate, generate_balanced
from piste.figures import pathfinder


def test_examples_of_every_kind_with_either_label(tmp_path):
    plain = PathfinderImages(canvas=16, paddles=2)
    balanced = dataclasses.replace(plain, balanced=True)
    kinds = {"as\ndrawn": plain, "balanced": balanced}
    picture = pathfinder(kinds, "Examples.", seed=3, each=2)
    data = picture.data
    assert data["kind"].tolist() == ["as, drawn"] * 4 + ["balanced"] * 4
    assert data["label"].tolist() == [1, 1, 0, 0] * 2
    for name, drawing in (
        ("as, drawn", generate(plain, 40, seed=3)),
        ("balanced", generate_balanced(balanced, 16, seed=3)),
    ):
        shown = data.loc[data["kind"] == name].filter(like="pixel").to_numpy()
        first = np.flatnonzero(drawing.labels == 1)[:2]
        np.testing.assert_array_equal(shown[:2], drawing.images[first].reshape(2, -1))
    picture.save(tmp_path, "examples")
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["examples.csv", "examples.pdf", "examples.png"]
