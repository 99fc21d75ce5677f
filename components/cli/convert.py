"""`spacy-lpcfg convert`: bracketed files, spaCy's binary format and JSON lines, each to each; to CoNLL-U and LaTeX."""

import json
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.components.cli.console import (
    LONGEST_JSON,
    check_output,
    log_skipped,
    progress,
    read_lines,
    replacing,
    reporting_errors,
    writing,
)
from spacy_lpcfg.components.cli.pipelines import Lang, Seed
from spacy_lpcfg.components.cli.treebanks import (
    Dialect,
    Functions,
    FunctionsName,
    SkipBad,
    TagDetail,
    TreeTags,
    name_of,
    with_tags,
)

if TYPE_CHECKING:
    from spacy_lpcfg.trees import Tree

_BINARY, _JSON, _CONLLU, _LATEX = ".spacy", ".jsonl", ".conllu", ".tex"
_SUFFIXES = (_BINARY, _JSON, ".mrg", ".mrg.gz", _CONLLU, _LATEX)


class Mend(str, Enum):
    """Treebanks whose habits `convert --mend` knows."""

    gum = "gum"


class LatexStyle(str, Enum):
    forest = "forest"
    qtree = "qtree"


@reporting_errors
def convert(
    trees: Annotated[
        list[Path],
        typer.Argument(
            metavar="TREES...",
            exists=True,
            help="Files of trees, .gz or not, folders of such, .spacy or .jsonl.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Argument(metavar="OUTPUT", dir_okay=False, help="A .spacy, .jsonl, .mrg, .mrg.gz, .conllu or .tex file."),
    ],
    n_sents: Annotated[int, typer.Option("--n-sents", "-n", min=1, help="Trees a Doc, in a .spacy file.")] = 1,
    mend: Annotated[
        Mend | None, typer.Option(help="Mend what this treebank does otherwise than the Penn Treebank.")
    ] = None,
    noise: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            min=0,
            max=1,
            help="Copy this share of the trees in capitals and in headline case, and change it to lower case, to curly "
            "quotes, and to no final punctuation.",
        ),
    ] = 0.0,
    seed: Seed = 0,
    lang: Lang = "en",
    style: Annotated[LatexStyle, typer.Option(help="The package of LaTeX, for a .tex file.")] = LatexStyle.forest,
    dialect: Dialect = None,
    functions: Functions = FunctionsName.cut,
    tags: TreeTags = TagDetail.fine,
    skip_bad: SkipBad = False,
    force: Annotated[bool, typer.Option("--force", "-f", help="Replace OUTPUT if there is one.")] = False,
) -> None:
    """Convert trees to Docs, brackets or JSON.

    Brackets and JSON objects are one a line. Empty elements and function labels are taken off, and trees without words
    left out; --functions keep leaves the functions. The JSON objects have the tree, its words, tags and spans, as those
    of `spacy-lpcfg parse --format json`; of these only the tree is read. A .conllu file has dependencies by the head
    rules of a language, which --lang names. A .tex file has drawings for \\input, each by the package forest or qtree.

    --mend gum makes of GUM's trees what the guidelines of the Penn Treebank have: WHNP for a relative pronoun that is a
    subject, INTJ for interjections, and more. --noise is for trees to learn from, so that the parser knows text in
    other letters, too. Which trees are copied or changed, --seed says.

    \b
    Example:
        spacy-lpcfg convert train.mrg train.spacy
        spacy-lpcfg convert gum/train.mrg train.spacy --mend gum --noise 0.05
        spacy-lpcfg convert train.spacy train.mrg
        spacy-lpcfg convert train-1.mrg train-2.mrg.gz train.jsonl
        spacy-lpcfg convert train.mrg train.conllu
    """
    from spacy_lpcfg.trees import mended_gum, with_noise, write_trees

    _check_output(output, force)
    errors: list[Exception] = []
    read = _read(trees, errors.append if skip_bad else None, name_of(dialect), functions == FunctionsName.keep)
    mended = with_tags(map(mended_gum, read) if mend else read, tags)
    found = iter(progress(with_noise(mended, share=noise, seed=seed), "trees"))
    first = next(found, None)
    if first is None:
        raise ValueError(
            f"No trees in {', '.join(map(str, trees))}: expected such as (S (NP (PRP It)) (VP (VBZ works)))"
        )
    if output.suffix == _BINARY:
        _write_docs(output, chain([first], found), n_sents)
    elif output.suffix == _JSON:
        _write_json(output, chain([first], found))
    elif output.suffix == _CONLLU:
        _write_dependencies(output, chain([first], found), lang)
    elif output.suffix == _LATEX:
        _write_latex(output, chain([first], found), style)
    else:
        write_trees(output, chain([first], found))
    log_skipped(errors)


def _check_output(output: Path, force: bool) -> None:
    if not output.name.endswith(_SUFFIXES):
        raise typer.BadParameter(f"{output} should end in {', '.join(_SUFFIXES)}", param_hint="OUTPUT")
    if output.exists() and not force:
        raise typer.BadParameter(f"{output} exists: name another file, or use --force", param_hint="OUTPUT")
    check_output(output, "OUTPUT")


# Reading -----------------------------------------------------------------------------------------


def _read(
    paths: Iterable[Path], on_error: Callable[[Exception], None] | None, dialect: str | None, functions: bool
) -> Iterator["Tree"]:
    """The normalized trees of files of any kind, below their roots."""
    from spacy_lpcfg.components.cli.treebanks import trees_of_docs, trees_of_files
    from spacy_lpcfg.trees import normalize_rooted

    normalized = partial(normalize_rooted, functions=functions)
    for path in paths:
        if path.suffix == _BINARY:
            yield from filter(None, map(normalized, trees_of_docs(path)))
        elif path.suffix == _JSON:
            yield from filter(None, map(normalized, _read_json(path, on_error=on_error)))
        else:
            yield from filter(None, map(normalized, trees_of_files([path], on_error, dialect)))


def _read_json(path: Path, *, on_error: Callable[[Exception], None] | None) -> Iterator["Tree"]:
    """The trees of JSON lines; null, of a sentence without words, is none."""
    from spacy_lpcfg.trees import TreebankError, parse_trees
    from spacy_lpcfg.trees.brackets import BrokenFileError

    for number, line in enumerate(read_lines(str(path)), start=1):
        if len(line) > LONGEST_JSON:
            raise BrokenFileError(_TOO_LONG, str(path), number)
        try:
            text = json.loads(line)["tree"] if line.strip() else None
            yield from parse_trees("" if text is None else text)
        except TreebankError as error:
            _report(TreebankError(error.message, str(path), number), on_error)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            message = f'Expected a JSON object such as {{"tree": "(NP (NN Rain))"}}, but got {line[:40]!r}.'
            _report(TreebankError(message, str(path), number), on_error)


_TOO_LONG = f"Expected a JSON object of at most {LONGEST_JSON:,} characters on a line, but it goes on."


def _report(error: Exception, on_error: Callable[[Exception], None] | None) -> None:
    if on_error is None:
        raise error
    on_error(error)


# Writing -----------------------------------------------------------------------------------------


def _write_docs(output: Path, trees: Iterator["Tree"], n_sents: int) -> None:
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    from spacy_lpcfg.components.corpus import tree_to_doc

    vocab, docs = Vocab(), DocBin()
    with replacing(output) as file:
        while group := list(islice(trees, n_sents)):
            docs.add(tree_to_doc(vocab, group))
        file.write(docs.to_bytes())


def _write_json(output: Path, trees: Iterator["Tree"]) -> None:
    from spacy_lpcfg.components.cli.outputs import tree_as_json

    with writing(output) as file:
        for tree in trees:
            file.write(json.dumps(tree_as_json(tree), ensure_ascii=False) + "\n")


def _write_dependencies(output: Path, trees: Iterator["Tree"], lang: str) -> None:
    from spacy_lpcfg.trees import conllu, head_rules

    with writing(output) as file:
        for tree in trees:
            file.write(conllu(tree, head_rules(lang)) + "\n")


def _write_latex(output: Path, trees: Iterator["Tree"], style: LatexStyle) -> None:
    from spacy_lpcfg.trees import to_latex

    with writing(output) as file:
        file.write(f"% needs \\usepackage{{{style.value}}}\n")
        for tree in trees:
            file.write(f"\n{to_latex(tree, style.value)}\n")
