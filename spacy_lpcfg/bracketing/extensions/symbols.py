"""Symbols of words in span scores: the universal tag, or for the most frequent words the word and its tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from spacy_lpcfg.bracketing.sentences import N_UNIVERSAL, Plain, Sentence, plain
from spacy_lpcfg.bracketing.tags import UNIVERSAL

N_SYMBOLS = 256


class Symbols:
    """Encoder of words as symbol ids from 0 to 255.

    Id 0 is the sentence boundary, 1 to N_UNIVERSAL are universal tags, and higher ids are words with a tag.

    lexical (sequence of str): The words with their tags as "TAG word", in lower case; at most 255 - N_UNIVERSAL.
    RAISES (ValueError): If `lexical` is longer.
    """

    def __init__(self, lexical: Sequence[str] = ()) -> None:
        if len(lexical) + N_UNIVERSAL >= N_SYMBOLS:
            raise ValueError(f"Expected at most {N_SYMBOLS - 1 - N_UNIVERSAL} words as symbols, got {len(lexical)}.")
        self.lexical = tuple(lexical)
        self._ids: dict[str, dict[int, int]] = {}
        for number, text in enumerate(self.lexical, start=1 + N_UNIVERSAL):
            tag, word = text.split(" ", 1)
            self._ids.setdefault(word, {})[UNIVERSAL.index(tag)] = number

    @classmethod
    def learn(cls, sentences: Iterable[Sentence], n_words: int) -> Symbols:
        """Give symbols to the `n_words` most frequent words of a text, one for each tag of at least 1% of their tokens.

        If there are too many, the symbols of the least frequent words are left out.

        sentences (iterable of (words, tags)): The text.
        n_words (int): Number of words.
        """
        counts: Counter[str] = Counter()
        pairs: Counter[tuple[str, int]] = Counter()
        for words, tags in sentences:
            sentence = plain(words, tags)
            used = [
                (words[position].lower(), tag)
                for position, tag in zip(sentence.positions, sentence.universal, strict=True)
            ]
            pairs.update(used)
            counts.update(word for word, _ in used)
        frequent = sorted(counts, key=lambda word: (-counts[word], word))[:n_words]
        lexical = [
            f"{UNIVERSAL[tag]} {word}"
            for word in frequent
            for tag in range(N_UNIVERSAL)
            if pairs[word, tag] >= max(1, counts[word] / 100)
        ]
        return cls(lexical[: N_SYMBOLS - 1 - N_UNIVERSAL])

    def encode(self, words: Sequence[str], sentence: Plain) -> bytes:
        """Return the symbols of the words that are not punctuation, one byte for each word.

        words (sequence of str): All tokens of the sentence, with punctuation.
        sentence (Plain): The same sentence without punctuation.
        """
        ids, out = self._ids, bytearray()
        for position, tag in zip(sentence.positions, sentence.universal, strict=True):
            by_tag = ids.get(words[position].lower())
            out.append(tag + 1 if by_tag is None else by_tag.get(tag, tag + 1))
        return bytes(out)

    def tags(self) -> list[str]:
        """Return the universal tag of each symbol, from symbol 1 on."""
        return [*UNIVERSAL, *(text.split(" ", 1)[0] for text in self.lexical)]
