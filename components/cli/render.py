"""`spacy-lpcfg render`: pictures of trees, of what a model thinks of a sentence, and of how it learned."""

from collections.abc import Callable, Iterator
from enum import Enum
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from spacy_lpcfg.checks import counted
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import progress, reporting_errors
from spacy_lpcfg.components.cli.shared.files import STDIN, check_input, check_output
from spacy_lpcfg.components.cli.shared.formats import check_terminal, format_of, write_output
from spacy_lpcfg.components.cli.shared.inputs import (
    Source,
    check_usage,
    kind_said,
    run_pipeline,
    source_of,
    trees_of,
)
from spacy_lpcfg.components.cli.shared.pipelines import find_parser, find_parser_or_bracketer, load_pipeline
from spacy_lpcfg.components.cli.shared.treebanks import no_trees
from spacy_lpcfg.storage.files import is_device

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_lpcfg.components.cli.shared.inputs import Pipe
    from spacy_lpcfg.components.doc.pictures import PicturedSentence
    from spacy_lpcfg.trees import Tree


class Picture(str, Enum):
    tree = "tree"
    chart = "chart"
    spans = "spans"
    surprisal = "surprisal"
    calibration = "calibration"
    learning = "learning"


class PictureFormat(str, Enum):
    text = "text"
    ascii = "ascii"
    svg = "svg"
    html = "html"
    forest = "forest"
    qtree = "qtree"


class Drawable(NamedTuple):
    """A picture that is not drawn yet: its caption, and a function that draws it in a format."""

    caption: str
    draw: Callable[[PictureFormat], str]


_FORMATS: dict[Picture, tuple[PictureFormat, ...]] = {
    picture: (PictureFormat.svg, PictureFormat.html) for picture in Picture
}
_FORMATS |= {Picture.tree: tuple(PictureFormat)}


@reporting_errors
def render(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A file of trees, - for stdin, or a model: a pipeline, or en.")
    ],
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="For a model: a file, - for stdin, or a text.")
    ] = None,
    picture: Annotated[Picture, typer.Option("--picture", "-p", help="What to draw; see above.")] = Picture.tree,
    kind: options.Kind = None,
    dialect: options.Dialect = None,
    form: Annotated[
        PictureFormat | None,
        typer.Option(
            "--format", help="What to write. [default: by the ending of --output, or text for trees, else svg]"
        ),
    ] = None,
    sentence: Annotated[
        int | None, typer.Option(min=1, help="Draw only the sentence with this number, from 1.")
    ] = None,
    output: options.OutputFile = None,
    component: options.Component = None,
    force: options.Replace = False,
) -> None:
    """Draw trees, or the probabilities of a model.

    \b
    --picture tree         each bracketed tree, or that of each sentence
    --picture chart        how likely each span of a sentence is a constituent
    --picture spans        the likely spans as layers below the words
    --picture surprisal    bits of each word after those before it
    --picture calibration  whether the model's probabilities are right, by the
                           bracketed trees in FILE
    --picture learning     what each iteration of a learner brought; of a
                           pipeline alone

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
    form = _format(picture, form, output)
    check_output(output, inputs=[source, *([file] if file else [])], force=force)
    check_terminal(output, form.value)
    if source == STDIN or Path(source).is_file() or is_device(source):
        drawables = _by_trees(source, file, picture, dialect)
    else:
        drawables = _by_pipeline(source, component, file, kind_said(kind, dialect), picture, dialect)
    if sentence is not None:
        drawables = _chosen(drawables, sentence)
    write_output(output, form.value, _contents(drawables, form, source), force=force)


def _chosen(drawables: Iterator[Drawable], number: int) -> Iterator[Drawable]:
    """Yield the picture of one sentence; ValueError if there are fewer."""
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


def _format(picture: Picture, form: PictureFormat | None, output: Path | None) -> PictureFormat:
    """Return the format that was asked for, or by the output's ending, or is usual.

    RAISES (BadParameter): For one that the picture does not have, and as `format_of`.
    """
    possible = _FORMATS[picture]
    if form is not None and form not in possible:
        names = " or ".join(choice.value for choice in possible)
        raise typer.BadParameter(f"a picture of {picture.value} is {names}, not {form.value}", param_hint="--format")
    return PictureFormat(format_of(output, form, possible))


# What is drawn -----------------------------------------------------------------------------------


def _by_trees(source: str, file: str | None, picture: Picture, dialect: str | None) -> Iterator[Drawable]:
    """Yield the trees of a file, as they stand there, or as their dialect is read."""
    if file is not None or picture != Picture.tree:
        raise typer.BadParameter(
            f"{source!r} is a file, of which the trees can be drawn: for {file or picture.value} name a pipeline first",
            param_hint="SOURCE",
        )
    for tree in trees_of(_treebank(source, dialect)):
        if not tree.label and len(tree.children) == 1:  # the outer brackets of the Penn Treebank
            (tree,) = tree.children
        yield Drawable(" ".join(tree.words), partial(_draw_tree, tree))


def _treebank(file: str, dialect: str | None) -> Source:
    return Source(file, options.Input.trees, dialect=dialect, is_told=True)


def _by_pipeline(
    source: str,
    component: str | None,
    file: str | None,
    kind: options.Input | None,
    picture: Picture,
    dialect: str | None,
) -> Iterator[Drawable]:
    if (file is None) != (picture == Picture.learning):
        wanted = "no FILE" if picture == Picture.learning else "a FILE after its MODEL, such as en"
        raise typer.BadParameter(
            f"{source!r} is no file, and a picture of {picture.value} by a pipeline takes {wanted}", param_hint="FILE"
        )
    if picture == Picture.calibration and file is not None:
        check_input(file)
    elif file is not None:
        check_usage(file, kind, None)
    nlp = load_pipeline(source)
    if file is None:
        return _learning(nlp, source)
    if picture == Picture.calibration:
        return _calibration(nlp, component, file, dialect)
    pipe = find_parser_or_bracketer(nlp, component)
    return _sentences(nlp, pipe, source_of(nlp, pipe, file, kind, None, dialect), picture)


def _sentences(nlp: "Language", pipe: "Pipe", source: "Source", picture: Picture) -> Iterator[Drawable]:
    from spacy_lpcfg.components.doc.pictures import ask, sentences

    draw = _OF_SENTENCES[picture]
    for parsed in run_pipeline(nlp, pipe, source):
        question = _QUESTIONS.get(picture)
        answers = ask(pipe, question, parsed.doc) if question else None
        for choice in sentences(parsed.doc, pipe.spans_key):
            yield Drawable(choice.text, partial(draw, choice, answers[choice.number] if answers else None))


def _calibration(nlp: "Language", component: str | None, file: str, dialect: str | None) -> Iterator[Drawable]:
    from spacy_lpcfg.components.training.corpus import tree_to_doc
    from spacy_lpcfg.evaluation.calibration import outcomes, reliability
    from spacy_lpcfg.pictures import calibration_svg
    from spacy_lpcfg.trees import clean

    pipe = find_parser(nlp, component)
    golds = list(filter(None, map(clean, trees_of(_treebank(file, dialect)))))
    if not golds:
        raise no_trees([file])
    parses = [
        parse
        for gold in progress(golds, "sentences")
        for parsed in pipe.predict([tree_to_doc(nlp.vocab, [gold])])
        for parse in parsed.parses
        if parse is not None
    ]
    svg = calibration_svg(reliability(*outcomes(parses, golds)))
    yield Drawable(f"Calibration on {len(golds)} sentences", partial(_in_format, svg))


def _learning(nlp: "Language", source: str) -> Iterator[Drawable]:
    from spacy_lpcfg.pictures import learning_svg

    svg = learning_svg({Path(source).name: nlp.meta.get("fit", [])})
    yield Drawable(f"Learning of {source}", partial(_in_format, svg))


# How it is drawn ---------------------------------------------------------------------------------


def _draw_tree(tree: "Tree", form: PictureFormat, *scores: Any) -> str:
    from spacy_lpcfg import pictures
    from spacy_lpcfg.trees import to_latex

    if form in (PictureFormat.forest, PictureFormat.qtree):
        return to_latex(tree, form.value)
    if form in (PictureFormat.text, PictureFormat.ascii):
        return pictures.tree_text(tree, "ascii" if form == PictureFormat.ascii else "unicode")
    return _in_format(pictures.tree_svg(tree, *scores), form)


def _in_format(svg: str, form: PictureFormat) -> str:
    from spacy_lpcfg.pictures.drawing import scrolling

    return scrolling(svg) if form == PictureFormat.html else svg


def _draw_parsed(sentence: "PicturedSentence", answer: None, form: PictureFormat) -> str:
    return _draw_tree(sentence.tree, form, *sentence.scores)


def _draw_chart(sentence: "PicturedSentence", posteriors: Any, form: PictureFormat) -> str:
    from spacy_lpcfg.pictures import chart_svg

    return _in_format(chart_svg(sentence.words, posteriors), form)


def _draw_spans(sentence: "PicturedSentence", posteriors: Any, form: PictureFormat) -> str:
    from spacy_lpcfg.pictures import spans_svg

    return _in_format(spans_svg(sentence.words, posteriors), form)


def _draw_surprisal(sentence: "PicturedSentence", bits: Any, form: PictureFormat) -> str:
    from spacy_lpcfg.pictures import surprisal_svg

    return _in_format(surprisal_svg(sentence.words, bits), form)


_OF_SENTENCES: dict[Picture, Callable[..., str]] = {
    Picture.tree: _draw_parsed,
    Picture.chart: _draw_chart,
    Picture.spans: _draw_spans,
    Picture.surprisal: _draw_surprisal,
}
_QUESTIONS = {Picture.chart: "posteriors", Picture.spans: "posteriors", Picture.surprisal: "surprisals"}


# Where it goes -----------------------------------------------------------------------------------


def _contents(drawables: Iterator[Drawable], form: PictureFormat, source: str) -> list[Any] | Iterator[Any]:
    """Return what a file in the format holds: a page, a single picture, or pictures with empty lines between them."""
    first = next(drawables, None)
    if first is None:
        raise ValueError(f"there is no sentence to draw: expected {options.BRACKETED}, or text")
    if form == PictureFormat.svg and next(drawables, None) is not None:
        raise ValueError("there are several pictures, but svg holds one: choose it by --sentence, or use html")
    drawn = ((choice.caption, choice.draw(form)) for choice in progress(chain([first], drawables), "pictures"))
    if form == PictureFormat.html:
        from spacy_lpcfg.pictures.pages import html_page

        return [html_page(source, drawn).removesuffix("\n")]
    return (part for number, (_, content) in enumerate(drawn) for part in (*[""] * bool(number), content))
