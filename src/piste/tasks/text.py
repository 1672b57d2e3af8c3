"""Reviews to be told positive from negative, as bytes or as words."""

import numpy as np
from jaxtyping import Int

from piste.datasets import TextSet, imdb
from piste.datasets.tokenisers import BYTES, Rows, Vocabulary, byte_rows
from piste.errors import InputError
from piste.streams import Stream
from piste.values import option

from ._base import task
from .token_sequences import (
    AbstractSequenceTask,
    SequenceSets,
    TokenSequences,
    check_size,
    shuffler,
    stratified,
)

TEXTS = {"imdb": imdb.load}
REVIEWS = 25_000
"""Texts in either part of IMDb."""


@task("text")
class Text(AbstractSequenceTask):
    """A text's class from its bytes or words.

    The three sets share no text: the training part of the data is freed of copies and of
    texts that are also in the test part (123 in IMDb), and the validation set is carved
    from what remains, by the seed and with the shares of the classes kept. The test part
    stays as it was published, so that numbers compare.
    """

    dataset: str = option(default="imdb", choices=tuple(TEXTS))
    """The texts: film reviews, positive (1) or negative (0)."""
    folder: str = option(default="")
    """Where the data is; if empty, ``PISTE_DATA`` or the user's cache."""
    tokeniser: str = option(default="words", choices=("bytes", "words"))
    """What a token is: a byte of UTF-8, or a lower-case word or mark."""
    frequent: int = option(default=10_000, minimum=1)
    """Words with a token of their own, the most frequent of the training set."""
    length: int = option(default=256, minimum=1)
    """Tokens in a sequence; of longer texts the beginning, shorter ones are padded."""
    train_samples: int = option(default=0, minimum=0)
    """Size of the training set; 0 for all that is left by validation."""
    validation_samples: int = option(default=2500, minimum=0)
    """Size of the validation set; 0 for none."""
    test_samples: int = option(default=0, minimum=0)
    """Size of the test set; 0 for all."""

    batch: int = option(default=32, minimum=1)
    """Sequences of a training step."""

    @property
    def vocabulary(self) -> int:
        """Number of tokens; 0 is padding, and with words, 1 is unknown."""
        return BYTES if self.tokeniser == "bytes" else self.frequent + 2

    @property
    def classes(self) -> int:
        """Number of classes."""
        return 2

    def load(self) -> TextSet:
        """Read the texts from disk, if there are enough of them: no randomness."""
        texts = TEXTS[self.dataset](self.folder)
        self.check(texts)
        return texts

    def check(self, texts: TextSet) -> None:
        """Refuse sizes for which there are too few texts."""
        count = _pool(texts)[1].size
        if not count:
            raise InputError(f"{self.dataset}: no training text that is not tested too")
        reason = f"{self.dataset} has {count} training texts of its own"
        check_size("validation_samples", self.validation_samples, count - 1, reason)
        rest = count - self.validation_samples
        reason += f", {self.validation_samples} of them for validation"
        check_size("train_samples", self.train_samples, rest, reason)
        trained = self.train_samples or rest
        check_size("batch", self.batch, trained, "the training set has no more")
        tested = texts.test_labels.size
        reason = f"{self.dataset} has {tested} test texts"
        check_size("test_samples", self.test_samples, tested, reason)

    def counts(self) -> tuple[int, int, int]:
        """The sizes that were asked for; a part of the data set for one that was not."""
        train, test = self.train_samples or REVIEWS, self.test_samples or REVIEWS
        return train, self.validation_samples, test

    def sequence_sets(self, loaded: TextSet, *, seed: int) -> SequenceSets:
        """Split the texts by a seed and turn them into tokens."""
        texts = loaded
        pool, labels = _pool(texts)
        train, validation = self._split(labels, shuffler(seed, Stream.DATA))
        test = self._tested(texts.test_labels, shuffler(seed, Stream.TEST))
        tokenise = self._tokeniser([pool[place] for place in train])

        def part(texts, labels, chosen) -> TokenSequences:
            rows, lengths = tokenise([texts[place] for place in chosen])
            return TokenSequences(rows, lengths, labels[chosen])

        return SequenceSets(
            train=part(pool, labels, train),
            validation=part(pool, labels, validation),
            test=part(texts.test_texts, texts.test_labels, test),
        )

    def _split(self, labels: Int[np.ndarray, " text"], random: np.random.RandomState):
        """Places of the validation set, then those of the training set from the rest."""
        validation = stratified(labels, self.validation_samples, random)
        rest = np.setdiff1d(np.arange(labels.size), validation)
        chosen = stratified(labels[rest], self.train_samples or rest.size, random)
        return rest[chosen], validation

    def _tested(self, labels: Int[np.ndarray, " text"], random: np.random.RandomState):
        return stratified(labels, self.test_samples or labels.size, random)

    def _tokeniser(self, train: list[str]):
        if self.tokeniser == "bytes":
            return lambda texts: byte_rows(texts, self.length)
        known = Vocabulary.of(train, self.frequent)

        def rows(texts: list[str]) -> Rows:
            return known.rows(texts, self.length)

        return rows


def _pool(texts: TextSet) -> tuple[list[str], Int[np.ndarray, " text"]]:
    """Distinct training texts that are not in the test part."""
    tested = set(texts.test_texts)
    labels: dict[str, int] = {}
    for text, label in zip(texts.train_texts, texts.train_labels.tolist(), strict=True):
        if labels.setdefault(text, label) != label:
            begun = " ".join(text.split())[:30]
            raise InputError(f"text '{begun}…': has both labels; must have one")
    kept = [text for text in labels if text not in tested]
    return kept, np.array([labels[text] for text in kept], np.int64)
