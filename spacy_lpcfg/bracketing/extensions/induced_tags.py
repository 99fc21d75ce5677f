"""Unsupervised part-of-speech induction: word classes from raw text, and a universal tag for each class.

Classes of frequent words are learned by `words.learning.learn_classes`; other words are classified by letter case,
shape and ending. The universal tags, as far as the bracketer distinguishes them, follow from where the classes occur:

1. Finite verbs are the set of classes such that most short sentences have exactly one word of these classes, which is
   neither the first nor the last.
2. All other classes are merged into a few groups, each time the two groups that lose the least mutual information
   between a class and its neighbours. The group with most tokens is of nouns.
3. Modifiers are the groups that stand before nouns more often than by chance, and after nouns less often.
4. Pronouns are the group that stands before finite verbs most often, relative to chance.
5. The coordinator is the class that stands between two words of one group most often, beyond chance.

The remaining groups get tags that the bracketer does not distinguish.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from spacy_lpcfg.bracketing.extensions.groups import merge_groups
from spacy_lpcfg.trees.transforms import ESCAPED_BRACKETS
from spacy_lpcfg.words.classes import OTHER, WordClasses
from spacy_lpcfg.words.learning import learn_classes
from spacy_lpcfg.words.remembered import is_remembered
from spacy_lpcfg.words.signatures import letter_case, token_shape

PUNCTUATION = "PUNCT"
_WORDS = frozenset("%&@+=*/")
_MODIFIERS, _OTHERS = ("ADJ", "DET", "NUM", "PROPN"), ("ADP", "PART", "SCONJ", "ADV", "X")
_LEAST_OF_ENDING = 200  # words without a class that have a shape with an ending
_LEAST_WORDS, _MOST_WORDS = 4, 8  # of the sentences that identify finite verbs, final punctuation not counted
_N_GROUPS = 8  # of classes, finite verbs and the coordinator not counted
_LEAST_TOKENS = 100  # by which the shares of a candidate for the coordinator are divided, if it has fewer


def is_mark(word: str) -> bool:
    """Return whether a token is punctuation or a currency sign, judged by its characters."""
    return word in ESCAPED_BRACKETS or (word not in _WORDS and not any(char.isalnum() for char in word))


@dataclass(frozen=True, eq=False)
class InducedTags:
    """Part-of-speech tags learned from raw text.

    classes (WordClasses): Classes of frequent words.
    endings (frozenset of str): Frequent combinations of letter case, shape and ending, which serve as classes of words
        outside `classes`.
    names (mapping of str to str): The universal tag of each class.
    """

    classes: WordClasses
    endings: frozenset[str]
    names: Mapping[str, str]

    def fine(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the name of the class of each word, a fine-grained tag for a grammar."""
        return tuple(_fine(words, self.classes, self.endings))

    def tags(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the universal tag of each word, for the bracketer; "X" for words whose class has no tag."""
        return tuple(self.names.get(name, "X") for name in self.fine(words))


def learn_tags(text: Iterable[Sequence[str]], n_classes: int = 64) -> InducedTags:
    """Learn tags from raw text.

    text (iterable of sequence of str): The words of each sentence, with or without punctuation.
    n_classes (int): Number of classes of frequent words.
    RAISES (ValueError): If the text is too small, see `learn_classes`.
    """
    sentences = tuple(tuple(words) for words in text)
    classes = learn_classes(sentences, n_classes)
    endings = _endings(sentences, classes)
    tagged = [list(_fine(words, classes, endings)) for words in sentences]
    pairs, names = _pairs(tagged)
    verbs = finite_verbs(tagged)
    groups = merge_groups(pairs, [k for k in range(2, len(names)) if names[k] not in verbs], _N_GROUPS)
    of_class = _named(pairs, groups, [names.index(verb) for verb in verbs])
    of_class[_coordinator(tagged, names, groups)] = "CCONJ"
    by_name = {names[k]: tag for k, tag in of_class.items()} | dict.fromkeys(verbs, "VERB")
    return InducedTags(classes, endings, by_name | {PUNCTUATION: PUNCTUATION})


def _fine(words: Sequence[str], classes: WordClasses, endings: frozenset[str]) -> Iterator[str]:
    is_first = True
    for word in words:
        name = (_known if is_remembered(word) else _class_of)(word, is_first, classes, endings)
        is_first &= name == PUNCTUATION
        yield name


def _class_of(word: str, is_first: bool, classes: WordClasses, endings: frozenset[str]) -> str:
    """Return the name of a word's class; for a word without a class, a name for its letter case, shape and ending.

    The ending is left out unless the name with it is in `endings`.

    is_first (bool): Whether only punctuation is before the word, so that a capital is not informative.
    """
    if is_mark(word):
        return PUNCTUATION
    known = (classes.of(word.lower()) if is_first else OTHER) or classes.of(word)
    if known:
        return f"C{known}"
    ending = _ending(word, is_first)
    return ending if ending in endings else ending[:-2]


_known = lru_cache(maxsize=2**16)(_class_of)


def _ending(word: str, is_first: bool) -> str:
    case = "" if is_first else letter_case(word, False)
    return f"U{case}{token_shape(word)}-{word[-2:].lower():_>2}".replace(" ", "")


def _endings(sentences: Iterable[Sequence[str]], classes: WordClasses) -> frozenset[str]:
    """Return the names (see `_ending`) that at least `_LEAST_OF_ENDING` tokens without a word class share."""
    counts = Counter(
        _ending(word, k == 0)
        for words in sentences
        for k, word in enumerate(words)
        if not is_mark(word) and not classes.of(word)
    )
    return frozenset(name for name, count in counts.items() if count >= _LEAST_OF_ENDING)


def _pairs(tagged: Sequence[Sequence[str]]) -> tuple[np.ndarray, list[str]]:
    """Count class bigrams; return the counts and the class names: first the sentence boundary, then punctuation."""
    counts: Counter[tuple[str, str]] = Counter()
    for names in tagged:
        counts.update(zip(("", *names), (*names, ""), strict=True))
    known = sorted({name for pair in counts for name in pair} - {"", PUNCTUATION})
    names = ["", PUNCTUATION, *known]
    position = {name: k for k, name in enumerate(names)}
    pairs = np.zeros((len(names), len(names)))
    for (first, second), count in counts.items():
        pairs[position[first], position[second]] = count
    return pairs, names


def finite_verbs(tagged: Iterable[Sequence[str]]) -> list[str]:
    """Return a set of classes such that most short sentences have exactly one of its words, neither first nor last.

    The set is found by hill climbing from each class: a step adds or removes one class, so that as many sentences as
    possible have exactly one word of the set.

    tagged (iterable of sequence of str): The names of the classes in each sentence.
    RETURNS (list of str): The names of the classes in the set, sorted; [] if no sentence is short enough.
    """
    rows = [row for row in map(_simple, tagged) if _LEAST_WORDS <= len(row) <= _MOST_WORDS]
    names = sorted({name for row in rows for name in row if name.startswith("C")})
    position = {name: k for k, name in enumerate(names)}
    inside, edge = (np.zeros((len(rows), len(names)), np.int16) for _ in range(2))
    for number, row in enumerate(rows):
        for k, name in enumerate(row):
            if name in position:
                (edge if k in (0, len(row) - 1) else inside)[number, position[name]] += 1
    counts = inside + edge * (_MOST_WORDS + 1)  # makes a word at the edge count as too many
    climbs = [_climb(counts, k) for k in range(len(names))]
    is_verb = max(climbs, key=lambda climb: climb[0], default=(0, np.zeros(0, bool)))[1]
    return [name for name, is_finite in zip(names, is_verb, strict=True) if is_finite]


def _climb(counts: np.ndarray, first: int) -> tuple[int, np.ndarray]:
    """Find a set of classes by hill climbing from class `first`.

    counts (int16, (n_sentences, n)): Words of each class in each sentence.
    RETURNS (int, bool (n,)): Number of sentences with exactly one word of the set; the mask of the set.
    """
    signs, total, best = np.ones(counts.shape[1], np.int16), np.zeros(len(counts), np.int16), 0
    k, hits = first, int((counts[:, first] == 1).sum())
    while hits > best:
        total, best = total + signs[k] * counts[:, k], hits
        signs[k] = -signs[k]
        hits_after = ((total[:, None] + signs * counts) == 1).sum(axis=0)
        k, hits = int(hits_after.argmax()), int(hits_after.max())
    return best, signs < 0


def _simple(names: Sequence[str]) -> list[str]:
    """Return the classes of a sentence without its final punctuation; [] if other punctuation divides it."""
    inner = list(names)
    while inner and inner[-1] == PUNCTUATION:
        inner.pop()
    return [] if PUNCTUATION in inner else inner


def _named(pairs: np.ndarray, groups: Sequence[Sequence[int]], verbs: Sequence[int]) -> dict[int, str]:
    """Return the universal tag of each class in the groups, as a dict from class indices.

    pairs (float64, (n, n)): Bigram counts of the classes.
    groups (sequence of sequence of int): The groups of classes, finite verbs left out.
    verbs (sequence of int): The classes of finite verbs.
    """
    total, usage = pairs.sum(), pairs.sum(axis=1)
    sizes = [usage[list(group)].sum() for group in groups]
    nouns = list(groups[int(np.argmax(sizes))])

    def lift(first: Sequence[int], second: Sequence[int]) -> float:
        both = pairs[np.ix_(list(first), list(second))].sum()
        return both * total / max(usage[list(first)].sum() * usage[list(second)].sum(), 1)

    other_groups = [group for group in groups if list(group) != nouns]
    pronouns = max(other_groups, key=lambda group: lift(group, verbs), default=[])
    modifiers, others = iter(_MODIFIERS), iter(_OTHERS)
    named = {}
    for group in groups:
        if list(group) == nouns:
            name = "NOUN"
        elif group is pronouns:
            name = "PRON"
        else:
            is_modifier = lift(group, nouns) > 1 > lift(nouns, group)
            name = next(modifiers, "ADJ") if is_modifier else next(others, "X")
        named.update(dict.fromkeys(group, name))
    return named


def _coordinator(tagged: Iterable[Sequence[str]], names: Sequence[str], groups: Sequence[Sequence[int]]) -> int:
    """Return the index of the class that stands between two words of the same group most often, beyond chance.

    tagged (iterable of sequence of str): The names of the classes in each sentence.
    names (sequence of str): The name of each class: first the sentence boundary, then punctuation.
    groups (sequence of sequence of int): The groups of classes.
    """
    group_of = {names[k]: number for number, group in enumerate(groups) for k in group}
    position = {name: k for k, name in enumerate(names)}
    around = np.zeros((len(names), len(groups), len(groups)))
    for row in tagged:
        for left, middle, right in zip(row, row[1:], row[2:], strict=False):
            if left in group_of and right in group_of:
                around[position[middle], group_of[left], group_of[right]] += 1
    shares = around / np.maximum(around.sum(axis=(1, 2), keepdims=True), _LEAST_TOKENS)
    by_chance = (shares.sum(axis=1) * shares.sum(axis=2)).sum(axis=1)
    beyond = np.trace(shares, axis1=1, axis2=2) - by_chance
    return 2 + int(beyond[2:].argmax())
