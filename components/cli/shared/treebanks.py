"""Treebanks that commands learn from or evaluate on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy_lpcfg.checks import counted
from spacy_lpcfg.components.cli.shared.console import log, progress, skipping_broken, tell
from spacy_lpcfg.components.cli.shared.options import BRACKETED, TagDetail
from spacy_lpcfg.components.cli.shared.pipelines import save_pipeline

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_lpcfg.components.parsing_pipe import ParsingPipe
    from spacy_lpcfg.trees import Tree, TreeFiles

_NAMED = 5  # files of which the names are told


@contextmanager
def tree_files(
    paths: Sequence[Path], skip_bad: bool, dialect: str | None, tags: TagDetail = "fine"
) -> Iterator[TreeFiles]:
    """Yield the training trees of files; print the number of trees read, and at the end of the block log skipped trees.

    paths (sequence of Path): The files.
    skip_bad (bool): Whether malformed trees are skipped, instead of raising TreebankError.
    dialect (str or None): The dialect of the treebank; None to recognize it.
    tags ("fine" or "coarse"): Whether tags are kept, or reduced to parts of speech.
    YIELDS (TreeFiles): The trees, which can be iterated over several times.
    """
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
        files = TreeFiles.of(paths, dialect=dialect, coarse_tags=tags == "coarse", **told)
        n_files = len({*files.paths})
        yield files


def log_dialect(dialect: str | None, asked_for: str | None, dropped: Counter[str]) -> None:
    """Log the dialect in which trees were read, and the number of removed items; nothing for penn without removals.

    dialect (str or None): The dialect in which the trees were read; None logs nothing.
    asked_for (str or None): The value of --dialect; None if the dialect was recognized.
    dropped (Counter): The number of removed items of each kind.
    """
    from spacy_lpcfg.trees.formats import PENN, told

    changed = told(dropped)
    if dialect is None or (dialect == PENN and not changed):
        return
    is_guess = ", which the trees look like" if asked_for is None and dialect != PENN else ""
    log(f"read as {dialect}{is_guess}{changed and f': {changed}'}")


def names_of(paths: Sequence[str | Path]) -> str:
    """Return the names of files for a message: the first `_NAMED` names, and the number of further files."""
    others = f" and {len(paths) - _NAMED:,} more files" if len(paths) > _NAMED else ""
    return ", ".join(map(str, paths[:_NAMED])) + others


def no_trees(paths: Sequence[str | Path]) -> ValueError:
    """Return, not raise, the ValueError for files without trees."""
    return ValueError(f"No trees in {names_of(paths)}: expected {BRACKETED}")


def read_treebank(
    paths: Sequence[Path], skip_bad: bool, dialect: str | None, tags: TagDetail = "fine"
) -> Iterator[Tree]:
    """Yield the trees of files with a progress bar; arguments and messages as for `tree_files`."""
    with tree_files(paths, skip_bad, dialect, tags) as files:
        yield from progress(files, "trees")


def read_held_out(
    paths: Sequence[Path] | None, skip_bad: bool, dialect: str | None, tags: TagDetail = "fine"
) -> list[Tree]:
    """Return the held-out trees of files; other arguments as for `tree_files`.

    paths (sequence of Path, or None): The files; None or an empty list for no held-out trees.
    RETURNS (list of Tree): The trees; [] without files.
    RAISES (ValueError): If there are files, but they have no trees.
    """
    if not paths:
        return []
    trees = list(read_treebank(paths, skip_bad, dialect, tags))
    if not trees:
        raise no_trees(paths)
    return trees


def save_measured(nlp: Language, pipe: ParsingPipe, output: Path, held_out: Sequence[Tree], *, force: bool) -> None:
    """Save a pipeline; if there are held-out trees, first print its F1 on them and record it in meta.json.

    F1 is EVALB's for trees that the parser makes from the words alone, as with `spacy-lpcfg evaluate`. In meta.json it
    is a fraction, "evalb_f" in "performance". Errors as for `saving_folder`.
    """
    from spacy_lpcfg.evaluation.evalb import evaluate
    from spacy_lpcfg.trees import clean

    if held_out:
        golds = list(filter(None, map(clean, held_out)))
        parses = [pipe.parse(gold.words).tree for gold in progress(golds, "sentences")]
        f1 = evaluate(golds, parses).scores()["evalb_f"]
        nlp.meta["performance"] = {"evalb_f": f1 / 100}
        tell(f"dev F1 {f1:.2f} on {counted(len(held_out), 'tree')}")
    save_pipeline(nlp, output, force=force)
