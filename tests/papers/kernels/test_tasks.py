"""Random tokens and targets: their laws, their shapes and what is refused."""

import jax
import numpy as np
import pytest

from piste.errors import InputError
from piste.papers.kernels.tasks import TokenRegression, draw_normals
from piste.testing import assert_close
from piste.values import from_json, to_json


def test_shapes_and_a_test_set_that_is_the_training_set():
    task = TokenRegression(sequences=3, length=5, dimension=4, outputs=2)
    data, test = task.datasets(None, seed=0)
    assert data.tokens.shape == (3, 5, 4) and data.targets.shape == (3, 5, 2)
    assert_close(test, data, slack=0)


def test_gaussian_entries_are_standard_and_independent():
    task = TokenRegression(sequences=50, length=20, dimension=10, outputs=10)
    data = task.sample(key=jax.random.key(0))
    parts = [np.ravel(data.tokens), np.ravel(data.targets)]
    for entries in parts:
        assert abs(entries.mean()) < 4 / entries.size**0.5
        assert abs((entries**2).mean() - 1) < 4 * (2 / entries.size) ** 0.5
    assert abs(np.corrcoef(parts)[0, 1]) < 4 / parts[0].size ** 0.5


def test_sphere_tokens_have_a_radius_a_one_and_no_direction():
    task = TokenRegression(sequences=100, length=20, dimension=6, inputs="sphere")
    tokens = np.asarray(task.sample(key=jax.random.key(1)).tokens).reshape(-1, 6)
    assert_close((tokens[:, :-1] ** 2).sum(-1), np.full(2000, 5.0))
    assert_close(tokens[:, -1], np.ones(2000))
    moments = tokens[:, :-1].T @ tokens[:, :-1] / 2000
    assert np.abs(moments - np.eye(5)).max() < 4 * (2 / 2000) ** 0.5
    assert np.abs(tokens[:, :-1].mean(0)).max() < 4 / 2000**0.5


def test_one_draw_gives_all_parts_in_order():
    key = jax.random.key(2)
    one, two = draw_normals(key, (2, 3), (4,))
    whole = jax.random.normal(key, (10,))
    assert_close((one, two), (whole[:6].reshape(2, 3), whole[6:]), slack=0)


def test_seeds_differ_and_are_kept():
    first, again, other = (
        TokenRegression().datasets(None, seed=seed)[0] for seed in (0, 0, 1)
    )
    assert_close(first, again, slack=0)
    assert not np.array_equal(first.tokens, other.tokens)


def test_json_brings_it_back():
    task = TokenRegression(inputs="sphere", targets="teacher", outputs=3)
    assert from_json(TokenRegression, to_json(task)) == task


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"sequences": 0}, "sequences = 0: must be at least 1"),
        ({"inputs": "cube"}, "inputs = cube: must be one of gaussian, sphere"),
        (
            {"targets": "zero"},
            "targets = zero: must be one of gaussian, teacher, hardest",
        ),
        (
            {"inputs": "sphere", "dimension": 1},
            "dimension = 1: must be at least 2 on a sphere",
        ),
        (
            {"targets": "hardest", "outputs": 2},
            "outputs = 2: must be 1 for hardest targets",
        ),
    ],
)
def test_a_bad_field_is_one_line(fields, line):
    with pytest.raises(InputError) as caught:
        TokenRegression(**fields)
    assert str(caught.value) == line
