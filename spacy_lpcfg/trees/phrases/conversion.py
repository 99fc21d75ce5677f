"""Conversion of dependencies to phrase structure trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from spacy_lpcfg.trees.dependencies import NO_HEAD
from spacy_lpcfg.trees.dependency_sentences import DependencySentence, read_sentences
from spacy_lpcfg.trees.errors import OnError
from spacy_lpcfg.trees.phrases.projection import project
from spacy_lpcfg.trees.phrases.projective import projectivize
from spacy_lpcfg.trees.phrases.punctuation import (
    bracketed_words,
    punctuation_tag,
    with_punctuation,
    words_without_punctuation,
)
from spacy_lpcfg.trees.phrases.words import STRANDED, Words
from spacy_lpcfg.trees.transforms import escape_token
from spacy_lpcfg.trees.tree import Tree

_QUESTION_MARKS = frozenset("?？؟\u037e")  # the last one is Greek


class Phrases(NamedTuple):
    """The phrase structure of a sentence with dependencies.

    tree (Tree): The tree.
    n_lifted (int): The number of words that were given another head, because dependencies crossed.
    """

    tree: Tree
    n_lifted: int


def phrases_of(sentence: DependencySentence) -> Phrases:
    """Build the phrase structure tree that the dependencies of a sentence determine, with Penn Treebank phrase labels.

    Each word projects to the phrases of its part of speech, and its dependents join these by their relations (compare
    Xia and Palmer 2001, "Converting Dependency Structures to Phrase Structures"). Tags are the universal parts of
    speech, and for punctuation the Penn Treebank's tags. Blanks in words become underscores.

    sentence (DependencySentence): A sentence with the relations of Universal Dependencies. Further roots count as
        asides (parataxis) of the first one.
    """
    positions = words_without_punctuation(sentence)
    words, n_lifted = _without_punctuation(sentence, positions)
    forms = ["_".join(escape_token(word).split()) for word in sentence.words]
    tags = [
        punctuation_tag(word) if part == "PUNCT" else part
        for word, part in zip(sentence.words, sentence.parts_of_speech, strict=True)
    ]
    bare_tree = project(words, [Tree(tags[i], word=forms[i]) for i in positions])
    tree = Tree.from_spans(forms, tags, with_punctuation(bare_tree.spans(), positions, sentence))
    return Phrases(tree.with_source(sentence.source), n_lifted)


def _without_punctuation(sentence: DependencySentence, positions: list[int]) -> tuple[Words, int]:
    """Return the words at `positions` with projective dependencies, and how many of them were given another head."""
    crossing, relations = _one_root(sentence, positions)
    heads, n_lifted = projectivize(crossing)
    bare = DependencySentence(
        tuple(sentence.words[i] for i in positions),
        tuple(sentence.tags[i] for i in positions),
        tuple(sentence.parts_of_speech[i] for i in positions),
        tuple(sentence.features[i] for i in positions),
        tuple(heads),
        tuple(
            STRANDED if relation == "case" and head != old_head else relation
            for relation, head, old_head in zip(relations, heads, crossing, strict=True)
        ),
    )
    is_bracketed = bracketed_words(sentence)
    bracketed = frozenset(i for i, position in enumerate(positions) if position in is_bracketed)
    after_marks = frozenset(i for i in range(1, len(positions)) if positions[i - 1] != positions[i] - 1)
    is_question = not _QUESTION_MARKS.isdisjoint("".join(sentence.words))
    return Words(bare, bare.children(), bracketed, after_marks, is_question), n_lifted


def _one_root(sentence: DependencySentence, positions: list[int]) -> tuple[list[int], tuple[str, ...]]:
    """Return the heads, renumbered, and the relations of the words at `positions`.

    Further roots become dependents (parataxis) of the first one.
    """
    index_of = {position: i for i, position in enumerate(positions)}
    heads = [index_of.get(sentence.heads[position], NO_HEAD) for position in positions]
    relations = [sentence.relations[position] for position in positions]
    root = heads.index(NO_HEAD)
    for word, head in enumerate(heads):
        if head == NO_HEAD and word != root:
            heads[word], relations[word] = root, "parataxis"
    return heads, tuple(relations)


def read_phrases(lines: Iterable[str], path: str, on_error: OnError, dropped: Counter[str]) -> Iterator[Tree]:
    """Yield the phrase structure trees of a CoNLL-U file; arguments and errors are those of `TreeFormat.read`."""
    for sentence in read_sentences(lines, path, on_error):
        tree, n_lifted = phrases_of(sentence)
        dropped["trees whose crossing dependencies were lifted"] += n_lifted > 0
        yield tree
