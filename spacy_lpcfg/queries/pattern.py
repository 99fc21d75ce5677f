"""Tree patterns in the language of Tregex (Levy and Andrew 2006): their parser and syntax tree.

Relations and precedence follow the documentation of Stanford's TregexPattern; docs/search.md lists the differences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.checks import shown
from spacy_lpcfg.queries.regexes import compile_regex, search_all
from spacy_lpcfg.trees.transforms import basic_category

if TYPE_CHECKING:
    from regex import Match, Pattern

Result = TypeVar("Result")

MAX_NODES = 64
MAX_NESTING = 40
"""Limits on a pattern: the number of its nodes, and the depth of its brackets and negations."""
ANY, ROOT = "__", "_ROOT_"
ROOT_LABEL = "ROOT"
"""The artificial root that a tree has for patterns, as in CoreNLP's trees."""
_SHOWN = 50  # characters of a pattern that an error shows on each side of the mistake


class PatternError(ValueError):
    """A syntax error in a tree pattern.

    message (str): What is wrong, without the position.
    pattern (str): The text of the pattern.
    column (int): The column of the mistake, from 1.
    """

    def __init__(self, message: str, pattern: str, column: int) -> None:
        super().__init__(message, pattern, column)
        self.message, self.pattern, self.column = message, pattern, column

    def __str__(self) -> str:
        begin = max(self.column - 1 - _SHOWN, 0)
        line = re.sub(r"\s", " ", self.pattern[begin : self.column + _SHOWN])
        return f"{self.message} at column {self.column}:\n  {line}\n  {' ' * (self.column - 1 - begin)}^"


# Syntax tree -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabelTest:
    """A test of node labels, such as NP|VP, /^NP/ or __ in a pattern.

    text (str): Labels with | between them, /a regular expression/, __ for any label, or _ROOT_ for any root.
    is_negated (bool): Whether the test accepts all other labels instead.
    is_basic (bool): Whether only the category of a label is tested, without the -SBJ of NP-SBJ.
    """

    text: str
    is_negated: bool = False
    is_basic: bool = False

    @cached_property
    def regex(self) -> Pattern[str] | None:
        return compile_regex(self.text[1:-1]) if self.text.startswith("/") else None

    def holds(self, labels: Iterable[str]) -> Iterator[bool]:
        """Yield whether each label passes the test; for _ROOT_ the caller checks whether nodes are roots.

        RAISES (ValueError): If a regular expression takes too long.
        """
        wanted = {*self.text.split("|")}
        if self.regex:
            accepted = (match is not None for match in self.search(labels))
        else:
            accepted = (label in wanted or self.text == ANY for label in self._shortened(labels))
        return (is_accepted != self.is_negated for is_accepted in accepted)

    def search(self, labels: Iterable[str]) -> Iterator[Match[str] | None]:
        """Yield the match of the regular expression in each label, or None where it does not match.

        Yields nothing at all for a test without a regular expression.

        RAISES (ValueError): If the regular expression takes too long.
        """
        return search_all(self.regex, self._shortened(labels)) if self.regex else iter(())

    def _shortened(self, labels: Iterable[str]) -> Iterable[str]:
        return map(basic_category, labels) if self.is_basic else labels


class Relation(NamedTuple):
    """A relation between two nodes, such as dominance or precedence.

    symbol (str): The first symbol that docs/search.md lists for the relation; "<i", ">i", "<<<i" or ">>>i" for numbered
        relations such as <2 and <-1.
    number (int): In numbered relations the position of the child or word, from 1, or from -1 at the end; 0 in others.
    through (LabelTest or None): The test that all nodes between the two must pass, C in <+(C).
    """

    symbol: str
    number: int = 0
    through: LabelTest | None = None

    @property
    def converse(self) -> Relation:
        """The converse relation: it holds of (B, A) if and only if this relation holds of (A, B)."""
        return self._replace(symbol=_CONVERSES[self.symbol])


SELF = Relation("==")


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a pattern: a node, or a condition on a node.

    kind (str): "node"; "step" for a relation to another node; "all", "any", "not" or "optional" for a combination of
        conditions.
    parts (tuple of Part): For a node, the conditions on it; for a step, the node that it leads to; otherwise the
        conditions that are combined.
    relation (Relation): The relation of a step.
    test (LabelTest): The label test of a node; with `same` or `like` only its `is_negated` and `is_basic` are used.
    name (str or None): The name that a node is given, x in NP=x.
    same (str or None): The name of a node that this one must be identical with, x in =x.
    like (str or None): The name of a node whose label this one must share, x in ~x.
    groups (tuple of (int, str)): Group numbers of the regular expression, and the variables to which their texts are
        bound.
    """

    kind: str
    parts: tuple[Part, ...] = ()
    relation: Relation = SELF
    test: LabelTest = LabelTest(ANY)
    name: str | None = None
    same: str | None = None
    like: str | None = None
    groups: tuple[tuple[int, str], ...] = ()

    @cached_property
    def is_closed(self) -> bool:
        """Whether the part matches independently of other parts: it refers to no named node and to no variable."""
        return not (self.same or self.like or self.groups) and all(part.is_closed for part in self.parts)

    @cached_property
    def binds(self) -> bool:
        """Whether the part gives a node a name, or binds a variable."""
        return bool(self.name or self.groups) or any(part.binds for part in self.parts)


class TreePattern:
    """A compiled tree pattern, such as NP < (PP <# IN).

    text (str): The pattern in Tregex's language.
    RAISES (PatternError): If the text is not a valid pattern; the error gives the column.

    The attribute `roots` (tuple of Part) holds the alternatives of the pattern, `names` (tuple of str) the names that
    it gives to nodes.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        parser = _Parser(text)
        self.roots: tuple[Part, ...] = tuple(parser.pattern())
        self.names: tuple[str, ...] = tuple(dict.fromkeys(parser.all_names))

    @property
    def has_root(self) -> bool:
        """Whether a label test of the pattern names ROOT, so that trees without that artificial root need one."""
        return ROOT_LABEL in self.labels

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The distinct labels and words in label tests of nodes, without negated tests and regular expressions."""
        agenda: list[Part] = [*self.roots]
        labels: list[str] = []
        for part in agenda:
            agenda += part.parts
            if part.kind == "node" and part.test.regex is None and not part.test.is_negated:
                labels += part.test.text.split("|")
        return tuple(label for label in dict.fromkeys(labels) if label not in (ANY, ROOT))


# Parser ------------------------------------------------------------------------------------------

_CONVERSES = {
    "<": ">", "<=": ">=", "<<": ">>", "<i": ">i", "<:": ">:", "<<:": ">>:", "<<,": ">>,", "<<-": ">>-", "<#": ">#",
    "<<#": ">>#", "<+": ">+", "<<<": ">>>", "<<<i": ">>>i", ".": ",", "..": ",,", ".+": ",+", "$+": "$-", "$++": "$--",
    "$": "$", "==": "==", ":": ":",
}  # fmt: skip
_CONVERSES |= {converse: symbol for symbol, converse in _CONVERSES.items()}
_ALIASES = {
    "<,": ("<i", 1), "<-": ("<i", -1), "<`": ("<i", -1), ">,": (">i", 1), ">-": (">i", -1), ">`": (">i", -1),
    "<<`": ("<<-", 0), ">>`": (">>-", 0), "$..": ("$++", 0), "$,,": ("$--", 0), "$.": ("$+", 0), "$,": ("$-", 0),
}  # fmt: skip
SYMBOLS = sorted({*_CONVERSES, *_ALIASES} - {">>>", ">>>i", ">=", "<i", ">i", "<<<i"}, key=len, reverse=True)
"""Symbols of all relations without numbers, longest first."""
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


class _Token(NamedTuple):
    kind: str  # the name of a group of _TOKENS, or the mark itself
    text: str
    column: int


class _Parser:
    """A recursive-descent parser of patterns with one token of lookahead."""

    def __init__(self, text: str) -> None:
        self.text = text
        matches = [(match, match.lastgroup or "") for match in _TOKENS.finditer(text)]
        self.tokens = [
            _Token(match[kind] if kind == "mark" else kind, match[kind], match.start(kind) + 1)
            for match, kind in matches
        ]
        self.at = 0
        self.known: set[str] = set()
        self.all_names: list[str] = []
        self.n_nodes = self.n_open = self.n_negated = 0

    def pattern(self) -> Iterator[Part]:
        """Parse the whole pattern, and yield its alternatives."""
        yield from self._alternatives(self._sub_node, lambda: True)
        self._expect("end", f"{_CONDITION}, | or the end of the pattern")

    @property
    def _kind(self) -> str:
        return self.tokens[self.at].kind

    def _take(self, mark: str) -> bool:
        """Consume the next token if it is `mark`; return whether it was."""
        is_next = self._kind == mark
        self.at += is_next
        return is_next

    def _expect(self, kinds: str, expected: str) -> _Token:
        """Consume and return the next token, which must be of one of the `kinds`."""
        if self._kind not in kinds.split():
            raise self._error(expected)
        self.at += 1
        return self.tokens[self.at - 1]

    def _error(self, expected: str, token: _Token | None = None) -> PatternError:
        token = token or self.tokens[self.at]
        got = "the end" if token.kind == "end" else shown(token.text)
        return PatternError(f"Expected {expected}, got {got}", self.text, token.column)

    def _within(self, read: Callable[[], Result], closing: str = "") -> Result:
        """Parse the inside of parentheses, brackets or a negation, from its opening token to the closing one."""
        token = self.tokens[self.at]
        self.at += 1
        self.n_open += 1
        if self.n_open > MAX_NESTING:
            raise self._error(f"at most {MAX_NESTING} brackets and negations within each other", token)
        result = read()
        if closing:
            self._expect(closing, f"{_CONDITION}, or {closing} for the {token.text} of column {token.column}")
        self.n_open -= 1
        return result

    # Nodes

    def _node(self) -> Part:
        """Parse the node that a relation leads to: a bare description, or one with conditions in parentheses."""
        return self._within(self._sub_node, ")") if self._kind == "(" else self._description()

    def _sub_node(self) -> Part:
        """Parse a node with its conditions, which may stand without parentheses."""
        node = self._node()
        if not self._begins_condition():
            return node
        condition = self._any()
        return replace(node, parts=(Part("all", (*node.parts, condition)),))

    def _description(self) -> Part:
        """Parse a node without conditions: a label test, =x or ~x, with the name and variables that it binds."""
        self.n_nodes += 1
        if self.n_nodes > MAX_NODES:
            raise self._error(f"at most {MAX_NODES} nodes in a pattern")
        is_negated, is_basic = self._take("!"), self._take("@")
        if self._take("="):
            return Part("node", test=LabelTest(ANY, is_negated), same=self._known_name())
        if self._take("~"):
            test = LabelTest(ANY, is_negated, is_basic)
            return Part("node", test=test, like=self._known_name(), name=self._new_name())
        test = self._test(is_negated, is_basic)
        return Part("node", test=test, groups=tuple(self._groups(test)), name=self._new_name())

    def _test(self, is_negated: bool, is_basic: bool) -> LabelTest:
        token = self._expect("label regex", _NODE)
        test = LabelTest(token.text, is_negated, is_basic)
        try:
            test.regex  # noqa: B018
        except ValueError as error:
            raise self._error(f"a regular expression ({error})", token) from error
        return test

    def _groups(self, test: LabelTest) -> Iterator[tuple[int, str]]:
        n_groups = test.regex.groups if test.regex and not test.is_negated else 0
        while self._take("#"):
            number = self._expect("number", "the number of a group")
            if len(number.text) > 3 or int(number.text) > n_groups:
                raise self._error(f"a group of the {n_groups} of the regular expression", number)
            self._expect("%", "% and a variable")
            yield int(number.text), self._expect("label", "the name of a variable").text

    def _new_name(self) -> str | None:
        if not self._take("="):
            return None
        name = self._expect("label", "a name after =")
        if name.text in self.known:
            raise self._error("a name that no other node has: refer to the other one by = without a label", name)
        if self.n_negated:
            raise self._error("no name below a negation, where no node is found", name)
        self.known.add(name.text)
        self.all_names.append(name.text)
        return name.text

    def _known_name(self) -> str:
        name = self._expect("label", "a name after = or ~")
        if name.text not in self.known:
            raise self._error("the name of a node before this one", name)
        return name.text

    # Conditions

    def _begins_condition(self) -> bool:
        return self._kind in ("relation", "numbered", "exactly", "!", "?", "[", "(")

    def _alternatives(self, read: Callable[[], Result], may_go_on: Callable[[], bool]) -> list[Result]:
        """Parse alternatives separated by |: a name in one is unknown in the others, and known after all of them."""
        before, results = set(self.known), [read()]
        known = self.known
        while self._kind == "|" and may_go_on():
            self.at += 1
            self.known = set(before)
            results.append(read())
            known = known | self.known
        self.known = known
        return results

    def _is_bar_of_conditions(self) -> bool:
        """Return whether the next | separates conditions, and not whole patterns."""
        after = next(token.kind for token in self.tokens[self.at + 1 :] if token.kind not in ("!", "(", "[", "?"))
        return after in ("relation", "numbered", "exactly")

    def _any(self) -> Part:
        parts = self._alternatives(self._all, self._is_bar_of_conditions)
        return parts[0] if len(parts) == 1 else Part("any", tuple(parts))

    def _all(self) -> Part:
        parts = [self._condition()]
        while self._take("&") or self._begins_condition():
            parts.append(self._condition())
        return Part("all", tuple(parts))

    def _condition(self) -> Part:
        """Parse a condition, which may have ? or ! before it."""
        if self._take("?"):
            return Part("optional", (self._positive(),))
        if self._kind != "!":
            return self._positive()
        self.n_negated += 1
        negated = self._within(lambda: self._condition() if self._kind == "!" else self._positive())
        self.n_negated -= 1
        return Part("not", (negated,))

    def _positive(self) -> Part:
        """Parse conditions in brackets or parentheses, or a relation with the node that it leads to."""
        if self._kind in ("[", "("):
            return self._within(self._any, "]" if self._kind == "[" else ")")
        if self._take("exactly"):
            return self._exactly()
        relation = self._relation()
        return Part("step", (self._node(),), relation)

    def _exactly(self) -> Part:
        """Parse <... { B ; C }: exactly these children."""
        self._expect("{", "{ after <...")
        nodes = [] if self._kind == "}" else [self._node()]
        while self._take(";"):
            nodes.append(self._node())
        self._expect("}", "; or }")
        steps = [Part("step", (node,), Relation("<i", i)) for i, node in enumerate([*nodes, Part("node")], start=1)]
        return Part("all", (*steps[:-1], Part("not", (steps[-1],))))

    def _relation(self) -> Relation:
        """Parse a relation, which may have a number, or a test that the nodes on the way must pass."""
        token = self._expect("relation numbered", _CONDITION)
        if token.kind == "numbered":
            number = token.text.lstrip("<>")
            if len(number) > 9 or int(number) == 0:
                raise self._error("a number from 1, or from -1 for the last", token)
            return Relation(f"{token.text.removesuffix(number)}i", int(number))
        if token.text.endswith("+") and "$" not in token.text:
            closing = {"(": ")", "[": "]"}.get(self._kind)
            through = self._within(self._through, closing) if closing else self._through()
            return Relation(token.text, through=through)
        return Relation(*_ALIASES.get(token.text, (token.text,)))

    def _through(self) -> LabelTest:
        return self._test(self._take("!"), self._take("@"))
