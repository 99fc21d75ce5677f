"""Rare and unknown words by their form: case and shape, then ever longer suffixes.

A word's forms are the nodes of a tree from the root to the longest suffix that other rare words share: all words, those
of its case and shape, those of these that end in its last letter, its last two ... The tags of a form are smoothed
towards those of the next shorter one (Samuelsson 1993, Brants 2000).

Of the words that the network knows only as the unknown word of their tag, `RareWords` tells which one it is:
P(word | tag) = P(tag | word) P(word) / P(tag), over the rare words of the treebank and the forms of all others. A word
that is in no tree has the probability of its longest form; if there are classes of words, times P(class | tag), as rare
words have them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from spacy_lpcfg.grammar.lexicon import letter_case, token_shape
from spacy_lpcfg.words.classes import NO_CLASSES, WordClasses

LONGEST_SUFFIX = 4
_CACHE_SIZE = 1_000
_SUFFIX = " -"
Seen = Mapping[tuple[str, bool, int], int]
"""How often each word, as the first of its sentence or not, has a tag."""


def forms(word: str, first: bool) -> list[str]:
    """Names of a word's forms, from the one that holds of all words to the longest suffix.

    first (bool): whether it opens its sentence, where a capital says little.
    """
    lower = word.lower()
    kind = f"{letter_case(word, first)} {token_shape(word)}"
    longest = min(LONGEST_SUFFIX, len(word) - 1)
    return ["", kind, *(f"{kind}{_SUFFIX}{lower[-length:]}" for length in range(1, longest + 1))]


@dataclass(frozen=True, eq=False)
class RareWords:
    """The tags of rare words, and of forms.

    names (tuple[str, ...]): (n_names,), sorted: rare words, with "w " before each, and forms, with "f ".
    offsets (int32, (n_names + 1,)): the entries of each in the next two.
    tags (int32, (n_entries,)): tags that it was seen with.
    counts (float32, (n_entries,)): how often; of a rare word as the unknown word of the tag, and of a form by all rare
        words that have it.
    weights (float32, (n_names,)): share of each name among the words that the unknown word of any tag stands for.
    tag_weights (float32, (n_tags,)): the sums of P(tag | name) with these weights.
    form_weight (float): occurrences that the tags of its next shorter form, or of its form, count for.
    classes (WordClasses): of words that are in no tree.
    class_shares (float32, (n_classes, n_tags)): P(class | tag) of these; without rows if there are no classes.
    """

    names: tuple[str, ...]
    offsets: np.ndarray
    tags: np.ndarray
    counts: np.ndarray
    weights: np.ndarray
    tag_weights: np.ndarray
    form_weight: float
    classes: WordClasses = NO_CLASSES
    class_shares: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    _index: dict[str, int] = field(init=False, repr=False)
    _of_form: dict[str, np.ndarray] = field(init=False, repr=False)
    _of_word: dict[tuple[str, bool], tuple[list[str], np.ndarray]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", {name: i for i, name in enumerate(self.names)})
        object.__setattr__(self, "_of_form", {})
        object.__setattr__(self, "_of_word", {})

    @property
    def n_tags(self) -> int:
        return len(self.tag_weights)

    def has_word(self, word: str) -> bool:
        """Whether the word was seen so seldom, or with such a tag, that the network may know it as an unknown one."""
        return f"w {word}" in self._index

    def frequent_forms(self, least: float) -> tuple[str, ...]:
        """Forms that were seen so often at least."""
        counts = np.add.reduceat(np.append(self.counts, 0), self.offsets[:-1]) * (np.diff(self.offsets) > 0)
        return tuple(name[2:] for name, count in zip(self.names, counts) if name.startswith("f ") and count >= least)

    def known_forms(self, word: str, first: bool) -> list[str]:
        """Those of a word's forms that rare words share, from the shortest on; at least the one of all words."""
        return self._look_up(word, first)[0]

    def tags_of(self, word: str, first: bool) -> np.ndarray:
        """P(tag | word) where the network knows the word only as the unknown one of its tag, float64 (n_tags,)."""
        tags = self._look_up(word, first)[1] * self._shares_of(word)
        return tags / tags.sum()

    def log_factors(self, word: str, first: bool) -> np.ndarray:
        """log P(word | the unknown word of the tag) for each tag, float64 (n_tags,)."""
        known, tags = self._look_up(word, first)
        own = self._index.get(f"w {word}", self._index[f"f {known[-1]}"])
        return np.log(tags * self._shares_of(word) * self.weights[own] / self.tag_weights)

    def _shares_of(self, word: str) -> np.ndarray | float:
        """P(class | tag) of the class of a word that is in no tree; else 1."""
        if self.has_word(word) or not len(self.class_shares):
            return 1.0
        return self.class_shares[self.classes.of(word)]

    def _look_up(self, word: str, first: bool) -> tuple[list[str], np.ndarray]:
        """Known forms and tags of a word; what was last asked for is kept, since it is asked for in turn."""
        found = self._of_word.get((word, first))
        if found is None:
            known = [form for form in forms(word, first) if f"f {form}" in self._index]
            found = known, self._smoothed(f"w {word}", self._tags_of_form(known[-1]))
            if len(self._of_word) >= _CACHE_SIZE:
                self._of_word.clear()
            self._of_word[word, first] = found
        return found

    def of_names(self) -> Iterator[np.ndarray]:
        """P(tag | name) for each name, of words by their forms within a sentence, float64 (n_tags,)."""
        for name in self.names:
            yield self.tags_of(name[2:], False) if name.startswith("w ") else self._tags_of_form(name[2:])

    def _tags_of_form(self, form: str) -> np.ndarray:
        found = self._of_form.get(form)
        if found is None:
            kind, _, suffix = form.partition(_SUFFIX)
            shorter = f"{kind}{_SUFFIX}{suffix[1:]}" if len(suffix) > 1 else kind if suffix else ""
            below = self._tags_of_form(shorter) if form else np.full(self.n_tags, 1.0 / self.n_tags)
            self._of_form[form] = found = self._smoothed(f"f {form}", below)
        return found

    def _smoothed(self, name: str, shorter: np.ndarray) -> np.ndarray:
        """The tags of a name, smoothed towards those of its next shorter form; those where it is not known."""
        own = self._index.get(name)
        if own is None:
            return shorter
        entries = slice(self.offsets[own], self.offsets[own + 1])
        found = self.form_weight * shorter
        found[self.tags[entries]] += self.counts[entries]
        return found / found.sum()


def count_rare_words(
    seen: Seen,
    is_known: Iterable[bool],
    n_tags: int,
    *,
    max_rare: int,
    form_weight: float,
    classes: WordClasses = NO_CLASSES,
) -> RareWords:
    """Rare words and forms of a treebank.

    seen: all its words.
    is_known (iterable of bool): for each of these whether the network knows the word with this tag.
    max_rare (int): forms are counted over the words that are seen so often at most, and such a word may have
        any tag; of others only those that they are seen with.
    form_weight (float), classes (WordClasses): as of `RareWords`.
    """
    total: Counter[str] = Counter()
    for (word, _, _), count in seen.items():
        total[word] += count
    table: defaultdict[str, Counter[int]] = defaultdict(Counter)
    types: defaultdict[str, set[str]] = defaultdict(set)
    for ((word, first, tag), count), known in zip(seen.items(), is_known):
        if total[word] <= max_rare:
            table[f"w {word}"][tag] += 0 if known else count
            for form in forms(word, first):
                table[f"f {form}"][tag] += count
                types[f"f {form}"].add(word)
        elif not known:
            table[f"w {word}"][tag] += count
    table["f "][0] += 0
    for name in [name for name, words in types.items() if len(words) == 1 and name != "f "]:
        del table[name]
    once = Counter(
        next(f"f {form}" for form in reversed(forms(word, first)) if f"f {form}" in table)
        for word, first, _ in seen
        if total[word] == 1
    )
    rare = _rare_words(table, once, n_tags, form_weight)
    if not classes.words:
        return rare
    pairs = {(word, tag) for word, _, tag in seen if total[word] <= max_rare}
    return replace(rare, classes=classes, class_shares=classes.shares(pairs, n_tags))


_LEAST = 0.5
"""How often a word or form has not been seen that could have been."""


def _rare_words(table: Mapping[str, Counter[int]], once: Counter[str], n_tags: int, form_weight: float) -> RareWords:
    names = tuple(sorted(table))
    entries = [sorted(item for item in table[name].items() if item[1]) for name in names]
    offsets = np.cumsum([0, *map(len, entries)]).astype(np.int32)
    flat = np.array([item for items in entries for item in items], dtype=np.int64).reshape(-1, 2)
    weights = np.array(
        [max(once[name] if name.startswith("f ") else sum(table[name].values()), _LEAST) for name in names]
    )
    unweighted = RareWords(
        names=names,
        offsets=offsets,
        tags=flat[:, 0].astype(np.int32),
        counts=flat[:, 1].astype(np.float32),
        weights=(weights / weights.sum()).astype(np.float32),
        tag_weights=np.ones(n_tags, dtype=np.float32),
        form_weight=form_weight,
    )
    sums = sum(weight * tags for weight, tags in zip(weights / weights.sum(), unweighted.of_names()))
    return replace(unweighted, tag_weights=np.asarray(sums, dtype=np.float32))
