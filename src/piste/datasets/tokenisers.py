"""Texts as rows of whole numbers: their bytes, or their words.

Every row has the same length: of a longer text the beginning is kept, a shorter one is
filled up with token 0.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int, Integer

PADDING = 0
"""The token after the end of a text."""
UNKNOWN = 1
"""The token of a word that is not in the vocabulary."""

Rows = tuple[Integer[np.ndarray, "text position"], Int[np.ndarray, " text"]]


def padded(
    tokens: Sequence[Integer[np.ndarray, " _"]], length: int, vocabulary: int
) -> Rows:
    """Rows of one length, in the narrowest type that holds the vocabulary.

    Also gives the number of tokens of each text that are not padding.

    >>> padded([np.array([3, 4]), np.array([5, 6, 7, 8])], length=3, vocabulary=9)[0]
    array([[3, 4, 0],
           [5, 6, 7]], dtype=uint8)
    """
    cut = [row[:length] for row in tokens]
    sizes = np.array([len(row) for row in cut], np.int64)
    rows = np.full((len(cut), length), PADDING, np.min_scalar_type(vocabulary - 1))
    if cut:
        rows[np.arange(length) < sizes[:, None]] = np.concatenate(cut)
    return rows, sizes


# --- bytes ----------------------------------------------------------------------------

BYTES = 257
"""Tokens of a text as bytes: padding, and byte $b$ as $b + 1$."""


def byte_rows(texts: Iterable[str], length: int) -> Rows:
    """The UTF-8 bytes of texts, each plus one.

    >>> byte_rows(["ab", "é"], length=3)[0]
    array([[ 98,  99,   0],
           [196, 170,   0]], dtype=uint16)
    """
    # a character has at least one byte
    cut = (text[:length].encode("utf-8")[:length] for text in texts)
    rows = [np.frombuffer(part, np.uint8).astype(np.uint16) + 1 for part in cut]
    return padded(rows, length, BYTES)


# --- words ----------------------------------------------------------------------------

_BREAK = re.compile(r"<br\s*/?>")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[^\w\s]|_")


def words(text: str) -> list[str]:
    """Lower-case words and single marks of punctuation; line breaks of HTML are left out.

    >>> words("It's GOOD,<br />isn't it?")
    ["it's", 'good', ',', "isn't", 'it', '?']
    """
    return _WORD.findall(_BREAK.sub(" ", text.lower()))


@dataclass(frozen=True)
class Vocabulary:
    """Words with a token of their own, the most frequent first, from token 2 on."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, texts: Iterable[str], size: int) -> "Vocabulary":
        """The most frequent words of texts; equally frequent ones by the alphabet.

        >>> Vocabulary.of(["b a c", "c b", "d"], size=3).words
        ('b', 'c', 'a')
        """
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(words(text))
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        return cls(tuple(ranked[:size]))

    def rows(self, texts: Iterable[str], length: int) -> Rows:
        """The tokens of the first words of texts.

        >>> Vocabulary(("a", "b")).rows(["b a x", "a"], length=4)[0]
        array([[3, 2, 1, 0],
               [2, 0, 0, 0]], dtype=uint8)
        """
        token = {word: UNKNOWN + 1 + rank for rank, word in enumerate(self.words)}
        found = (
            [token.get(word, UNKNOWN) for word in words(text)[:length]]
            for text in texts
        )
        rows = [np.array(row, np.int64) for row in found]
        return padded(rows, length, len(self.words) + 2)
