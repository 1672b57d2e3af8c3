import numpy as np
import pytest

from piste.datasets.tokenisers import Vocabulary, byte_rows, padded, words

TEXTS = ["Good, good film!", "A naïve — bad<br /><br />film", "x", "日本"]


@pytest.mark.parametrize("length", [1, 3, 40])
def test_bytes_are_bytes_plus_one_then_padding(length):
    rows, sizes = byte_rows(TEXTS, length)
    assert rows.shape == (4, length)
    for text, row, size in zip(TEXTS, rows, sizes, strict=True):
        content = text.encode()[:length]
        assert size == len(content)
        assert bytes((row[:size] - 1).tolist()) == content
        assert not row[size:].any()


def test_all_bytes_have_tokens_of_their_own():
    text = "".join(map(chr, range(256)))
    rows, _ = byte_rows([text], 600)
    assert rows.max() <= 256 and rows.dtype == np.uint16


def test_words_are_lower_case_with_marks_apart():
    expected = ["a", "naïve", "—", "bad", "film"]
    assert words(TEXTS[1]) == expected
    assert words("don't STOP_me 3.5 <BR/>") == "don't stop _ me 3 . 5".split()
    assert words(" <br />\n") == []


def test_the_vocabulary_is_ranked_by_count_then_alphabet():
    texts = ["b b a", "c a", "d"]
    assert Vocabulary.of(texts, 10).words == ("a", "b", "c", "d")
    assert Vocabulary.of(texts[::-1], 3).words == ("a", "b", "c")


def test_rows_of_words_against_a_loop():
    known = Vocabulary.of(TEXTS[:2], 4)
    rows, sizes = known.rows(TEXTS, 5)
    for text, row, size in zip(TEXTS, rows, sizes, strict=True):
        found = words(text)[:5]
        assert size == len(found)
        for place, word in enumerate(found):
            inside = word in known.words
            assert row[place] == (2 + known.words.index(word) if inside else 1)
        assert not row[size:].any()


def test_the_narrowest_type_that_fits():
    for vocabulary, kind in ((256, np.uint8), (257, np.uint16), (70_000, np.uint32)):
        assert padded([np.array([1])], 2, vocabulary)[0].dtype == kind


def test_no_texts_are_no_rows():
    rows, sizes = byte_rows([], 7)
    assert rows.shape == (0, 7) and sizes.shape == (0,)
