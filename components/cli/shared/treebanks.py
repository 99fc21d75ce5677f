"""Treebanks that commands learn from, and measure on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from spacy_lpcfg.checks import counted
from spacy_lpcfg.components.cli.shared.console import OnError, log, progress, skipping_broken, tell
from spacy_lpcfg.components.cli.shared.options import BRACKETED, TagDetail
from spacy_lpcfg.components.cli.shared.pipelines import save_pipeline

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_lpcfg.parsing.result import Parse
    from spacy_lpcfg.trees import Tree, TreeFiles


_NAMED = 5  # files of which the names are told


@contextmanager
def tree_files(
    paths: Sequence[Path], skip_bad: bool, dialect: str | None, tags: TagDetail = TagDetail.fine
) -> Iterator[TreeFiles]:
    """Yield the files to learn from; tell what was read, and log at the end how many trees were broken."""
    from spacy_lpcfg.trees import TreeFiles

    counts: dict[str, int] = {}
    dropped: dict[str, Counter[str]] = {}

    def on_read(path: str, n_trees: int) -> None:
        is_new = path not in counts
        counts[path] = n_trees
        if is_new and len(counts) == n_files:
            log_dialect(files.dialect, dialect, sum(dropped.values(), Counter()))
            tell(f"read {counted(sum(counts.values()), 'tree')} from {names_of(files.paths)}")

    with skipping_broken(skip_bad) as on_error:
        told: dict[str, Any] = {"on_error": on_error, "on_read": on_read, "on_dropped": dropped.__setitem__}
        files = TreeFiles.of(paths, dialect=dialect, coarse_tags=tags == TagDetail.coarse, **told)
        n_files = len({*files.paths})
        yield files


def log_dialect(dialect: str | None, asked_for: str | None, dropped: Counter[str]) -> None:
    """Log the dialect in which trees were read and what it changed, unless it is penn and changed nothing."""
    from spacy_lpcfg.trees.formats import PENN, told

    changed = told(dropped)
    if dialect is None or (dialect == PENN and not changed):
        return
    is_guess = ", which the trees look like" if asked_for is None and dialect != PENN else ""
    log(f"read as {dialect}{is_guess}{changed and f': {changed}'}")


def names_of(paths: Sequence[str | Path]) -> str:
    """Return the names of the first files for a message, and the number of the others."""
    others = f" and {len(paths) - _NAMED:,} more files" if len(paths) > _NAMED else ""
    return ", ".join(map(str, paths[:_NAMED])) + others


def no_trees(paths: Sequence[str | Path]) -> ValueError:
    """Return the error to raise for files without trees."""
    return ValueError(f"No trees in {names_of(paths)}: expected {BRACKETED}")


def read_training(
    paths: Sequence[Path], skip_bad: bool, dialect: str | None, tags: TagDetail = TagDetail.fine
) -> Iterator[Tree]:
    """Yield the trees of the files to learn from; see `tree_files`."""
    with tree_files(paths, skip_bad, dialect, tags) as files:
        yield from progress(files, "trees")


def read_treebank(paths: Sequence[Path], skip_bad: bool, dialect: str | None) -> Iterator[Tree]:
    """Yield the trees of files; at the end, log the number of broken trees and the changes by the dialect."""
    with skipping_broken(skip_bad) as on_error:
        yield from progress(trees_of_files(paths, on_error, dialect), "trees")


def trees_of_files(
    paths: Sequence[Path],
    on_error: OnError,
    dialect: str | None,
    encoding: str = "utf-8",
) -> Iterator[Tree]:
    """Yield the trees of files in a dialect, None to recognize it; log the recognized dialect at the end."""
    from spacy_lpcfg.trees import TreeFiles

    dropped: Counter[str] = Counter()
    told: dict[str, Any] = {"on_error": on_error, "on_dropped": lambda _, some: dropped.update(some)}
    files = TreeFiles.of(paths, dialect=dialect, encoding=encoding, **told)
    yield from files
    log_dialect(files.dialect, dialect, dropped)


def with_tags(trees: Iterable[Tree], tags: TagDetail) -> Iterator[Tree]:
    """Yield the trees, with coarse tags if asked for."""
    from spacy_lpcfg.trees.tags import with_coarse_tags

    return map(with_coarse_tags, trees) if tags == TagDetail.coarse else iter(trees)


def read_held_out(
    paths: Sequence[Path] | None, skip_bad: bool, dialect: str | None, tags: TagDetail = TagDetail.fine
) -> list[Tree]:
    """Return the trees to measure on, none if there are no files.

    RAISES (ValueError): If there are files, but no trees in them.
    """
    if not paths:
        return []
    trees = list(with_tags(read_treebank(paths, skip_bad, dialect), tags))
    if not trees:
        raise no_trees(paths)
    return trees


def held_out_f1(parse: Callable[[Sequence[str]], Parse], held_out: Sequence[Tree]) -> float:
    """Return F1 in percent of trees parsed from raw words, as `spacy-lpcfg evaluate` has it."""
    from spacy_lpcfg.evaluation.evalb import evaluate
    from spacy_lpcfg.trees import clean

    golds = [tree for tree in map(clean, held_out) if tree is not None]
    parses = [parse(gold.words).tree for gold in progress(golds, "sentences")]
    return evaluate(golds, parses).scores()["evalb_f"]


class Parses(Protocol):
    """A parser of any model."""

    def parse(self, words: Sequence[str]) -> Parse: ...


def save_measured(
    nlp: Language, output: Path, parser: Callable[[], Parses], held_out: Sequence[Tree], *, force: bool
) -> None:
    """Save the pipeline, after measuring its F1 on held-out trees if there are any; errors as in `saving_folder`.

    parser (callable): Returns the pipeline's parser; called if there are held-out trees.
    """
    if held_out:
        f1 = held_out_f1(parser().parse, held_out)
        nlp.meta["performance"] = {"evalb_f": f1 / 100}
        tell(f"dev F1 {f1:.2f} on {counted(len(held_out), 'tree')}")
    save_pipeline(nlp, output, force=force)
    tell(f"saved to {output}")
