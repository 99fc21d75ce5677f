"""Sentences of Docs, ready to be drawn, and spans by displaCy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy import displacy
from spacy.tokens import Doc

from spacy_lpcfg.components.constituents import trees
from spacy_lpcfg.components.model_pipe import ModelPipe
from spacy_lpcfg.components.sentences import sentence_bounds, texts_of, words_of
from spacy_lpcfg.pictures.visible import visible

if TYPE_CHECKING:
    from spacy_lpcfg.parsing.result import Posteriors
    from spacy_lpcfg.trees import Tree

LIKELY = 0.5


class PicturedSentence(NamedTuple):
    """A sentence of a Doc that has words.

    number (int): among all sentences of the Doc, from 0
    text (str): as it stands in the Doc
    words (list of str): (n_words,)
    tree (Tree): of the words
    """

    number: int
    text: str
    words: list[str]
    tree: Tree


def sentences(doc: Doc, key: str) -> Iterator[PicturedSentence]:
    """The sentences of a Doc that have words.

    doc (Doc): parsed
    key (str): of `doc.spans`, where the trees are
    """
    for number, ((start, end), tree) in enumerate(zip(sentence_bounds(doc), trees(doc, key), strict=True)):
        if tree is not None:
            yield PicturedSentence(number, doc[start:end].text.strip(), texts_of(doc, words_of(doc, start, end)), tree)


def ask(component: ModelPipe, question: str, doc: Doc, *arguments: Any) -> list[Any]:
    """What a component answers of each sentence of a Doc.

    component (ModelPipe): of a pipeline
    question (str): "posteriors", "n_best" or "surprisals", a method that takes a Doc and the arguments
    RAISES (ValueError): If the component cannot say it.
    """
    method = getattr(component, question, None)
    if method is None:
        raise ValueError(
            f"{component.name!r} has no {question.replace('_', '-')}: ask a pipeline with an lpcfg_parser."
        )
    return method(doc, *arguments)


def spans_html(words: Sequence[str], posteriors: Posteriors, min_probability: float = LIKELY) -> str:
    """Brackets as layers under the words, in the style "span" of displaCy, with their probabilities.

    words (sequence of str): (n_words,)
    posteriors (Posteriors): of the sentence
    min_probability (float): less likely brackets are left out
    RETURNS (str): HTML
    """
    spans = [
        {"start_token": start, "end_token": end, "label": escape(f"{visible(label)}\N{NO-BREAK SPACE}{p:.2f}")}
        for (start, end, label), p in posteriors.brackets.items()
        if p >= min_probability
    ]
    sentence = {"text": "", "tokens": list(map(visible, words)), "spans": spans}
    return displacy.render(sentence, style="span", manual=True, jupyter=False, options={"top_offset_step": 20})
