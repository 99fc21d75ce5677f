"""Read the format of CorpusSearch: treebanks of historical English, Icelandic, Faroese, Old Saxon and more.

Beside words, the trees have:

- codes of the text, `(CODE <P_3>)`, and sentence IDs, `(ID ...)`;
- empty categories, `*T*-1` and `0`;
- in some treebanks, the lemma after each word, `(N-N Menn-maður)`;
- words that were cut in two, with dollar signs, `(N-A dag$) (D-A $inn)`. Where both parts are in the same phrase, they
  become one word again, `(N+D-A daginn)`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.trees.tree_builder import TREE_NAMES, TreeBuilder, sent_id_of

CODES = frozenset({"CODE", "COM", "COMMENT", "REF"})
_SPLICED = frozenset({"CODE", "META"})  # headings and names of speakers, which may hold phrases
_PART = re.compile(r"(?<=[^\d])[2-9][1-9](?=$|[-^])")  # NPR21 and NPR22 are the two parts of one name
_MORPHOLOGY = re.compile(r"[-^]")
_DASH = re.compile(r"</?dash/?>")
_LEAF = re.compile(r"\(([^\s()]+)\s+([^\s()]+)\)")
_NO_LEAVES = TREE_NAMES | CODES
_COMMENT_OPENS, _COMMENT_CLOSES = re.compile(r"^\s*/[~*]?\*|^\s*/~"), re.compile(r"\*~?/\s*$")


def is_empty_category(tag: str, word: str) -> bool:
    """Return whether a leaf is an empty category: `*T*-1`, `*pro*`, `*`, or a 0 whose tag does not begin with NUM."""
    return word.startswith("*") or (word == "0" and not tag.startswith("NUM"))


def has_lemmas(text: str) -> bool:
    """Return whether most words of a text are followed by a hyphen and their lemma, as in `(N-N Menn-maður)`."""
    leaves = [(tag, word) for tag, word in _LEAF.findall(text) if tag not in _NO_LEAVES]
    words = [word for tag, word in leaves if not is_empty_category(tag, word) and word[0].isalpha()]
    return 2 * sum("-" in word for word in words) > len(words)


def without_lemma(word: str) -> str:
    """Cut a word such as `Menn-maður` off at its middle hyphen: word and lemma have equally many hyphens themselves."""
    hyphens = [i for i, char in enumerate(word) if char == "-" and 0 < i < len(word) - 1]
    if not hyphens:
        return word
    return word[: hyphens[len(hyphens) // 2]]


def without_comments(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines, with an empty one for each line of the comments that CorpusSearch writes between trees."""
    is_comment = False
    for line in lines:
        is_comment = is_comment or _COMMENT_OPENS.match(line) is not None
        yield "\n" if is_comment else line
        is_comment = is_comment and _COMMENT_CLOSES.search(line) is None


def parts_with_words(
    tree: Tree, keep: Callable[[Tree, list[list[Tree]]], list[Tree]], dropped: Counter[str]
) -> list[Tree]:
    """Rewrite a tree bottom-up with `keep`, and return the subtrees that are left below its root.

    keep (callable): Takes a node and the subtrees that replace each of its children, and returns the subtrees that
        replace the node. It is not called for an unlabelled root, and for nodes in `(ID ...)` and `(METADATA ...)`.
    dropped (Counter): Counts the tree under "trees without words" if no subtree is left.
    """
    children = tree.children if tree.label == "" else (tree,)
    parts = [part for child in children if child.label not in TREE_NAMES for part in child.fold(keep)]
    if not parts:
        dropped["trees without words"] += 1
    return parts


class CorpusSearchBuilder(TreeBuilder):
    """A builder of trees that leaves out codes, empty categories and lemmas, and joins words that were cut in two.

    path, dropped: As for `TreeBuilder`.
    with_lemmas (bool): Whether each word is followed by its lemma, which is cut off. After punctuation a lemma is
        always cut off.
    """

    def __init__(self, path: str, dropped: Counter[str], *, with_lemmas: bool) -> None:
        super().__init__(path, dropped)
        self.with_lemmas = with_lemmas

    def finished(self, tree: Tree) -> Tree | None:
        parts = parts_with_words(tree, self._kept, self.dropped)
        if not parts:
            return None
        return self._without_dollars(Tree("", self._joined(parts))).with_id(sent_id_of(tree))

    def _kept(self, node: Tree, parts: list[list[Tree]]) -> list[Tree]:
        """Return the subtrees that replace a node: the node itself, its children, or [] for a node without words."""
        if node.word is not None:
            return self._leaf(node.label, node.word)
        children = [child for part in parts for child in part]
        if not children or node.label in _SPLICED:
            return children
        return [Tree(node.label, self._joined(children))]

    def _leaf(self, tag: str, word: str) -> list[Tree]:
        if tag in CODES:
            self.dropped["codes"] += 1
        elif is_empty_category(tag, word):
            self.dropped["empty categories"] += 1
        else:
            return [Tree(_PART.sub("", tag.rstrip("?")) or tag, word=self._form(word))]
        return []

    def _form(self, word: str) -> str:
        form = without_lemma(word) if self.with_lemmas or not any(map(str.isalnum, word)) else word
        self.dropped["lemmas"] += form != word
        return _DASH.sub("—", form)

    def _joined(self, children: list[Tree]) -> list[Tree]:
        """Join successive children that are the parts of one word, such as `dag$` and `$inn`, to one leaf."""
        joined: list[Tree] = []
        for child in children:
            before = joined[-1] if joined else None
            if before is not None and _are_cut(before.word, child.word):
                word = "".join(before.words)[:-1] + "".join(child.words)[1:]
                joined[-1] = Tree(_joined_tag(before.label, child.label), word=word)
                self.dropped["cut words joined"] += 1
            else:
                joined.append(child)
        return joined

    def _without_dollars(self, tree: Tree) -> Tree:
        """Remove the dollar signs from words that were cut in two but not joined, as their parts are in two phrases."""
        words = tree.words
        cuts = [i for i, pair in enumerate(pairwise(words)) if _are_cut(*pair)]
        if not cuts:
            return tree
        self.dropped["cut words of two phrases kept apart"] += len(cuts)
        for i in cuts:
            words[i], words[i + 1] = words[i][:-1], words[i + 1][1:]
        return tree.with_leaves(Tree(leaf.label, word=word) for leaf, word in zip(tree.leaves(), words, strict=True))


def _are_cut(left: str | None, right: str | None) -> bool:
    """Return whether two successive words are parts of one, such as `dag$` and `$inn`."""
    if left is None or right is None or min(len(left), len(right)) < 2:
        return False
    return left.endswith("$") and right.startswith("$")


def _joined_tag(left: str, right: str) -> str:
    """Join the tags of a cut word: `N-A` and `D-A` to `N+D-A`, but `N-A` and `D-N`, which differ, to `N-A+D-N`."""
    at_left, at_right = _MORPHOLOGY.search(left), _MORPHOLOGY.search(right)
    ending = left[at_left.start() :] if at_left else ""
    if at_left and at_right and ending == right[at_right.start() :]:
        return f"{left[: at_left.start()]}+{right}"
    return f"{left}+{right}"
