"""The HTML page of `spacy-lpcfg serve`: a text field, and pictures of the parsed text."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode

from spacy_lpcfg.components.doc.pictures import PicturedSentence, ask, sentences
from spacy_lpcfg.parsing.alternatives import show_span, tree_difference
from spacy_lpcfg.pictures import chart_svg, surprisal_svg, tree_html, tree_svg
from spacy_lpcfg.pictures.drawing import label_colour, scrolling
from spacy_lpcfg.pictures.pages import html_page
from spacy_lpcfg.pictures.spans import spans_html
from spacy_lpcfg.trees.labels import PHRASES, TAGS, explain
from spacy_lpcfg.visible import visible

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from spacy_lpcfg.components.model_pipe import ModelPipe
    from spacy_lpcfg.parsing.result import Analysis
    from spacy_lpcfg.trees import Tree

TITLE = "spacy-lpcfg"
SCRIPT = Path(__file__).with_name("demo_page.js").read_text("utf-8")
EMPTY = "The box is empty: type a sentence, or choose an example."
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
_LEAST_SHARE = 0.0001
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
.downloads, .hint { font-size: .9rem }
.downloads a { color: inherit }
.legend { columns: 20rem; list-style: none; padding: 0 }
.legend b { border-radius: 6px; display: inline-block; margin: .1rem .4rem .1rem 0; min-width: 3.5rem;
  padding: 0 .4rem }
select { font: inherit; margin-right: .5rem; padding: .4rem }
.message { background: #a07a1c33; border-radius: 6px; padding: .5rem 1rem }
"""


_DOCS = (
    "The documentation explains the labels (docs/english.md), alternatives and posteriors (docs/probabilities.md), "
    "surprisal (docs/surprisal.md), and this page (docs/pictures.md)."
)


class Form(NamedTuple):
    """State of the page's input form: text field, example links and model menu.

    text (str): The content of the text field.
    examples (sequence of str): Example sentences to link to; an example equal to `text` gets no link.
    models (sequence of str): The names in the model menu, which is shown if there are at least two.
    model (str): The name of the selected model.
    """

    text: str
    examples: Sequence[str] = ()
    models: Sequence[str] = ()
    model: str = ""


class DemoModels:
    """Callable that renders the HTML page of a text, parsed by the model that the user has selected.

    pages (mapping of str to DemoPage): The page renderer of each model by name; the first one is the default.
    """

    def __init__(self, pages: Mapping[str, DemoPage]) -> None:
        self.pages = pages

    def __call__(self, text: str | None, model: str = "") -> str:
        """Return the HTML page of a text.

        text (str or None): As for `DemoPage`.
        model (str): The name of the model; "" for the first one.
        RAISES (ValueError): If no model has this name, and as in `DemoPage`.
        """
        names = list(self.pages)
        chosen = model or names[0]
        if chosen not in names:
            raise ValueError(f"There is no model {chosen!r} here: choose {' or '.join(names)}.")
        page = self.pages[chosen]
        return page(text, Form(text or "", page.examples, names, chosen))


class DemoPage:
    """Callable that parses a text and renders its trees as an HTML page.

    nlp (Language): The pipeline.
    component (ModelPipe): The parser in the pipeline.
    n_best (int): The maximum number of trees that "Alternatives" shows for a sentence.
    """

    def __init__(self, nlp: Language, component: ModelPipe, *, n_best: int = 5) -> None:
        self.nlp = nlp
        self.component = component
        self.n_best = n_best
        self.examples = _examples(nlp.lang or "")

    def __call__(self, text: str | None, form: Form | None = None) -> str:
        """Return the page of a text, with a section for each of the first `MAX_SENTENCES` non-empty sentences.

        text (str or None): A text of at most `MAX_CHARACTERS` characters and `MAX_WORDS` tokens; None parses the first
            example.
        form (Form or None): The input form; None for one with the text and the examples of the language.
        RAISES (ValueError): If the text is too long, or the pipeline cannot parse it.
        """
        form = form or Form(text or "", self.examples)
        if text is not None:
            return self._page(text, form) if text.strip() else page(form, message=EMPTY)
        example = next(iter(self.examples), "")
        if not example:
            return page(form)
        try:
            return self._page(example, form._replace(text=example))
        except ValueError as error:  # such as that this pipeline needs words with tags
            return page(form, message=str(error))

    def _page(self, text: str, form: Form) -> str:
        _check_size(len(text), MAX_CHARACTERS, "characters")
        doc = self.nlp.make_doc(" ".join(text.split()))
        _check_size(len(doc), MAX_WORDS, "words")
        doc = self.nlp(doc)
        non_empty = list(sentences(doc, self.component.spans_key)) if len(doc) else []
        drawn = non_empty[:MAX_SENTENCES]
        message = (
            f"These are the first {len(drawn)} of {len(non_empty)} sentences." if len(non_empty) > len(drawn) else ""
        )
        return page(form, self._sections(doc, drawn), message, _legend([sentence.tree for sentence in drawn]))

    def _sections(self, doc: Doc, drawn: Sequence[PicturedSentence]) -> Iterator[tuple[str, str]]:
        parts = {
            "Alternatives": (_alternatives, self._answers("n_best", doc, self.n_best, tag_variants=False)),
            "Posteriors": (_posteriors, self._answers("posteriors", doc)),
            "Surprisal": (_surprisal, self._answers("surprisals", doc)),
        }
        for sentence in drawn:
            html = [_or_message(tree_html, sentence.tree, *sentence.scores), _downloads(sentence)]
            for name, (draw, answers) in parts.items():
                answer = answers if isinstance(answers, str) else answers[sentence.number]
                html.append(f"<details open>\n<summary>{name}</summary>\n{_part(draw, sentence, answer)}\n</details>")
            yield sentence.text, "\n".join(html)

    def _answers(self, question: str, doc: Doc, *arguments: Any, **settings: Any) -> Sequence[Any]:
        """Call the component's method `question` on a Doc; return its results, or its error message as a str."""
        try:
            return ask(self.component, question, doc, *arguments, **settings)
        except ValueError as error:
            return str(error)


def page(
    form: Form,
    sections: Iterator[tuple[str, str]] | Sequence[tuple[str, str]] = (),
    message: str = "",
    legend: str = "",
) -> str:
    """Render the HTML page: input form, message, sections and legend.

    form (Form): The state of the input form.
    sections (iterable of (str, str)): The caption (plain text) and the content (HTML) of each section.
    message (str): A note below the form, in plain text, such as an error; "" for none.
    legend (str): HTML that explains the labels; "" for none.
    """
    intro = _form(form) + (_message(message) if message else "")
    after = f'{legend}<p class="hint">{_DOCS}</p>\n<script>{SCRIPT}</script>'
    return html_page(TITLE, sections, intro=intro, style=_STYLE, outro=after)


def _form(form: Form) -> str:
    options = [f"<option{' selected' if name == form.model else ''}>{escape(name)}</option>" for name in form.models]
    choice = f'<select name="model" aria-label="Model">{"".join(options)}</select>' if len(options) > 1 else ""
    model = {"model": form.model} if choice else {}
    links = [
        f'<a href="?{urlencode({"text": example, **model}, quote_via=quote)}">{escape(example)}</a>'
        for example in form.examples
        if example != form.text
    ]
    return (
        f'<form autocomplete="off"><textarea name="text" maxlength="{MAX_CHARACTERS}" aria-label="Text" dir="auto" '
        f"autofocus>\n{escape(form.text)}</textarea>\n{choice}<button>Parse</button> "
        '<span class="hint">Enter parses, Shift+Enter begins a new line.</span></form>'
        + (f'<p class="examples">{" ".join(links)}</p>' if links else "")
    )


def _legend(trees: Sequence[Tree]) -> str:
    """Return an HTML list of the known labels in trees with their explanations: phrases first, then tags."""
    labels = {node.label for tree in trees for node in tree.nodes()}
    known = [label for label in {**PHRASES, **TAGS} if label in labels]
    rows = "".join(
        f'<li><b style="background: {label_colour(label) if label in PHRASES else "#76808a"}40">{escape(label)}</b> '
        f"{escape(explain(label) or '')}</li>"
        for label in known
    )
    return f'<details open>\n<summary>Labels</summary>\n<ul class="legend">{rows}</ul>\n</details>' if rows else ""


def _downloads(sentence: PicturedSentence) -> str:
    """Return the HTML of links to download a tree as SVG and as a bracketed tree; the links contain the files."""
    try:
        svg = tree_svg(sentence.tree, *sentence.scores)
    except ValueError:  # of a tree that is too deep to draw
        svg = ""
    files = [("svg", "SVG", "image/svg+xml", svg), ("mrg", "brackets", "text/plain", f"{sentence.tree}\n")]
    links = [
        f'<a download="tree-{sentence.number + 1}.{ending}" '
        f'href="data:{kind};base64,{b64encode(content.encode()).decode()}">{name}</a>'
        for ending, name, kind, content in files
        if content
    ]
    return f'<p class="downloads">Download: {", ".join(links)}</p>'


def _examples(language: str) -> list[str]:
    """Return example sentences: built-in ones for English, otherwise spaCy's for the language; [] if it has none."""
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
    """Return the HTML that `draw` makes, or the HTML of its message if it raises ValueError."""
    try:
        return draw(*arguments)
    except ValueError as error:
        return _message(str(error))


def _part(draw: Callable[..., str], sentence: PicturedSentence, answer: Any) -> str:
    return _message(answer) if isinstance(answer, str) else _or_message(draw, sentence, answer)


# What a sentence has -----------------------------------------------------------------------------


def _alternatives(sentence: PicturedSentence, analyses: Sequence[Analysis]) -> str:
    """Return the HTML of the n best trees, each collapsed, with its probability and its differences from the best tree.

    RAISES (ValueError): If `analyses` is empty, because the tree of the sentence is from a fallback.
    """
    if not analyses:
        raise ValueError("The model itself has no tree for this sentence: the one above is a makeshift.")
    drawn = "\n".join(
        f"<details>\n<summary>{100 * analysis.probability:.3g}%: "
        f"{_marks(sentence.words, analyses[0], analysis)}</summary>\n"
        f"{_or_message(tree_html, analysis.tree)}\n<code>{escape(visible(str(analysis.tree)))}</code>\n</details>"
        for analysis in analyses
    )
    rest = max(0.0, 1.0 - sum(analysis.probability for analysis in analyses))
    share = f"{100 * rest:.2g}%" if rest >= _LEAST_SHARE else f"less than {100 * _LEAST_SHARE:g}%"
    return f'{drawn}\n<p class="hint">All trees that are not shown have {share} of the probability together.</p>'


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
