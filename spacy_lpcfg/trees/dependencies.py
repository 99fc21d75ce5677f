"""Convert constituency trees to dependencies by head rules, and write dependencies in CoNLL-U."""

from __future__ import annotations

import re
from typing import NamedTuple

from spacy_lpcfg.trees.heads import ENGLISH, HeadRules, are_universal
from spacy_lpcfg.trees.source import SourceText
from spacy_lpcfg.trees.tags import UNIVERSAL, universal_tag
from spacy_lpcfg.trees.transforms import unescape_token
from spacy_lpcfg.trees.tree import Tree

NO_HEAD = -1
NO_SPACE = "SpaceAfter=No"
_NOTHING = "_"
_BLANKS = re.compile(r"\s+", re.ASCII)  # which would end a cell or a line


class Dependency(NamedTuple):
    """The dependency of a word on its head.

    head (int): The position of the head in the sentence, from 0; NO_HEAD (-1) for the root.
    parent (str): The label of the node right above `phrase`, in which the word depends on its head; "" for the root.
    phrase (str): The label of the largest node that the word heads; its tag if that is the word's preterminal.
    """

    head: int
    parent: str
    phrase: str

    @property
    def label(self) -> str:
        """The relation as `parent>phrase`, such as S>NP for a subject or VP>NP for an object; "root" for the root."""
        return "root" if self.head == NO_HEAD else f"{self.parent}>{self.phrase}"


def dependencies(tree: Tree, rules: HeadRules = ENGLISH) -> list[Dependency]:
    """Convert a constituency tree to dependencies by head rules.

    In each node, the head word of a child depends on the head word of the sister that `HeadRules.governors` finds,
    which is mostly the head child. The head word of the head child is the head word of the node.

    tree (Tree): Any tree.
    rules (HeadRules): The head rules of its language.
    RETURNS (list of Dependency, (n_words,)): The dependency of each word.
    """
    result: list[Dependency] = []

    def head_of(node: Tree, heads: list[int]) -> int:
        if node.is_leaf:
            result.append(Dependency(NO_HEAD, "", node.label))
            return len(result) - 1
        governors = rules.governors(node.label, [child.label for child in node.children])
        for i, (child, governor) in enumerate(zip(node.children, governors, strict=True)):
            if governor == i:
                head = heads[i]
            else:
                result[heads[i]] = Dependency(heads[governor], node.label, child.label)
        return head

    word = tree.fold(head_of)
    result[word] = Dependency(NO_HEAD, "", tree.label)
    return result


def conllu(tree: Tree, rules: HeadRules = ENGLISH) -> str:
    """Return a sentence in CoNLL-U: sentence ID, text, words, tags and dependencies; other columns are "_".

    Universal parts of speech are written as UPOS, any other tags as XPOS. If all tags are Penn Treebank tags, UPOS is
    derived from the tag alone: auxiliaries other than modal verbs become VERB, and conjunctions with the tag IN become
    ADP.

    tree (Tree): Any tree; its `source` may have the sentence ID, and the text with white space and multiword tokens.
    rules (HeadRules): The head rules of its language.
    RETURNS (str): Lines that each end in a line break. The empty line between sentences is left to the caller.
    """
    words = tuple(map(unescape_token, tree.words))
    text = (tree.source and tree.source.text) or SourceText(words, (True,) * len(words))
    lines = [f"# sent_id = {_BLANKS.sub(' ', tree.sent_id)}"] if tree.sent_id else []
    lines.append(f"# text = {_BLANKS.sub(' ', text.text)}")
    tags, arcs = _tag_columns(tree.tags), dependencies(tree, rules)
    for start, end, form in text.tokens():
        space = _NOTHING if text.spaces[end - 1] else NO_SPACE
        if end > start + 1:
            lines.append(_row(f"{start + 1}-{end}", form, misc=space))
        for i in range(start, end):
            is_token = end == start + 1
            word, misc = (form, space) if is_token else (text.words[i], _NOTHING)
            lines.append(_row(str(i + 1), word, *tags[i], str(arcs[i].head + 1), arcs[i].label, misc))
    return "\n".join(lines) + "\n"


def _tag_columns(tags: list[str]) -> list[tuple[str, str]]:
    """Return the columns UPOS and XPOS of each word; "_" stands for an unknown tag."""
    if are_universal(tags):
        return [(tag if tag in UNIVERSAL else "PUNCT", _NOTHING) for tag in tags]
    is_penn = all(map(universal_tag, tags))
    return [((is_penn and universal_tag(tag)) or _NOTHING, tag) for tag in tags]


def _row(
    number: str,
    form: str,
    part_of_speech: str = _NOTHING,
    tag: str = _NOTHING,
    head: str = _NOTHING,
    relation: str = _NOTHING,
    misc: str = _NOTHING,
) -> str:
    form = _BLANKS.sub(" ", form)
    return "\t".join((number, form, _NOTHING, part_of_speech, tag, _NOTHING, head, relation, _NOTHING, misc))
