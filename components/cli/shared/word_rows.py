"""Tables of surprisal per word (tokens between blanks), with columns for regressions of reading times."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.cli.shared.citations import CHARACTERS, PLACE, cells
from spacy_lpcfg.components.cli.shared.files import read_lines
from spacy_lpcfg.components.cli.shared.outputs import Answer
from spacy_lpcfg.components.cli.shared.runs import Parsed

COLUMNS = (*PLACE, "position", "word", "bits", "previous_bits", "length")
MISSING = "NA"
"""The cell of a missing value, as R reads it."""


def whole_words(parsed: Parsed, sentences: Iterable[Answer]) -> Iterator[Answer]:
    """Merge tokens without white space between them into words, and sum their surprisals.

    parsed (Parsed): The Doc; if it was made from a list of words, `sentences` are yielded unchanged.
    sentences (iterable of Answer): The tokens of each sentence that has words, and their surprisals in bits, followed
        by the surprisal of the end of the sentence.
    YIELDS (Answer): The words of each sentence, and their surprisals in the same form.
    """
    from spacy_lpcfg.components.doc.sentences import sentence_bounds, words_of

    doc = parsed.doc
    if parsed.words is not None:
        yield from sentences
        return
    places = filter(None, (words_of(doc, start, end) for start, end in sentence_bounds(doc)))
    for of_sentence, (citation, tokens, bits) in zip(places, sentences, strict=True):
        begins = [0]
        for k, (left, right) in enumerate(pairwise(of_sentence), start=1):
            if right > left + 1 or doc[left].whitespace_:
                begins.append(k)
        ends = [*begins[1:], len(tokens)]
        spans = list(zip(begins, ends, strict=True))
        offsets = [(citation.offsets[i][0], citation.offsets[j - 1][1]) for i, j in spans]
        sums = [*(math.fsum(bits[i:j]) for i, j in spans), bits[-1]]
        yield Answer(citation._replace(offsets=offsets), ["".join(tokens[i:j]) for i, j in spans], sums)


def word_rows(sentences: Iterable[Answer], frequencies: Mapping[str, float] | None) -> Iterator[tuple[Any, ...]]:
    """Yield the header of a table, then a row for each word; ends of sentences have no row.

    sentences (iterable of Answer): The words and surprisals of each sentence, as from `whole_words`.
    frequencies (mapping or None): Zipf values by word, as from `read_frequencies`; None leaves out this column.
    """
    yield *COLUMNS, *(() if frequencies is None else ["zipf"]), *CHARACTERS
    for number, (citation, words, bits) in enumerate(sentences, start=1):
        before, location = MISSING, cells(*citation.place(number).values())
        for i, (word, value) in enumerate(zip(words, bits, strict=False)):
            text = f"{value:.4f}"
            zipf = [] if frequencies is None else [f"{frequencies[_bare(word)]:.4f}"]
            own = i + 1, word, text, before, sum(map(str.isalnum, word)), *zipf
            yield *location, *own, *citation.characters(i, i + 1)
            before = text


class Zipf(dict[str, float]):
    """Mapping of lower-case words to Zipf values; an unknown word has the value of a count of zero.

    The Zipf value is log10 of the frequency per billion words, with add-one smoothing (van Heuven et al. 2014,
    "SUBTLEX-UK", Quarterly Journal of Experimental Psychology 67).

    counts (mapping of str to float): The count of each word.
    """

    def __init__(self, counts: Mapping[str, float]) -> None:
        per_word = 1e9 / (sum(counts.values()) + len(counts))
        super().__init__((word, math.log10((count + 1) * per_word)) for word, count in counts.items())
        self._unseen = math.log10(per_word)

    def __missing__(self, word: str) -> float:
        return self._unseen


def read_frequencies(path: Path) -> Zipf:
    """Read word counts from a file, and return the Zipf values; counts that differ only in case are summed.

    path (Path): A file with a word and its count on each line, separated by a tab.
    RAISES (ValueError): If a line has another form or a negative count, or the file is empty.
    """
    counts: dict[str, float] = {}
    for number, line in enumerate(read_lines(str(path)), start=1):
        word, _, count = line.partition("\t")
        try:
            value = float(count)
            if not (word and math.isfinite(value) and value >= 0):
                raise ValueError
        except ValueError:
            raise ValueError(
                f"{path}:{number}: expected a word and its count, apart by a tab, got {shown(line)}"
            ) from None
        counts[word.lower()] = counts.get(word.lower(), 0) + value
    if not counts:
        raise ValueError(f"{path}: expected words and their counts, apart by tabs; there is nothing in it")
    return Zipf(counts)


def _bare(word: str) -> str:
    """Return a word in lower case without the punctuation around it."""
    letters = [i for i, char in enumerate(word) if char.isalnum()]
    return word[letters[0] : letters[-1] + 1].lower() if letters else word
