"""Tags cut to parts of speech: of tags with morphology a treebank has hundreds, most of them rare."""

from __future__ import annotations

import re

from spacy_lpcfg.trees.tree import Tree

_SIGNS = "-=^_:"
_MORPHOLOGY = re.compile(f"(?<=.)[{re.escape(_SIGNS)}].*", re.DOTALL)
_MOOD = re.compile(r"^((?:AX|BE|DO|HV|LB|MD|RD|UT|VB)[DP])[IS]$")


def coarse_tag(tag: str) -> str:
    """The part of speech of a tag, which is what stands before the first of the signs - = ^ _ :

    `N-A` (IcePaHC), `N^A^SG` (HeliPaD), `no_et_þf` (GreynirCorpus) and `subst:sg:nom` become `N`, `N`, `no` and
    `subst`. Words of several parts keep those of all: `N+D-A` becomes `N+D`. The mood of verbs in historical corpora,
    which is a letter, goes as well: `VBDI` and `VBDS` become `VBD`. Tags that begin with a sign, as `-LRB-`, and those
    without, as `PRP$` and `NNP|NN`, stay.
    """
    if tag.startswith(tuple(_SIGNS)):
        return tag
    return "+".join(_MOOD.sub(r"\1", _MORPHOLOGY.sub("", part)) for part in tag.split("+"))


def with_coarse_tags(tree: Tree) -> Tree:
    """The tree with tags as `coarse_tag` has them; the labels of phrases stay."""
    return tree.fold(
        lambda node, below: Tree(coarse_tag(node.label), word=node.word) if node.is_leaf else Tree(node.label, below)
    )
