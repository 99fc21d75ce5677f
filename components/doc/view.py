"""Tree nodes on a Doc, with navigation, probabilities and drawings: `doc._.constituency`, `span._.constituency`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from math import isnan, nan
from typing import Any, Literal, NamedTuple

from spacy.tokens import Doc, Span, Token

from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.doc.read import SentenceTree, check_trees, sentence_tree
from spacy_lpcfg.components.doc.sentences import sentence_bounds, sentence_of, words_of
from spacy_lpcfg.components.doc.tree_group import LEFT_OUT, head_rules_of, key_of, scored_spans
from spacy_lpcfg.parsing.alternatives import DOUBTFUL, doubtful_brackets
from spacy_lpcfg.pictures import tree_html, tree_svg, tree_text
from spacy_lpcfg.trees import HeadRules, Tree, dependencies, to_latex, to_nltk
from spacy_lpcfg.trees.dependencies import NO_HEAD

_SHOWN = 40  # characters of a node's text in its repr
_DRAWN = 10  # trees of a Doc in Jupyter


class NonConstituentError(ValueError):
    """Raised if the words of a Span are not a constituent of the tree of their sentence."""


class TokenDependency(NamedTuple):
    """A dependency: a token, its head, and the label.

    token (Token): A word.
    head (Token): The head of the word; the word itself if it is the root, as in `token.head`.
    label (str): Two labels, such as "S>NP": of the node in which the word depends on its head, and of the largest node
        whose head is the word; "root" for the root.
    """

    token: Token
    head: Token
    label: str


class Rival(NamedTuple):
    """A bracket that cannot be in a tree together with an uncertain bracket, or has another label over the same words.

    span (Span): The words of the bracket, with its label.
    probability (float): Posterior probability of the bracket, from 0 to 1.
    """

    span: Span
    probability: float


class UncertainSpan(NamedTuple):
    """An uncertain bracket: a bracket of the tree that may be wrong, or a bracket that may be missing from the tree.

    span (Span): The words of the bracket, with its label.
    probability (float): Posterior probability of the bracket, from 0 to 1.
    rivals (tuple of Rival): The likely brackets that cross it or relabel it, the most probable first; () if there are
        none.
    is_in_tree (bool): Whether the tree has the bracket.
    """

    span: Span
    probability: float
    rivals: tuple[Rival, ...]
    is_in_tree: bool


@dataclass(frozen=True, repr=False)
class Constituent:
    """A node of a tree on a Doc: a range of words, with the labels of all brackets over exactly these words.

    It is a sequence of its children. A word has no children, but is true in a condition.
    """

    _sentence: SentenceTree
    _range: tuple[int, int]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the unary chain over these words, outermost first; () for a word that has only its tag."""
        brackets, chain = self._sentence.brackets, self._sentence.chains[self._range]
        return tuple(brackets[index][2] for index in chain)

    @property
    def label(self) -> str:
        """The outermost label; a word without labels has its tag, and several words without labels have ""."""
        start, end = self._range
        return next(iter(self.labels), self._sentence.tags[start] if end == start + 1 else "")

    @property
    def start(self) -> int:
        """The position in the Doc of the first token."""
        return self._sentence.positions[self._range[0]]

    @property
    def end(self) -> int:
        """The position in the Doc after the last token."""
        return self._sentence.positions[self._range[1] - 1] + 1

    @property
    def span(self) -> Span:
        """The tokens as a Span, with the outermost label; "" if there is none."""
        return Span(self._sentence.doc, self.start, self.end, next(iter(self.labels), ""))

    @property
    def text(self) -> str:
        """The words as they stand in the text."""
        return self.span.text

    @property
    def leaves(self) -> tuple[Token, ...]:
        """The words as Tokens, from left to right."""
        return tuple(self._sentence.doc[i] for i in self._sentence.positions[slice(*self._range)])

    @property
    def probability(self) -> float | None:
        """Probability that the whole tree (for a root) or the label (for any other node) is right; None if unknown.

        For the root of a sentence it is P(tree | words), the probability of the whole tree with its tags, including
        brackets that a threshold left out. It is None if the model has no distribution over whole trees (a spectral
        grammar without evidence, a bracketer), or no tree over the whole sentence (a fall-back, see `status` in
        `doc/write.py`). For any other node it is `label_probability`.
        """
        is_root = self._range == (0, len(self._sentence.positions))
        return self._sentence.tree_probability if is_root else self.label_probability

    @property
    def label_probability(self) -> float | None:
        """Posterior probability of the bracket with the node's `label`, or of a bare word's tag; None if unknown."""
        return self.label_probability_of(self.label)

    def label_probability_of(self, label: str) -> float | None:
        """Return the posterior probability of the bracket with one of the node's `labels`; None if it is unknown.

        label (str): One of the `labels`; any other string stands for the outermost label. A word without labels has the
            probability of its tag.
        """
        start, end = self._range
        chain = self._sentence.chains[self._range]
        scores = self._sentence.scores if chain else self._sentence.tag_scores
        if scores is None or (end > start + 1 and not chain):
            return None
        at = self.labels.index(label) if label in self.labels else 0
        score = scores[chain[at] if chain else start]
        return None if isnan(score) else score  # a merged token has no score of its tag

    @property
    def alternatives(self) -> dict[str, float]:
        """Posterior probability of each label that a bracket over these words may have, the most probable first.

        The node's own labels are included. Probabilities may add up to more than 1, since a unary chain has several
        labels. The sentence is parsed again, by the component that wrote the tree and shares the Doc's vocabulary.

        RAISES (ValueError): If that component no longer exists.
        """
        posteriors = self._sentence.posteriors().items()
        of_words = [(label, p) for (start, end, label), p in posteriors if (start, end) == self._range]
        return dict(sorted(of_words, key=lambda item: -item[1]))

    def uncertain(self, threshold: float = DOUBTFUL) -> list[UncertainSpan]:
        """Return the uncertain brackets within this node, in pre-order, with their rivals (brackets that exclude them).

        The sentence is parsed again, by the component that wrote the tree.

        threshold (float): A bracket of the tree is uncertain if its probability is below `threshold`. A bracket that
            the tree lacks is uncertain if its probability is above 1 - `threshold` (and at least `LIKELY_RIVAL`).
        RETURNS (list of UncertainSpan): The uncertain brackets; [] if there are none.
        RAISES (ValueError): If the tree has no probabilities, or if the component that wrote it no longer exists.
        """
        sentence, (first, last) = self._sentence, self._range
        if sentence.scores is None:
            raise ValueError(
                f"The trees of doc.spans[{sentence.key!r}] have no probabilities: ask trees that a component such as "
                "'lpcfg_parser' wrote."
            )
        scored = list(zip(sentence.brackets, sentence.scores, strict=True))
        return [
            UncertainSpan(
                sentence.span(*doubtful.bracket),
                doubtful.probability,
                tuple(Rival(sentence.span(*rival), p) for rival, p in doubtful.rivals.items()),
                doubtful.is_in_tree,
            )
            for doubtful in doubtful_brackets(scored, sentence.posteriors(), threshold=threshold)
            if first <= doubtful.bracket[0] and doubtful.bracket[1] <= last
        ]

    @property
    def parent(self) -> Constituent | None:
        """The node above this node; None for the root of a sentence."""
        above = self._sentence.parents[self._range]
        return Constituent(self._sentence, above) if above else None

    @property
    def children(self) -> tuple[Constituent, ...]:
        parents = self._sentence.parents
        return tuple(node for node in self.nodes() if parents[node._range] == self._range)

    def __iter__(self) -> Iterator[Constituent]:
        return iter(self.children)

    def __len__(self) -> int:
        return len(self.children)

    def __getitem__(self, index: Any) -> Any:
        return self.children[index]

    def __bool__(self) -> bool:
        return True

    @property
    def head_child(self) -> Constituent | None:
        """The child that contains the head, by the head rules `head_rules_of(doc)`; None for a word."""
        children = self.children
        label = self.labels[-1] if self.labels else ""
        return children[self._rules.head(label, [child.label for child in children])] if children else None

    @property
    def head(self) -> Token:
        """The head word, found by following head children down to a word."""
        node, below = self, self.head_child
        while below is not None:
            node, below = below, below.head_child
        return node.leaves[0]

    def dependencies(self, rules: HeadRules | None = None) -> list[TokenDependency]:
        """Return the dependency of each word within this node, from left to right.

        rules (HeadRules or None): Head rules; None for the rules that fit the Doc, `head_rules_of(doc)`.
        RETURNS (list of TokenDependency): One for each word; the head word of the node is its own head.
        """
        words = self.leaves
        arcs = dependencies(self.tree, rules or self._rules)
        return [
            TokenDependency(word, word if arc.head == NO_HEAD else words[arc.head], arc.label)
            for word, arc in zip(words, arcs, strict=True)
        ]

    @property
    def _rules(self) -> HeadRules:
        return head_rules_of(self._sentence.doc)

    def nodes(self) -> Iterator[Constituent]:
        """Yield this node and all nodes below it, in pre-order, words included."""
        start, end = self._range
        for i, j in self._sentence.chains:
            if start <= i and j <= end:
                yield Constituent(self._sentence, (i, j))

    @property
    def tree(self) -> Tree:
        """The subtree as a `Tree`, over words in treebank spelling."""
        return self._sentence.tree(*self._range)

    @property
    def bracketed(self) -> str:
        """The subtree as a bracketed tree on one line: `(NP (DT The) (NN time))`."""
        return str(self.tree)

    def to_nltk(self) -> Any:
        """Return the subtree as an `nltk.Tree`.

        RAISES (ImportError): If NLTK is not installed.
        """
        return to_nltk(self.tree)

    def latex(self, style: Literal["forest", "qtree"] = "forest") -> str:
        """Return the subtree as LaTeX code.

        style ("forest" or "qtree"): The LaTeX package that draws it.
        """
        return to_latex(self.tree, style)

    def svg(self) -> str:
        """Return a drawing of the subtree as SVG, with its known probabilities.

        RAISES (ValueError): If the tree is too deep to draw.
        """
        return tree_svg(self.tree, *self.scores)

    @property
    def scores(self) -> tuple[list[float] | None, list[float] | None]:
        """Posterior probabilities of the brackets of `tree`, in pre-order, and of the tags of its words.

        Each of the two lists is None if unknown. The unlabelled root of words that no bracket covers has nan.
        """
        (start, end), sentence = self._range, self._sentence
        tags = None if sentence.tag_scores is None else list(sentence.tag_scores[start:end])
        if sentence.scores is None:
            return None, tags
        inside = [p for (i, j, _), p in zip(sentence.brackets, sentence.scores, strict=True) if start <= i and j <= end]
        around = [nan] if not sentence.chains[self._range] and end - start > 1 else []
        return around + inside, tags

    def pretty(self, lines: Literal["unicode", "ascii"] = "unicode") -> str:
        """Return the subtree drawn as several lines of text, for `print`.

        lines ("unicode" or "ascii"): The characters of the lines in the drawing.
        """
        return tree_text(self.tree, lines)

    def _repr_html_(self) -> str:
        """Return HTML for Jupyter: a drawing, or the bracketed tree with the reason why it cannot be drawn."""
        return Constituency([self])._repr_html_()

    def _drawing(self) -> tuple[str, str]:
        """Return the drawing as HTML, and ""; or the bracketed tree and the error message, both as HTML."""
        try:
            return tree_html(self.tree, *self.scores), ""
        except ValueError as error:
            return f"<pre>{escape(self.bracketed)}</pre>", f"<p>{escape(str(error))}</p>"

    def __str__(self) -> str:
        return self.bracketed

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= _SHOWN else f"{self.text[:_SHOWN]}..."
        return f"Constituent({'|'.join(self.labels) or self.label}, {text!r})"


class Constituency(tuple[Constituent, ...]):
    """The root nodes of the sentences of a Doc: a tuple of Constituents, which Jupyter draws."""

    @property
    def left_out(self) -> list[UncertainSpan]:
        """The brackets that the threshold of the parser left out of the trees, in text order; [] if there are none.

        Their `rivals` are empty. A Doc that `Doc.from_docs` made has none, unless all its Docs were parsed with a
        threshold.
        """
        if not self or self[0]._sentence.key + LEFT_OUT not in self[0]._sentence.doc.spans:
            return []
        scored = scored_spans(self[0]._sentence.doc, self[0]._sentence.key + LEFT_OUT)
        return [UncertainSpan(span, score, (), is_in_tree=False) for span, score in scored]

    def _repr_html_(self) -> str:
        """Return HTML for Jupyter: the first trees, the number of further ones, and errors of trees not drawn."""
        drawings = [node._drawing() for node in self[:_DRAWN]]
        note = f"<p>{len(self) - _DRAWN:,} more trees</p>" if len(self) > _DRAWN else ""
        return "".join([*(html for html, _ in drawings), note, *dict.fromkeys(why for _, why in drawings)])


def doc_constituency(doc: Doc, key: str | None = None) -> Constituency:
    """Return the root node of each sentence of a Doc that has words: `doc._.constituency`.

    For one sentence use `span_constituency`.

    key (str or None): Key of the trees in `doc.spans`; None for the first key with trees that the Doc has (`key_of`).
    RAISES (ValueError): If the Doc has no trees under the key, or its spans make no tree.
    """
    roots = [span_constituency(doc[start:end], key) for start, end in sentence_bounds(doc)]
    return Constituency(root for root in roots if root is not None)


def span_constituency(span: Span, key: str | None = None) -> Constituent | None:
    """Return the node over the words of a Span: `span._.constituency`.

    span (Span): The Span of a constituent; white space at its edges is ignored.
    key (str or None): Key of the trees in `doc.spans`; None for the first key with trees that the Doc has (`key_of`).
    RETURNS (Constituent or None): The node; None if the Span has no words.
    RAISES (NonConstituentError): If the words are not a constituent.
    RAISES (ValueError): If the Doc has no trees under the key, or its spans make no tree.
    """
    doc = span.doc
    key = key_of(doc) if key is None else key
    check_trees(doc, key)
    inside = words_of(doc, span.start, span.end)
    if not inside:
        return None
    sent = sentence_of(doc[inside[0]])
    sentence = sentence_tree(doc, sent.start, sent.end, key)
    start = sentence.positions.index(inside[0])
    word_range = (start, start + len(inside))
    if word_range not in sentence.chains:
        raise NonConstituentError(
            f"{shown(span.text)} is not a constituent of the tree of its sentence. Walk the tree from "
            "its root (doc._.constituency) or from a token, or catch this error."
        )
    return Constituent(sentence, word_range)
