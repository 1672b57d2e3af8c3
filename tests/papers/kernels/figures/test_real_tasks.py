"""Curves of classifiers: means over seeds, groups apart, and captions."""

import math

import numpy as np
import pytest

from piste.errors import InputError
from piste.papers.kernels.figures.real_tasks import (
    classification,
    classification_caption,
)
from support.kernel_runs import pairs_of, trained


def lines_of(picture) -> dict[str, np.ndarray]:
    """The labelled curves of the first panel."""
    lines = picture.figure.axes[0].get_lines()
    named = [line for line in lines if not line.get_label().startswith("_")]
    return {line.get_label(): line.get_ydata() for line in named}


def test_the_mean_is_over_seeds_as_far_as_all_of_them_go():
    cut = trained("gaussian", 0, (0.3, 0.2), diverged=100)
    both = [cut, trained("gaussian", 1, (0.5, 0.4, 0.3))]
    found = lines_of(classification(both, "caption"))
    np.testing.assert_allclose(found["gaussian"], (0.4, 0.3, 0.25, 0.25, math.nan))


def test_other_experiments_are_drawn_apart_and_named():
    runs = pairs_of((0.69, 0.5, 0.3), seeds=2)
    other = trained("softmax", 0, (1.0, 1.0, 1.0))
    other.attrs["experiment"] = other.attrs["experiment"] | {
        "rule": {"learning_rate": 3}
    }
    runs[0].attrs["experiment"] |= {"rule": {"learning_rate": 1}}
    for run in runs[1:]:
        run.attrs["experiment"] = run.attrs["experiment"] | {
            "rule": {"learning_rate": 1}
        }
    found = lines_of(classification([*runs, other], "caption"))
    assert list(found) == [
        "softmax, rule.learning-rate = 1",
        "gaussian, rule.learning-rate = 1",
        "softmax, rule.learning-rate = 3",
    ]
    np.testing.assert_allclose(
        found["softmax, rule.learning-rate = 1"], (0.69, 0.5, 0.4, 0.4, 0.4)
    )


def test_the_same_seed_twice_is_no_second_seed():
    run = trained("gaussian", 1, (0.5, 0.4, 0.3))
    with pytest.raises(InputError, match="seed = 1: equal runs"):
        classification([run, run], "caption")


def test_captions_speak_of_the_task_that_was_run():
    runs = pairs_of((0.69, 0.5, 0.3), seeds=3)
    assert classification_caption(runs).startswith(
        "IMDb, 128 words (softmax, 3 seeds; gaussian, 3"
    )
    path = {"difficulty": "hard", "canvas": 32, "paddles": 0}
    runs[0].attrs["experiment"] = runs[0].attrs["experiment"] | {"task": path}
    assert classification_caption(runs[:1]).startswith(
        "Pathfinder, hard, 32×32 (softmax, 1 seed)"
    )
