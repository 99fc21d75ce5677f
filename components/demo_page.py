"""The page of `spacy-lpcfg serve`: a field for text, and pictures of what a pipeline makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from spacy_lpcfg.components.pictures import Sentence, ask, sentences, spans_html
from spacy_lpcfg.pictures import chart_figure, figure_svg, html_page, surprisal_figure, tree_html
from spacy_lpcfg.pictures.visible import visible

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_lpcfg.components.learned import LearnedPipe

TITLE = "spacy-lpcfg"
MOST_CHARACTERS = 1000
_MOST_WORDS = 60  # of a sentence whose chart is drawn
_STYLE = """
textarea { box-sizing: border-box; font: inherit; height: 5rem; width: 100% }
summary { cursor: pointer; font-weight: bold }
details details summary { font-weight: normal }
.message { background: #fff4d6; padding: .5rem 1rem }
"""


class DemoPage:
    """Makes the page of a text.

    nlp (Language): the pipeline
    component (LearnedPipe): that of its components which parses
    n_best (int): trees of each sentence
    """

    def __init__(self, nlp: Language, component: LearnedPipe, *, n_best: int = 5) -> None:
        self.nlp = nlp
        self.component: Any = component
        self.n_best = n_best

    def __call__(self, text: str) -> str:
        """The page, with a section for each sentence that has words.

        text (str): at most `MOST_CHARACTERS` characters; nothing for the page before any text

        Raises ValueError for more text than that.
        """
        if len(text) > MOST_CHARACTERS:
            raise ValueError(f"This is a text of {len(text):,} characters, and {MOST_CHARACTERS:,} is the most.")
        return page(text, self._sections(text))

    def _sections(self, text: str) -> Iterator[tuple[str, str]]:
        doc = self.nlp(" ".join(text.split()))
        found = list(sentences(doc, self.component.spans_key)) if len(doc) else []
        parts = {
            "Alternatives": (_alternatives, self._answers("n_best", doc, self.n_best)),
            "Posteriors": (_posteriors, self._answers("posteriors", doc)),
            "Surprisal": (_surprisal, self._answers("surprisals", doc)),
        }
        for sentence in found:
            html = [_or_message(tree_html, sentence.tree)]
            for name, (draw, answers) in parts.items():
                answer = answers if isinstance(answers, str) else answers[sentence.number]
                html.append(f"<details open>\n<summary>{name}</summary>\n{_part(draw, sentence, answer)}\n</details>")
            yield sentence.text, "\n".join(html)

    def _answers(self, question: str, doc: Any, *arguments: Any) -> Sequence[Any]:
        """An answer for each sentence; a message where the component has none."""
        try:
            return ask(self.component, question, doc, *arguments)
        except ValueError as error:
            return str(error)


def page(text: str, sections: Iterator[tuple[str, str]] | Sequence[tuple[str, str]] = (), message: str = "") -> str:
    """The page with a text in its field.

    text (str): as it was typed
    sections (iterable of (str, str)): captions in plain text and what stands under them in HTML
    message (str): what went wrong, in plain text
    """
    form = (
        f'<form><textarea name="text" maxlength="{MOST_CHARACTERS}" aria-label="Text" autofocus>\n{escape(text)}'
        "</textarea>\n<button>Parse</button></form>"
    )
    return html_page(TITLE, sections, intro=form + (_message(message) if message else ""), style=_STYLE)


def _message(text: str) -> str:
    return f'<p class="message">{escape(text)}</p>'


def _or_message(draw: Callable[..., str], *arguments: Any) -> str:
    """A picture, or why there is none."""
    try:
        return draw(*arguments)
    except ValueError as error:
        return _message(str(error))


def _part(draw: Callable[..., str], sentence: Sentence, answer: Any) -> str:
    return _message(answer) if isinstance(answer, str) else _or_message(draw, sentence, answer)


# What a sentence has -----------------------------------------------------------------------------


def _alternatives(sentence: Sentence, analyses: Sequence[Any]) -> str:
    """Each tree, folded up below its probability and brackets."""
    return "\n".join(
        f"<details>\n<summary>{100 * each.probability:.1f}%: <code>{escape(visible(str(each.tree)))}</code></summary>\n"
        f"{_or_message(tree_html, each.tree)}\n</details>"
        for each in analyses
    )


def _posteriors(sentence: Sentence, posteriors: Any) -> str:
    if len(sentence.words) > _MOST_WORDS:
        raise ValueError(f"The chart of {len(sentence.words)} words is not drawn: {_MOST_WORDS} are the most.")
    return figure_svg(chart_figure(sentence.words, posteriors)) + spans_html(sentence.words, posteriors)


def _surprisal(sentence: Sentence, bits: Any) -> str:
    return figure_svg(surprisal_figure(sentence.words, bits))
