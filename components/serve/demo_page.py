"""The HTML page of `spacy-lpcfg serve`: a text field, and pictures of the parsed text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from spacy_lpcfg.components.doc.pictures import PicturedSentence, ask, sentences
from spacy_lpcfg.parsing.alternatives import show_span, tree_difference
from spacy_lpcfg.pictures import chart_svg, surprisal_svg, tree_html
from spacy_lpcfg.pictures.drawing import scrolling
from spacy_lpcfg.pictures.pages import html_page
from spacy_lpcfg.pictures.spans import spans_html
from spacy_lpcfg.visible import visible

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from spacy_lpcfg.components.model_pipe import ModelPipe
    from spacy_lpcfg.parsing.result import Analysis

TITLE = "spacy-lpcfg"
MAX_CHARACTERS = 1000
MAX_WORDS = 200
MAX_SENTENCES = 5
_MOST_EXAMPLES = 4
_ENGLISH = (
    "The old ferry that my sister missed was sold to people in Norway.",
    "I saw the man with the telescope.",
    "Time flies like an arrow.",
    "She said that he left yesterday.",
)
_MAX_DRAWN = 60  # words of a sentence whose chart and surprisal are drawn
_STYLE = """
textarea { background: transparent; border: 1px solid var(--line); border-radius: 6px; box-sizing: border-box;
  color: inherit; font: inherit; height: 5rem; padding: .5rem .75rem; width: 100% }
button { background: #2a6f9e; border: 0; border-radius: 6px; color: #fff; cursor: pointer; font: inherit;
  margin: .25rem 0; padding: .5rem 1.25rem }
.examples a { border: 1px solid var(--line); border-radius: 6px; color: inherit; display: inline-block;
  margin: .25rem .25rem .25rem 0; padding: .25rem .75rem; text-decoration: none }
details { margin: .75rem 0; overflow-x: auto }
summary { cursor: pointer; font-weight: 600 }
details details { margin: .25rem 0 .25rem 1rem }
details details summary { font-weight: normal }
ins { background: #2f8f7a33; border-radius: 4px; padding: 0 .2rem; text-decoration: none }
del { opacity: .6 }
.message { background: #a07a1c33; border-radius: 6px; padding: .5rem 1rem }
"""


class DemoPage:
    """A function from a text to an HTML page of its trees.

    nlp (Language): The pipeline.
    component (ModelPipe): The component of the pipeline that parses.
    n_best (int): Trees of each sentence.
    tag_variants (bool): Whether trees that differ in tags alone are among them.
    """

    def __init__(self, nlp: Language, component: ModelPipe, *, n_best: int = 5, tag_variants: bool = False) -> None:
        self.nlp = nlp
        self.component = component
        self.n_best = n_best
        self.tag_variants = tag_variants
        self.examples = _examples(nlp.lang or "")

    def __call__(self, text: str) -> str:
        """Return the page of a text, with a section for each of the first `MAX_SENTENCES` non-empty sentences.

        text (str): At most `MAX_CHARACTERS` characters and `MAX_WORDS` tokens; nothing for an example.
        RAISES (ValueError): If the text is longer.
        """
        if text.strip():
            return self._page(text)
        try:
            return self._page(next(iter(self.examples), ""))
        except ValueError as error:  # such as that this pipeline needs words with tags
            return page("", message=str(error))

    def _page(self, text: str) -> str:
        _check_size(len(text), MAX_CHARACTERS, "characters")
        doc = self.nlp.make_doc(" ".join(text.split()))
        _check_size(len(doc), MAX_WORDS, "words")
        doc = self.nlp(doc)
        non_empty = list(sentences(doc, self.component.spans_key)) if len(doc) else []
        drawn = non_empty[:MAX_SENTENCES]
        message = (
            f"These are the first {len(drawn)} of {len(non_empty)} sentences." if len(non_empty) > len(drawn) else ""
        )
        return page(text, self._sections(doc, drawn), message, self.examples)

    def _sections(self, doc: Doc, drawn: Sequence[PicturedSentence]) -> Iterator[tuple[str, str]]:
        parts = {
            "Alternatives": (_alternatives, self._answers("n_best", doc, self.n_best, tag_variants=self.tag_variants)),
            "Posteriors": (_posteriors, self._answers("posteriors", doc)),
            "Surprisal": (_surprisal, self._answers("surprisals", doc)),
        }
        for sentence in drawn:
            html = [_or_message(tree_html, sentence.tree, *sentence.scores)]
            for name, (draw, answers) in parts.items():
                answer = answers if isinstance(answers, str) else answers[sentence.number]
                html.append(f"<details open>\n<summary>{name}</summary>\n{_part(draw, sentence, answer)}\n</details>")
            yield sentence.text, "\n".join(html)

    def _answers(self, question: str, doc: Doc, *arguments: Any, **settings: Any) -> Sequence[Any]:
        """Return the component's answer for each sentence, or a message if it has none."""
        try:
            return ask(self.component, question, doc, *arguments, **settings)
        except ValueError as error:
            return str(error)


def page(
    text: str,
    sections: Iterator[tuple[str, str]] | Sequence[tuple[str, str]] = (),
    message: str = "",
    examples: Sequence[str] = (),
) -> str:
    """Return the HTML page with a text in its field.

    text (str): The text as it was typed.
    sections (iterable of (str, str)): Captions in plain text and what stands under them in HTML.
    message (str): A note below the field, in plain text, such as the reason why there are no pictures.
    examples (sequence of str): Sentences to click; that in the field is left out.
    """
    form = (
        f'<form><textarea name="text" maxlength="{MAX_CHARACTERS}" aria-label="Text" autofocus>\n{escape(text)}'
        "</textarea>\n<button>Parse</button></form>"
    )
    links = [f'<a href="?text={quote(example)}">{escape(example)}</a>' for example in examples if example != text]
    form += f'<p class="examples">{" ".join(links)}</p>' if links else ""
    return html_page(TITLE, sections, intro=form + (_message(message) if message else ""), style=_STYLE)


def _examples(language: str) -> list[str]:
    """Return example sentences: our own in English, else those of spaCy for the language, if it has some."""
    if language == "en":
        return list(_ENGLISH)
    try:
        return list(import_module(f"spacy.lang.{language}.examples").sentences[:_MOST_EXAMPLES])
    except ImportError:
        return []


def _check_size(n: int, most: int, what: str) -> None:
    if n > most:
        raise ValueError(f"This is a text of {n:,} {what}, and {most:,} is the most.")


def _message(text: str) -> str:
    return f'<p class="message">{escape(text)}</p>'


def _or_message(draw: Callable[..., str], *arguments: Any) -> str:
    """Return a picture, or the message of the error that prevents it."""
    try:
        return draw(*arguments)
    except ValueError as error:
        return _message(str(error))


def _part(draw: Callable[..., str], sentence: PicturedSentence, answer: Any) -> str:
    return _message(answer) if isinstance(answer, str) else _or_message(draw, sentence, answer)


# What a sentence has -----------------------------------------------------------------------------


def _alternatives(sentence: PicturedSentence, analyses: Sequence[Analysis]) -> str:
    """Return the HTML of alternative trees, each folded, with its probability and its differences to the best one."""
    if not analyses:
        raise ValueError("The model itself has no tree for this sentence: the one above is a makeshift.")
    return "\n".join(
        f"<details>\n<summary>{100 * analysis.probability:.3g}%: "
        f"{_marks(sentence.words, analyses[0], analysis)}</summary>\n"
        f"{_or_message(tree_html, analysis.tree)}\n<code>{escape(visible(str(analysis.tree)))}</code>\n</details>"
        for analysis in analyses
    )


def _marks(words: Sequence[str], likeliest: Analysis, analysis: Analysis) -> str:
    difference = tree_difference(likeliest.tree, analysis.tree)
    marks = [
        f"<{tag}>{escape(visible(show_span(words, span)))}</{tag}>"
        for tag, spans in (("ins", difference.added), ("del", difference.missing))
        for span in spans
    ]
    return " ".join(marks) or "the most probable tree"


def _posteriors(sentence: PicturedSentence, posteriors: Any) -> str:
    _check_drawn(sentence, "chart")
    return spans_html(sentence.words, posteriors) + scrolling(chart_svg(sentence.words, posteriors))


def _surprisal(sentence: PicturedSentence, bits: Any) -> str:
    _check_drawn(sentence, "surprisal")
    return scrolling(surprisal_svg(sentence.words, bits))


def _check_drawn(sentence: PicturedSentence, what: str) -> None:
    n = len(sentence.words)
    if n > _MAX_DRAWN:
        raise ValueError(f"The {what} of {n} words is not drawn: {_MAX_DRAWN} are the most.")
