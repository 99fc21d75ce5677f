"""Read the Keyaki Treebank of Japanese, and treebanks in the same format.

Empty categories may hold a particle, `(NP-SBJ *が*)`, and are removed. Roles follow a semicolon in labels, and become
function labels: `NP;*OB1*` is read as `NP-OB1`. Referents in braces, `NP-SBJ{SPEAKER}`, are removed. Trees with a sign
in place of each word, since the text is withheld, are dropped.
"""

from __future__ import annotations

import re

from spacy_lpcfg.trees.formats.corpussearch import CODES, is_empty_category, parts_with_words
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.trees.tree_builder import TreeBuilder, sent_id_of

_ROLE = re.compile(r";\*?([^*{}]*)\*?")
_REFERENCE = re.compile(r"\{[^{}]*\}")
_WITHHELD = "⛔"


class KeyakiBuilder(TreeBuilder):
    """A builder of trees of the Keyaki Treebank, without codes, empty categories and referents."""

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
            if node.label in CODES or is_empty_category(node.label, node.word):
                self.dropped["codes" if node.label in CODES else "empty categories"] += 1
                return []
            return [Tree(_label(node.label), word=node.word)]
        children = [child for part in parts for child in part]
        return [Tree(_label(node.label), children)] if children else []


def _label(label: str) -> str:
    return _ROLE.sub(r"-\1", _REFERENCE.sub("", label)).rstrip("-") or label
