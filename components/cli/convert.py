"""`spacy-lpcfg convert`: convert trees between treebank formats, spaCy's binary format, JSON, CoNLL-U and LaTeX."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.checks import counted
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import log, progress, reporting_errors, skipping_broken
from spacy_lpcfg.components.cli.shared.files import ZIPPED
from spacy_lpcfg.components.cli.shared.formats import checked_target, formats_of_trees, trees_as
from spacy_lpcfg.components.cli.shared.pipelines import find_lpcfg_parser, load_pipeline
from spacy_lpcfg.components.cli.shared.tree_sources import files_below, trees_of_path
from spacy_lpcfg.components.cli.shared.treebanks import no_trees

if TYPE_CHECKING:
    from spacy_lpcfg.trees import Tree
    from spacy_lpcfg.trees.dependency_sentences import DependencySentence
    from spacy_lpcfg.trees.errors import OnError


_Trees = Annotated[
    list[Path],
    typer.Argument(
        metavar="TREES...",
        exists=True,
        help="Files of trees, folders, .spacy, .jsonl or .json; .gz or not.",
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
_Jobs = Annotated[
    int | None, typer.Option(help="With --by: number of parallel jobs; -1 for one per processor. [default: 1]")
]


@reporting_errors
def convert(
    trees: _Trees,
    output: options.OutputFile = None,
    form: options.TreeFormat = None,
    n_sents: _NSents = 1,
    noise: _Noise = 0.0,
    by: _By = None,
    like: _Like = None,
    jobs: _Jobs = None,
    seed: options.Seed = 0,
    lang: options.Lang = "en",
    dialect: options.Dialect = None,
    encoding: options.Encoding = "utf-8",
    functions: options.TreeFunctions = "strip",
    tags: options.TreeTags = "fine",
    skip_bad: options.SkipBad = False,
    force: options.Replace = False,
) -> None:
    """Convert trees to Docs, brackets or JSON.

    The ending of --output decides the format; .gz after it compresses. Empty elements and function labels are removed,
    and trees without words left out. JSON has the fields of `spacy-lpcfg parse --format jsonl`. CoNLL-U has
    dependencies by the head rules of --lang. A .tex file has drawings for \\input, by the LaTeX package forest, or by
    qtree with --format qtree.

    --noise changes some trees, so that a parser also learns from capitals, lower case and missing punctuation.

    --by makes trees from English dependencies, such as the English Web Treebank of Universal Dependencies. No bracket
    crosses a subtree of the dependencies, and tags are taken from the file (XPOS). --like leaves out each tree with a
    local tree (a label over the labels of its children) that the given trees never have.

    \b
    Example:
        spacy-lpcfg convert train.mrg -o train.spacy
        spacy-lpcfg convert train.mrg --noise 0.05 -o train.spacy
        spacy-lpcfg convert train.spacy -o train.mrg
        spacy-lpcfg convert train-1.mrg train-2.mrg.gz -o train.jsonl
        spacy-lpcfg convert train.mrg -o train.conllu
        spacy-lpcfg convert en_ewt-ud-train.conllu --by model/ --like train.mrg -o ewt.mrg
    """
    from spacy_lpcfg.trees.noise import with_noise
    from spacy_lpcfg.trees.tags import with_coarse_tags

    if by is None:
        if like or jobs is not None:
            message = "name the model that makes the trees by --by"
            raise typer.BadParameter(message, param_hint="--like" if like else "--jobs")
        files = [file for path in trees for file in files_below(str(path), dialect)]
    else:
        files = list(_sentence_files(trees))
    target = checked_target(output, form, formats_of_trees(), inputs=files, force=force)
    with skipping_broken(skip_bad) as on_error:
        if by is None:
            parts = (trees_of_path(str(path), on_error, dialect, encoding) for path in trees)
            read = _normalized(parts, functions=functions == "keep")
        else:
            read = _read_dependencies(files, by, like or (), 1 if jobs is None else jobs, on_error)
        read = map(with_coarse_tags, read) if tags == "coarse" else read
        converted = iter(progress(with_noise(read, share=noise, seed=seed), "trees"))
        first = list(islice(converted, 1))
        if first:
            target.write(trees_as(target.form, chain(first, converted), lang=lang, n_sents=n_sents))
    if not first:
        raise no_trees(trees)


# Reading -----------------------------------------------------------------------------------------


def _normalized(parts: "Iterable[Iterable[Tree]]", *, functions: bool) -> "Iterator[Tree]":
    from spacy_lpcfg.trees.transforms import normalize_rooted

    return filter(None, map(partial(normalize_rooted, functions=functions), chain.from_iterable(parts)))


def _sentence_files(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the files of dependency treebanks, such as .conllu, at paths of files or folders.

    RAISES (ValueError): If a file has another suffix.
    RAISES (FileNotFoundError): If a folder has no such files.
    """
    from spacy_lpcfg.trees.files import files_of

    endings = tuple(suffix + end for suffix in _readers_of_sentences() for end in ("", ZIPPED))
    for file in files_of(paths, endings):
        if not file.endswith(endings):
            raise ValueError(f"Expected {' or '.join(_readers_of_sentences())} files for --by, got {file}.")
        yield file


def _readers_of_sentences() -> "dict[str, Callable[[str, OnError], Iterator[DependencySentence]]]":
    """Return the readers of dependency treebanks by the suffix of their files."""
    from spacy_lpcfg.trees.formats import FORMATS

    return {
        suffix: form.read_sentences
        for form in FORMATS.values()
        if form.read_sentences is not None
        for suffix in form.suffixes
    }


def _read_dependencies(
    files: Iterable[str], by: str, like: Sequence[Path], n_jobs: int, on_error: "OnError"
) -> Iterator["Tree"]:
    """Convert dependency treebanks to constituency trees with a model, and log the numbers of trees kept and left out.

    files (iterable of str): The dependency treebanks.
    by (str): The pipeline with the lpcfg_parser that makes the trees.
    like (sequence of Path): Treebanks; trees with a local tree (a label over the labels of its children) that these
        lack are left out. [] keeps all trees.
    n_jobs (int): The number of parallel jobs.
    on_error (callable or None): Called with the error of each broken sentence; None raises the error.
    """
    from spacy_lpcfg.models.kinds import make_parser
    from spacy_lpcfg.parsing.dependency_constraints import DependencyAnnotator
    from spacy_lpcfg.trees import normalize, read_trees
    from spacy_lpcfg.trees.local_trees import LocalTrees

    _, model = find_lpcfg_parser(load_pipeline(by))
    annotator = DependencyAnnotator(model, make_parser(model))
    known = LocalTrees.of_trees(filter(None, map(normalize, read_trees(like)))) if like else None
    n_kept = n_unknown = n_none = 0
    readers = _readers_of_sentences()
    sentences = chain.from_iterable(readers[Path(file.removesuffix(ZIPPED)).suffix](file, on_error) for file in files)
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
