import dataclasses
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from piste.datasets import ImageSet, load
from piste.errors import InputError
from piste.papers.signgd.tasks.noisy_images import NOISES, NoisyImages
from piste.values import from_json, to_json

DATA = Path(__file__).parents[4].parent / "shared" / "data"
needs_mnist = pytest.mark.skipif(
    not (DATA / "mnist").is_dir(), reason="the MNIST files are not in shared/data"
)

DIGITS = NoisyImages(dataset="digits", samples=60)


@jax.jit
def _drawn(task, images, seed):
    return task.datasets(images, seed=seed)


def draw(task, seed):
    """The training and the test set."""
    return _drawn(task, task.load(), seed)


def but(task=DIGITS, **changes):
    return dataclasses.replace(task, **changes)


def tokens(data):
    """The images and the noises of a data set, one row per sample."""
    written = np.asarray(data.tokens())
    return written[:, 0], written[:, 1]


def rms(rows):
    return np.sqrt((rows**2).sum(-1).mean())


# --- the construction -----------------------------------------------------------------


def test_the_basis_is_the_images_then_the_noises():
    train, _ = draw(DIGITS, 0)
    images, noise = tokens(train)
    np.testing.assert_array_equal(train.basis, np.concatenate([images, noise]))
    assert train.labels.tolist() == [1] * 30 + [-1] * 30


def test_training_images_are_distinct_images_of_the_two_classes():
    train, _ = draw(but(normalisation="none"), 0)
    images, _ = tokens(train)
    pool = DIGITS.load().train
    for chosen, allowed in ((images[:30], pool.plus), (images[30:], pool.minus)):
        assert len(np.unique(chosen, axis=0)) == 30
        allowed = {row.tobytes() for row in allowed}
        assert {row.astype(np.float32).tobytes() for row in chosen} <= allowed


def test_all_test_images_are_used_by_default():
    images = load("digits")
    expected = np.isin(images.test_labels, [3, 7]).sum()
    _, test = draw(DIGITS, 0)
    assert test.labels.size == expected
    assert (test.labels == 1).sum() == (images.test_labels == 3).sum()


def test_fewer_test_images_are_a_choice_of_the_seed():
    task = but(normalisation="none", test_samples=20)
    draws = [draw(task, seed)[1] for seed in (0, 0, 1)]
    images = [tokens(test)[0] for test in draws]
    assert images[0].shape == (20, 64)
    assert len(np.unique(images[0], axis=0)) == 20
    np.testing.assert_array_equal(images[0], images[1])
    assert not np.array_equal(images[0], images[2])


def test_rms_scales_both_sets_by_the_training_norm():
    raw, scaled = draw(but(normalisation="none"), 3), draw(DIGITS, 3)
    norm = rms(tokens(raw[0])[0])
    for before, after in zip(raw, scaled, strict=True):
        np.testing.assert_allclose(tokens(before)[0] / norm, tokens(after)[0])
    assert rms(tokens(scaled[0])[0]) == pytest.approx(1)


def test_sample_normalisation_gives_every_image_norm_one():
    for part in draw(but(normalisation="sample"), 0):
        lengths = np.linalg.norm(tokens(part)[0], axis=-1)
        np.testing.assert_allclose(lengths, 1)


@pytest.mark.parametrize("normalisation", ["rms", "sample", "none"])
def test_snr_is_the_ratio_of_norms(normalisation):
    train, _ = draw(but(normalisation=normalisation), 0)
    images, noise = tokens(train)
    assert rms(images) / rms(noise) == pytest.approx(0.35, rel=0.05)


@needs_mnist
def test_mnist_has_the_stated_construction():
    task = NoisyImages(folder=str(DATA))
    train, test = draw(task, 0)
    assert (task.dimension, train.labels.size, test.labels.size) == (784, 100, 2038)
    assert rms(tokens(train)[0]) == pytest.approx(1)
    assert tokens(test)[1].std() == pytest.approx(1 / (28 * 0.35), rel=5e-3)


# --- noise ----------------------------------------------------------------------------


def unit_noise(size=4000, **changes):
    task = but(**changes)
    other = task.load().train.other
    return np.asarray(NOISES[task.noise](task, jax.random.key(0), size, other))


@pytest.mark.parametrize("noise", NOISES)
def test_every_noise_has_expected_squared_norm_one(noise):
    squares = (unit_noise(noise=noise) ** 2).sum(-1)
    error = squares.std() / squares.size**0.5
    assert abs(squares.mean() - 1) < 4 * error


def test_gaussian_noise_has_independent_pixels():
    covariance = np.cov(unit_noise().T) * 64
    np.testing.assert_allclose(covariance, np.eye(64), atol=5 * (2 / 4000) ** 0.5)


@pytest.mark.parametrize("share", [0.001, 0.25, 1.0])
def test_sparse_noise_touches_its_share_of_pixels(share):
    noise = unit_noise(noise="sparse", noise_share=share)
    count = max(1, round(share * 64))
    assert ((noise != 0).sum(-1) == count).all()
    touched = (noise != 0).mean(0)
    error = (count / 64 * (1 - count / 64) / 4000) ** 0.5
    assert np.abs(touched - count / 64).max() <= 4 * error
    assert noise[noise != 0].std() == pytest.approx(count**-0.5, rel=0.05)


def test_correlated_noise_has_the_stated_covariance():
    covariance = np.cov(unit_noise(noise="correlated", correlation_length=1.5).T) * 64
    place = np.stack(np.divmod(np.arange(64), 8), -1)
    squares = ((place[:, None] - place) ** 2).sum(-1)
    expected = np.exp(-squares / (2 * 1.5**2))
    np.testing.assert_allclose(covariance, expected, atol=5 * (2 / 4000) ** 0.5)


def test_a_short_correlation_is_no_correlation():
    short = unit_noise(noise="correlated", correlation_length=0.01)
    np.testing.assert_allclose(short, unit_noise(), atol=1e-12)


def test_a_patch_is_an_image_of_another_class():
    images = load("digits")
    train, test = draw(but(noise="patch"), 0)
    other = {
        "train": images.train_images[~np.isin(images.train_labels, [3, 7])],
        "test": images.test_images[~np.isin(images.test_labels, [3, 7])],
    }
    norm = rms(other["train"].astype(float))
    for part, pool in ((train, other["train"]), (test, other["test"])):
        levels = np.rint(tokens(part)[1] * 0.35 * norm * 16)
        np.testing.assert_allclose(
            tokens(part)[1] * 0.35 * norm * 16, levels, atol=1e-5
        )
        allowed = {row.tobytes() for row in np.rint(pool * 16).astype(np.int8)}
        assert {row.tobytes() for row in levels.astype(np.int8)} <= allowed


# --- randomness -----------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES)
def test_the_seed_decides_everything(noise):
    first, again, other = (draw(but(noise=noise), seed) for seed in (0, 0, 1))
    for one, two, three in zip(first, again, other, strict=True):
        np.testing.assert_array_equal(one.basis, two.basis)
        assert not np.array_equal(one.basis, three.basis)


@pytest.mark.parametrize("noise", NOISES)
def test_snr_only_rescales_the_noise(noise):
    for low, high in zip(
        draw(but(noise=noise, snr=0.1), 0),
        draw(but(noise=noise, snr=2.0), 0),
        strict=True,
    ):
        np.testing.assert_allclose(tokens(low)[0], tokens(high)[0], rtol=1e-12)
        np.testing.assert_allclose(tokens(low)[1], 20 * tokens(high)[1], rtol=1e-12)


def test_test_noise_is_independent_of_training_noise():
    train, test = draw(DIGITS, 0)
    (_, xi), (_, fresh) = tokens(train), tokens(test)
    cosines = (xi @ fresh.T) / np.outer(
        np.linalg.norm(xi, axis=-1), np.linalg.norm(fresh, axis=-1)
    )
    assert np.abs(cosines).max() < 0.75
    assert cosines.std() == pytest.approx(64**-0.5, rel=0.05)


def test_the_choice_of_images_does_not_depend_on_the_noise_kind():
    first, second = draw(but(noise="sparse"), 0)[0], draw(but(noise="correlated"), 0)[0]
    np.testing.assert_array_equal(tokens(first)[0], tokens(second)[0])


@pytest.mark.parametrize("noise", NOISES)
def test_a_sweep_over_floats_and_seeds_compiles_once(noise):
    task, traces = but(noise=noise), []
    images = task.load()

    @jax.jit
    def counted(task, seed):
        traces.append(seed)
        return task.datasets(images, seed=seed)

    for seed, snr in ((0, 0.1), (1, 0.5), (2, 2.0)):
        changed = but(task, snr=snr, noise_share=snr / 4, correlation_length=snr)
        found, expected = counted(changed, seed), draw(changed, seed)
        np.testing.assert_allclose(found[0].basis, expected[0].basis, atol=1e-12)
    assert len(traces) == 1


def test_sampling_can_be_mapped_over_snr():
    images = DIGITS.load()

    def norm(snr):
        train, _ = but(snr=snr).datasets(images, seed=0)
        return jnp.linalg.norm(train.basis[60:])

    norms = jax.vmap(norm)(jnp.array([0.5, 1.0]))
    assert norms[0] == pytest.approx(2 * norms[1])


# --- mistakes -------------------------------------------------------------------------

MISTAKES = {
    "snr = 0.0: must be greater than 0": {"snr": 0.0},
    "snr = -1.0: must be greater than 0": {"snr": -1.0},
    "snr = nan: must be a finite number": {"snr": float("nan")},
    "positive-class = 10: must be at most 9": {"positive_class": 10},
    "negative-class = -1: must be at least 0": {"negative_class": -1},
    "negative-class = 3: must differ from positive-class = 3": {"negative_class": 3},
    "samples = 101: must be even: one half for each class": {"samples": 101},
    "samples = 0: must be at least 2": {"samples": 0},
    "test-samples = -1: must be at least 0": {"test_samples": -1},
    "dataset = cifar: must be one of mnist, digits": {"dataset": "cifar"},
    "noise = pink: must be one of gaussian, sparse, correlated, patch": {
        "noise": "pink"
    },
    "noise-share = 0.0: must be greater than 0": {"noise_share": 0.0},
    "noise-share = 1.5: must be at most 1": {"noise_share": 1.5},
    "correlation-length = 0.0: must be greater than 0": {"correlation_length": 0.0},
    "normalisation = max: must be one of rms, sample, none": {"normalisation": "max"},
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_one_line(line):
    with pytest.raises(InputError, match=f"^{re.escape(line)}$"):
        NoisyImages(**MISTAKES[line])


def image_set(train_labels, test_labels):
    train, test = np.array(train_labels), np.array(test_labels)
    return ImageSet(np.ones((train.size, 64)), train, np.ones((test.size, 64)), test)


SHORT = {
    "positive-class = 3: has no training images in digits": ([7, 7], [3, 7], {}),
    "negative-class = 7: has no training images in digits": ([3, 1], [3, 7], {}),
    "positive-class = 3: has no test images in digits": ([3, 7], [7], {}),
    "noise = patch: digits has no training images of another class": (
        [3, 7],
        [3, 7, 1],
        {"noise": "patch"},
    ),
    "samples = 4: must be at most 2: digits has 3 of class 3 and 1 of class 7": (
        [3, 3, 3, 7],
        [3, 7],
        {"samples": 4},
    ),
    "test-samples = 4: must be at most 3: digits has 1 of class 3 and 2 of class 7": (
        [3, 7],
        [3, 7, 7, 1],
        {"test_samples": 4},
    ),
}


@pytest.mark.parametrize("line", SHORT)
def test_too_few_images_are_one_line(line):
    train, test, changes = SHORT[line]
    task = but(**({"samples": 2} | changes))
    with pytest.raises(InputError, match=f"^{re.escape(line)}$"):
        task.select(image_set(train, test))


def test_too_many_samples_are_noticed_when_loading():
    line = "samples = 1000: must be at most 156: digits has 93 of class 3 and 78 of"
    with pytest.raises(InputError, match=f"^{line}"):
        draw(but(samples=1000), 0)


def test_json_gives_the_task_back():
    task = but(noise="sparse", snr=0.5)
    assert from_json(NoisyImages, to_json(task)) == task
