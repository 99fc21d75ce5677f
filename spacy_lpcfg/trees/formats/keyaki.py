"""The Keyaki Treebank of Japanese, and others in its form.

Empty categories have the particle that is missing, `(NP-SBJ *が*)`; roles are in labels after a semicolon,
`NP;*OB1*`, and referents in braces, `NP-SBJ{SPEAKER}`. Texts that may not be passed on have a sign in place of each
word.
"""

from __future__ import annotations

import re
from collections import Counter

from spacy_lpcfg.trees.brackets import TreeBuilder, sent_id_of
from spacy_lpcfg.trees.formats.corpussearch import CODES, is_empty_category, parts_with_words
from spacy_lpcfg.trees.tree import Tree

_ROLE = re.compile(r";\*?([^*{}]*)\*?")
_REFERENCE = re.compile(r"\{[^{}]*\}")
_WITHHELD = "⛔"


class KeyakiBuilder(TreeBuilder):
    """A builder of trees for such a treebank; `dropped` (Counter) receives the counts of what was left out."""

    def __init__(self, path: str, dropped: Counter[str]) -> None:
        super().__init__(path)
        self.dropped = dropped

    def finished(self, tree: Tree) -> Tree | None:
        parts = parts_with_words(tree, self._kept, self.dropped)
        if not parts:
            return None
        if any(_WITHHELD in word for part in parts for word in part.words):
            self.dropped["trees of withheld words"] += 1
            return None
        return Tree("", parts).with_id(sent_id_of(tree))

    def _kept(self, node: Tree, parts: list[list[Tree]]) -> list[Tree]:
        if node.word is not None:
            name = "codes" if node.label in CODES else "empty categories"
            if node.label in CODES or is_empty_category(node.label, node.word):
                self.dropped[name] += 1
                return []
            return [Tree(_label(node.label), word=node.word)]
        children = [child for part in parts for child in part]
        return [Tree(_label(node.label), children)] if children else []


def _label(label: str) -> str:
    return _ROLE.sub(r"-\1", _REFERENCE.sub("", label)).rstrip("-") or label
