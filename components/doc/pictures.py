"""Sentences of Docs, prepared for drawing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy.tokens import Doc

from spacy_lpcfg.components.doc.sentences import sentence_bounds, texts_of, words_of
from spacy_lpcfg.components.doc.view import span_constituency
from spacy_lpcfg.components.model_pipe import ModelPipe

if TYPE_CHECKING:
    from spacy_lpcfg.trees import Tree


class PicturedSentence(NamedTuple):
    """A non-empty sentence of a Doc, with its words, tree and probabilities for drawing.

    number (int): The number of the sentence in the Doc, empty ones included, from 0.
    text (str): The sentence as it stands in the Doc.
    positions (list of int, (n_words,)): Token position in the Doc of each word.
    words (list of str, (n_words,)): The texts of the words.
    tree (Tree): The tree over the words.
    scores (pair of (list of float, or None)): Posterior probabilities of the tree's brackets, and of its tags; each
        None if unknown.
    """

    number: int
    text: str
    positions: list[int]
    words: list[str]
    tree: Tree
    scores: tuple[list[float] | None, list[float] | None]


def sentences(doc: Doc, key: str) -> Iterator[PicturedSentence]:
    """Yield the sentences of a Doc that have words, each with its tree.

    doc (Doc): A parsed Doc.
    key (str): Key of the trees in `doc.spans`.
    RAISES (ValueError): If the Doc has no trees under the key.
    """
    for number, (start, end) in enumerate(sentence_bounds(doc)):
        root = span_constituency(doc[start:end], key)
        if root is not None:
            text, positions = doc[start:end].text.strip(), words_of(doc, start, end)
            yield PicturedSentence(number, text, positions, texts_of(doc, positions), root.tree, root.scores)


def ask(component: ModelPipe, question: str, doc: Doc, *arguments: Any, **settings: Any) -> list[Any]:
    """Call a method of a component on a Doc, such as `posteriors`; return its list of one answer for each sentence.

    component (ModelPipe): The component.
    question (str): The name of the method, such as "posteriors", "n_best" or "surprisals".
    doc (Doc): The first argument of the method; `arguments` and `settings` follow.
    RAISES (ValueError): If the component lacks the method, or its model has no answer.
    """
    method = getattr(component, question, None)
    if method is None:
        raise ValueError(
            f"{component.name!r} has no {question.replace('_', '-')}: ask a pipeline with an lpcfg_parser."
        )
    return method(doc, *arguments, **settings)
