"""`spacy-lpcfg convert`: bracketed files, spaCy's binary format and JSON lines, each to each; to CoNLL-U and LaTeX."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.checks import counted
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import OnError, log, progress, reporting_errors, skipping_broken
from spacy_lpcfg.components.cli.shared.files import ZIPPED, check_output
from spacy_lpcfg.components.cli.shared.formats import format_of, formats_of_trees, trees_as, write_output
from spacy_lpcfg.components.cli.shared.pipelines import find_lpcfg_parser, load_pipeline
from spacy_lpcfg.components.cli.shared.tree_sources import files_below, trees_of_path
from spacy_lpcfg.components.cli.shared.treebanks import no_trees, with_tags

if TYPE_CHECKING:
    from spacy_lpcfg.trees import Tree
    from spacy_lpcfg.trees.dependency_sentences import DependencySentence


class LatexStyle(str, Enum):
    forest = "forest"
    qtree = "qtree"


_Trees = Annotated[
    list[Path],
    typer.Argument(
        metavar="TREES...",
        exists=True,
        help="Files of trees, folders, .spacy, .jsonl or .json; .gz or not.",
    ),
]
_Output = Annotated[
    Path,
    typer.Argument(
        metavar="OUTPUT",
        dir_okay=False,
        help="A file; its ending decides the format, and an unknown one lists all.",
    ),
]
_NSents = Annotated[int, typer.Option("--n-sents", "-n", min=1, help="Number of trees in each Doc of a .spacy file.")]
_Noise = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        min=0,
        max=1,
        help="Add copies of this share of the trees in capitals and in headline case, and change the same share to "
        "lower case, to curly quotes and to no final punctuation.",
    ),
]
_By = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL",
        help="Parse the sentences of .conllu files by this model; trees respect their tags and dependencies.",
    ),
]
_Like = Annotated[
    list[Path] | None,
    options.file_option("With --by: leave out trees with a local tree that these trees never have."),
]
_Style = Annotated[LatexStyle, typer.Option(help="LaTeX package of a .tex file.")]
_Force = Annotated[bool, typer.Option("--force", "-f", help="Replace OUTPUT if it exists.")]


@reporting_errors
def convert(
    trees: _Trees,
    output: _Output,
    n_sents: _NSents = 1,
    noise: _Noise = 0.0,
    by: _By = None,
    like: _Like = None,
    jobs: options.Jobs = 1,
    seed: options.Seed = 0,
    lang: options.Lang = "en",
    style: _Style = LatexStyle.forest,
    dialect: options.Dialect = None,
    encoding: options.Encoding = "utf-8",
    functions: options.TreeFunctions = options.Functions.cut,
    tags: options.TreeTags = options.TagDetail.fine,
    skip_bad: options.SkipBad = False,
    force: _Force = False,
) -> None:
    """Convert trees to Docs, brackets or JSON.

    The ending of OUTPUT decides the format; .gz after it compresses. Empty elements and function labels are removed,
    and trees without words left out. JSON has the fields of `spacy-lpcfg parse --format jsonl`. CoNLL-U has
    dependencies by the head rules of --lang. A .tex file has drawings for \\input.

    --noise makes trees from which a parser also learns capitals, lower case and missing punctuation.

    --by makes trees of English dependencies, such as those of the English Web Treebank of Universal Dependencies. No
    bracket crosses a subtree, and tags are those of the file (XPOS). --like leaves out trees with a local tree, a label
    over the labels of its children, that is not in the given trees.

    \b
    Example:
        spacy-lpcfg convert train.mrg train.spacy
        spacy-lpcfg convert train.mrg train.spacy --noise 0.05
        spacy-lpcfg convert train.spacy train.mrg
        spacy-lpcfg convert train-1.mrg train-2.mrg.gz train.jsonl
        spacy-lpcfg convert train.mrg train.conllu
        spacy-lpcfg convert en_ewt-ud-train.conllu ewt.mrg --by model/ --like train.mrg
    """
    from spacy_lpcfg.trees.noise import with_noise

    name = _format_of(output, style)
    files = _files(trees, dialect) if by is None else list(_sentence_files(trees))
    check_output(output, "OUTPUT", inputs=files, force=force)
    with skipping_broken(skip_bad) as on_error:
        if by is None:
            parts = (trees_of_path(str(path), on_error, dialect, encoding) for path in trees)
            read = _normalized(parts, functions=functions == options.Functions.keep)
        else:
            read = _read_dependencies(files, by, like or (), jobs, on_error)
        converted = iter(progress(with_noise(with_tags(read, tags), share=noise, seed=seed), "trees"))
        first = list(islice(converted, 1))
        if first:
            items = trees_as(name, chain(first, converted), lang=lang, n_sents=n_sents)
            write_output(output, name, items, force=force)
    if not first:
        raise no_trees(trees)


def _format_of(output: Path, style: LatexStyle) -> str:
    """Return the name of the format by the ending of a file.

    RAISES (BadParameter): For an ending that no format has.
    """
    name = format_of(output, None, formats_of_trees(), hint="OUTPUT", needs_ending=True)
    return style.value if name in list(LatexStyle) else name


# Reading -----------------------------------------------------------------------------------------


def _files(paths: Iterable[Path], dialect: str | None) -> list[str]:
    return [file for path in paths for file in files_below(str(path), dialect)]


def _normalized(parts: "Iterable[Iterable[Tree]]", *, functions: bool) -> "Iterator[Tree]":
    from spacy_lpcfg.trees.transforms import normalize_rooted

    return filter(None, map(partial(normalize_rooted, functions=functions), chain.from_iterable(parts)))


def _sentence_files(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the files of sentences with dependencies at paths of files or folders.

    RAISES (ValueError): For a file with another ending. (FileNotFoundError): For a folder without any.
    """
    from spacy_lpcfg.trees.files import files_of

    endings = tuple(suffix + end for suffix in _readers_of_sentences() for end in ("", ZIPPED))
    for file in files_of(paths, endings):
        if not file.endswith(endings):
            raise ValueError(f"Expected {' or '.join(_readers_of_sentences())} files for --by, got {file}.")
        yield file


def _readers_of_sentences() -> "dict[str, Callable[[str, OnError], Iterator[DependencySentence]]]":
    """Return the function that reads sentences with dependencies, for each ending of their files."""
    from spacy_lpcfg.trees.formats import FORMATS

    return {
        suffix: form.read_sentences
        for form in FORMATS.values()
        if form.read_sentences is not None
        for suffix in form.suffixes
    }


def _sentences_of(file: str, on_error: OnError) -> "Iterator[DependencySentence]":
    name = file.removesuffix(ZIPPED)
    return next(read(file, on_error) for suffix, read in _readers_of_sentences().items() if name.endswith(suffix))


def _read_dependencies(
    files: Iterable[str], by: str, like: Sequence[Path], n_jobs: int, on_error: OnError
) -> Iterator["Tree"]:
    """Yield a model's trees for sentences with dependencies, without those that have local trees unlike `like`."""
    from spacy_lpcfg.models.kinds import make_parser
    from spacy_lpcfg.parsing.dependency_constraints import DependencyAnnotator
    from spacy_lpcfg.trees import normalize, read_trees
    from spacy_lpcfg.trees.local_trees import LocalTrees

    _, model = find_lpcfg_parser(load_pipeline(by))
    annotator = DependencyAnnotator(model, make_parser(model))
    known = LocalTrees.of_trees(filter(None, map(normalize, read_trees(like)))) if like else None
    n_kept = n_unknown = n_none = 0
    sentences = chain.from_iterable(_sentences_of(file, on_error) for file in files)
    for tree in annotator.trees(sentences, n_jobs=n_jobs):
        if tree is None:
            n_none += 1
        elif known is not None and known.unseen(tree):
            n_unknown += 1
        else:
            n_kept += 1
            yield tree
    log(
        f"{counted(n_kept, 'tree')}; left out {n_unknown:,} with local trees that --like never has, and "
        f"{counted(n_none, 'sentence')} without a tree that respects the dependencies"
    )
