"""`spacy-lpcfg serve`: a page on this machine to try a model, or to correct the trees of a file."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import busy, log, progress, reporting_errors
from spacy_lpcfg.components.cli.shared.files import check_input, check_output
from spacy_lpcfg.components.cli.shared.formats import format_of
from spacy_lpcfg.components.cli.shared.inputs import Source, run_pipeline, source_of, trees_of
from spacy_lpcfg.components.cli.shared.pipelines import find_parser, find_parser_or_bracketer, load_pipeline

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from spacy_lpcfg.components.parsing_pipe import ParsingPipe
    from spacy_lpcfg.components.serve.demo_page import DemoPage
    from spacy_lpcfg.components.serve.local_server import LocalServer
    from spacy_lpcfg.trees import Tree

_PORT, _CORENLP_PORT = 8000, 9000
_PAGE = "The page is"
_WARM_UP = ("It rained.", ") the ( of ) $ 's (")  # a sentence, and what few grammars have a tree for


class Ordering(str, Enum):
    doubt = "doubt"
    text = "text"


@reporting_errors
def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MODEL]...", help="Folders or names of pipelines; several for the page. [default: en]"),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="0 is any that is free. [default: 8000, or 9000 with --corenlp]"),
    ] = None,
    n_best: Annotated[int, typer.Option("--n-best", min=1, max=100, help="Trees of each sentence.")] = 5,
    tag_variants: Annotated[
        bool, typer.Option("--tag-variants", help="Among these, trees that differ in tags alone.")
    ] = False,
    component: options.Component = None,
    corenlp: Annotated[bool, typer.Option("--corenlp", help="Answer clients of CoreNLP instead, see above.")] = False,
    host: Annotated[
        str | None,
        typer.Option(help="With --corenlp: the address to listen at, 0.0.0.0 for all. [default: 127.0.0.1]"),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=1024, help="With --corenlp: processes that answer. [default: 1]")
    ] = None,
    correct: Annotated[
        str | None, typer.Option(metavar="FILE", help="Correct the trees of this file's sentences, see above.")
    ] = None,
    trees: Annotated[
        str | None, typer.Option("--from", metavar="FILE", help="Correct these trees, instead of the parser's own.")
    ] = None,
    order: Annotated[
        Ordering,
        typer.Option(help="With --correct and --from: the most doubtful sentences first, or as in the file."),
    ] = Ordering.doubt,
    kind: options.Kind = None,
    dialect: options.Dialect = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="With --correct and --from: a new file for the trees, such as trees.mrg."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the file of --output.")] = False,
) -> None:
    """Serve a page to type a sentence in, and see its tree, alternatives, posteriors and surprisal.

    Without MODEL it is by the English model that comes with the package; of several, the page has a choice. Only this
    machine can open the page, which loads nothing from elsewhere and answers no other site. Ctrl-C ends it.

    With --correct the page has the sentences of FILE, the most doubtful first. Brackets are relabelled, added and
    removed, and tags changed, by clicks and keys. What is kept is a constraint, and the rest is parsed again. Trees
    that are saved are written to --output, in the order of FILE, and to no other file. It belongs to this server until
    it ends; with --resume the next one goes on with it. With --from the sentences begin with the trees of FILE, without
    empty elements and indices, and --output has all of them.

    With --corenlp there is no page: programs that ask CoreNLP's server for tokens, sentences, tags and trees, or for
    matches of Tregex patterns, get them here. Other machines can ask if you give an address by --host: there is no
    password, so do that in a container, or behind a server that asks for one.

    \b
    Example:
        spacy-lpcfg serve
        spacy-lpcfg serve model/ --port 8080
        spacy-lpcfg serve en en-fast
        spacy-lpcfg serve --corenlp
        spacy-lpcfg serve en-fast --corenlp --host 0.0.0.0 --workers 4
        spacy-lpcfg serve --correct text.txt --output trees.mrg
        spacy-lpcfg serve --from trees.mrg --order text --output better.mrg
    """
    names = models or ["en"]
    model, *others = names
    file = correct or trees
    if others and (corenlp or file):
        raise typer.BadParameter("name one model for --corenlp, --correct and --from", param_hint="MODEL")
    if correct and trees:
        raise typer.BadParameter("name one file, by --from if its trees are to be corrected", param_hint="--correct")
    if trees and kind not in (None, options.Input.trees):
        raise typer.BadParameter("--from takes trees", param_hint="--input")
    if not corenlp:
        _refuse("this is for --corenlp", **{"--host": host, "--workers": workers})
    if file is None:
        unused = {"--output": output, "--input": kind, "--resume": resume, "--order": order != Ordering.doubt}
        _refuse("this is for --correct FILE and --from FILE", **unused)
        if corenlp:
            server = _corenlp(_CORENLP_PORT if port is None else port, model, component, host)
            _serve(server, "CoreNLP's clients are answered", workers or 1)
        else:
            _serve(_demo(_PORT if port is None else port, names, component, n_best, tag_variants), _PAGE)
        return
    if corenlp:
        raise typer.BadParameter("this is not for --correct FILE and --from FILE", param_hint="--corenlp")
    check_input(file, "--correct" if correct else "--from")
    if output is None:
        raise typer.BadParameter("name a file for the trees", param_hint="--output")
    format_of(output, None, ["brackets"])
    check_output(output, inputs=[file, model], force=True)
    if output.exists() and not resume:
        raise typer.BadParameter(f"'{output}' exists: name another file, or use --resume", param_hint="--output")
    settings = {"output": output, "resume": resume, "order": order.value}
    make = partial(_given, dialect=dialect) if trees else partial(_parsed, kind=kind, dialect=dialect)
    _serve(_corrections(_PORT if port is None else port, model, component, partial(make, file), settings), _PAGE)


def _refuse(why: str, **options: object) -> None:
    for hint, value in options.items():
        if value:
            raise typer.BadParameter(why, param_hint=hint)


def _serve(server: "LocalServer", what: str, n_workers: int = 1) -> None:
    from spacy_lpcfg.components.serve.server_processes import interrupted_by_sigterm, serve_in_processes

    with server, interrupted_by_sigterm():
        log(f"{what} at {server.url} - Ctrl-C ends it")
        try:
            if n_workers > 1:
                serve_in_processes(server, n_workers)
            else:
                server.serve_forever()
        except KeyboardInterrupt:
            log("ended")


def _at(port: int, make: "Callable[[], LocalServer]") -> "LocalServer":
    try:
        return make()
    except OSError as error:
        raise ValueError(f"port {port} is not free ({error}): choose another by --port, or 0 for any") from error


def _demo(port: int, models: list[str], component: str | None, n_best: int, tag_variants: bool) -> "LocalServer":
    from spacy_lpcfg.components.serve.demo_page import DemoModels, DemoPage
    from spacy_lpcfg.components.serve.demo_server import DemoServer

    pages = {}
    for model in dict.fromkeys(models):
        nlp = load_pipeline(model)
        parser = find_parser_or_bracketer(nlp, component)
        pages[model] = DemoPage(nlp, parser, n_best=n_best, tag_variants=tag_variants)
    server = _at(port, lambda: DemoServer(port, DemoModels(pages), models=list(pages)))
    for page in pages.values():
        warm_up(page)
    return server


def _corenlp(port: int, model: str, component: str | None, host: str | None) -> "LocalServer":
    from spacy_lpcfg.components.serve.corenlp import CoreNLP
    from spacy_lpcfg.components.serve.corenlp_server import CoreNLPServer
    from spacy_lpcfg.components.serve.local_server import HOST

    nlp = load_pipeline(model)
    answers = CoreNLP(nlp, find_parser(nlp, component))
    server = _at(port, lambda: CoreNLPServer(port, answers, host or HOST))
    with busy("preparing the answers"):
        answers.annotate(_WARM_UP[0], {})
    return server


def _corrections(
    port: int,
    model: str,
    component: str | None,
    read: "Callable[[Language, ParsingPipe], tuple[Iterable[Doc], list[Tree] | None]]",
    settings: dict[str, Any],
) -> "LocalServer":
    from spacy_lpcfg.components.serve.correction_server import CorrectionServer
    from spacy_lpcfg.components.serve.corrections import Corrections

    nlp = load_pipeline(model)
    parser = find_parser(nlp, component)
    docs, trees = read(nlp, parser)
    corrections = Corrections(parser, progress(docs, "documents"), trees=trees, **settings)
    return _at(port, lambda: CorrectionServer(port, corrections))


def _parsed(
    file: str, nlp: "Language", parser: "ParsingPipe", *, kind: options.Input | None, dialect: str | None
) -> "tuple[Iterable[Doc], None]":
    parsed = run_pipeline(nlp, parser, source_of(nlp, parser, file, kind, None, dialect))
    return (each.doc for each in parsed), None


def _given(
    file: str, nlp: "Language", parser: "ParsingPipe", *, dialect: str | None
) -> "tuple[Iterable[Doc], list[Tree]]":
    """Return Docs with the trees of a file, and the trees."""
    from spacy_lpcfg.components.training.corpus import tree_to_doc
    from spacy_lpcfg.trees import normalize

    read = trees_of(Source(file, options.Input.trees, dialect=dialect, is_told=True))
    trees = [tree for tree in map(partial(normalize, functions=True), read) if tree]
    if not trees:
        raise ValueError(f"{file} has no trees: expected bracketed trees such as (S (NP (PRP It)) (VP (VBZ works)))")
    return (tree_to_doc(nlp.vocab, [tree], parser.spans_key) for tree in trees), trees


def warm_up(page: "DemoPage") -> None:
    """Have the page read what its first texts would wait for: tables of the model, and the libraries that draw."""
    with busy("preparing the page"):
        for text in _WARM_UP:
            with suppress(ValueError):  # which the page says of any text
                page(text)
