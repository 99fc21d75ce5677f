"""Grammars that come with the package, by language; each has a model card beside it."""

from __future__ import annotations

from pathlib import Path

from spacy_lpcfg.checks import shown
from spacy_lpcfg.combination import model_from_disk
from spacy_lpcfg.parsing.protocol import ParsingModel


def bundled_path(lang: str) -> Path:
    """Where the grammar of a language lies, if there is one."""
    return Path(__file__).parent / f"{lang}.grammar"


def has_bundled(lang: str) -> bool:
    """Whether a grammar for a language comes with the package."""
    return lang.isidentifier() and bundled_path(lang).is_file()


def bundled_grammar(lang: str) -> ParsingModel:
    """The grammar that comes with the package for a language, read anew.

    RAISES (ValueError): If there is none.
    """
    if not has_bundled(lang):
        raise ValueError(
            f"No grammar for the language {shown(lang)} comes with spacy-lpcfg. Learn one from a treebank: "
            "spacy-lpcfg learn lpcfg TREES --output DIR"
        )
    return model_from_disk(bundled_path(lang))
