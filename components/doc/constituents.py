"""Trees on a Doc: how they are stored in `doc.spans`, and the nodes by which one looks at them.

`doc.spans[key]` holds one `Span` per bracket, label = category, in pre-order (outer before inner),
sentence by sentence: this order alone determines the trees, unary chains included. The tag of a
word stands in `attrs["tags"]`, or is its `token.tag_` where there are none. The attributes of the
group are plain arrays and lists, so that trees survive `to_bytes`, `DocBin`, pickling and worker processes:

    format (int): 2.
    offsets (int32 array (n_tokens,)): Character at which each token begins, see `tree_group.py`.
    root (str): Label of the artificial root of the treebank's trees, if they have one.
    spellings (list of str): Treebank's spelling of each token, where it is not what `escape_tokens` makes of the text;
        "" for all others.
    tags (list of str): Tag of each token in the trees; "" for whitespace.
    given_tags (list of str): `token.tag_` of each token before a parser wrote its own there; "" where there was none.
    scores (float32 array (n_spans,)): Posterior probability of each span.
    tag_scores (float32 array (n_tokens,)): Posterior probability of each tag, nan for whitespace.
    log_probabilities (float64 array (n_sentences,)): ln P(words) as in `Parse`; nan where there is none.
    tree_probabilities (float64 array (n_sentences,)): P(tree | words) of each sentence's whole tree, as in `Parse`;
        nan where there is none.
    status (list of str): How each sentence was parsed: "parsed", a fall-back, or "empty"; "retokenized" if its tree
        lost brackets to merged tokens.
    surprisal (float64 array (n_tokens,)), end_surprisal (float64 array (n_sentences,)): bits of each
        token and of each sentence's end after what is before it; see `surprisal.py`

Trees of a treebank have only the first four, "root" and "spellings" if needed, and their tags are
`token.tag_`. Trees of a parser have all but "root" and, unless it is asked for them, the last two; "spellings" are
those of the trees that the Doc had before. A key that is absent
means "not annotated"; an empty group means that no sentence has a bracket. Whitespace tokens are
carried, not parsed: a span may surround them, but does not begin or end with one. Artificial roots
(TOP and the like) are no spans: words that no bracket holds together are read as a tree with the
root label "".
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import compress
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup, Token

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.doc.noun_chunks import offer_noun_chunks
from spacy_lpcfg.components.doc.pipe_registry import find_pipe
from spacy_lpcfg.components.doc.sentences import (
    DocSentences,
    given_tags_of,
    sentence_bounds,
    sentence_of,
    texts_of,
    words_of,
)
from spacy_lpcfg.components.doc.tree_group import (
    GIVEN_TAGS,
    KEY,
    SPELLINGS,
    TAGS,
    TREE_PROBABILITIES,
    group_at,
    has_trees_at,
    head_rules_of,
    key_of,
    keys_of,
    set_group,
)
from spacy_lpcfg.components.sentence_rule import set_sentence_starts
from spacy_lpcfg.components.settings import SetTags
from spacy_lpcfg.parsing.alternatives import DOUBTFUL, doubtful_brackets
from spacy_lpcfg.pictures import tree_html, tree_svg, tree_text
from spacy_lpcfg.trees import HeadRules, Tree, dependencies, to_latex, to_nltk
from spacy_lpcfg.trees.dependencies import NO_HEAD
from spacy_lpcfg.trees.transforms import ROOT_LABELS, escape_tokens, strip_root, unescape_token

if TYPE_CHECKING:
    from spacy_lpcfg.parsing.result import Parse

FORMAT = 2
LEFT_OUT = "_left_out"
"""Suffix of a key of `doc.spans` that makes the key of the spans that a threshold left out."""
EMPTY = "empty"
_APART = (
    "doc.spans[{!r}] has no tree of {}: Doc.from_docs put the Doc together from some with trees and some without. "
    "Parse it again, or parse each Doc before."
)
_SHOWN = 40  # characters of a node's text in its repr
_DRAWN = 10  # trees of a Doc in Jupyter

_Bracket = tuple[int, int, str]


class NonConstituentError(ValueError):
    """The words of a span are not one constituent of the tree of their sentence."""


# Writing trees -----------------------------------------------------------------------------------


def set_trees(doc: Doc, trees: Sequence[Tree | None], key: str = KEY) -> None:
    """Write the trees of a treebank to `doc.spans[key]` and `token.tag_`.

    doc (Doc): A Doc with sentence boundaries.
    trees (sequence of Tree or None): A tree for each sentence, rooted or not; None for one without words.
    key (str): Key of `doc.spans`.
    RAISES (ValueError): Unless there is a tree for each sentence and a leaf for each word.
    """
    spans: list[Span] = []
    attrs: dict[str, Any] = {"format": FORMAT}
    tags, spellings = [""] * len(doc), [""] * len(doc)
    for tree, words in zip(trees, _words_per_sentence(doc, trees), strict=True):
        root, tree_below = strip_root(tree) if tree else ("", None)
        brackets = tree_below.spans() if tree_below else []
        spans += _spans(doc, words, brackets[_n_roots(brackets) :])
        _scatter(tags, words, tree_below.tags if tree_below else [])
        _scatter(spellings, words, _spellings(texts_of(doc, words), tree_below.words if tree_below else []))
        if root:
            attrs["root"] = root
    if any(spellings):
        attrs[SPELLINGS] = spellings
    _set_tags(doc, _chosen_tags(tags, [token.tag_ for token in doc], set_tags=True))
    set_group(doc, key, spans, attrs)
    offer_noun_chunks(doc.vocab, doc)


def text_of(word: str) -> str:
    """Return a treebank's word as text; an underscore for a word of white space, which is no word of a Doc."""
    text = unescape_token(word)
    return "_" if text.isspace() else text


def _spellings(texts: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return the treebank's spelling of each text where it is not the one of `escape_tokens`, else ""."""
    usual = escape_tokens(texts)
    return [
        word if word != usual_word and text_of(word) == text else ""
        for word, usual_word, text in zip(words, usual, texts, strict=False)
    ]


def _spellings_before(doc: Doc) -> dict[str, list[str]]:
    """Return the attribute "spellings" of trees that the Doc has already, for new trees over its words; {} if none."""
    candidates = (group_at(doc, key, 0, None).attrs.get(SPELLINGS) for key in keys_of(doc))
    spellings = next(
        (spellings for spellings in candidates if isinstance(spellings, list) and len(spellings) == len(doc)), None
    )
    return {} if spellings is None else {SPELLINGS: spellings}


def set_parses(
    doc: Doc,
    parses: Sequence[Parse | None],
    *,
    sentences: DocSentences | None = None,
    key: str = KEY,
    threshold: float = 0.0,
    set_tags: SetTags = "missing",
) -> None:
    """Write the parses of a Doc's sentences to `doc.spans[key]`, with all scores.

    doc (Doc): A Doc with sentence boundaries.
    parses (sequence of Parse or None): A parse for each sentence; None for one without words.
    sentences (DocSentences): The parsed sentences, whose boundaries are written; None to read them from the Doc.
    key (str): Key of `doc.spans`.
    threshold (float): Spans with a lower posterior are left out, and go to `doc.spans[key + LEFT_OUT]`.
    set_tags ("missing" or bool): Which tags are written to `token.tag_` too, see `Output`.
    RAISES (ValueError): Unless there is a parse for each sentence and a tag for each word.
    """
    spans, scores, tags = [], [np.zeros(0, np.float32)], [""] * len(doc)
    left_out: list[Rival] = []
    tag_scores = np.full(len(doc), np.nan, np.float32)
    if sentences is not None and sentences.starts is not None:
        set_sentence_starts(doc, sentences.starts)
    for parse, positions in zip(
        parses, sentences.words if sentences else _words_per_sentence(doc, parses), strict=True
    ):
        if parse is not None:
            first = _n_roots(parse.spans)
            is_likely = parse.span_scores[first:] >= threshold
            spans += _spans(doc, positions, compress(parse.spans[first:], is_likely.tolist()))
            scores.append(parse.span_scores[first:][is_likely])
            others = _spans(doc, positions, compress(parse.spans[first:], (~is_likely).tolist()))
            left_out += map(Rival, others, parse.span_scores[first:][~is_likely].tolist())
            _scatter(tags, positions, parse.tags)
            tag_scores[positions] = parse.tag_scores
    given = sentences.given_tags if sentences else given_tags_of(doc, key)
    attrs: dict[str, Any] = {
        "format": FORMAT,
        TAGS: tags,
        GIVEN_TAGS: given,
        "scores": np.concatenate(scores),
        "tag_scores": tag_scores,
        "log_probabilities": np.array([p.log_probability if p else np.nan for p in parses]),
        TREE_PROBABILITIES: np.array([p.probability if p else np.nan for p in parses]),
        "status": [parse.status if parse else EMPTY for parse in parses],
        **_spellings_before(doc),
    }
    _set_tags(doc, _chosen_tags(tags, given, set_tags=set_tags))
    set_group(doc, key, spans, attrs)
    _set_left_out(doc, key, left_out)
    offer_noun_chunks(doc.vocab, doc)


def _set_left_out(doc: Doc, key: str, left_out: Sequence[Rival]) -> None:
    """Write the spans that a threshold left out, or remove those of an earlier parse."""
    doc.spans.pop(key + LEFT_OUT, None)
    if left_out:
        scores = np.array([probability for _, probability in left_out], np.float32)
        set_group(doc, key + LEFT_OUT, [span for span, _ in left_out], {"scores": scores})


def _words_per_sentence(doc: Doc, trees: Sequence[Any]) -> list[list[int]]:
    bounds = sentence_bounds(doc)
    if len(bounds) != len(trees):
        raise ValueError(f"Expected a tree for each of {len(bounds)} sentences, got {len(trees)}.")
    return [words_of(doc, start, end) for start, end in bounds]


def _n_roots(brackets: Sequence[_Bracket]) -> int:
    """Return the number of brackets at the front that are artificial roots: 0 or 1."""
    return int(bool(brackets) and brackets[0][2] in ROOT_LABELS)


def _spans(doc: Doc, words: list[int], brackets: Iterable[_Bracket]) -> list[Span]:
    return [Span(doc, words[i], words[j - 1] + 1, label) for i, j, label in brackets]


def _scatter(tags: list[str], words: list[int], tags_of_words: Sequence[str]) -> None:
    """Put the tags of a sentence at the positions of its words."""
    if len(words) != len(tags_of_words):
        raise ValueError(
            f"Expected a tree of {len(words)} words for the sentence with the tokens {words}, got one "
            f"of {len(tags_of_words)} words. Whitespace tokens are not words of a tree."
        )
    for position, tag in zip(words, tags_of_words, strict=True):
        tags[position] = tag


def _chosen_tags(parsed: list[str], given: list[str], *, set_tags: SetTags) -> list[str]:
    """Choose `token.tag_` from the parser's and the given tags; "" for no tag."""
    if set_tags is False:
        return given
    first, second = (parsed, given) if set_tags is True else (given, parsed)
    return [tag or other for tag, other in zip(first, second, strict=True)]


def _set_tags(doc: Doc, tags: list[str]) -> None:
    for token, tag in zip(doc, tags, strict=True):
        if token.tag_ != tag:
            token.tag_ = tag


# Reading trees -----------------------------------------------------------------------------------


def trees(doc: Doc, key: str = KEY) -> list[Tree | None]:
    """Return the trees of a Doc, one a sentence; None for a sentence without words.

    doc (Doc): Annotated under `key`.
    key (str): Key of `doc.spans`.
    RETURNS (list of Tree or None): Words in treebank form (`escape_tokens`).
    RAISES (ValueError): If the Doc is not annotated, or if the spans make no tree.
    """
    sentences = [_sentence(doc, start, end, key) for start, end in sentence_bounds(doc)]
    return [sentence.tree() if sentence.words else None for sentence in sentences]


def rooted_trees(doc: Doc, key: str = KEY) -> list[Tree | None]:
    """Return the trees of a Doc, each with the artificial root on top if the treebank had one; see `trees`."""
    root = _group(doc, key).attrs.get("root", "")
    return [Tree(root, [tree]) if tree and root else tree for tree in trees(doc, key)]


@dataclass(frozen=True)
class _Sentence:
    """The brackets of one sentence; ranges count its words, not the tokens of the Doc.

    doc (Doc): The Doc.
    key (str): Key of `doc.spans`.
    words (tuple of int): Positions of the words in the Doc.
    tags (tuple of str): The tag of each word.
    spellings (tuple of str): The treebank's spelling of each word; "" where it is that of `escape_tokens`.
    brackets (tuple of (start, end, label)): The brackets in pre-order, half-open.
    scores, tag_scores (tuple of float, or None): Posterior probabilities of the brackets, and of the words' tags.
    """

    doc: Doc
    key: str
    words: tuple[int, ...]
    tags: tuple[str, ...]
    spellings: tuple[str, ...]
    brackets: tuple[_Bracket, ...]
    scores: tuple[float, ...] | None
    tag_scores: tuple[float, ...] | None

    @cached_property
    def texts(self) -> list[str]:
        usual = escape_tokens(texts_of(self.doc, self.words))
        return [spelling or word for spelling, word in zip(self.spellings, usual, strict=True)]

    @cached_property
    def chains(self) -> dict[tuple[int, int], list[int]]:
        """Indices of the brackets over each range of words that is a constituent, in pre-order."""
        indices: dict[tuple[int, int], list[int]] = {(0, len(self.words)): []}
        for index, (start, end, _) in enumerate(self.brackets):
            indices.setdefault((start, end), []).append(index)
        for start in range(len(self.words)):
            indices.setdefault((start, start + 1), [])
        return dict(sorted(indices.items(), key=lambda item: (item[0][0], -item[0][1])))

    @cached_property
    def parents(self) -> dict[tuple[int, int], tuple[int, int] | None]:
        """The range of the parent of each constituent, in pre-order; None for the root."""
        parents: dict[tuple[int, int], tuple[int, int] | None] = {}
        above: list[tuple[int, int]] = []
        for start, end in self.chains:
            while above and above[-1][1] <= start:
                above.pop()
            if above and above[-1][1] < end:
                raise ValueError(f"The spans over words {above[-1]} and {(start, end)} cross.")
            parents[start, end] = above[-1] if above else None
            above.append((start, end))
        return parents

    @property
    def tree_probability(self) -> float | None:
        """P(tree | words) of the tree that the parser chose; None where it is not known."""
        probabilities = _group(self.doc, self.key).attrs.get(TREE_PROBABILITIES, ())
        starts = self.doc.to_array("SENT_START")[1:] == 1
        if len(probabilities) != 1 + np.count_nonzero(starts):  # none, or sentences have changed since
            return None
        probability = float(probabilities[np.count_nonzero(starts[: self.words[0]])])
        return None if isnan(probability) else probability

    def unparsed(self) -> Doc:
        """Return the sentence as a Doc of its own, with the tags that it had before it was parsed."""
        first, end = self.words[0], self.words[-1] + 1
        alone = self.doc[first:end].as_doc()
        _set_tags(alone, given_tags_of(self.doc, self.key)[first:end])
        return alone

    def posteriors(self) -> dict[_Bracket, float]:
        """Return probabilities of the brackets that the sentence may have, by the component that wrote the tree.

        RAISES (ValueError): If there is no such component.
        """
        pipe = find_pipe(self.doc, self.key)
        if pipe is None:
            raise ValueError(
                f"The component that writes doc.spans[{self.key!r}] is not there to be asked: keep its pipeline, "
                "which shares the Doc's vocabulary, as long as you ask for alternatives."
            )
        posteriors = pipe.posteriors(self.unparsed())[0]
        return posteriors.brackets if posteriors else {}

    def span(self, start: int, end: int, label: str) -> Span:
        """Return the Span of a bracket."""
        return Span(self.doc, self.words[start], self.words[end - 1] + 1, label)

    def tree(self, start: int = 0, end: int | None = None) -> Tree:
        """Return the tree over the words of [start, end), a constituent."""
        end = len(self.words) if end is None else end
        inside = [(i - start, j - start, label) for i, j, label in self.brackets if start <= i and j <= end]
        if not self.chains[start, end] and end - start > 1:
            inside.insert(0, (0, end - start, ""))
        return Tree.from_spans(self.texts[start:end], self.tags[start:end], inside)


def _sentence(doc: Doc, start: int, end: int, key: str) -> _Sentence:
    """Read the sentence at tokens [start, end)."""
    group = _group(doc, key, start, end)
    words = words_of(doc, start, end)
    if words and not has_trees_at(doc, key, words[0]):
        raise ValueError(_APART.format(key, shown(doc[start:end].text)))
    starts = _Starts(group)
    first, last = bisect_left(starts, start), bisect_left(starts, end)
    spans = [group[i] for i in range(first, last)]
    tags, spellings, scores, tag_scores = map(group.attrs.get, (TAGS, SPELLINGS, "scores", "tag_scores"))
    return _Sentence(
        doc,
        key,
        tuple(words),
        tuple(doc[i].tag_ if tags is None else tags[i] for i in words),
        tuple("" if spellings is None else spellings[i] for i in words),
        tuple((bisect_left(words, span.start), bisect_left(words, span.end), span.label_) for span in spans),
        None if scores is None else tuple(float(score) for score in scores[first:last]),
        None if tag_scores is None else tuple(float(tag_scores[i]) for i in words),
    )


class _Starts(Sequence[int]):
    """First tokens of the spans of a group that fits its Doc, which are in order, for bisection."""

    def __init__(self, group: SpanGroup) -> None:
        self.group = group

    def __len__(self) -> int:
        return SpanGroup.__len__(self.group)

    def __getitem__(self, index: Any) -> Any:
        return SpanGroup.__getitem__(self.group, index).start


def _group(doc: Doc, key: str, start: int = 0, end: int = 0) -> SpanGroup:
    """Return the annotation of a Doc, fitted to the tokens at [start, end) and checked against the Doc."""
    if key not in doc.spans:
        raise ValueError(
            f"This Doc has no constituents: doc.spans has the keys {sorted(doc.spans)}, but not "
            f"{key!r}. Run a pipeline with a component that sets it, such as 'lpcfg_parser'; in place of a Doc that "
            "`span.as_doc()` made, use the span: `span._.constituency`."
        )
    group = group_at(doc, key, start, end)
    if group.attrs.get("format", FORMAT) != FORMAT:
        raise ValueError(
            f"doc.spans[{key!r}] has format {shown(group.attrs['format'])}, but this version reads "
            f"{FORMAT}: upgrade spacy-lpcfg, or parse the text again."
        )
    attrs = group.attrs
    per_token = [(name, len(doc)) for name in (TAGS, GIVEN_TAGS, SPELLINGS, "tag_scores", "surprisal")]
    for name, length in (("scores", len(group)), *per_token):
        if len(attrs.get(name, range(length))) != length:
            raise ValueError(
                f"doc.spans[{key!r}] needs {length} {name}, but its attrs have "
                f"{len(attrs[name])}: spans or tokens changed after parsing. Change "
                f"attrs[{name!r}] with them, or remove it."
            )
    return group


# Views of a tree ---------------------------------------------------------------------------------


class TokenDependency(NamedTuple):
    """A token with its head and the label of the dependency.

    token (Token): A word.
    head (Token): Its head, as `token.head`: the word itself where there is none.
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
    """A bracket of a tree that may be wrong, or one that the tree may lack wrongly.

    span (Span): The words, with the label.
    probability (float): Posterior probability of the bracket.
    rivals (tuple of Rival): The likely brackets that exclude it, likeliest first; () if it may simply be there or not.
    is_in_tree (bool): Whether the tree has the bracket.
    """

    span: Span
    probability: float
    rivals: tuple[Rival, ...]
    is_in_tree: bool


@dataclass(frozen=True, repr=False)
class Constituent:
    """A node of a tree on a Doc: a range of words with the labels of all brackets over just it.

    It is a sequence of its children; a word, which has none, is true nevertheless.
    """

    _sentence: _Sentence
    _range: tuple[int, int]

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the unary chain, outermost first; () for a word that has only its tag."""
        brackets, chain = self._sentence.brackets, self._sentence.chains[self._range]
        return tuple(brackets[index][2] for index in chain)

    @property
    def label(self) -> str:
        """The outermost label; without one, the tag of a word, and "" of words that no bracket holds together."""
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
        """Probability that the node is right; None where nothing is known.

        Of a root it is P(tree | words), the probability of the sentence's whole tree with its tags, of which brackets
        that a threshold left out are part. None if the model has no distribution over whole trees (a spectral grammar
        without evidence, a bracketer) or no tree over the whole sentence (`status`). Of any other node it is
        `label_probability`.
        """
        is_root = self._range == (0, len(self._sentence.words))
        return self._sentence.tree_probability if is_root else self.label_probability

    @property
    def label_probability(self) -> float | None:
        """Posterior probability of the `label` over these words; None where nothing is known."""
        start, end = self._range
        chain = self._sentence.chains[self._range]
        scores = self._sentence.scores if chain else self._sentence.tag_scores
        if scores is None or (end > start + 1 and not chain):
            return None
        score = scores[chain[0] if chain else start]
        return None if isnan(score) else score  # a merged token has no score of its tag

    @property
    def alternatives(self) -> dict[str, float]:
        """Posterior probability of each label that brackets over these words may have, likeliest first.

        Of the node's own labels too; labels may stand over each other, so that they need not add up to 1. The component
        that wrote the tree, and that shares the Doc's vocabulary, parses the sentence again for it.
        RAISES (ValueError): If there is no such component.
        """
        posteriors = self._sentence.posteriors().items()
        of_words = [(label, p) for (start, end, label), p in posteriors if (start, end) == self._range]
        return dict(sorted(of_words, key=lambda item: -item[1]))

    def uncertain(self, threshold: float = DOUBTFUL) -> list[UncertainSpan]:
        """Return the brackets within this node that are in doubt, in pre-order, with their rivals.

        They are brackets of the tree that may be wrong, and brackets that the tree lacks and that may be right. The
        component that wrote the tree parses the sentence again for it, as for `alternatives`.

        threshold (float): A bracket of the tree is in doubt if its probability is lower, and another one if its absence
            is less probable than that: if its own probability is above 1 - threshold (and at least `LIKELY_RIVAL`).
        RAISES (ValueError): If the tree has no probabilities, or if its component is not there.
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
        """The word that is the head: that of the head child, down to a word."""
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
        """Posterior probabilities of the brackets and of the tags of `tree`, in its order; None where there are none.

        The bracket without a label around words that no bracket holds together has the probability nan.
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
        """Return HTML for Jupyter: the drawing, or brackets and the reason why there is no drawing."""
        return Constituency([self])._repr_html_()

    def _drawing(self) -> tuple[str, str]:
        """Return the drawing as HTML, or else brackets, and why."""
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
        group = group_at(self[0]._sentence.doc, self[0]._sentence.key + LEFT_OUT, 0, None)
        scored = zip(group, group.attrs["scores"].tolist(), strict=True)
        return [UncertainSpan(span, score, (), is_in_tree=False) for span, score in scored]

    def _repr_html_(self) -> str:
        """Return the drawings of the first trees, how many more there are, and why there are no drawings, if so."""
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
    RAISES (ValueError): As `trees`.
    """
    doc = span.doc
    key = key_of(doc) if key is None else key
    _group(doc, key)
    inside = words_of(doc, span.start, span.end)
    if not inside:
        return None
    sent = sentence_of(doc[inside[0]])
    sentence = _sentence(doc, sent.start, sent.end, key)
    start = sentence.words.index(inside[0])
    word_range = (start, start + len(inside))
    if word_range not in sentence.chains:
        raise NonConstituentError(
            f"{shown(span.text)} is not a constituent of the tree of its sentence. Walk the tree from "
            "its root (doc._.constituency) or from a token, or catch this error."
        )
    return Constituent(sentence, word_range)
