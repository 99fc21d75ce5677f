"""Tags of emoji and other unknown symbols, which models of English treebanks would otherwise tag as punctuation."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from unicodedata import category

from spacy_lpcfg.parsing.query import Tags

_TAGS = {"en": ("UH", "SYM")}
"""For each language the tag of emoji, which stand where interjections do, and the tag of other symbols."""
_EMOJI = re.compile("[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]")
_CATEGORIES = {"So", "Sm", "Sk", "Mn", "Me", "Cf"}  # symbols but currency, and what modifies and joins emoji


def symbol_tags(words: Sequence[str], known: Container[str], lang: str) -> Tags | None:
    """Tag emoji and other symbols that a model does not know: in English UH for emoji, SYM for other symbols.

    Symbols of ASCII characters alone, such as "+", and currency signs get no tag.

    words (sequence of str): The words, as in the text.
    known (container of str): The words that the model knows.
    lang (str): The code of the language, such as "en". Other languages than English have no such tags.
    RETURNS (list of (str or None), or None): A tag for each unknown symbol, None for any other word; None instead
        of the list if no word gets a tag.
    """
    if lang not in _TAGS:
        return None
    emoji, symbol = _TAGS[lang]
    tags = [
        (emoji if _EMOJI.search(word) else symbol) if word not in known and _is_symbol(word) else None for word in words
    ]
    return tags if any(tags) else None


def _is_symbol(word: str) -> bool:
    return not word.isascii() and all(category(char) in _CATEGORIES for char in word)
