"""The vocabulary of a network: ids of labels, tags, words and signatures.

A transition consists of up to three decisions: the action; after Shift the tag; after the tag the word, unless the tag
has no known words. Each decision is a choice among the *outcomes* of a contiguous range. Outcomes are numbered

    0 Shift, 1 Attach, 2 Modify, 3 + l Project label l | tags | words of tag 0, of tag 1, ...

The first word of each tag is its unknown word, which stands for all words that are rare with this tag. The decisions of
a transition are inputs of later positions as *rows* of a table, numbered like the outcomes. Further rows are the
signatures of rare words, so that unknown words of all tags share statistics of suffixes and shapes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.isbn.known_words import KnownWord, KnownWords
from spacy_lpcfg.isbn.rare_words import RareWords, Seen, count_rare_words
from spacy_lpcfg.isbn.relations import LEAF, ROOT
from spacy_lpcfg.isbn.transitions import MODIFY, PROJECT, SHIFT
from spacy_lpcfg.trees.tree import Tree


class Candidates(NamedTuple):
    """The tags and outcomes that the network considers for the words of a sentence.

    offsets (int32, (n_words + 1,)): The candidates of word i are `offsets[i]:offsets[i + 1]`; at least one.
    tags (int32, (n_candidates,)), outcomes (int32, (n_candidates,)): A tag of the word, and the outcome (id of the word
        with this tag).
    log_factors (float32, (n_candidates,)): ln P(word | outcome) in nats; 0 if the network knows the word with the tag.
    has_signatures (uint8, (n_candidates,)): Whether the signatures (classes of spelling) of the word are inputs with
        this tag.
    signature_offsets (int32, (n_words + 1,)), signature_rows (int32): The input rows of the signatures of word i are
        `signature_rows[signature_offsets[i]:signature_offsets[i + 1]]`; no rows if no candidate has signatures.
    """

    offsets: np.ndarray
    tags: np.ndarray
    outcomes: np.ndarray
    log_factors: np.ndarray
    has_signatures: np.ndarray
    signature_offsets: np.ndarray
    signature_rows: np.ndarray


def _candidates_of(words: Iterable[KnownWord], tags: Iterable[Sequence[int]], unknown: Sequence[int]) -> Candidates:
    """Return the candidates of words under the tags that are considered.

    words (iterable of KnownWord): The entries of the words.
    tags (iterable of sequence of int): The tag ids to consider for each word.
    unknown (sequence of int, (n_tags,)): The outcome of the unknown word of each tag.
    """
    rows: list[int] = []
    offsets, row_offsets = [0], [0]
    of_tags: list[int] = []
    outcomes: list[int] = []
    log_factors: list[float] = []
    has_signatures: list[bool] = []
    for word, of_word in zip(words, tags, strict=True):
        for tag in of_word:
            outcome = word.outcomes.get(tag)
            is_unknown = outcome is None
            of_tags.append(tag)
            outcomes.append(unknown[tag] if outcome is None else outcome)
            log_factors.append(word.log_factors[tag] if is_unknown else 0.0)
            has_signatures.append(is_unknown or not word.is_frequent)
        if any(has_signatures[offsets[-1] :]):
            rows += word.signature_rows
        offsets.append(len(of_tags))
        row_offsets.append(len(rows))
    return Candidates(
        offsets=np.array(offsets, dtype=np.int32),
        tags=np.array(of_tags, dtype=np.int32),
        outcomes=np.array(outcomes, dtype=np.int32),
        log_factors=np.array(log_factors, dtype=np.float32),
        has_signatures=np.array(has_signatures, dtype=np.uint8),
        signature_offsets=np.array(row_offsets, dtype=np.int32),
        signature_rows=np.array(rows, dtype=np.int32),
    )


@dataclass(frozen=True, eq=False)
class NetworkVocabulary:
    """The labels, tags, words and signatures of a network.

    labels (tuple[str, ...]), tags (tuple[str, ...]): Labels and tags in the order of their ids.
    word_offsets (int32, (n_tags + 1,)): The outcomes of words under tag t are `word_offsets[t]:word_offsets[t + 1]`.
    words (tuple[str, ...]): The word of each outcome from `first_word` on; "" for the unknown word of a tag.
    signatures (tuple[str, ...]): The signatures (classes of spelling) that are inputs.
    frequent (tuple[str, ...]): Frequent words: their signatures are not inputs if their tag is one that they are known
        with.
    rare (RareWords): The model of words that are unknown to the network.
    """

    labels: tuple[str, ...]
    tags: tuple[str, ...]
    word_offsets: np.ndarray
    words: tuple[str, ...]
    signatures: tuple[str, ...]
    frequent: tuple[str, ...]
    rare: RareWords
    _unknown: list[int] = field(init=False, repr=False)
    _tags: dict[str | None, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_unknown", self.word_offsets[:-1].tolist())
        object.__setattr__(self, "_tags", {tag: i for i, tag in enumerate(self.tags)})

    @cached_property
    def known(self) -> KnownWords:
        """The look-up table of the words."""
        outcomes: dict[str, dict[int, int]] = {}
        first_word = self.first_word
        for tag, (start, end) in enumerate(pairwise(self.word_offsets.tolist())):
            for outcome in range(start + 1, end):
                outcomes.setdefault(self.words[outcome - first_word], {})[tag] = outcome
        rows = {name: self.n_outcomes + i for i, name in enumerate(self.signatures)}
        return KnownWords(outcomes, rows, self.frequent, self.rare)

    @property
    def n_actions(self) -> int:
        return PROJECT + len(self.labels)

    @property
    def first_word(self) -> int:
        """The index of the first outcome that is a word."""
        return self.n_actions + len(self.tags)

    @property
    def n_outcomes(self) -> int:
        return self.first_word + len(self.words)

    @property
    def n_rows(self) -> int:
        return self.n_outcomes + len(self.signatures)

    @property
    def masks(self) -> np.ndarray:
        """Masks of allowed actions, uint8 (2 * (n_labels + 1), n_actions), with rows numbered by `mask_of`.

        Forbidden are Shift with a leaf on top of the stack, Modify with the root below the top, and Project of a label
        over the same label.
        """
        masks = np.ones((2 * (len(self.labels) + 1), self.n_actions), dtype=np.uint8)
        masks[:2, SHIFT] = 0
        masks[1::2, MODIFY] = 0
        labels = np.arange(len(self.labels))
        masks[2 * (1 + labels), PROJECT + labels] = 0
        masks[2 * (1 + labels) + 1, PROJECT + labels] = 0
        return masks

    def outcome_of(self, tag: int, word: str, first: bool) -> int:
        """Return the outcome (id) of a word with a tag: the tag's unknown word, if the word is not known with the tag.

        tag (int): The id of the tag.
        word (str): The word in treebank spelling.
        first (bool): Whether the word begins its sentence; if so, it is also looked up in lower case.
        """
        return self.known.of(word, first).outcomes.get(tag, self._unknown[tag])

    def signature_rows(self, tag: int, word: str, first: bool) -> list[int]:
        """Return the input rows of a word's signatures under a tag; an empty list for a frequent word with a known tag.

        tag (int): The id of the tag.
        word (str): The word in treebank spelling.
        first (bool): Whether the word begins its sentence.
        """
        known = self.known.of(word, first)
        return [] if known.is_frequent and tag in known.outcomes else known.signature_rows

    def candidates(
        self, words: Sequence[str], tags: Sequence[str | None] | None = None, *, first: bool = True
    ) -> Candidates:
        """Return the tags and outcomes to consider for the words of a sentence, at least one tag for each word.

        words (sequence of str): The words in treebank spelling.
        tags (sequence of str or None, or None): Given tags; a word with None or an unknown tag gets its likely tags.
        first (bool): Whether the words begin their sentence.
        """
        given = [None] * len(words) if tags is None else [self._tags.get(tag) for tag in tags]
        known = [self.known.of(word, first and i == 0) for i, word in enumerate(words)]
        of_words = [word.likely_tags if tag is None else (tag,) for word, tag in zip(known, given, strict=True)]
        return _candidates_of(known, of_words, self._unknown)

    def tags_by_name(self, words: Sequence[str]) -> list[str]:
        """Return a tag of each word without context.

        It is the known tag with the lowest id, or for an unknown word the most frequent tag of rare words.
        """
        known, unknown = self.known.outcomes, (int(self.rare.tag_weights.argmax()),)
        return [self.tags[next(iter(known.get(word, unknown)))] for word in words]


def mask_of(label: int, below: int) -> int:
    """Return the row of `NetworkVocabulary.masks` for the state of a stack.

    label, below (int): The labels of the top `Cell` of the stack and of the cell below it.
    """
    return 2 * (label - LEAF) + (below == ROOT)


def take_vocabulary(
    trees: Iterable[Tree],
    *,
    min_count: int = 3,
    min_signature_count: int = 10,
    min_frequent: int = 10,
) -> NetworkVocabulary:
    """Collect the vocabulary of a treebank.

    trees (iterable of Tree): Normalized trees.
    min_count (int): A word that occurs with a tag less often than this is an unknown word with that tag.
    min_signature_count (int): Signatures that occur at least this often with rare words are inputs.
    min_frequent (int): Words that occur at least this often are frequent: their signatures are not inputs if their tag
        is one that they are known with.
    RAISES (ValueError): If there are no trees.
    """
    labels, seen = _count(trees)
    if not seen:
        raise ValueError("Expected trees to learn from, got none.")
    tags = sorted({tag for _, _, tag in seen})
    numbers = {tag: i for i, tag in enumerate(tags)}
    numbered = {(word, first, numbers[tag]): count for (word, first, tag), count in seen.items()}
    known = _known_words(numbered, len(tags), min_count)
    is_known = [word in known[tag] or (first and word.lower() in known[tag]) for word, first, tag in numbered]
    rare = count_rare_words(numbered, is_known, len(tags))
    first_word = PROJECT + len(labels) + len(tags)
    return NetworkVocabulary(
        labels=tuple(sorted(labels)),
        tags=tuple(tags),
        word_offsets=np.array(list(accumulate((1 + len(w) for w in known), initial=first_word)), dtype=np.int32),
        words=tuple(word for words in known for word in ("", *sorted(words))),
        signatures=rare.frequent_signatures(min_signature_count),
        frequent=_frequent_words(numbered, min_frequent),
        rare=rare,
    )


def _count(trees: Iterable[Tree]) -> tuple[set[str], Counter[tuple[str, bool, str]]]:
    """Return the labels of trees, and the counts of (word, whether it is sentence-initial, tag)."""
    labels: set[str] = set()
    seen: Counter[tuple[str, bool, str]] = Counter()
    for tree in trees:
        labels.update(node.label for node in tree.nodes() if not node.is_leaf)
        seen.update((str(leaf.word), i == 0, leaf.label) for i, leaf in enumerate(tree.leaves()))
    return labels, seen


def _known_words(seen: Seen, n_tags: int, min_count: int) -> list[set[str]]:
    """Return for each tag the words that have it at least `min_count` times."""
    counts = [Counter[str]() for _ in range(n_tags)]
    for (word, _, tag), count in seen.items():
        counts[tag][word] += count
    return [{word for word, count in of_tag.items() if count >= min_count} for of_tag in counts]


def _frequent_words(seen: Seen, min_frequent: int) -> tuple[str, ...]:
    """Return the words that occur at least `min_frequent` times, sorted."""
    totals = Counter[str]()
    for (word, _, _), count in seen.items():
        totals[word] += count
    return tuple(sorted(word for word, count in totals.items() if count >= min_frequent))
