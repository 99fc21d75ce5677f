"""Tokenization in linear time: spaCy's tokenizer takes quadratic time for marks without blanks between them."""

import re
from collections.abc import Iterator

from spacy.language import Language
from spacy.tokenizer import Tokenizer  # type: ignore[import-not-found]
from spacy.tokens import Doc

MAX_RUN = 1_000
"""The most characters without a blank that the tokenizer is given at once; a longer run is cut."""
_LONG_RUN = re.compile(rf"\S{{{MAX_RUN + 1},}}")


def tokenize(nlp: Language, text: str) -> Doc:
    """Return the tokens of a text; a token never crosses the cuts in runs of more than `MAX_RUN` characters.

    RAISES (ValueError): If the text is longer than `nlp.max_length`.
    """
    if len(text) > nlp.max_length or not isinstance(nlp.tokenizer, Tokenizer) or not _LONG_RUN.search(text):
        return nlp.make_doc(text)
    pieces = [nlp.make_doc(piece) for piece in _pieces(text)]
    kept: list[int | str] = ["NORM"]  # not SENT_START, by which every piece would be a sentence
    doc = Doc.from_docs(pieces, ensure_whitespace=False, attrs=kept)
    doc.tensor = pieces[0].tensor
    return doc


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for run in _LONG_RUN.finditer(text):
        for end in range(run.start() + MAX_RUN, run.end(), MAX_RUN):
            yield text[start:end]
            start = end
    yield text[start:]
