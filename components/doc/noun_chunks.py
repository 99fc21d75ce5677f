"""`doc.noun_chunks` from the trees of a Doc without dependencies.

spaCy calls `vocab.get_noun_chunks`, the language's function that reads dependencies, if it has one. `NounChunks`
replaces it, and calls it for a Doc that has dependencies or no trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from spacy.errors import Errors
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_lpcfg.components.doc.tree_group import BRACKETS_KEY, attributes, group_at, keys_of

Chunks = Iterator[tuple[int, int, int]]

LABEL = "NP"
LABELS = frozenset({LABEL, "WHNP"})
_POSSESSIVE = "POS"


@dataclass(frozen=True)
class NounChunks:
    """A callable that yields the noun chunks of a Doc or Span as (start, end, label); it can be pickled.

    of_dependencies (callable or None): The language's function that reads dependencies; None if there is none. It is
        called for a Doc that has dependencies or no trees. Without it, such a Doc raises NotImplementedError.
    """

    of_dependencies: Callable[[Any], Chunks] | None

    def __call__(self, doclike: Doc | Span) -> Chunks:
        doc = doclike.doc if isinstance(doclike, Span) else doclike
        keys = [] if doc.has_annotation("DEP") else [key for key in keys_of(doc) if key != BRACKETS_KEY]
        if keys:
            label = doc.vocab.strings.add(LABEL)
            return ((start, end, label) for start, end in base_phrases(doc, keys[0]) if _is_in(start, end, doclike))
        if self.of_dependencies is None:
            raise NotImplementedError(Errors.E894.format(lang=doc.vocab.lang))
        return self.of_dependencies(doclike)


def offer_noun_chunks(vocab: Vocab, doc: Any = None) -> None:
    """Install `NounChunks` in a vocabulary, so that Docs without dependencies take noun chunks from their trees.

    doc (Doc or None): An existing Doc in which to install it as well.
    """
    if not isinstance(vocab.get_noun_chunks, NounChunks):
        chunker: Any = NounChunks(cast("Callable[[Any], Chunks] | None", vocab.get_noun_chunks))
        vocab.get_noun_chunks = chunker
    if doc is not None and not isinstance(doc.noun_chunks_iterator, NounChunks):
        doc.noun_chunks_iterator = NounChunks(doc.noun_chunks_iterator)


def base_phrases(doc: Doc, key: str) -> Iterator[tuple[int, int]]:
    """Yield the token range [start, end) of each base noun phrase of a Doc, in text order.

    A base noun phrase is an NP or WHNP that contains no other noun phrase except possessors, such as "the dog's".

    key (str): Key of the trees in `doc.spans`.
    RAISES (KeyError): If the Doc has no trees under the key.
    """
    group = group_at(doc, key, 0, None)
    tags = attributes(doc, key).tags or [token.tag_ for token in doc]
    bounds = {(span.start, span.end) for span in group if span.label_ in LABELS}
    phrases = sorted(bounds, key=lambda phrase: (phrase[0], -phrase[1]))
    last = 0
    for i, (start, end) in enumerate(phrases):
        if end > last and all(tags[below - 1] == _POSSESSIVE for below in _ends_below(phrases, i)):
            yield start, end
            last = end


def _ends_below(phrases: list[tuple[int, int]], i: int) -> Iterator[int]:
    """Yield the end positions of the phrases inside the phrase at index `i`."""
    for start, end in islice(phrases, i + 1, None):
        if start >= phrases[i][1]:
            return
        yield end


def _is_in(start: int, end: int, doclike: Doc | Span) -> bool:
    return not isinstance(doclike, Span) or (doclike.start <= start and end <= doclike.end)
