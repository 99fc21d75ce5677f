"""Treebanks that commands learn from, and measure on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spacy_lpcfg.components.cli.console import log_skipped, progress

if TYPE_CHECKING:
    from spacy_lpcfg.trees import Tree
    from spacy_lpcfg.trees.parse import Parse


def read_treebank(paths: Sequence[Path], skip_bad: bool) -> Iterator[Tree]:
    """The trees of the files; at the end, how many were broken."""
    from spacy_lpcfg.trees import read_trees

    errors: list[Exception] = []
    yield from progress(read_trees(paths, on_error=errors.append if skip_bad else None), "trees")
    log_skipped(errors)


def held_out_f1(parse: Callable[[Sequence[str]], Parse], held_out: Sequence[Tree]) -> float:
    """F1 in percent of trees parsed from raw words, as `spacy-lpcfg evaluate` has it."""
    from spacy_lpcfg.trees import clean
    from spacy_lpcfg.trees.evalb import evaluate

    golds = [tree for tree in map(clean, held_out) if tree is not None]
    parses = [parse(gold.words).tree for gold in progress(golds, "sentences")]
    return evaluate(golds, parses).scores()["evalb_f"]
