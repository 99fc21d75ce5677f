"""Convert Penn Treebank tags to universal parts of speech, and tags with morphological features to coarse tags."""

from __future__ import annotations

import re

from spacy_lpcfg.trees.tree import Tree

PENN = {
    "ADJ": "AFX JJ JJR JJS",
    "ADP": "IN RP",
    "ADV": "EX RB RBR RBS WRB",
    "AUX": "MD",
    "CCONJ": "CC",
    "DET": "DT PDT WDT",
    "INTJ": "UH",
    "NOUN": "NN NNS",
    "NUM": "CD",
    "PART": "POS TO",
    "PRON": "PRP PRP$ WP WP$",
    "PROPN": "NNP NNPS",
    "PUNCT": "# $ '' `` , . : -LRB- -RRB- HYPH NFP SYM-PUNCT _SP SPACE \" ( )",
    "SCONJ": "",
    "SYM": "SYM",
    "VERB": "VB VBD VBG VBN VBP VBZ",
    "X": "ADD FW GW LS XX",
}
"""The tags of the Penn Treebank and its relatives (OntoNotes, GUM) for each universal part of speech."""
UNIVERSAL = frozenset(PENN)
"""The universal parts of speech."""
_OF_PENN = {tag: name for name, tags in PENN.items() for tag in tags.split()}
_OF_PENN |= {"$": "SYM", "#": "SYM", "EX": "PRON"}  # as treebanks of Universal Dependencies have them
_SIGNS = "-=^_:"
_MORPHOLOGY = re.compile(f"(?<=.)[{re.escape(_SIGNS)}].*", re.DOTALL)
_MOOD = re.compile(r"^((?:AX|BE|DO|HV|LB|MD|RD|UT|VB)[DP])[IS]$")


def coarse_tag(tag: str) -> str:
    """Reduce a tag to its part of speech: the characters before the first of the signs - = ^ _ :

    `N-A` (IcePaHC), `N^A^SG` (HeliPaD), `no_et_þf` (GreynirCorpus) and `subst:sg:nom` become `N`, `N`, `no` and
    `subst`. In compound tags each component is reduced: `N+D-A` becomes `N+D`. The last letter of verb tags in
    historical corpora, which is the mood, is removed as well: `VBDI` and `VBDS` become `VBD`. Tags that begin with a
    sign, such as `-LRB-`, and tags without one, such as `PRP$` and `NNP|NN`, are kept.
    """
    if tag.startswith(tuple(_SIGNS)):
        return tag
    return "+".join(_MOOD.sub(r"\1", _MORPHOLOGY.sub("", component)) for component in tag.split("+"))


def with_coarse_tags(tree: Tree) -> Tree:
    """Reduce the tags of a tree to parts of speech by `coarse_tag`; phrase labels are kept."""
    coarse = tree.with_leaves(Tree(coarse_tag(leaf.label), word=leaf.word) for leaf in tree.leaves())
    return coarse.with_source(tree.source)


def universal_tag(tag: str) -> str | None:
    """Return the universal part of speech of a Penn Treebank tag; None if the Penn Treebank has no such tag."""
    return _OF_PENN.get(tag)
