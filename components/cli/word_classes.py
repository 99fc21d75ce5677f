"""`--classes-from` of the commands that learn parsers: raw text that tells of words which a treebank does not have."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from spacy_lpcfg.words import ClassLearner

ClassesFrom = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        dir_okay=False,
        metavar="TEXT",
        help="Raw text, a sentence a line, for classes of words that the trees do not have.",
    ),
]


def word_classes(text: Path | None, lang: str) -> "ClassLearner | None":
    """Return the learner of a text's classes of words; None without a text."""
    from spacy_lpcfg.components.raw_text import RawText
    from spacy_lpcfg.words import ClassLearner

    return None if text is None else ClassLearner(RawText(text.resolve(), lang))


def class_settings(text: Path | None, lang: str) -> dict[str, Any]:
    """Return the settings by which a learner's config names the text."""
    if text is None:
        return {}
    raw = {"@misc": "spacy-lpcfg.RawText.v1", "path": str(text.resolve()), "lang": lang}
    return {"word_classes": {"@misc": "spacy-lpcfg.WordClasses.v1", "text": raw}}
