"""What the scores of spans see of a word: its universal tag, and of the most frequent words the word itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from spacy_lpcfg.bracketing.sentences import N_UNIVERSAL, Plain, Sentence, plain
from spacy_lpcfg.bracketing.tags import UNIVERSAL

N_SYMBOLS = 256


class Symbols:
    """Numbers of symbols: 0 is the boundary of a sentence, 1 to N_UNIVERSAL are tags, the rest are words with a tag.

    lexical (sequence of str): "TAG word", the word in lower case; at most 255 less the tags.
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
        """The `n_words` most frequent words of a text, each with the tags that it has in 1% of all cases or more."""
        counts: Counter[str] = Counter()
        pairs: Counter[tuple[str, int]] = Counter()
        for words, tags in sentences:
            sentence = plain(words, tags)
            used = [(words[place].lower(), tag) for place, tag in zip(sentence.places, sentence.universal, strict=True)]
            pairs.update(used)
            counts.update(word for word, _ in used)
        frequent = sorted(counts, key=lambda word: (-counts[word], word))[:n_words]
        chosen = [
            f"{UNIVERSAL[tag]} {word}"
            for word in frequent
            for tag in range(N_UNIVERSAL)
            if pairs[word, tag] >= max(1, counts[word] / 100)
        ]
        return cls(chosen[: N_SYMBOLS - 1 - N_UNIVERSAL])

    def encode(self, words: Sequence[str], sentence: Plain) -> bytes:
        """The symbols of the words of a sentence.

        words (sequence of str): all tokens of the sentence.
        """
        ids, out = self._ids, bytearray()
        for place, tag in zip(sentence.places, sentence.universal, strict=True):
            by_tag = ids.get(words[place].lower())
            out.append(tag + 1 if by_tag is None else by_tag.get(tag, tag + 1))
        return bytes(out)

    def tags(self) -> list[str]:
        """The universal tag of every symbol from 1 on."""
        return [*UNIVERSAL, *(text.split(" ", 1)[0] for text in self.lexical)]
