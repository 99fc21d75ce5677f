"""Storage of trees in `doc.spans`: its format, and functions that write it; `read.py` and `view.py` read it.

`doc.spans[key]` holds one `Span` per bracket, label = category, in pre-order (outer before inner),
sentence by sentence: this order determines the trees, unary chains included. The tag of a
word is in `attrs["tags"]`, or, if the group has no tags, in its `token.tag_`. The attributes of the
group are plain arrays and lists, so that trees survive `to_bytes`, `DocBin`, pickling and worker processes:

    format (int): 2.
    offsets (int32 array (n_tokens,)): Character at which each token begins, see `retokenization.py`.
    root (str): Label of the artificial root of the treebank's trees, if they have one.
    sent_ids (list of str): The ID of each sentence, if there are IDs; "" for a sentence without an ID.
    multiwords (list of str): Multiword tokens of the text, such as "du" for the tokens de and le, as `SourceText` has
        them, if there are any.
    spellings (list of str): Treebank's spelling of each token; "" where `escape_tokens` makes the same from the text.
    tags (list of str): Tag of each token in the trees; "" for whitespace.
    given_tags (list of str): `token.tag_` of each token before a parser wrote tags there; "" for no tag.
    scores (float32 array (n_spans,)): Posterior probability of each span.
    tag_scores (float32 array (n_tokens,)): Posterior probability of each tag, nan for whitespace.
    log_probabilities (float64 array (n_sentences,)): ln P(words) in nats, as in `Parse`; nan if unknown.
    tree_probabilities (float64 array (n_sentences,)): P(tree | words) of each sentence's whole tree, as in `Parse`;
        nan if unknown.
    status (list of str): How each sentence was parsed: "parsed", a fall-back, or "empty"; "retokenized" if its tree
        lost brackets to merged tokens.
    surprisal (float64 array (n_tokens,)): Surprisal of each token given the tokens before it, in bits; see
        `surprisal.py`.
    end_surprisal (float64 array (n_sentences,)): Surprisal of the end of each sentence, in bits.

Trees of a treebank always have "format" and "offsets", the attributes from "root" to "spellings" if the treebank has
them, and no others; tags are in `token.tag_`. Trees of a parser have all attributes but "root"; surprisals only once
they were requested, and "sent_ids", "multiwords" and "spellings" only if the Doc had them before. A key that is absent
means "not annotated"; an empty group means that no sentence has a bracket. Whitespace tokens are
not parsed: a span may surround them, but does not begin or end with one. Artificial roots
(TOP and the like) are no spans: words that no bracket holds together are read as a tree with the
root label "".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.tokens import Doc, Span

from spacy_lpcfg.components.doc.noun_chunks import offer_noun_chunks
from spacy_lpcfg.components.doc.sentences import (
    MULTIWORDS,
    SENT_IDS,
    DocSentences,
    given_tags_of,
    multiwords_of,
    sent_ids_of,
    sentence_bounds,
    texts_of,
    words_of,
    write_tags,
)
from spacy_lpcfg.components.doc.tree_group import FORMAT, KEY, LEFT_OUT, attributes, keys_of, set_group
from spacy_lpcfg.components.sentence_rule import set_sentence_starts
from spacy_lpcfg.components.settings import SetTags
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.trees.transforms import ROOT_LABELS, escape_tokens, strip_root, unescape_token

if TYPE_CHECKING:
    from spacy_lpcfg.bracketing.bracketer import Brackets
    from spacy_lpcfg.parsing.result import Parse

EMPTY = "empty"


def set_trees(doc: Doc, trees: Sequence[Tree | None], key: str = KEY) -> None:
    """Write the trees of a treebank to `doc.spans[key]` and `token.tag_`.

    doc (Doc): A Doc with sentence boundaries.
    trees (sequence of (Tree or None)): A tree for each sentence, with or without artificial root; None for a sentence
        without words.
    key (str): Key of `doc.spans`.
    RAISES (ValueError): Unless there is a tree for each sentence and a leaf for each word.
    """
    spans: list[Span] = []
    root = None
    tags, spellings = [""] * len(doc), [""] * len(doc)
    for tree, words in zip(trees, _words_per_sentence(doc, trees), strict=True):
        label, tree_below = strip_root(tree) if tree else ("", None)
        _scatter(tags, words, tree_below.tags if tree_below else [])
        brackets = tree_below.spans() if tree_below else []
        spans += _spans(doc, words, brackets[_n_roots(brackets) :])
        _scatter(spellings, words, _spellings(texts_of(doc, words), tree_below.words if tree_below else []))
        root = label or root
    write_tags(doc, _chosen_tags(tags, [token.tag_ for token in doc], set_tags=True))
    source = _attributes_before(doc) | _source_attributes(doc, trees)
    source["spellings"] = spellings if any(spellings) else None
    set_group(doc, key, spans, format=FORMAT, root=root, **source)
    offer_noun_chunks(doc.vocab, doc)


def text_of(word: str) -> str:
    """Return a treebank's word as in text, without escapes such as -LRB-; "_" for a word of white space.

    A Doc cannot have a word of white space.
    """
    text = unescape_token(word)
    return "_" if text.isspace() else text


def _spellings(texts: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return the treebank's spelling of each text; "" where `escape_tokens` would make the same spelling."""
    usual = escape_tokens(texts)
    return [
        word if word != usual_word and text_of(word) == text else ""
        for word, usual_word, text in zip(words, usual, texts, strict=False)
    ]


def _source_attributes(doc: Doc, trees: Sequence[Tree | None]) -> dict[str, list[str] | None]:
    """Return the sentence IDs and the multiword tokens of trees as attributes of a group; only those that exist."""
    sources = [tree.source if tree else None for tree in trees]
    multiwords = [""] * len(doc)
    for source, words in zip(sources, _words_per_sentence(doc, trees), strict=True):
        if source and source.text and source.text.multiwords:
            _scatter(multiwords, words, source.text.multiwords)
    sent_ids = [source.sent_id if source else "" for source in sources]
    return {name: texts for name, texts in ((SENT_IDS, sent_ids), (MULTIWORDS, multiwords)) if any(texts)}


def _attributes_before(doc: Doc) -> dict[str, list[str] | None]:
    """Return the spellings, sentence IDs and multiword tokens of a Doc, which new trees keep; None for missing ones."""
    kept = (attributes(doc, key).spellings for key in keys_of(doc))
    spellings = next((each for each in kept if isinstance(each, list) and len(each) == len(doc)), None)
    return {"spellings": spellings, SENT_IDS: sent_ids_of(doc), MULTIWORDS: multiwords_of(doc)}


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
    sentences (DocSentences or None): The parsed sentences, whose boundaries are written; None to read them from the
        Doc.
    key (str): Key of `doc.spans`.
    threshold (float): Spans with a posterior below it are left out, and go to `doc.spans[key + LEFT_OUT]`.
    set_tags ("missing" or bool): Which tags are also written to `token.tag_`, see `Output`.
    RAISES (ValueError): Unless there is a parse for each sentence and a tag for each word.
    """
    if sentences is not None and sentences.starts is not None:
        set_sentence_starts(doc, sentences.starts)
    positions = sentences.positions if sentences else _words_per_sentence(doc, parses)
    given = sentences.given_tags if sentences else given_tags_of(doc, key)
    spans, scores, tags, tag_scores = _scored(doc, parses, positions)
    is_likely = scores >= threshold
    before = _attributes_before(doc)
    write_tags(doc, _chosen_tags(tags, given, set_tags=set_tags))
    set_group(
        doc,
        key,
        [*compress(spans, is_likely.tolist())],
        format=FORMAT,
        tags=tags,
        given_tags=given,
        scores=scores[is_likely],
        tag_scores=tag_scores,
        log_probabilities=np.array([p.log_probability if p else np.nan for p in parses]),
        tree_probabilities=np.array([p.probability if p else np.nan for p in parses]),
        status=[parse.status if parse else EMPTY for parse in parses],
        **before,
    )
    if threshold > 0:  # also where nothing is left out, for `Doc.from_docs`
        set_group(doc, key + LEFT_OUT, [*compress(spans, (~is_likely).tolist())], scores=scores[~is_likely])
    offer_noun_chunks(doc.vocab, doc)


def _scored(
    doc: Doc, parses: Sequence[Parse | None], words: Sequence[Sequence[int]]
) -> tuple[list[Span], np.ndarray, list[str], np.ndarray]:
    """Return the spans of all parses with their scores, and the tags of all tokens with their scores.

    words (sequence of sequence of int): Token positions of the words of each sentence.
    RETURNS (list of Span), (float32, (n_spans,)), (list of str), (float32, (n_tokens,)): The tag of white space is "",
        and its score nan.
    """
    spans, scores, tags = list[Span](), [np.zeros(0, np.float32)], [""] * len(doc)
    tag_scores = np.full(len(doc), np.nan, np.float32)
    for parse, positions in zip(parses, words, strict=True):
        if parse is not None:
            first = _n_roots(parse.spans)
            spans += _spans(doc, positions, parse.spans[first:])
            scores.append(parse.span_scores[first:])
            _scatter(tags, positions, parse.tags)
            tag_scores[positions] = parse.tag_scores
    return spans, np.concatenate(scores), tags, tag_scores


def _words_per_sentence(doc: Doc, trees: Sequence[Any]) -> list[list[int]]:
    bounds = sentence_bounds(doc)
    if len(bounds) != len(trees):
        raise ValueError(f"Expected a tree for each of {len(bounds)} sentences, got {len(trees)}.")
    return [words_of(doc, start, end) for start, end in bounds]


def _n_roots(brackets: Sequence[tuple[int, int, str]]) -> int:
    """Return 1 if the first bracket is an artificial root, otherwise 0."""
    return int(bool(brackets) and brackets[0][2] in ROOT_LABELS)


def _spans(doc: Doc, words: Sequence[int], brackets: Iterable[tuple[int, int, str]]) -> list[Span]:
    return [Span(doc, words[i], words[j - 1] + 1, label) for i, j, label in brackets]


def _scatter(tags: list[str], words: Sequence[int], tags_of_words: Sequence[str]) -> None:
    """Write the tags (or other texts) of a sentence's words to their token positions, in place.

    RAISES (ValueError): If the number of tags differs from the number of words.
    """
    if len(words) != len(tags_of_words):
        raise ValueError(
            f"Expected a tree of {len(words)} words for the sentence with the tokens {words}, got one "
            f"of {len(tags_of_words)} words. Whitespace tokens are not words of a tree."
        )
    for position, tag in zip(words, tags_of_words, strict=True):
        tags[position] = tag


def _chosen_tags(parsed: list[str], given: list[str], *, set_tags: SetTags) -> list[str]:
    """Choose `token.tag_` for each token from the tag in the tree and the given tag; "" for no tag."""
    if set_tags is False:
        return given
    first, second = (parsed, given) if set_tags is True else (given, parsed)
    return [tag or other for tag, other in zip(first, second, strict=True)]


def set_brackets(
    doc: Doc,
    sentences: Sequence[Sequence[int]],
    brackets: Sequence[Brackets],
    status: Sequence[str],
    *,
    label: str,
    key: str,
    tags: Sequence[Sequence[str]] | None = None,
) -> None:
    """Write the unlabelled constituents (brackets) of a Doc's sentences to `doc.spans[key]`, with their scores.

    doc (Doc): A Doc with sentence boundaries.
    sentences (sequence of sequence of int): Token positions of the words of each sentence.
    brackets (sequence of Brackets): The spans and scores of each sentence.
    status (sequence of str): How each sentence was bracketed: "parsed", "segmented" or "empty".
    label (str): The label that all brackets get.
    key (str): Key of `doc.spans`.
    tags (sequence of sequence of str, or None): Tags of the words of each sentence; None for `token.tag_`.
    RAISES (ValueError): Unless there is a tag for each word.
    """
    spans, tags_of_tokens = list[Span](), [""] * len(doc)
    for i, (words, (word_spans, _)) in enumerate(zip(sentences, brackets, strict=True)):
        spans += _spans(doc, words, [(start, end, label) for start, end in word_spans])
        if tags is not None:
            _scatter(tags_of_tokens, words, tags[i])
    scores = np.array([score for _, scores in brackets for score in scores], dtype=np.float32)
    written = None if tags is None else tags_of_tokens
    before = _attributes_before(doc)
    set_group(doc, key, spans, format=FORMAT, scores=scores, status=list(status), tags=written, **before)
