"""`spacy-lpcfg evaluate`: EVALB scores of parsed trees against a treebank."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.components.cli.console import reporting_errors

if TYPE_CHECKING:
    from spacy_lpcfg.trees import Tree
    from spacy_lpcfg.trees.evalb import Sentence

_NAMES = ("evalb_p", "evalb_r", "evalb_f", "complete_match", "tag_acc", "n_sentences", "n_error")


@reporting_errors
def evaluate(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", exists=True, dir_okay=False, help="The right trees.")],
    test: Annotated[Path, typer.Argument(metavar="TEST", exists=True, dir_okay=False, help="The trees to judge.")],
    params: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="An EVALB parameter file. [default: as COLLINS.prm]"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the main scores as one JSON object.")] = False,
    reference: Annotated[bool, typer.Option("--reference", help="Print the report of evalb.c.")] = False,
) -> None:
    """Score parsed trees by EVALB.

    GOLD is a bracketed treebank of any layout. TEST has a tree a line, in the same order, and an empty line where a
    parser found none; any layout will do if none is missing. On both sides empty elements, function labels and the
    root are taken off first, and trees without words left out. Sentences that then differ in their words are errors,
    which no score counts.

    \b
    Example:
        spacy-lpcfg parse model/ dev.mrg --input trees -o dev.parsed
        spacy-lpcfg evaluate dev.mrg dev.parsed
    """
    from spacy_lpcfg.trees import evalb

    if as_json and reference:
        raise typer.BadParameter("--json and --reference are two forms of output: choose one")
    golds = _read_treebank(gold)
    if not golds:
        raise ValueError(f"{gold} has no trees: expected bracketed trees such as (S (NP (PRP It)) (VP (VBZ works)))")
    evaluation = evalb.evaluate(
        golds, _read_parses(test, len(golds)), evalb.Params.from_file(params) if params else evalb.COLLINS
    )
    if as_json:
        scores = evaluation.scores()
        print(json.dumps({name: scores[name] for name in _NAMES}))
    else:
        print(evaluation.reference_table() if reference else evaluation.table())


def _read_treebank(path: Path) -> list["Tree"]:
    from spacy_lpcfg.trees import clean, read_trees

    return [tree for tree in map(clean, read_trees(path)) if tree is not None]


def _read_parses(path: Path, n_golds: int) -> Sequence["Sentence"]:
    """The sentences of a file with one a line, or of any treebank where that does not give as many as gold has."""
    from spacy_lpcfg.trees import TreebankError, clean
    from spacy_lpcfg.trees.evalb import read_evalb

    try:
        lines = [[clean(tree) for tree in trees] for trees in read_evalb(path)]
    except TreebankError:
        lines = []
    sentences = [[tree for tree in trees if tree] for trees in lines if not trees or any(trees)]
    return sentences if len(sentences) == n_golds else _read_treebank(path)
