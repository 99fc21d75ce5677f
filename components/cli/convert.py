"""`spacy-lpcfg convert`: bracketed files, spaCy's binary format and JSON lines, each to each; to CoNLL-U and LaTeX."""

import json
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spacy_lpcfg.components.cli.console import (
    LONGEST_JSON,
    ZIPPED,
    check_output,
    log,
    log_skipped,
    progress,
    read_lines,
    reporting_errors,
)
from spacy_lpcfg.components.cli.formats import format_of, output_formats, write_output
from spacy_lpcfg.components.cli.pipelines import Jobs, Lang, Seed, find_lpcfg_parser, load_pipeline
from spacy_lpcfg.components.cli.treebanks import (
    Dialect,
    Functions,
    FunctionsName,
    SkipBad,
    TagDetail,
    TreeTags,
    with_tags,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from spacy_lpcfg.trees import Tree
    from spacy_lpcfg.trees.dependency_sentences import DependencySentence

_OF_SPACY = ("spacy", "jsonl", "json")
"""The formats of this package that are no formats of treebanks."""


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
        typer.Argument(metavar="OUTPUT", dir_okay=False, help="A file; its ending decides the format."),
    ],
    n_sents: Annotated[int, typer.Option("--n-sents", "-n", min=1, help="Trees a Doc, in a .spacy file.")] = 1,
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
    by: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Parse the sentences of .conllu files by this model; trees respect their tags and dependencies.",
        ),
    ] = None,
    jobs: Jobs = 1,
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

    OUTPUT ends in .spacy, .mrg, .jsonl, .json, .conllu or .tex, or, for text that is compressed, in such as .mrg.gz.
    Brackets, and the objects in .jsonl, are one a line; .json has one list. Empty elements and function labels are
    taken off, and trees without words left out; --functions keep leaves the functions. The JSON objects have the tree,
    its words, tags and spans, as those of `spacy-lpcfg parse --format jsonl`; of these only the tree is read, from
    .jsonl. A .conllu file has dependencies by the head rules of a language, which --lang names. A .tex file has
    drawings for \\input, each by the package forest or qtree.

    --noise is for trees to learn from, so that the parser knows text in other letters, too. Which trees are copied or
    changed, --seed says.

    --by makes trees of English dependencies, such as those of the English Web Treebank of Universal Dependencies, for
    others to learn from. No bracket crosses a subtree, and tags are those of the file (XPOS, the Penn Treebank's).
    Trees with a local tree (a label over the labels of its children) that the trees which MODEL learned from never have
    are left out, and counted.

    \b
    Example:
        spacy-lpcfg convert train.mrg train.spacy
        spacy-lpcfg convert train.mrg train.spacy --noise 0.05
        spacy-lpcfg convert train.spacy train.mrg
        spacy-lpcfg convert train-1.mrg train-2.mrg.gz train.jsonl
        spacy-lpcfg convert train.mrg train.conllu
        spacy-lpcfg convert en_ewt-ud-train.conllu ewt.mrg --by model/
    """
    from spacy_lpcfg.trees.noise import with_noise

    name = _format_of(output, style)
    files = list(_files_of(trees, dialect) if by is None else _sentence_files(trees))
    check_output(output, "OUTPUT", inputs=files, force=force)
    errors: list[Exception] = []
    on_error = errors.append if skip_bad else None
    if by is None:
        read = _read(trees, on_error, dialect, functions == FunctionsName.keep)
    else:
        read = _read_dependencies(files, by, jobs)
    converted = iter(progress(with_noise(with_tags(read, tags), share=noise, seed=seed), "trees"))
    first = next(converted, None)
    if first is None:
        raise ValueError(
            f"No trees in {', '.join(map(str, trees))}: expected such as (S (NP (PRP It)) (VP (VBZ works)))"
        )
    contents = contents_of(name, chain([first], converted), n_sents, lang)
    write_output(output, name, contents, force=force)
    log_skipped(errors)


def _format_of(output: Path, style: LatexStyle) -> str:
    """Return the name of the format that the ending of a file says.

    RAISES (BadParameter): For an ending of none.
    """
    from spacy_lpcfg.trees.formats import FORMATS

    written = [form.name for form in FORMATS.values() if form.write is not None]
    name = format_of(output, None, (*_OF_SPACY, *written), hint="OUTPUT", needs_ending=True)
    return style.value if name in list(LatexStyle) else name


# Reading -----------------------------------------------------------------------------------------


def _files_of(paths: Iterable[Path], dialect: str | None) -> Iterator[str]:
    """Yield files, and those of folders that are read."""
    from spacy_lpcfg.trees.files import treebank_files

    for path in paths:
        yield from treebank_files(str(path), dialect) if path.is_dir() else [str(path)]


def _sentence_files(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the files of sentences with dependencies of paths, which may be folders.

    RAISES (ValueError): For a file of another ending. (FileNotFoundError): For a folder without any.
    """
    from spacy_lpcfg.trees.files import files_of

    endings = tuple(suffix + end for suffix in _readers_of_sentences() for end in ("", ZIPPED))
    for file in files_of(paths, endings):
        if not file.endswith(endings):
            raise ValueError(f"Expected {' or '.join(_readers_of_sentences())} files for --by, got {file}.")
        yield file


def _readers_of_sentences() -> "dict[str, Callable[[str], Iterator[DependencySentence]]]":
    """Return what reads files of sentences with dependencies, by the ends of their names."""
    from spacy_lpcfg.trees.formats import FORMATS

    return {
        suffix: form.read_sentences
        for form in FORMATS.values()
        if form.read_sentences is not None
        for suffix in form.suffixes
    }


def _sentences_of(file: str) -> "Iterator[DependencySentence]":
    name = file.removesuffix(ZIPPED)
    return next(read(file) for suffix, read in _readers_of_sentences().items() if name.endswith(suffix))


def _read(
    paths: Iterable[Path], on_error: Callable[[Exception], None] | None, dialect: str | None, functions: bool
) -> Iterator["Tree"]:
    """Yield the normalized trees of files of any kind, below their roots."""
    from spacy_lpcfg.components.cli.treebanks import trees_of_docs, trees_of_files
    from spacy_lpcfg.trees.transforms import normalize_rooted

    normalized, formats = partial(normalize_rooted, functions=functions), output_formats()
    for path in paths:
        if path.suffix in formats["spacy"].suffixes:
            yield from filter(None, map(normalized, trees_of_docs(path)))
        elif path.name.removesuffix(ZIPPED).endswith(formats["jsonl"].suffixes):
            yield from filter(None, map(normalized, read_json(path, on_error=on_error)))
        else:
            yield from filter(None, map(normalized, trees_of_files([path], on_error, dialect)))


def _read_dependencies(files: Iterable[str], by: str, n_jobs: int) -> Iterator["Tree"]:
    """Yield the trees that a model gives to sentences with dependencies, but for those with unknown local trees."""
    from spacy_lpcfg.parsing.dependency_constraints import DependencyAnnotator

    _, model = find_lpcfg_parser(load_pipeline(by))
    annotator = DependencyAnnotator(model)
    n_kept = n_unknown = n_none = 0
    sentences = chain.from_iterable(map(_sentences_of, files))
    for tree in annotator.trees(sentences, n_jobs=n_jobs):
        if tree is None:
            n_none += 1
        elif annotator.unseen(tree):
            n_unknown += 1
        else:
            n_kept += 1
            yield tree
    log(
        f"{n_kept:,} trees; left out {n_unknown:,} with local trees that the model's treebank never has, and "
        f"{n_none:,} sentences without a tree that respects the dependencies"
    )


def read_json(path: Path, *, on_error: Callable[[Exception], None] | None) -> Iterator["Tree"]:
    """Yield the trees of JSON lines; null, of a sentence without words, is none."""
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


def contents_of(name: str, trees: Iterator["Tree"], n_sents: int, lang: str) -> Iterator[Any]:
    """Return the lines, objects or Docs that a file in a format holds of trees."""
    from spacy_lpcfg.components.cli.outputs import tree_as_json
    from spacy_lpcfg.trees.formats import FORMATS

    if name == "spacy":
        return _docs(trees, n_sents)
    write = FORMATS[name].write if name in FORMATS else None
    return map(tree_as_json, trees) if write is None else write(trees, lang)


def _docs(trees: Iterator["Tree"], n_sents: int) -> Iterator["Doc"]:
    from spacy.vocab import Vocab

    from spacy_lpcfg.components.corpus import tree_to_doc

    vocab = Vocab()
    while group := list(islice(trees, n_sents)):
        yield tree_to_doc(vocab, group)
