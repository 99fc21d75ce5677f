"""Search for tree patterns in Docs, with the interface of spaCy's DependencyMatcher."""

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
    """A match of a tree pattern in a Doc.

    key (str): The key under which the pattern was added.
    span (Span): The words below the matched node. Its label is the label or tag of the node; if the node is a word, the
        word.
    names (dict of str to Span): For each name in the pattern the words below its node, labelled like `span`.
    probability (float or None): The least posterior probability of the brackets and tags of these nodes; None if
        unknown.
    """

    key: str
    span: Span
    names: dict[str, Span]
    probability: float | None


class TreeMatcher:
    """A matcher of Tregex patterns in the trees of Docs.

    vocab (Vocab): The vocabulary of the Docs.
    rules (HeadRules or None): Head rules for relations such as <#; None for the rules that fit each Doc
        (`head_rules_of`).
    spans_key (str or None): Key of the trees in `doc.spans`; None for the first key with trees that a Doc has.
    """

    def __init__(self, vocab: Vocab, *, rules: HeadRules | None = None, spans_key: str | None = None) -> None:
        self.vocab = vocab
        self.rules = rules
        self.spans_key = spans_key
        self._patterns: dict[str, list[TreePattern]] = {}
        self._callbacks: dict[str, OnMatch | None] = {}

    def add(self, key: str, patterns: Sequence[str], *, on_match: OnMatch | None = None) -> None:
        """Add patterns under a key, in addition to earlier ones.

        key (str): The key, which is the `key` of the matches.
        patterns (list of str): Patterns in Tregex's language.
        on_match (callable or None): Called for each match with the matcher, the Doc, the index of the match in the list
            of all matches, and this list. Replaces the function that the key had; None removes it.
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
        """Return the callback and the patterns of a key; None if the key was not added.

        RETURNS (tuple of (callable or None) and list of str, or None): The callback is None if the key has none.
        """
        return (self._callbacks[key], [pattern.text for pattern in self._patterns[key]]) if key in self else None

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._patterns)

    def __contains__(self, key: object) -> bool:
        return key in self._patterns

    def __call__(self, doclike: Doc | Span) -> list[DocTreeMatch]:
        """Return the matches, key by key and pattern by pattern, each in the order of the trees and their nodes.

        The callbacks are called afterwards.

        doclike (Doc or Span): A Doc with trees; or a constituent of one, such as a sentence, to search only below its
            node.
        RETURNS (list of DocTreeMatch): The matches; [] if there are none.
        RAISES (ValueError): If the Doc has no trees, the Span is no constituent, or a regular expression takes too
            long.
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
        """Serialize the patterns by key, and `spans_key`; callbacks and head rules are left out."""
        patterns = {key: [pattern.text for pattern in added] for key, added in self._patterns.items()}
        return srsly.msgpack_dumps({"patterns": patterns, "spans_key": self.spans_key})

    def from_bytes(self, data: bytes) -> TreeMatcher:
        """Replace the patterns and `spans_key` by saved ones, remove all callbacks, and return the matcher.

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
    """An index of the trees of Docs for searches, which also converts nodes to Spans.

    docs (iterable of Doc or Span): Docs with trees, or Spans of constituents.
    rules (HeadRules): Head rules of their language.
    spans_key (str or None): Key of the trees in `doc.spans`; None for the first key with trees that a Doc has.
    has_root (bool): Whether to put the tree of each sentence below a node ROOT, for patterns that mention it.
    RAISES (ValueError): If a Doc has no trees under the key, or a Span is no constituent.

    The attribute `index` (TreeIndex) holds the trees, `roots` (list of Constituent) the root node of each tree.
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
        """Return the words below a node as a Span, with the label of the node."""
        words = self.roots[node.tree_number].leaves[node.start : node.end]
        return Span(words[0].doc, words[0].i, words[-1].i + 1, node.label)


def constituency_of(doclike: Doc | Span, spans_key: str | None = None) -> Iterable[Constituent]:
    """Return the root nodes of the sentences of a Doc, or the node of a Span.

    Sentences and Spans without words have no node. Errors as for `span_constituency`.
    """
    if isinstance(doclike, Doc):
        return doc_constituency(doclike, spans_key)
    return filter(None, [span_constituency(doclike, spans_key)])


def _rooted(node: Constituent, has_root: bool) -> tuple[Tree, Scores]:
    """Return the tree and scores of a node; the root node of a sentence gets the artificial root above it.

    has_root (bool): Whether to use the artificial root ROOT, instead of the treebank's, which may be missing.
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
