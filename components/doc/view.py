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
    """The words of a span are not one constituent of the tree of their sentence."""


class TokenDependency(NamedTuple):
    """A token with its head and the label of the dependency.

    token (Token): A word.
    head (Token): The head of the word; the word itself if it is the root, as in `token.head`.
    label (str): The label of the node in which the word depends on its head, and of the largest node that the word
        heads, as in S>NP; "root" where there is no head.
    """

    token: Token
    head: Token
    label: str


class Rival(NamedTuple):
    """A bracket that excludes an uncertain one: it crosses it, or has another label over the same words.

    span (Span): The words, with the label.
    probability (float): Posterior probability of the bracket.
    """

    span: Span
    probability: float


class UncertainSpan(NamedTuple):
    """An uncertain bracket: one of the tree that may be wrong, or one that may be missing from the tree.

    span (Span): The words, with the label.
    probability (float): Posterior probability of the bracket.
    rivals (tuple of Rival): The likely brackets that exclude it, likeliest first; () if there is no likely alternative.
    is_in_tree (bool): Whether the tree has the bracket.
    """

    span: Span
    probability: float
    rivals: tuple[Rival, ...]
    is_in_tree: bool


@dataclass(frozen=True, repr=False)
class Constituent:
    """A node of a tree on a Doc: a range of words with the labels of all brackets over exactly these words.

    It is a sequence of its children; a word has no children, but its truth value is True.
    """

    _sentence: SentenceTree
    _range: tuple[int, int]

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the unary chain, outermost first; () for a word that has only its tag."""
        brackets, chain = self._sentence.brackets, self._sentence.chains[self._range]
        return tuple(brackets[index][2] for index in chain)

    @property
    def label(self) -> str:
        """The outermost label; without a bracket, the tag for a word, and "" for several words."""
        start, end = self._range
        return next(iter(self.labels), self._sentence.tags[start] if end == start + 1 else "")

    @property
    def start(self) -> int:
        """The position of the first token in the Doc."""
        return self._sentence.words[self._range[0]]

    @property
    def end(self) -> int:
        """The position after the last token in the Doc."""
        return self._sentence.words[self._range[1] - 1] + 1

    @property
    def span(self) -> Span:
        """The tokens, as a Span with the outermost label, if any."""
        return Span(self._sentence.doc, self.start, self.end, next(iter(self.labels), ""))

    @property
    def text(self) -> str:
        """The words as they stand in the text."""
        return self.span.text

    @property
    def leaves(self) -> tuple[Token, ...]:
        """The words."""
        return tuple(self._sentence.doc[i] for i in self._sentence.words[slice(*self._range)])

    @property
    def probability(self) -> float | None:
        """Probability that the node is right; None if unknown.

        Of a root it is P(tree | words), the probability of the sentence's whole tree with its tags, of which brackets
        that a threshold left out are part. None if the model has no distribution over whole trees (a spectral grammar
        without evidence, a bracketer) or no tree over the whole sentence (`status`). Of any other node it is
        `label_probability`.
        """
        is_root = self._range == (0, len(self._sentence.words))
        return self._sentence.tree_probability if is_root else self.label_probability

    @property
    def label_probability(self) -> float | None:
        """Posterior probability of the `label` over these words; None if unknown."""
        return self.label_probability_of(self.label)

    def label_probability_of(self, label: str) -> float | None:
        """Return the posterior probability of the bracket with one of the node's `labels`; None if it is unknown.

        label (str): One of the `labels`; any other one stands for the outermost.
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
        """Posterior probability of each label that brackets over these words may have, likeliest first.

        The node's own labels are included. Probabilities may add up to more than 1, since unary chains have several
        labels. The component that wrote the tree, and that shares the Doc's vocabulary, parses the sentence again.
        RAISES (ValueError): If that component no longer exists.
        """
        posteriors = self._sentence.posteriors().items()
        of_words = [(label, p) for (start, end, label), p in posteriors if (start, end) == self._range]
        return dict(sorted(of_words, key=lambda item: -item[1]))

    def uncertain(self, threshold: float = DOUBTFUL) -> list[UncertainSpan]:
        """Return the uncertain brackets within this node, in pre-order, with their rivals.

        The component that wrote the tree parses the sentence again, as for `alternatives`.

        threshold (float): A bracket of the tree is uncertain if its probability is below `threshold`. A bracket that
            the tree lacks is uncertain if its probability is above 1 - `threshold` (and at least `LIKELY_RIVAL`).
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
        """The node above; None for the root."""
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
        """The child that is the head, by `head_rules_of` the Doc; None for a word."""
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
        """Return the dependency of each word within this node.

        rules (HeadRules or None): Head rules; None for `head_rules_of` the Doc.
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
        """Yield this node and all below it, in pre-order, words included."""
        start, end = self._range
        for i, j in self._sentence.chains:
            if start <= i and j <= end:
                yield Constituent(self._sentence, (i, j))

    @property
    def tree(self) -> Tree:
        """The subtree, over words in treebank form."""
        return self._sentence.tree(*self._range)

    @property
    def bracketed(self) -> str:
        """The subtree in brackets, on one line: `(NP (DT The) (NN time))`."""
        return str(self.tree)

    def to_nltk(self) -> Any:
        """Return the subtree as an `nltk.Tree`; needs NLTK."""
        return to_nltk(self.tree)

    def latex(self, style: Literal["forest", "qtree"] = "forest") -> str:
        """Return the subtree as LaTeX, for the package forest or qtree."""
        return to_latex(self.tree, style)

    def svg(self) -> str:
        """Return a drawing of the subtree as SVG, with the probabilities that are known."""
        return tree_svg(self.tree, *self.scores)

    @property
    def scores(self) -> tuple[list[float] | None, list[float] | None]:
        """Posterior probabilities of the brackets and of the tags of `tree`, in pre-order; None if unknown.

        The unlabelled root of words that no bracket covers has the probability nan.
        """
        (start, end), sentence = self._range, self._sentence
        tags = None if sentence.tag_scores is None else list(sentence.tag_scores[start:end])
        if sentence.scores is None:
            return None, tags
        inside = [p for (i, j, _), p in zip(sentence.brackets, sentence.scores, strict=True) if start <= i and j <= end]
        around = [nan] if not sentence.chains[self._range] and end - start > 1 else []
        return around + inside, tags

    def pretty(self, lines: Literal["unicode", "ascii"] = "unicode") -> str:
        """Return the subtree in lines of text, for a terminal: `print` it."""
        return tree_text(self.tree, lines)

    def _repr_html_(self) -> str:
        """Return HTML for Jupyter: the drawing, or the tree in brackets with the reason why it cannot be drawn."""
        return Constituency([self])._repr_html_()

    def _drawing(self) -> tuple[str, str]:
        """Return the drawing as HTML and ""; or the tree in brackets and the error, both as HTML."""
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
    """The root nodes of the sentences of a Doc: a tuple that Jupyter draws."""

    @property
    def left_out(self) -> list[UncertainSpan]:
        """The brackets that the threshold of the parser left out, in the order of the text, without rivals."""
        if not self or self[0]._sentence.key + LEFT_OUT not in self[0]._sentence.doc.spans:
            return []
        scored = scored_spans(self[0]._sentence.doc, self[0]._sentence.key + LEFT_OUT)
        return [UncertainSpan(span, score, (), is_in_tree=False) for span, score in scored]

    def _repr_html_(self) -> str:
        """Return HTML for Jupyter: the first trees, and the number of further ones; errors where drawing fails."""
        drawings = [node._drawing() for node in self[:_DRAWN]]
        note = f"<p>{len(self) - _DRAWN:,} more trees</p>" if len(self) > _DRAWN else ""
        return "".join([*(html for html, _ in drawings), note, *dict.fromkeys(why for _, why in drawings)])


def doc_constituency(doc: Doc, key: str | None = None) -> Constituency:
    """Return the root node of each sentence that has words; for one sentence use `span_constituency`.

    key (str or None): Key of `doc.spans`; None for that of `key_of`.
    """
    roots = [span_constituency(doc[start:end], key) for start, end in sentence_bounds(doc)]
    return Constituency(root for root in roots if root is not None)


def span_constituency(span: Span, key: str | None = None) -> Constituent | None:
    """Return the node over the words of a span, whitespace at its edges aside; None if it has no words.

    key (str or None): Key of `doc.spans`; None for that of `key_of`.
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
    start = sentence.words.index(inside[0])
    word_range = (start, start + len(inside))
    if word_range not in sentence.chains:
        raise NonConstituentError(
            f"{shown(span.text)} is not a constituent of the tree of its sentence. Walk the tree from "
            "its root (doc._.constituency) or from a token, or catch this error."
        )
    return Constituent(sentence, word_range)
