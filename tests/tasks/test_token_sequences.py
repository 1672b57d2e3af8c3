import dataclasses
import os
from pathlib import Path

import jax
import numpy as np
import pytest

from piste.datasets import TextSet
from piste.datasets.pathfinder import generate
from piste.datasets.tokenisers import Vocabulary, byte_rows
from piste.errors import InputError
from piste.streams import Stream
from piste.tasks import TASKS, Pathfinder, Text
from piste.tasks.token_sequences import shuffler, stratified
from piste.values import from_json, override, to_json

DATA = Path(os.environ.get("PISTE_DATA", ""))
needs_imdb = pytest.mark.skipif(
    not (DATA / "imdb/train.csv.gz").is_file(),
    reason="PISTE_DATA names no folder with imdb/train.csv.gz",
)

SMALL = Text(length=8, frequent=30, validation_samples=10)
IMAGES = Pathfinder(
    canvas=16,
    train_samples=30,
    validation_samples=8,
    test_samples=9,
    distractors=2,
    batch=10,
)


def made(train=60, test=20):
    """Texts of their own, one text twice, and three that are in both parts."""
    texts = [f"word{k} film{k % 7} é" for k in range(train)]
    texts += [texts[0]]
    tests = [f"other{k} film{k % 7}" for k in range(test)] + texts[1:4]
    truth = {text: int(k % 3 == 0) for k, text in enumerate(texts[:-1])}
    labels = np.array([truth[text] for text in texts])
    test_labels = np.array([k % 2 for k in range(len(tests))])
    return TextSet(tuple(texts), labels, tuple(tests), test_labels)


def message(call) -> str:
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- what both tasks promise ----------------------------------------------------------


@pytest.fixture(params=["bytes", "words", "pathfinder"])
def task_and_data(request):
    if request.param == "pathfinder":
        return IMAGES, IMAGES.load()
    return dataclasses.replace(SMALL, tokeniser=request.param), made()


def test_sets_have_the_shapes_that_the_task_says(task_and_data):
    task, data = task_and_data
    sets = task.sequence_sets(data, seed=3)
    for part in (sets.train, sets.validation, sets.test):
        assert part.tokens.shape == (part.count, task.length)
        assert part.lengths.shape == part.labels.shape == (part.count,)
        assert part.tokens.max() < task.vocabulary
        assert set(part.labels.tolist()) <= set(range(task.classes))
        assert part.mask.sum(1).tolist() == part.lengths.tolist()
    assert sets.validation.count == task.validation_samples


def test_a_seed_fixes_the_sets_and_another_changes_them(task_and_data):
    task, data = task_and_data
    one, again, other = (task.sequence_sets(data, seed=seed) for seed in (3, 3, 4))
    assert all(
        np.array_equal(x, y)
        for x, y in zip(jax.tree.leaves(one), jax.tree.leaves(again), strict=True)
    )
    assert not np.array_equal(one.train.tokens, other.train.tokens)
    assert not np.array_equal(one.test.tokens, other.test.tokens)


@pytest.mark.parametrize("word", ["text", "pathfinder"])
def test_tasks_are_values(word):
    task = TASKS[word]()
    assert to_json(task)["type"] == word
    assert from_json(type(task), to_json(task)) == task
    assert override(task, {"train-samples": "7"}).train_samples == 7


# --- text -----------------------------------------------------------------------------


def decoded(part):
    """The texts of a byte-level set, which are short enough to be whole."""
    rows = zip(part.tokens.astype(int), part.lengths, strict=True)
    return [bytes((row[:size] - 1).tolist()).decode() for row, size in rows]


def whole(**changes):
    task = dataclasses.replace(SMALL, tokeniser="bytes", length=40, **changes)
    sets = task.sequence_sets(made(), seed=1)
    return decoded(sets.train), decoded(sets.validation), decoded(sets.test), sets


def test_the_three_sets_share_no_text_and_lose_none():
    train, validation, test, _ = whole()
    data = made()
    assert sorted(test) == sorted(data.test_texts)
    assert len(set(train)) == len(train)
    assert not set(train) & set(validation)
    assert not (set(train) | set(validation)) & set(test)
    own = set(data.train_texts) - set(data.test_texts)
    assert set(train) | set(validation) == own


def test_labels_stay_with_their_texts():
    train, validation, test, sets = whole(test_samples=9)
    data = made()
    truth = dict(zip(data.train_texts, data.train_labels.tolist(), strict=True))
    tested = dict(zip(data.test_texts, data.test_labels.tolist(), strict=True))
    assert [truth[text] for text in train] == sets.train.labels.tolist()
    assert [truth[text] for text in validation] == sets.validation.labels.tolist()
    assert [tested[text] for text in test] == sets.test.labels.tolist()


def test_sizes_are_met_and_classes_keep_their_shares():
    *_, sets = whole(train_samples=15, test_samples=10)
    assert (sets.train.count, sets.test.count) == (15, 10)
    assert sets.train.labels.sum() == 5
    assert sets.validation.labels.sum() in (3, 4)
    assert sets.test.labels.sum() in (4, 5)


def test_stratified_choices_have_no_place_twice():
    labels = np.array([0] * 7 + [1] * 3)
    chosen = stratified(labels, 6, shuffler(0, Stream.DATA))
    assert len(set(chosen.tolist())) == 6
    assert labels[chosen].sum() == 2
    every = stratified(labels, 10, shuffler(0, Stream.DATA))
    assert sorted(every.tolist()) == list(range(10))
    assert stratified(labels, 0, shuffler(0, Stream.DATA)).size == 0


def test_the_vocabulary_comes_from_the_training_set_alone():
    data = made()
    sets = SMALL.sequence_sets(data, seed=0)
    letters = dataclasses.replace(SMALL, tokeniser="bytes", length=40)
    train = decoded(letters.sequence_sets(data, seed=0).train)
    known = Vocabulary.of(train, SMALL.frequent)
    rows, _ = known.rows(train, SMALL.length)
    np.testing.assert_array_equal(sets.train.tokens, rows)
    # no word of its own: every test text begins with a word that training never has
    own = sets.test.tokens[:, 0] == 1
    assert own.sum() >= 20


TEXT_MISTAKES = {
    "length": (dict(length=0), "length = 0: must be at least 1"),
    "tokeniser": (
        dict(tokeniser="letters"),
        "tokeniser = letters: must be one of bytes, words",
    ),
    "frequent": (dict(frequent=0), "frequent = 0: must be at least 1"),
    "dataset": (dict(dataset="imbd"), "dataset = imbd: must be one of imdb"),
    "validation": (
        dict(validation_samples=57),
        "validation-samples = 57: must be at most 56: "
        "imdb has 57 training texts of its own",
    ),
    "train": (
        dict(train_samples=48),
        "train-samples = 48: must be at most 47: imdb has 57 training texts of its own, "
        "10 of them for validation",
    ),
    "test": (
        dict(test_samples=24),
        "test-samples = 24: must be at most 23: imdb has 23 test texts",
    ),
}


@pytest.mark.parametrize("mistake", TEXT_MISTAKES)
def test_a_wrong_field_is_one_line(mistake):
    changes, expected = TEXT_MISTAKES[mistake]

    def run():
        dataclasses.replace(SMALL, **changes).check(made())

    assert message(run) == expected


def test_a_text_with_both_labels_is_one_line():
    data = TextSet(("a", "a"), np.array([0, 1]), ("b",), np.array([0]))
    expected = "text 'a…': has both labels; must have one"
    assert message(lambda: SMALL.sequence_sets(data, seed=0)) == expected


@needs_imdb
def test_real_reviews_as_bytes():
    task = Text(
        folder=str(DATA),
        tokeniser="bytes",
        length=64,
        train_samples=200,
        test_samples=100,
    )
    reviews = task.load()
    sets = task.sequence_sets(reviews, seed=0)
    assert [part.count for part in (sets.train, sets.validation, sets.test)] == [
        200,
        2500,
        100,
    ]
    assert sets.test.labels.sum() == 50
    begun = {tuple(row) for row in byte_rows(reviews.test_texts, 64)[0].tolist()}
    assert all(tuple(row) in begun for row in sets.test.tokens.tolist())


@needs_imdb
def test_all_real_reviews_of_training_are_used():
    task = Text(folder=str(DATA), tokeniser="bytes", length=1)
    sets = task.sequence_sets(task.load(), seed=0)
    # 25,000, less 96 copies and 123 texts that are also in the test part
    assert sets.train.count + sets.validation.count == 25_000 - 96 - 123
    assert sets.test.count == 25_000


# --- pathfinder -----------------------------------------------------------------------


def test_tokens_are_the_pixels_row_by_row():
    sets = IMAGES.sequence_sets(seed=5)
    drawing = generate(IMAGES.images, 30, seed=5)
    np.testing.assert_array_equal(sets.train.tokens, drawing.images.reshape(30, 256))
    np.testing.assert_array_equal(sets.train.labels, drawing.labels)
    assert sets.train.tokens.dtype == np.uint8


def test_the_size_of_a_set_changes_no_other_and_no_image_is_shared():
    small = IMAGES.sequence_sets(seed=5)
    larger = dataclasses.replace(IMAGES, train_samples=40, validation_samples=3)
    large = larger.sequence_sets(seed=5)
    np.testing.assert_array_equal(large.train.tokens[:30], small.train.tokens)
    np.testing.assert_array_equal(large.validation.tokens, small.validation.tokens[:3])
    np.testing.assert_array_equal(large.test.tokens, small.test.tokens)
    parts = small.train, small.validation, small.test
    together = np.concatenate([part.tokens for part in parts])
    assert len(np.unique(together, axis=0)) == 47


def test_a_canvas_too_small_is_one_line():
    expected = "canvas = 12: must be at least 16"
    assert message(lambda: Pathfinder(canvas=12)) == expected
    expected = "train-samples = 0: must be at least 1"
    assert message(lambda: Pathfinder(train_samples=0)) == expected
