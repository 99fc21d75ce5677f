"""`spacy-lpcfg render`: draw trees, probabilities of a model, or the course of its learning."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

import typer

from spacy_lpcfg.checks import counted
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import progress, reporting_errors
from spacy_lpcfg.components.cli.shared.files import STDIN, check_input
from spacy_lpcfg.components.cli.shared.formats import checked_target
from spacy_lpcfg.components.cli.shared.pipelines import find_parser, find_parser_or_bracketer, load_pipeline, queries_of
from spacy_lpcfg.components.cli.shared.runs import Run, loaded_run
from spacy_lpcfg.components.cli.shared.tree_sources import trees_of_path
from spacy_lpcfg.components.cli.shared.treebanks import no_trees
from spacy_lpcfg.storage.files import is_device

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_lpcfg.components.doc.pictures import PicturedSentence
    from spacy_lpcfg.trees import Tree

Picture = Literal["tree", "chart", "spans", "surprisal", "calibration", "learning"]
_DRAWN = ("svg", "html")  # formats of all pictures
PictureFormat = Literal["text", "ascii", "svg", "html", "forest", "qtree"]


class Drawable(NamedTuple):
    """A picture that is drawn on demand.

    caption (str): The caption.
    draw (callable): Returns the content of the picture, given the name of a format.
    """

    caption: str
    draw: Callable[[str], str]


@reporting_errors
def render(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A file of trees, - for stdin, or a model: a pipeline, or en.")
    ],
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="For a model: a file, - for stdin, or a text.")
    ] = None,
    picture: Annotated[Picture, typer.Option("--picture", "-p", help="What to draw; see above.")] = "tree",
    kind: options.Kind = None,
    dialect: options.Dialect = None,
    form: Annotated[
        PictureFormat | None,
        options.format_option("What to write. [default: by the ending of --output, or text for trees, else svg]"),
    ] = None,
    sentence: Annotated[
        int | None, typer.Option(min=1, help="Draw only the sentence with this number, from 1.")
    ] = None,
    output: options.OutputFile = None,
    force: options.Replace = False,
) -> None:
    """Draw trees, or the probabilities of a model.

    \b
    --picture tree         each bracketed tree, or the tree of each sentence
    --picture chart        how likely each span of a sentence is a constituent
    --picture spans        the likely spans as layers below the words
    --picture surprisal    bits of each word, given the words before it
    --picture calibration  whether the model's probabilities are right, by the
                           bracketed trees in FILE
    --picture learning     log-likelihood and F1 of each iteration of
                           learning; takes no FILE

    FILE has a document on each line, unless --input says otherwise, and trees for calibration. Trees can be drawn as
    text, ascii, svg, html and LaTeX (.tex); all else as svg and html. An svg holds one picture.

    \b
    Example:
        spacy-lpcfg render en "The old ferry was sold."
        spacy-lpcfg render en "The old ferry was sold." -o tree.svg
        spacy-lpcfg render dev.mrg --sentence 3
        spacy-lpcfg render model/ text.txt -o trees.html
        spacy-lpcfg render model/ "It rained." -p chart -o chart.svg
    """
    possible = get_args(PictureFormat) if picture == "tree" else _DRAWN
    target = checked_target(output, form, possible, inputs=[source, *([file] if file else [])], force=force)
    if source == STDIN or Path(source).is_file() or is_device(source):
        drawables = _by_trees(source, file, kind, picture, dialect)
    else:
        drawables = _by_pipeline(source, file, kind, picture, dialect)
    if sentence is not None:
        drawables = _numbered(drawables, sentence)
    target.write(_contents(drawables, target.form, source))


def _numbered(drawables: Iterator[Drawable], number: int) -> Iterator[Drawable]:
    """Yield only the picture with the number `number`, from 1.

    RAISES (ValueError): If there are pictures, but fewer than `number`.
    """
    n = 0
    for n, drawable in enumerate(drawables, start=1):
        if n == number:
            yield drawable
            return
    if n:
        verb = "is" if n == 1 else "are"
        raise ValueError(
            f"there {verb} {counted(n, 'sentence')}, and no sentence {number}: choose another by --sentence"
        )


# What is drawn -----------------------------------------------------------------------------------


def _by_trees(
    source: str, file: str | None, kind: options.Input | None, picture: Picture, dialect: str | None
) -> Iterator[Drawable]:
    """Yield a picture of each tree of a file, without the unlabelled outer parentheses of the Penn Treebank.

    RAISES (BadParameter): If a second file is named, or a picture other than "tree" is wanted.
    """
    if file is not None or picture != "tree":
        raise typer.BadParameter(
            f"{source!r} is a file, of which the trees can be drawn: for {file or picture} name a pipeline first",
            param_hint="SOURCE",
        )
    if kind not in (None, "trees", "spacy"):
        raise typer.BadParameter(f"{kind} has no trees: for its parses name a pipeline first", param_hint="--input")
    for tree in trees_of_path(source, None, dialect):
        if not tree.label and len(tree.children) == 1:  # the outer brackets of the Penn Treebank
            (tree,) = tree.children
        yield Drawable(" ".join(tree.words), partial(_draw_tree, tree))


def _by_pipeline(
    source: str, file: str | None, kind: options.Input | None, picture: Picture, dialect: str | None
) -> Iterator[Drawable]:
    if (file is None) != (picture == "learning"):
        wanted = "no FILE" if picture == "learning" else "a FILE after its MODEL, such as en"
        raise typer.BadParameter(
            f"{source!r} is no file, and a picture of {picture} by a pipeline takes {wanted}", param_hint="FILE"
        )
    if file is None:
        return _learning(load_pipeline(source), source)
    if picture == "calibration":
        check_input(file)
        return _calibration(load_pipeline(source), file, dialect)
    return _sentences(loaded_run(source, file, kind, dialect, find=find_parser_or_bracketer), picture)


def _sentences(run: Run, picture: Picture) -> Iterator[Drawable]:
    from spacy_lpcfg.components.doc.pictures import ask, sentences

    question, draw = _OF_SENTENCES[picture]
    for parsed in run.parsed():
        answers = ask(run.component, question, parsed.doc) if question else None
        for choice in sentences(parsed.doc, run.component.spans_key):
            yield Drawable(choice.text, partial(draw, choice, answers[choice.number] if answers else None))


def _calibration(nlp: "Language", file: str, dialect: str | None) -> Iterator[Drawable]:
    from spacy_lpcfg.evaluation.calibration import outcomes, reliability
    from spacy_lpcfg.pictures import calibration_svg
    from spacy_lpcfg.trees import clean

    pipe = find_parser(nlp)
    golds = list(filter(None, map(clean, trees_of_path(file, None, dialect))))
    if not golds:
        raise no_trees([file])
    parser, queries = pipe.ready_parser(), queries_of(nlp, pipe, [gold.words for gold in golds])
    parses = [parser.parse(query) for query in progress(queries, "sentences")]
    svg = calibration_svg(reliability(*outcomes(parses, golds)))
    yield Drawable(f"Calibration on {len(golds)} sentences", partial(_in_format, svg))


def _learning(nlp: "Language", source: str) -> Iterator[Drawable]:
    from spacy_lpcfg.pictures import learning_svg

    svg = learning_svg({Path(source).name: nlp.meta.get("fit", [])})
    yield Drawable(f"Learning of {source}", partial(_in_format, svg))


# How it is drawn ---------------------------------------------------------------------------------


def _draw_tree(tree: "Tree", form: str, *scores: Any) -> str:
    from spacy_lpcfg import pictures
    from spacy_lpcfg.trees import to_latex

    if form in ("forest", "qtree"):
        return to_latex(tree, form)
    if form in ("text", "ascii"):
        return pictures.tree_text(tree, "ascii" if form == "ascii" else "unicode")
    return _in_format(pictures.tree_svg(tree, *scores), form)


def _draw_parsed(sentence: "PicturedSentence", answer: None, form: str) -> str:
    return _draw_tree(sentence.tree, form, *sentence.scores)


def _draw_answer(name: str, sentence: "PicturedSentence", answer: Any, form: str) -> str:
    """Draw the parser's answer for a sentence with the function `name` of `spacy_lpcfg.pictures`."""
    from spacy_lpcfg import pictures

    return _in_format(getattr(pictures, name)(sentence.words, answer), form)


def _in_format(svg: str, form: str) -> str:
    from spacy_lpcfg.pictures.drawing import scrolling

    return scrolling(svg) if form == "html" else svg


_OF_SENTENCES: dict[Picture, tuple[str | None, Callable[..., str]]] = {
    "tree": (None, _draw_parsed),
    "chart": ("posteriors", partial(_draw_answer, "chart_svg")),
    "spans": ("posteriors", partial(_draw_answer, "spans_svg")),
    "surprisal": ("surprisals", partial(_draw_answer, "surprisal_svg")),
}
"""For each picture of a sentence the parser's method that it shows, None for the tree, and the function that draws."""


# Where it goes -----------------------------------------------------------------------------------


def _contents(drawables: Iterator[Drawable], form: str, source: str) -> list[Any] | Iterator[Any]:
    """Return the content of the output file: an HTML page, one SVG, or pictures separated by empty lines.

    source (str): The title of the HTML page.
    RAISES (ValueError): If there is no picture, or there are several for SVG.
    """
    first = next(drawables, None)
    if first is None:
        raise ValueError(f"there is no sentence to draw: expected {options.BRACKETED}, or text")
    if form == "svg" and next(drawables, None) is not None:
        raise ValueError("there are several pictures, but svg holds one: choose it by --sentence, or use html")
    drawn = ((choice.caption, choice.draw(form)) for choice in progress(chain([first], drawables), "pictures"))
    if form == "html":
        from spacy_lpcfg.pictures.pages import html_page

        return [html_page(source, drawn).removesuffix("\n")]
    return (part for number, (_, content) in enumerate(drawn) for part in (*[""] * bool(number), content))
