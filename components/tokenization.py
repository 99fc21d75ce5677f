"""Tokenization on top of spaCy's tokenizer: in linear time, without emoticons that contain a closing parenthesis."""

import re
from collections.abc import Iterator

from spacy.language import Language
from spacy.tokenizer import Tokenizer  # type: ignore[import-not-found]
from spacy.tokens import Doc

MAX_RUN = 1_000
"""The most characters without a blank that the tokenizer is given at once; a longer run is cut."""
_CLOSING = ")]}"
_LONG_RUN = re.compile(rf"\S{{{MAX_RUN + 1},}}")


def tokenize(nlp: Language, text: str) -> Doc:
    """Tokenize a text in linear time, by cutting runs of more than `MAX_RUN` characters without white space.

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


def drop_smileys(nlp: Language) -> None:
    """Make the tokenizer split emoticons such as `8)` and `):`, whose `)` mostly closes a parenthesis except in chats.

    Removes the tokenizer's exceptions that begin with a digit or one of `)]}`, and contain one of `)]}`.
    """
    if isinstance(nlp.tokenizer, Tokenizer):
        nlp.tokenizer.rules = {text: rule for text, rule in nlp.tokenizer.rules.items() if not _is_smiley(text)}


def _is_smiley(text: str) -> bool:
    return (text[0].isdigit() or text[0] in _CLOSING) and any(bracket in text for bracket in _CLOSING)
