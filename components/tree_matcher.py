"""Patterns of trees asked of Docs, with the habits of spaCy's DependencyMatcher."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import srsly
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.constituents import Constituency, Constituent, doc_constituency, span_constituency
from spacy_lpcfg.components.tree_group import group_at
from spacy_lpcfg.queries import TreeIndex, TreeNode, TreePattern
from spacy_lpcfg.queries.index import Scores
from spacy_lpcfg.trees import HeadRules, Tree, head_rules

OnMatch = Callable[["TreeMatcher", Doc, int, list["DocTreeMatch"]], Any]


@dataclass(frozen=True)
class DocTreeMatch:
    """A match of a pattern in a Doc.

    key (str): What the patterns were added as.
    span (Span): The words below the node, with its label, its tag, or the word as its label.
    names (dict of str to Span): The nodes that the pattern names, in the same way.
    probability (float or None): The least posterior probability of the brackets and tags of these nodes; None where
        nothing is known.
    """

    key: str
    span: Span
    names: dict[str, Span]
    probability: float | None


class TreeMatcher:
    """Finds patterns in the trees of Docs.

    vocab (Vocab): Of the Docs.
    rules (HeadRules or None): For relations such as <#; None for those of the vocab's language.
    spans_key (str or None): Key of `doc.spans` with the trees; None for the first that a Doc has.
    """

    def __init__(self, vocab: Vocab, *, rules: HeadRules | None = None, spans_key: str | None = None) -> None:
        self.vocab = vocab
        self.rules = rules
        self.spans_key = spans_key
        self._patterns: dict[str, list[TreePattern]] = {}
        self._callbacks: dict[str, OnMatch | None] = {}

    def add(self, key: str, patterns: Sequence[str], *, on_match: OnMatch | None = None) -> None:
        """Add patterns, or more of them, as one key.

        key (str): What matches are called.
        patterns (list of str): In Tregex's language.
        on_match (callable or None): Called with the matcher, the Doc, the number of the match and all matches.
        RAISES (PatternError): With the column, for what is no pattern; nothing is added then.
        RAISES (ValueError): For a text instead of a list of them, and for no patterns.
        """
        if isinstance(patterns, str) or not patterns:
            raise ValueError(f"Expected a list of patterns such as ['NP < PP'], got {shown(patterns)}.")
        new = [TreePattern(text) for text in patterns]
        self._patterns.setdefault(key, []).extend(new)
        self._callbacks[key] = on_match

    def remove(self, key: str) -> None:
        """RAISES (ValueError): For a key that was not added."""
        if key not in self:
            raise ValueError(f"Expected a key that was added, one of {sorted(self._patterns)}, got {shown(key)}.")
        del self._patterns[key], self._callbacks[key]

    def get(self, key: str) -> tuple[OnMatch | None, list[str]] | None:
        """What a key was added with, or None."""
        return (self._callbacks[key], [each.text for each in self._patterns[key]]) if key in self else None

    def __len__(self) -> int:
        """The number of keys."""
        return len(self._patterns)

    def __contains__(self, key: object) -> bool:
        return key in self._patterns

    def __call__(self, doclike: Doc | Span) -> list[DocTreeMatch]:
        """The matches, key by key and pattern by pattern, each in the order of the trees and their nodes.

        doclike (Doc or Span): With trees; a Span that is a constituent, such as a sentence, of which only what is below
            it is looked at.
        RAISES (ValueError): If it has no trees, or the Span is no constituent.
        """
        doc = doclike if isinstance(doclike, Doc) else doclike.doc
        indexed = IndexedDocs([doclike], self.rules or head_rules(self.vocab.lang), self.spans_key)
        found = [match for key in self._patterns for match in self._matches(key, indexed)]
        for i, match in enumerate(found):
            on_match = self._callbacks.get(match.key)
            if on_match is not None:
                on_match(self, doc, i, found)
        return found

    def _matches(self, key: str, indexed: IndexedDocs) -> Iterator[DocTreeMatch]:
        for pattern in self._patterns[key]:
            for match in indexed.index.search(pattern):
                names = {name: indexed.span(node) for name, node in match.names.items()}
                yield DocTreeMatch(key, indexed.span(match.node), names, match.probability)

    # Saving

    def to_bytes(self) -> bytes:
        """The patterns by their keys; callbacks and head rules are not saved."""
        patterns = {key: [each.text for each in own] for key, own in self._patterns.items()}
        return srsly.msgpack_dumps({"patterns": patterns, "spans_key": self.spans_key})

    def from_bytes(self, data: bytes) -> TreeMatcher:
        """Take the patterns that were saved in place of those that are there.

        RAISES (ValueError): For bytes that are no saved matcher.
        """
        try:
            saved = srsly.msgpack_loads(data)
            patterns = {key: [TreePattern(text) for text in own] for key, own in saved["patterns"].items()}
            spans_key = saved["spans_key"]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"Expected what `TreeMatcher.to_bytes` made, but it is damaged: {error}") from error
        self._patterns, self.spans_key = patterns, spans_key
        self._callbacks = dict.fromkeys(patterns)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.vocab, self.to_bytes(), self._callbacks, self.rules)


def _unpickled(vocab: Vocab, data: bytes, callbacks: dict[str, OnMatch | None], rules: HeadRules | None) -> TreeMatcher:
    matcher = TreeMatcher(vocab, rules=rules).from_bytes(data)
    matcher._callbacks = callbacks
    return matcher


# Docs to trees -----------------------------------------------------------------------------------


class IndexedDocs:
    """The trees of Docs in an index, and where they stand.

    docs (iterable of Doc or Span): With trees.
    rules (HeadRules): Of their language.
    spans_key (str or None): Key of `doc.spans`; None for the first that a Doc has.
    RAISES (ValueError): For one without trees, and a Span that is no constituent.
    """

    def __init__(self, docs: Iterable[Doc | Span], rules: HeadRules, spans_key: str | None = None) -> None:
        self.roots = [root for doc in docs for root in _roots(doc, spans_key)]
        trees, scores = zip(*map(_rooted, self.roots), strict=True) if self.roots else ((), ())
        self.index = TreeIndex.from_trees(trees, rules, scores)

    def span(self, node: TreeNode) -> Span:
        """The words below a node, with its label."""
        words = self.roots[node.tree_number].leaves
        return Span(words[0].doc, words[node.start].i, words[node.end - 1].i + 1, node.label)


def _roots(doclike: Doc | Span, spans_key: str | None) -> Constituency:
    if isinstance(doclike, Doc):
        return doc_constituency(doclike, spans_key)
    root = span_constituency(doclike, spans_key)
    return Constituency([root] if root is not None else [])


def _rooted(node: Constituent) -> tuple[Tree, Scores]:
    """A tree below the artificial root of its treebank, if it is a whole one and there is one, and its scores."""
    doc, (brackets, tags) = node.leaves[0].doc, node.scores
    label = group_at(doc, node._sentence.key).attrs.get("root", "")
    if not label or node.parent is not None:
        return node.tree, (brackets, tags)
    return Tree(label, [node.tree]), (None if brackets is None else [nan, *brackets], tags)
