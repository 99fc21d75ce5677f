"""Head rules, which find the head among the children of a node; the folder `head_tables` has tables of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from itertools import islice

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees.lines import read_lines
from spacy_lpcfg.trees.tags import UNIVERSAL
from spacy_lpcfg.trees.transforms import NEW_NODE, split_chain

Step = tuple[str, frozenset[str]]


@dataclass(frozen=True)
class HeadRules:
    """Head rules of a treebank: for each category, search steps that find the head among the children of a node.

    table (mapping of str to steps): The search steps of each category. A step is a side, "left" or "right", and a set
        of categories: it finds the first child from that side whose category is in the set. The first step that finds a
        child decides. If none does, the head is the first child from the side of the last step that has the category of
        the node, or else that is not punctuation.
    side (str): The side from which to search in nodes whose category is not in the table, "left" or "right".
    coordinators (frozenset of str): Categories of conjunctions. If one precedes the head, the conjunct before it
        becomes the head.
    next (frozenset of str): Categories of children that, after the head, depend on the next child, as a conjunction on
        the next conjunct in Universal Dependencies.
    fixed (pair of frozenset of str): For fixed expressions of function words, such as Japanese "ni yotte", the
        categories of their first words and of their further words. An expression begins only after another child. Its
        further words never head a node, and depend on its first word, as in Universal Dependencies.
    cut (str): Characters that end a category in a label, in addition to "-", "=" and "|".
    """

    table: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)
    side: str = "left"
    coordinators: frozenset[str] = frozenset()
    next: frozenset[str] = frozenset()
    fixed: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    cut: str = ""

    def head(self, label: str, child_labels: Sequence[str]) -> int:
        """Return the position of the head among the children of a node.

        Function labels (the SBJ of NP-SBJ) are ignored. In the label of a collapsed unary chain (`collapse_unaries`)
        the innermost category counts for the parent and the outermost for a child, since these are adjacent in the
        tree; a node `@X` from `binarize` counts as an X.

        label (str): The parent's label.
        child_labels (sequence of str): The children's labels or tags, left to right.
        RETURNS (int): The position of the head in `child_labels`.
        RAISES (ValueError): If there are no children.
        """
        if not child_labels:
            raise ValueError(f"A head is one of the children, but {shown(label)} has none.")
        parent = self._category(label, -1)
        children = [self._category(child, 0) for child in child_labels]
        parts = self._parts_of_fixed(children)
        others = [i for i in range(len(children)) if i not in parts]
        head = others[self._find(parent, [children[i] for i in others])]
        while head >= 2 and children[head - 1] in self.coordinators:
            before = [i for i in range(head - 1) if not _is_punctuation(children[i])]
            head = before[-1] if before else head - 2
        return head

    def governors(self, label: str, child_labels: Sequence[str]) -> list[int]:
        """Return the position of the sister on which each child of a node depends; for the head, its own position.

        RETURNS (list of int, (n_children,)): The head's position for all children but those in `next` or `fixed`.

        Arguments and errors are those of `head`.
        """
        head = self.head(label, child_labels)
        result = [head] * len(child_labels)
        following = head
        categories = [self._category(child, 0) for child in child_labels]
        parts = self._parts_of_fixed(categories)
        for i in range(len(child_labels) - 1, head, -1):
            category = categories[i]
            if parts.get(i, head) > head:
                result[i] = parts[i]
            elif category in self.next:
                result[i] = following
            elif not _is_punctuation(category):
                following = i
        return result

    def _parts_of_fixed(self, children: Sequence[str]) -> dict[int, int]:
        """Map the position of each further word of a fixed expression to the position of its first word."""
        starts, others = self.fixed
        parts: dict[int, int] = {}
        first = None
        for i, category in enumerate(children):
            if first is not None and category in others:
                parts.update(dict.fromkeys(range(first + 1, i + 1), first))
            elif category not in starts or i == 0:
                first = None
            elif first is None:
                first = i
        return parts

    def _find(self, parent: str, children: list[str]) -> int:
        """Return the position of the head by the search steps of the parent's category alone, without coordinators."""
        steps = self.table.get(parent) or self._steps_by_pattern(parent) or ((self.side, frozenset()),)
        last_side = steps[-1][0]
        not_punctuation = frozenset(child for child in children if not _is_punctuation(child))
        fall_back = ((last_side, frozenset({parent})), (last_side, not_punctuation))
        for side, wanted in steps + fall_back:
            positions = [i for i, child in enumerate(children) if child in wanted or _is_like(child, wanted)]
            if positions:
                return positions[0] if side == "left" else positions[-1]
        return 0 if last_side == "left" else len(children) - 1

    def _steps_by_pattern(self, parent: str) -> tuple[Step, ...]:
        return next((steps for name, steps in self.table.items() if _is_like(parent, frozenset({name}))), ())

    def _category(self, label: str, index: int) -> str:
        category = _category(label, index)
        for sign in self.cut:
            category = category.partition(sign)[0] or category
        return category


def read_head_rules(lines: Iterable[str], path: str) -> HeadRules:
    """Parse a table of head rules: lines of categories and search steps, `NP NX: right NN|NNS, left NP, right CD JJ`.

    - Categories joined by "|" are searched for at once; categories separated by blanks are further steps from the same
      side.
    - "*" in a category matches any characters.
    - Five more kinds of lines are settings of `HeadRules` for all categories: `side: right`, `coordinators: CC CONJP`,
      `next: CC`, `fixed: ADP SCONJ, VERB` and `cut: ^ _`.
    - A line that begins with "#" is a comment.

    lines (iterable of str): The lines of the table.
    path (str): What error messages call the table, such as the name of its file.
    RAISES (ValueError): If a line is malformed; the message has path and line.
    """
    table: dict[str, tuple[Step, ...]] = {}
    settings = {"side": "left", "coordinators": "", "next": "", "fixed": "", "cut": ""}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        names, colon, rule = line.partition(": ")
        if names in settings and colon:
            settings[names] = rule.strip()
            continue
        steps = _steps(rule)
        if not (names.split() and colon and steps):
            raise ValueError(
                f"{path}:{number}: Expected categories, a colon, and sides with the categories to look for, such as "
                f"'NP: right NN|NNS, left NP', but got {shown(line.strip())}. Correct the line."
            )
        table.update(dict.fromkeys(names.split(), steps))
    if settings["side"] not in _SIDES:
        raise ValueError(f"{path}: Expected the side left or right, but got {shown(settings['side'])}.")
    coordinators, following = (frozenset(settings[name].split()) for name in ("coordinators", "next"))
    starts, _, others = settings["fixed"].partition(",")
    fixed = frozenset(starts.split()), frozenset(others.split())
    return HeadRules(table, settings["side"], coordinators, following, fixed, "".join(settings["cut"].split()))


def _steps(rule: str) -> tuple[Step, ...]:
    """Parse the search steps of a line; return () if they are malformed."""
    steps: list[Step] = []
    for step in rule.split(","):
        side, *categories = step.split() or [""]
        if side not in _SIDES or not {*_SIDES}.isdisjoint(categories):
            return ()
        steps += [(side, frozenset(alternatives.split("|"))) for alternatives in categories] or [(side, frozenset())]
    return tuple(steps)


_SIDES = ("left", "right")
TABLES = ("english", "corpussearch", "head-final", "general", "dependencies")
"""Names of the tables in the package, files in `head_tables`."""
_HEAD_FINAL = set("am az bn gu hi ja kk kn ko ky ml mn mr my ne pa si ta te tr ug ur uz".split())  # noqa: SIM905


def _packaged(name: str) -> HeadRules:
    file = files("spacy_lpcfg.trees.head_tables").joinpath(f"{name}.heads")
    return read_head_rules(file.read_text("utf-8").splitlines(), name)


ENGLISH = _packaged("english")
DEFAULT = _packaged("general")


def head_rules(name: str) -> HeadRules:
    """Return the head rules of a language, of a table in the package, or of a file.

    name (str): One of `TABLES`; or the path of a file for `read_head_rules`, which must contain a dot or a slash; or a
        language code of at most three letters, as in spaCy. A language without a table of its own gets "general".
    RAISES (ValueError): If a longer name is no table, or the file is malformed, a pipe or a device.
        (OSError): If the file cannot be opened.
    """
    if name in TABLES:
        return _table(name)
    if "." in name or "/" in name or os.sep in name:
        return read_head_rules(read_lines(name), name)
    if len(name) > _LONGEST_CODE:
        raise ValueError(
            f"Expected head rules by a language's code, a file, or one of {', '.join(TABLES)}, but got {shown(name)}."
        )
    return rules_of_language(name)


def rules_of_language(code: str) -> HeadRules:
    """Return ENGLISH for "en", the table "head-final" for languages such as Japanese and Korean, else DEFAULT."""
    return ENGLISH if code == "en" else _table("head-final") if code in _HEAD_FINAL else DEFAULT


def rules_of_tags(tags: Iterable[str], code: str) -> HeadRules:
    """Return the table "dependencies" if tags are universal parts of speech, else `head_rules(code)`.

    tags (iterable of str): The tags of trees; the first 50 decide.
    code (str): The language of the trees, as for `head_rules`.
    """
    return _table("dependencies") if are_universal(islice(tags, _TAGS_LOOKED_AT)) else head_rules(code)


def are_universal(tags: Iterable[str]) -> bool:
    """Return whether all tags are universal parts of speech or punctuation tags, and at least one is universal."""
    known = [(tag in UNIVERSAL, _is_punctuation(tag)) for tag in tags]
    return any(is_universal for is_universal, _ in known) and all(map(any, known))


_TAGS_LOOKED_AT = 50
_LONGEST_CODE = 3
_table = lru_cache(maxsize=None)(_packaged)


def _category(label: str, index: int) -> str:
    """Return the category of one node of a collapsed unary chain, without function labels and the "@" of `binarize`.

    index (int): Which node of the chain: 0 for the outermost, -1 for the innermost.
    """
    if label.startswith(NEW_NODE):
        label = label[len(NEW_NODE) :].partition("->")[0]
    category = split_chain(label)[index]
    return category.partition("-")[0].partition("=")[0].partition("|")[0] or category


@lru_cache(maxsize=2**16)
def _is_like(category: str, wanted: frozenset[str]) -> bool:
    """Return whether a category matches any of the wanted patterns that contain "*"."""
    return any("*" in name and re.fullmatch(re.escape(name).replace(r"\*", ".*"), category) for name in wanted)


def _is_punctuation(category: str) -> bool:
    return category in ("-LRB-", "-RRB-") or not any(map(str.isalpha, category))
