"""`spacy-lpcfg correct`: serve a page on this machine to correct trees by hand."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import progress, reporting_errors
from spacy_lpcfg.components.cli.shared.files import check_input, check_output
from spacy_lpcfg.components.cli.shared.formats import format_of
from spacy_lpcfg.components.cli.shared.pipelines import find_parser, load_pipeline
from spacy_lpcfg.components.cli.shared.runs import Run
from spacy_lpcfg.components.cli.shared.serving import listening, serve_until_interrupted
from spacy_lpcfg.components.cli.shared.tree_sources import trees_of_path
from spacy_lpcfg.components.cli.shared.treebanks import no_trees

if TYPE_CHECKING:
    from spacy_lpcfg.trees import Tree


@reporting_errors
def correct(
    model: options.ParserModel,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of sentences, of a kind that `parse` reads.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", dir_okay=False, help="A new file for the trees, such as trees.mrg.")
    ],
    start: Annotated[
        Literal["parsed", "given"],
        typer.Option("--trees", help="Begin with the trees of the parser, or with those given in FILE."),
    ] = "parsed",
    order: Annotated[
        Literal["doubt", "text"], typer.Option(help="The most doubtful sentences first, or as in the file.")
    ] = "doubt",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the file of --output.")] = False,
    kind: options.Kind = None,
    dialect: options.Dialect = None,
    port: options.Port = 8000,
) -> None:
    """Serve a page to correct trees by hand.

    The most doubtful sentences come first. Brackets are relabelled, added and removed, and tags changed, by clicks and
    keys. Brackets and tags that you keep are constraints, and the rest is parsed again. Saved trees are written to
    --output, in the order of FILE, and to no other file. No other server can write it until this one ends; with
    --resume the next one continues it.

    With --trees given the sentences begin with the trees of FILE, without empty elements and indices, and --output has
    all of them.

    Only this machine can open the page, which loads nothing from elsewhere and answers no other site. Ctrl-C ends it.

    \b
    Example:
        spacy-lpcfg correct en text.txt --output trees.mrg
        spacy-lpcfg correct en trees.mrg --trees given --order text --output better.mrg
    """
    from spacy_lpcfg.components.serve.corrected_trees import CorrectedTrees
    from spacy_lpcfg.components.serve.correction_server import CorrectionServer
    from spacy_lpcfg.components.serve.corrections import Corrections
    from spacy_lpcfg.components.training.corpus import tree_to_doc

    if start == "given" and kind not in (None, "trees", "spacy"):
        raise typer.BadParameter(f"{kind} has no trees to begin with", param_hint="--trees")
    check_input(file)
    format_of(output, None, ["brackets"])
    check_output(output, inputs=[file, model], force=True)
    if output.exists() and not resume:
        raise typer.BadParameter(f"'{output}' exists: name another file, or use --resume", param_hint="--output")
    nlp = load_pipeline(model)
    parser = find_parser(nlp)
    trees = _trees(file, dialect) if start == "given" else None
    if trees is None:
        docs = (parsed.doc for parsed in Run.of(nlp, parser, file, kind, dialect).parsed())
    else:
        docs = (tree_to_doc(nlp.vocab, [tree], parser.spans_key) for tree in trees)
    corrected = CorrectedTrees(output, given=trees or (), resume=resume)
    corrections = Corrections(parser, progress(docs, "documents"), corrected, by_doubt=order == "doubt")
    serve_until_interrupted(listening(port, lambda: CorrectionServer(port, corrections)), "The page is")


def _trees(file: str, dialect: str | None) -> "list[Tree]":
    """Return the normalized trees of a file, with function labels; raise ValueError if it has none."""
    from spacy_lpcfg.trees import normalize

    read = trees_of_path(file, None, dialect)
    trees = [tree for tree in map(partial(normalize, functions=True), read) if tree]
    if not trees:
        raise no_trees([file])
    return trees
