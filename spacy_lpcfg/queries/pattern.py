"""Patterns of trees in Tregex's language: what they consist of, and how they are read.

Levy and Andrew (2006), "Tregex and Tsurgeon"; the relations and what goes before what are those of the documentation of
Stanford's TregexPattern. docs/search.md has the table of relations, and what differs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees.transforms import basic_category

Found = TypeVar("Found")

MAX_NODES = 64
MAX_NESTING = 40
"""The most nodes of a pattern, and the most brackets and negations around a part of it."""
_SHOWN = 50  # characters of a pattern that an error shows on each side of the mistake


class PatternError(ValueError):
    """A text that is no pattern.

    pattern (str): The text.
    column (int): Where the mistake is, from 1.
    """

    def __init__(self, message: str, pattern: str, column: int) -> None:
        super().__init__(message, pattern, column)
        self.message = message
        self.pattern = pattern
        self.column = column

    def __str__(self) -> str:
        begin = max(self.column - 1 - _SHOWN, 0)
        line = re.sub(r"\s", " ", self.pattern[begin : self.column + _SHOWN])
        return f"{self.message} at column {self.column}:\n  {line}\n  {' ' * (self.column - 1 - begin)}^"


# What a pattern consists of ----------------------------------------------------------------------


@dataclass(frozen=True)
class LabelTest:
    """Which labels a description is of.

    text (str): Labels with | between them, /a regular expression/, __ for any label, or _ROOT_ for that of any root.
    is_negated (bool): Whether it is of all other labels.
    is_basic (bool): Whether what follows the category does not count, as the -SBJ of NP-SBJ.
    """

    text: str
    is_negated: bool = False
    is_basic: bool = False

    @cached_property
    def regex(self) -> re.Pattern[str] | None:
        return re.compile(self.text[1:-1]) if self.text.startswith("/") else None

    @cached_property
    def holds(self) -> Callable[[str], bool]:
        """Whether a label is one of them; whether a node is a root has to be asked besides."""
        regex, labels = self.regex, frozenset(self.text.split("|"))

        def is_one(label: str) -> bool:
            label = basic_category(label) if self.is_basic else label
            return regex.search(label) is not None if regex else self.text in (ANY, ROOT) or label in labels

        return (lambda label: not is_one(label)) if self.is_negated else is_one


ANY, ROOT = "__", "_ROOT_"


@dataclass(frozen=True)
class Relation:
    """How a node is related to another.

    symbol (str): Such as "<<"; of several symbols for one relation the first in docs/search.md. "<i" stands for all
        like <2 and <-1.
    number (int): Which child, or word.
    through (LabelTest or None): What the nodes between them are, in the brackets of <+(C).
    """

    symbol: str
    number: int = 0
    through: LabelTest | None = None


@dataclass(frozen=True, eq=False)
class NodePattern:
    """A node, and what has to hold of it.

    test (LabelTest): Its label. Of a backreference or link `is_negated` and `is_basic` alone count.
    name (str or None): What it is called, as in NP=x.
    same (str or None): The name of the node that it is, as in =x.
    like (str or None): The name of a node with the same label, as in ~x.
    groups (tuple of (int, str)): Groups of the regular expression, and the variables that hold what they match.
    part (Part or None): What else has to hold.
    """

    test: LabelTest
    name: str | None = None
    same: str | None = None
    like: str | None = None
    groups: tuple[tuple[int, str], ...] = ()
    part: Part | None = None

    @cached_property
    def is_closed(self) -> bool:
        """Whether it depends on no other part of the pattern which nodes match."""
        return not any(node.same or node.like or node.groups for node in self.nodes())

    @cached_property
    def binds(self) -> bool:
        """Whether it names nodes, or what is in their labels."""
        return any(node.name or node.groups for node in self.nodes())

    def nodes(self) -> Iterator[NodePattern]:
        """The node, and those that it is related to."""
        yield self
        if self.part is not None:
            yield from self.part.nodes()


@dataclass(frozen=True, eq=False)
class Part:
    """A condition on a node.

    kind (str): "step", to a node in some relation; "all", "any", "not" or "optional" of other parts.
    """

    kind: str
    parts: tuple[Part, ...] = ()
    relation: Relation = Relation("==")
    node: NodePattern = NodePattern(LabelTest(ANY))

    def nodes(self) -> Iterator[NodePattern]:
        """The nodes that it is about."""
        if self.kind == "step":
            yield from self.node.nodes()
        for part in self.parts:
            yield from part.nodes()

    @cached_property
    def is_closed(self) -> bool:
        return all(node.is_closed for node in self.nodes())


class TreePattern:
    """A pattern, such as NP < (PP <# of).

    text (str): In Tregex's language.
    RAISES (PatternError): With the column, for a text that is no pattern.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        parser = _Parser(text)
        self.roots: tuple[NodePattern, ...] = tuple(parser.pattern())
        self.names: tuple[str, ...] = tuple(dict.fromkeys(parser.all_names))

    def __repr__(self) -> str:
        return f"TreePattern({self.text!r})"


# Relations ---------------------------------------------------------------------------------------

CONVERSES = {
    "<": ">", "<<": ">>", "<i": ">i", "<:": ">:", "<<:": ">>:", "<<,": ">>,", "<<-": ">>-", "<#": ">#", "<<#": ">>#",
    "<+": ">+", ".": ",", "..": ",,", ".+": ",+", "$+": "$-", "$++": "$--", "<<<": ">>>", "<<<i": ">>>i", "<=": ">=",
    "$": "$", "==": "==", ":": ":",
}  # fmt: skip
CONVERSES |= {other: own for own, other in CONVERSES.items()}
"""The relation of B to A for each of A to B. Those with >>> and >= have no symbol in Tregex, nor in patterns."""
_ALIASES = {
    "<,": ("<i", 1), "<-": ("<i", -1), "<`": ("<i", -1), ">,": (">i", 1), ">-": (">i", -1), ">`": (">i", -1),
    "<<`": ("<<-", 0), ">>`": (">>-", 0), "$..": ("$++", 0), "$,,": ("$--", 0), "$.": ("$+", 0), "$,": ("$-", 0),
}  # fmt: skip
_NUMBERED = ("<i", ">i", "<<<i")
_CHAINS = ("<+", ">+", ".+", ",+")
SYMBOLS = sorted({*CONVERSES, *_ALIASES} - {">>>", ">>>i", ">=", *_NUMBERED}, key=lambda symbol: (-len(symbol), symbol))
"""All symbols of relations, longest first, but for those with numbers."""


# Reading -----------------------------------------------------------------------------------------

_RESERVED = r"\s(/|@!#%&)=?\[\]><~.,$:{};"
_TOKENS = re.compile(
    rf"""\s*(?:
    (?P<numbered> (?:<<<|<|>)\s*-?[0-9]+ )
  | (?P<exactly> <\.\.\. )
  | (?P<relation> {"|".join(map(re.escape, SYMBOLS))} )
  | (?P<regex> /(?:\\.|[^/\\])*/ )
  | (?P<label> (?:__|_ROOT_)(?![^{_RESERVED}]) | [^{_RESERVED}_0-9][^{_RESERVED}]*(?:\|[^{_RESERVED}]+)* )
  | (?P<number> [0-9]+ )
  | (?P<mark> . )
  | (?P<end> \Z )
    )""",
    re.VERBOSE | re.DOTALL,
)
_NODE = "a node such as NP, NP|VP, /^NP/, @NP, __, =x or ~x"
_CONDITION = "a relation such as < or $+"


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    column: int


class _Parser:
    """Reads a pattern by recursive descent, a token ahead."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.at = 0
        self.known: set[str] = set()
        self.all_names: list[str] = []
        self.n_nodes = self.n_open = self.n_negated = 0

    def pattern(self) -> Iterator[NodePattern]:
        """Nodes of which any may match."""
        yield from self._alternatives(self._sub_node, lambda: True)
        if self._kind != "end":
            raise self._error(f"{_CONDITION}, | or the end of the pattern")

    # Tokens

    @property
    def _token(self) -> _Token:
        return self.tokens[self.at]

    @property
    def _kind(self) -> str:
        """The kind of the next token; of a mark itself."""
        return self._token.text if self._token.kind == "mark" else self._token.kind

    def _take(self) -> _Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def _has(self, mark: str) -> bool:
        """Whether a mark comes next; it is taken."""
        found = self._kind == mark
        self.at += found
        return found

    def _expect(self, kind: str, expected: str) -> _Token:
        if self._kind != kind:
            raise self._error(expected)
        return self._take()

    def _error(self, expected: str, token: _Token | None = None) -> PatternError:
        token = token or self._token
        got = "the end" if token.kind == "end" else shown(token.text)
        return PatternError(f"Expected {expected}, got {got}", self.text, token.column)

    # Nodes

    def _node(self) -> NodePattern:
        """What a relation leads to: a description alone, or with all that holds of it in brackets."""
        return self._bracketed(self._sub_node, ")") if self._kind == "(" else self._description()

    def _sub_node(self) -> NodePattern:
        """A node and what holds of it, without brackets or with more after them."""
        node = self._node()
        if not self._begins_part():
            return node
        part = self._any()
        parts = (part,) if node.part is None else (node.part, part)
        return replace(node, part=Part("all", parts) if len(parts) > 1 else part)

    def _bracketed(self, read: Callable[[], Found], closing: str) -> Found:
        """What is read between a bracket, which comes next, and its closing one."""
        token = self._take()
        self.n_open += 1
        if self.n_open > MAX_NESTING:
            raise self._error(f"at most {MAX_NESTING} brackets and negations within each other", token)
        found = read()
        self._expect(closing, f"{_CONDITION}, or {closing} for the {token.text} of column {token.column}")
        self.n_open -= 1
        return found

    def _description(self) -> NodePattern:
        self.n_nodes += 1
        if self.n_nodes > MAX_NODES:
            raise self._error(f"at most {MAX_NODES} nodes in a pattern")
        is_negated, is_basic = self._has("!"), self._has("@")
        if self._has("="):
            return NodePattern(LabelTest(ANY, is_negated), same=self._known_name())
        if self._has("~"):
            like = self._known_name()
            return NodePattern(LabelTest(ANY, is_negated, is_basic), like=like, name=self._new_name())
        test = self._label_test(is_negated, is_basic)
        groups = tuple(self._groups(test))
        return NodePattern(test, groups=groups, name=self._new_name())

    def _label_test(self, is_negated: bool, is_basic: bool) -> LabelTest:
        token = self._token
        if token.kind not in ("label", "regex"):
            raise self._error(_NODE)
        test = LabelTest(self._take().text, is_negated, is_basic)
        try:
            test.regex  # noqa: B018
        except (re.error, OverflowError, RecursionError) as error:
            raise self._error(f"a regular expression of Python's ({error})", token) from error
        return test

    def _groups(self, test: LabelTest) -> Iterator[tuple[int, str]]:
        while self._kind == "#" and self.tokens[self.at + 1].kind == "number":
            mark = self._take()
            number = self._take()
            n_groups = test.regex.groups if test.regex and not test.is_negated else 0
            if len(number.text) > 3 or int(number.text) > n_groups:
                raise self._error(f"a group of the {n_groups} of the regular expression", number)
            if not self._has("%"):
                raise self._error(f"% and a variable after {mark.text}{number.text}")
            yield int(number.text), self._expect("label", "the name of a variable").text

    def _new_name(self) -> str | None:
        if not self._has("="):
            return None
        token = self._expect("label", "a name after =")
        if token.text in self.known:
            raise self._error("a name that no other node has: refer to the other one by = without a label", token)
        if self.n_negated:
            raise self._error("no name below a negation, where no node is found", token)
        self.known.add(token.text)
        self.all_names.append(token.text)
        return token.text

    def _known_name(self) -> str:
        token = self._expect("label", "a name after = or ~")
        if token.text not in self.known:
            raise self._error("the name of a node before this one", token)
        return token.text

    # Conditions

    def _begins_part(self) -> bool:
        return self._kind in ("relation", "numbered", "exactly", "!", "?", "[", "(")

    def _alternatives(self, read: Callable[[], Found], may_go_on: Callable[[], bool]) -> list[Found]:
        """What is read between |; none knows the names of the others, and what follows knows all."""
        before, found = set(self.known), [read()]
        known = self.known
        while self._kind == "|" and may_go_on():
            self._take()
            self.known = set(before)
            found.append(read())
            known = known | self.known
        self.known = known
        return found

    def _is_condition_after_bar(self) -> bool:
        """Whether the | that comes next is between conditions, and not between whole patterns."""
        after = self.at + 1
        while self.tokens[after].text in ("!", "(", "[", "?"):
            after += 1
        return self.tokens[after].kind in ("relation", "numbered", "exactly")

    def _any(self) -> Part:
        parts = self._alternatives(self._all, self._is_condition_after_bar)
        return parts[0] if len(parts) == 1 else Part("any", tuple(parts))

    def _all(self) -> Part:
        parts = [self._part()]
        while self._has("&") or self._begins_part():
            parts.append(self._part())
        return parts[0] if len(parts) == 1 else Part("all", tuple(parts))

    def _part(self) -> Part:
        if self._kind == "!":
            return self._negation()
        if self._has("?"):
            return Part("optional", (self._positive(),))
        return self._positive()

    def _negation(self) -> Part:
        self.n_open += 1
        if self.n_open > MAX_NESTING:
            raise self._error(f"at most {MAX_NESTING} brackets and negations within each other")
        self._take()
        self.n_negated += 1
        found = self._negation() if self._kind == "!" else self._positive()
        self.n_negated -= 1
        self.n_open -= 1
        return Part("not", (found,))

    def _positive(self) -> Part:
        if self._kind == "[":
            return self._bracketed(self._any, "]")
        if self._kind == "(":
            return self._bracketed(self._any, ")")
        if self._kind == "exactly":
            return self._exactly()
        if self._kind not in ("relation", "numbered"):
            raise self._error(_CONDITION)
        relation = self._relation()
        return Part("step", relation=relation, node=self._node())

    def _exactly(self) -> Part:
        """<... { B ; C }: these children and no others."""
        self._take()
        self._expect("{", "{ after <...")
        nodes = [] if self._kind == "}" else [self._node()]
        while self._has(";"):
            nodes.append(self._node())
        self._expect("}", "; or }")
        steps = [Part("step", relation=Relation("<i", i), node=node) for i, node in enumerate(nodes, start=1)]
        more = Part("step", relation=Relation("<i", len(nodes) + 1), node=NodePattern(LabelTest(ANY)))
        return Part("all", (*steps, Part("not", (more,))))

    def _relation(self) -> Relation:
        token = self._take()
        if token.kind == "numbered":
            number = token.text.lstrip("<>")
            if len(number) > 9 or int(number) == 0:
                raise self._error("a number from 1, or from -1 for the last", token)
            return Relation(f"{token.text.removesuffix(number)}i", int(number))
        if token.text in _CHAINS:
            return Relation(token.text, through=self._through())
        return Relation(*_ALIASES.get(token.text, (token.text,)))

    def _through(self) -> LabelTest:
        closing = {"(": ")", "[": "]"}.get(self._kind)
        if closing is None:
            return self._label_test(self._has("!"), False)
        return self._bracketed(lambda: self._label_test(self._has("!"), self._has("@")), closing)


def _tokens(text: str) -> list[_Token]:
    found, place = [], 0
    while not found or found[-1].kind != "end":
        match = _TOKENS.match(text, place)
        assert match is not None  # any character is at least a mark
        assert match.lastgroup is not None
        found.append(_Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup) + 1))
        place = match.end()
    return found
