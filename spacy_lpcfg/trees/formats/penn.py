r"""Read brackets as in the Penn Treebank, with the extensions of related treebanks.

- Lines of markup around the trees, as in the Chinese Treebank, `<S ID=1>`, are removed.
- Headers `*x*x*x*`, speakers `(CODE (SYM SpeakerA1) (. .))` and marks of disfluency `(-DFL- \[)`, `(-DFL- E_S)`, as in
  Switchboard and Brown, are removed.
- Features after a label, as in the treebanks of SPMRL, `(NC##lem=chat|cpos=N## chat)`, are removed.
- Function labels after another mark than the hyphen, `NP*SB`, `NP_SBJ` or `VP:PRD`, get a hyphen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from spacy_lpcfg.trees.source import SentenceSource
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.trees.tree_builder import OpenNode, TreeBuilder

IS_IRREGULAR = re.compile(rb"##|CODE|-DFL-|\*x\*|[EN]_S|\\[\[\]+]")
"""Matches all that this module may read in another way than as labels and words, and in some files more."""
_MARKUP = re.compile(r"\s*<[^()]*>\s*")
_ID = re.compile(r"<[sS][^<>]*\s(?:ID|id)\s*=\s*[\"']?([^\s\"'<>]+)")
_HEADER = re.compile(r"[\s(]*(?:TOP\s*\(\s*)?\*x\*.*\*x\*[\s)]*|\s*\*x\*.*", re.DOTALL)
_FEATURES = re.compile(r"(?<=[^\s(])##[^\s()]*##(?=[\s(])")
_DISFLUENCY_TAG, _DISFLUENCY = "-DFL-", frozenset({r"\[", r"\]", r"\+", "E_S", "N_S"})
_PHRASE_LABEL = re.compile(r"\(\s*([^\s()]+)\s*(?=\()")
_HYPHENED = re.compile(r"[A-Z]+-[A-Z]{2,}")
_LEAST_SHARE = 0.1  # of the labels of phrases, that have a function by a mark


def function_mark(opening: str) -> str:
    """Find the character before function labels (*, _ or :) in the first lines of a file, `opening`.

    A character counts if at least a tenth of the phrase labels have it between capital letters, as in `NP*SB`.

    RETURNS (str): The character; "" if there is none, or if function labels follow hyphens.
    """
    labels = _PHRASE_LABEL.findall(opening)
    if not labels or any(map(_HYPHENED.match, labels)):
        return ""
    for mark in "*_:":
        marked = re.compile(rf"[A-Z]+(?:{re.escape(mark)}[A-Z]+[0-9]*)+")
        if sum(marked.fullmatch(label) is not None for label in labels) >= _LEAST_SHARE * len(labels):
            return mark
    return ""


class PennBuilder(TreeBuilder):
    """Builder of Penn Treebank trees that removes markup, CODE nodes and marks of disfluency.

    Function labels after another mark than the hyphen get a hyphen. The module has examples.

    path, dropped: As for `TreeBuilder`.
    mark (str): The mark before function labels that becomes a hyphen, such as "*" in `NP*SB`; "" for none.
    """

    def __init__(self, path: str, dropped: Counter[str], *, mark: str) -> None:
        super().__init__(path, dropped)
        self.mark = mark
        self._sent_id = ""

    def finished(self, tree: Tree) -> Tree | None:
        found = super().finished(tree)
        return found and found.with_source(SentenceSource(self._sent_id or found.sent_id, line=self.line))

    def lines(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines without markup, headers and features; a line that is left out becomes an empty line."""
        for line in lines:
            if line.lstrip()[:1] == "<" and not self.is_open and _MARKUP.fullmatch(line):
                self.dropped["lines of markup"] += 1
                self._sent_id = next(iter(_ID.findall(line)), "")
                yield "\n"
            elif "*x*" in line and _HEADER.fullmatch(line):
                self.dropped["lines of headers"] += 1
                yield "\n"
            elif "##" in line:
                plain, n_features = _FEATURES.subn("", line)
                self.dropped["labels' features"] += n_features
                yield plain
            else:
                yield line

    def _closed(self, node: OpenNode, number: int) -> list[Tree]:
        label = node.label or ""
        if label == _DISFLUENCY_TAG or node.word in _DISFLUENCY:
            return self._left_out("marks of disfluency")
        if label == "CODE":
            return self._left_out("codes")
        if node.is_pruned and not node.children:
            return self._left_out("")
        if self.mark and self.mark in label and node.children:
            self.dropped[f"functions after {self.mark} read as after -"] += 1
            node.label = label.replace(self.mark, "-")
        return super()._closed(node, number)

    def _left_out(self, name: str) -> list[Tree]:
        """Leave out a node, counted as `name` unless that is ""; its parent goes too if it has no other children."""
        if name:
            self.dropped[name] += 1
        if self._stack:
            self._stack[-1].is_pruned = True
        return []
