"""Which child is the head of a node: rules as data, and the heads of a whole tree.

The English table is that of Collins (1999), "Head-Driven Statistical Models for Natural Language
Parsing", appendix A, which goes back to Magerman (1995). Differs: (1) labels for which the thesis
has only a side or nothing (FRAG, PRN, UCP; NX, X, the roots) follow the Stanford parser; (2) so
does QP, which looks for the number before its modifiers; (3) where the table has no answer,
punctuation is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees.transforms import NEW_NODE, split_chain
from spacy_lpcfg.trees.tree import Tree

Step = tuple[str, frozenset[str]]


def in_turn(side: str, categories: str) -> tuple[Step, ...]:
    """Steps that look for one category after the other: the earlier category wins."""
    return tuple((side, frozenset({category})) for category in categories.split())


def at_once(side: str, categories: str = "") -> tuple[Step, ...]:
    """One step that looks for all categories: the child that is nearer to the side wins."""
    return ((side, frozenset(categories.split())),)


@dataclass(frozen=True)
class HeadRules:
    """Head rules of a treebank.

    table (mapping of str to steps): The steps that find the head of a category, made by `in_turn`
        and `at_once`. A step is a side, "left" or "right", and categories: the first child from
        that side which has one of them. The first step that finds a child decides. If none does,
        it is the child of the parent's own category, else the first that is not punctuation, from
        the side of the last step.
    side (str): The side for categories that are not in the table.
    coordinators (frozenset of str): Categories of conjunctions. When one stands right before the
        head that was found, the conjunct before it is the head.
    """

    table: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)
    side: str = "left"
    coordinators: frozenset[str] = frozenset()

    def head(self, label: str, child_labels: Sequence[str]) -> int:
        """Find the head among the children of a node.

        Function labels do not matter. Of a label that `collapse_unaries` made, the innermost
        category counts for the parent and the outermost for a child, since these are the two that
        meet; a node `@X` that `binarize` made counts as an X.

        label (str): The parent's label.
        child_labels (sequence of str): The children's labels or tags, left to right.
        RETURNS (int): The position of the head in `child_labels`.
        RAISES (ValueError): If there are no children.
        """
        if not child_labels:
            raise ValueError(f"A head is one of the children, but {shown(label)} has none.")
        parent = _category(label, -1)
        children = [_category(child, 0) for child in child_labels]
        head = self._find(parent, children)
        while head >= 2 and children[head - 1] in self.coordinators:
            before = [i for i in range(head - 1) if not _is_punctuation(children[i])]
            head = before[-1] if before else head - 2
        return head

    def _find(self, parent: str, children: list[str]) -> int:
        steps = self.table.get(parent) or at_once(self.side)
        last_side = steps[-1][0]
        not_punctuation = frozenset(child for child in children if not _is_punctuation(child))
        fall_back = ((last_side, frozenset({parent})), (last_side, not_punctuation))
        for side, wanted in steps + fall_back:
            found = [i for i, child in enumerate(children) if child in wanted]
            if found:
                return found[0] if side == "left" else found[-1]
        return 0 if last_side == "left" else len(children) - 1


_NOUN_PHRASE = (
    *at_once("right", "NN NNP NNPS NNS NX POS JJR"),
    *at_once("left", "NP"),
    *at_once("right", "$ ADJP PRN"),
    *at_once("right", "CD"),
    *at_once("right", "JJ JJS RB QP"),
)
_ROOT = in_turn("left", "S SQ SINV SBARQ SBAR FRAG")

ENGLISH = HeadRules(
    {
        "ADJP": in_turn(
            "left",
            "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB",
        ),
        "ADVP": in_turn("right", "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
        "CONJP": in_turn("right", "CC RB IN"),
        "FRAG": at_once("right"),
        "INTJ": at_once("left"),
        "LST": in_turn("right", "LS :"),
        "NAC": in_turn(
            "left",
            "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW",
        ),
        "NP": _NOUN_PHRASE,
        "NX": _NOUN_PHRASE,
        "PP": in_turn("right", "IN TO VBG VBN RP FW"),
        "PRN": in_turn(
            "left",
            "VP NP PP S SINV SBAR ADJP ADVP INTJ WHNP NAC VBP JJ NN NNP",
        ),
        "PRT": in_turn("right", "RP"),
        "QP": in_turn("right", "$ NNS NN CD JJ PDT DT IN RB QP JJR JJS"),
        "ROOT": _ROOT,
        "RRC": in_turn("right", "VP NP ADVP ADJP PP"),
        "S": in_turn("left", "TO IN VP S SBAR ADJP UCP NP"),
        "S1": _ROOT,
        "SBAR": in_turn("left", "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
        "SBARQ": in_turn("left", "SQ S SINV SBARQ FRAG"),
        "SINV": in_turn("left", "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
        "SQ": in_turn("left", "VBZ VBD VBP VB MD VP SQ"),
        "TOP": _ROOT,
        "UCP": at_once("right"),
        "VP": in_turn("left", "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
        "WHADJP": in_turn("left", "CC WRB JJ ADJP"),
        "WHADVP": in_turn("right", "CC WRB"),
        "WHNP": in_turn("left", "WDT WP WP$ WHADJP WHPP WHNP"),
        "WHPP": in_turn("right", "IN TO FW"),
        "X": in_turn("right", "S VP ADJP NP SBAR PP X"),
    },
    coordinators=frozenset({"CC", "CONJP"}),
)

DEFAULT = HeadRules()


def head_rules(lang: str) -> HeadRules:
    """The rules for a language: ENGLISH for "en", else DEFAULT.

    DEFAULT knows no categories: the head is the first child of the parent's category, else the
    first child that is not punctuation. For a language with heads at the end take
    `HeadRules(side="right")`.

    lang (str): The language's code, as spaCy has it.
    """
    return ENGLISH if lang == "en" else DEFAULT


def lexical_heads(tree: Tree, rules: HeadRules = ENGLISH) -> list[int]:
    """The lexical head of every node.

    In a binarized tree a node `@X` counts as its own head child, so that the heads are those of
    the tree before, but for some coordinations.

    tree (Tree): Any tree.
    rules (HeadRules): The rules of its language.
    RETURNS (list of int): For each node, in the order of `tree.nodes()`, the position of the word
        that is its head; a leaf's is its own.
    """
    nodes = list(tree.nodes())
    heads = [0] * len(nodes)
    right: list[tuple[int, str]] = []  # head and label of the subtrees to the right, nearest last
    position = len(tree)
    for i, node in reversed(list(enumerate(nodes))):
        if node.is_leaf:
            position -= 1
            head, label = position, node.label
        else:
            below = [right.pop() for _ in node.children]
            head, label = below[rules.head(node.label, [label for _, label in below])]
        heads[i] = head
        right.append((head, label if node.label.startswith(NEW_NODE) else node.label))
    return heads


def _category(label: str, part: int) -> str:
    """The bare category of one part of a collapsed, perhaps binarized label."""
    if label.startswith(NEW_NODE):
        label = label[len(NEW_NODE) :].partition("->")[0]
    category = split_chain(label)[part]
    return category.partition("-")[0].partition("=")[0].partition("|")[0] or category


def _is_punctuation(category: str) -> bool:
    return category in ("-LRB-", "-RRB-") or not any(map(str.isalpha, category))
