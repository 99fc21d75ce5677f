"""Tree patterns matched in Docs, with the interface of spaCy's DependencyMatcher."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import nan
from typing import Any, NamedTuple

import srsly
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.doc.tree_group import attributes, head_rules_of
from spacy_lpcfg.components.doc.view import Constituent, doc_constituency, span_constituency
from spacy_lpcfg.queries import TreeIndex, TreeNode, TreePattern
from spacy_lpcfg.queries.index import Scores, below_root
from spacy_lpcfg.trees import HeadRules, Tree

OnMatch = Callable[["TreeMatcher", Doc, int, list["DocTreeMatch"]], Any]


class DocTreeMatch(NamedTuple):
    """A match of a pattern in a Doc.

    key (str): The key that the patterns were added under.
    span (Span): The words below the node, with its label, its tag, or the word as its label.
    names (dict of str to Span): The words below each node that the pattern names, labelled like `span`.
    probability (float or None): The least posterior probability of these nodes' brackets and tags; None if unknown.
    """

    key: str
    span: Span
    names: dict[str, Span]
    probability: float | None


class TreeMatcher:
    """A matcher of tree patterns in the trees of Docs.

    vocab (Vocab): The vocabulary of the Docs.
    rules (HeadRules or None): Head rules for relations such as <#; None for the rules of the vocab's language.
    spans_key (str or None): Key of `doc.spans` with the trees; None for the first that a Doc has.
    """

    def __init__(self, vocab: Vocab, *, rules: HeadRules | None = None, spans_key: str | None = None) -> None:
        self.vocab = vocab
        self.rules = rules
        self.spans_key = spans_key
        self._patterns: dict[str, list[TreePattern]] = {}
        self._callbacks: dict[str, OnMatch | None] = {}

    def add(self, key: str, patterns: Sequence[str], *, on_match: OnMatch | None = None) -> None:
        """Add patterns under a key, in addition to earlier ones.

        key (str): The name of the matches.
        patterns (list of str): Patterns in Tregex's language.
        on_match (callable or None): Called with the matcher, the Doc, the number of the match and all matches.
            Replaces the function that the key had; None removes it.
        RAISES (PatternError): If a pattern is malformed, with the column; no pattern is added.
        RAISES (ValueError): If `patterns` is a text instead of a list, or empty.
        """
        if isinstance(patterns, str) or not patterns:
            raise ValueError(f"Expected a list of patterns such as ['NP < PP'], got {shown(patterns)}.")
        new = [TreePattern(text) for text in patterns]
        self._patterns.setdefault(key, []).extend(new)
        self._callbacks[key] = on_match

    def remove(self, key: str) -> None:
        """Remove the patterns of a key.

        RAISES (ValueError): If the key was not added.
        """
        if key not in self:
            raise ValueError(f"Expected a key that was added, one of {sorted(self._patterns)}, got {shown(key)}.")
        del self._patterns[key], self._callbacks[key]

    def get(self, key: str) -> tuple[OnMatch | None, list[str]] | None:
        """Return the callback and the patterns of a key, or None."""
        return (self._callbacks[key], [pattern.text for pattern in self._patterns[key]]) if key in self else None

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._patterns)

    def __contains__(self, key: object) -> bool:
        return key in self._patterns

    def __call__(self, doclike: Doc | Span) -> list[DocTreeMatch]:
        """Return the matches, key by key and pattern by pattern, each in the order of the trees and their nodes.

        doclike (Doc or Span): A Doc with trees; or a constituent of one, such as a sentence, for the nodes below.
        RAISES (ValueError): If it has no trees, the Span is no constituent, or a regular expression takes too long.
        """
        rules = self.rules or head_rules_of(doclike.doc if isinstance(doclike, Span) else doclike)
        patterns = [(key, pattern) for key, patterns in self._patterns.items() for pattern in patterns]
        indexed = {
            has_root: IndexedDocs([doclike], rules, self.spans_key, has_root=has_root)
            for has_root in {pattern.has_root for _, pattern in patterns} or {False}
        }
        matches: list[DocTreeMatch] = []
        for key, pattern in patterns:
            docs = indexed[pattern.has_root]
            for found in docs.index.search(pattern):
                names = {name: docs.span(node) for name, node in found.names.items()}
                matches.append(DocTreeMatch(key, docs.span(found.node), names, found.probability))
        doc = doclike if isinstance(doclike, Doc) else doclike.doc
        for i, match in enumerate(matches):
            on_match = self._callbacks[match.key]
            if on_match is not None:
                on_match(self, doc, i, matches)
        return matches

    # Saving

    def to_bytes(self) -> bytes:
        """Serialize the patterns by key; callbacks and head rules are left out."""
        patterns = {key: [pattern.text for pattern in added] for key, added in self._patterns.items()}
        return srsly.msgpack_dumps({"patterns": patterns, "spans_key": self.spans_key})

    def from_bytes(self, data: bytes) -> TreeMatcher:
        """Replace the patterns of the matcher by the saved ones.

        RAISES (ValueError): If the bytes are not a saved matcher.
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
    """An index of the trees of Docs that converts nodes to Spans; errors as for `TreeMatcher`.

    docs (iterable of Doc or Span): Docs with trees, or Spans of constituents.
    rules (HeadRules): Head rules of their language.
    spans_key (str or None): Key of `doc.spans`; None for the first that a Doc has.
    has_root (bool): Whether trees of sentences are below a node ROOT, for patterns that mention it.
    """

    def __init__(
        self,
        docs: Iterable[Doc | Span],
        rules: HeadRules,
        spans_key: str | None = None,
        *,
        has_root: bool = False,
    ) -> None:
        self.roots = [root for doc in docs for root in constituency_of(doc, spans_key)]
        rooted = [_rooted(root, has_root) for root in self.roots]
        trees, scores = zip(*rooted, strict=True) if rooted else ((), ())
        self.index = TreeIndex.from_trees(trees, rules, scores)

    def span(self, node: TreeNode) -> Span:
        """Return the words below a node as a Span with its label."""
        words = self.roots[node.tree_number].leaves[node.start : node.end]
        return Span(words[0].doc, words[0].i, words[-1].i + 1, node.label)


def constituency_of(doclike: Doc | Span, spans_key: str | None = None) -> Iterable[Constituent]:
    """Return the roots of a Doc, or the node of a Span if it has words; errors as for `span_constituency`."""
    if isinstance(doclike, Doc):
        return doc_constituency(doclike, spans_key)
    return filter(None, [span_constituency(doclike, spans_key)])


def _rooted(node: Constituent, has_root: bool) -> tuple[Tree, Scores]:
    """Return the tree and scores of a node; put the tree of a root below its artificial root.

    has_root (bool): Whether the artificial root is always ROOT, instead of the treebank's, which may be missing.
    """
    brackets, tags = node.scores
    if has_root and not node.parent:
        tree = node.tree
        is_new = len(tree.spans()) == len(below_root(tree).spans()) - 1
        return below_root(tree), ([nan, *brackets] if is_new and brackets is not None else brackets, tags)
    label = "" if node.parent else attributes(node.leaves[0].doc, node._sentence.key, 0, 0).root
    if not label:
        return node.tree, (brackets, tags)
    return Tree(label, [node.tree]), (None if brackets is None else [nan, *brackets], tags)
