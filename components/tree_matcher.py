"""Patterns of trees asked of Docs, with the habits of spaCy's DependencyMatcher."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import nan
from typing import Any, NamedTuple

import srsly
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.constituents import Constituent, doc_constituency, span_constituency
from spacy_lpcfg.components.tree_group import group_at
from spacy_lpcfg.queries import TreeIndex, TreeNode, TreePattern
from spacy_lpcfg.queries.index import Scores
from spacy_lpcfg.trees import HeadRules, Tree, rules_of_language

OnMatch = Callable[["TreeMatcher", Doc, int, list["DocTreeMatch"]], Any]


class DocTreeMatch(NamedTuple):
    """A match of a pattern in a Doc.

    key (str): What the patterns were added as.
    span (Span): The words below the node, with its label, its tag, or the word as its label.
    names (dict of str to Span): The nodes that the pattern names, in the same way.
    probability (float or None): The least posterior probability of these nodes' brackets and tags; None if unknown.
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

        doclike (Doc or Span): With trees; of a Span, which has to be a constituent such as a sentence, what is below.
        RAISES (ValueError): If it has no trees, the Span is no constituent, or a regular expression takes too long.
        """
        docs = IndexedDocs([doclike], self.rules or rules_of_language(self.vocab.lang), self.spans_key)
        found = [
            DocTreeMatch(
                key, docs.span(match.node), {n: docs.span(i) for n, i in match.names.items()}, match.probability
            )
            for key, patterns in self._patterns.items()
            for pattern in patterns
            for match in docs.index.search(pattern)
        ]
        doc = doclike if isinstance(doclike, Doc) else doclike.doc
        for i, match in enumerate(found):
            on_match = self._callbacks[match.key]
            if on_match is not None:
                on_match(self, doc, i, found)
        return found

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
            patterns = {key: list(map(TreePattern, texts)) for key, texts in saved["patterns"].items()}
            spans_key = saved["spans_key"]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"Expected what `TreeMatcher.to_bytes` made, but it is damaged: {error}") from error
        self._patterns, self._callbacks, self.spans_key = patterns, dict.fromkeys(patterns), spans_key
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.vocab, self.to_bytes(), self._callbacks, self.rules)


def _unpickled(vocab: Vocab, data: bytes, callbacks: dict[str, OnMatch | None], rules: HeadRules | None) -> TreeMatcher:
    matcher = TreeMatcher(vocab, rules=rules).from_bytes(data)
    matcher._callbacks = callbacks
    return matcher


# Docs to trees -----------------------------------------------------------------------------------


class IndexedDocs:
    """The trees of Docs in an index, and where they stand; it refuses what `TreeMatcher` refuses.

    docs (iterable of Doc or Span): With trees.
    rules (HeadRules): Of their language.
    spans_key (str or None): Key of `doc.spans`; None for the first that a Doc has.
    """

    def __init__(self, docs: Iterable[Doc | Span], rules: HeadRules, spans_key: str | None = None) -> None:
        self.roots = [root for doc in docs for root in constituency_of(doc, spans_key)]
        trees, scores = zip(*map(_rooted, self.roots), strict=True) if self.roots else ((), ())
        self.index = TreeIndex.from_trees(trees, rules, scores)

    def span(self, node: TreeNode) -> Span:
        """The words below a node, with its label."""
        words = self.roots[node.tree_number].leaves[node.start : node.end]
        return Span(words[0].doc, words[0].i, words[-1].i + 1, node.label)


def constituency_of(doclike: Doc | Span, spans_key: str | None = None) -> Iterable[Constituent]:
    """The roots of a Doc, or the node of a Span; arguments and errors as those of `doc_constituency`."""
    if isinstance(doclike, Doc):
        return doc_constituency(doclike, spans_key)
    return filter(None, [span_constituency(doclike, spans_key)])


def _rooted(node: Constituent) -> tuple[Tree, Scores]:
    """The tree and scores of a node; of a root, below the artificial one if its treebank had that."""
    brackets, tags = node.scores
    label = "" if node.parent else group_at(node.leaves[0].doc, node._sentence.key).attrs.get("root", "")
    if not label:
        return node.tree, (brackets, tags)
    return Tree(label, [node.tree]), (None if brackets is None else [nan, *brackets], tags)
