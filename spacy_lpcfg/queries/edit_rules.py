"""Rules that edit trees, and files of them in Tsurgeon's format: a pattern, a blank line, operations, a blank line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from spacy_lpcfg.checks import shown
from spacy_lpcfg.queries.operations import FOOT, OPERATIONS, NewLabel, Node, Place
from spacy_lpcfg.queries.pattern import PatternError, TreePattern
from spacy_lpcfg.queries.regexes import compile_regex
from spacy_lpcfg.storage.files import PathLike
from spacy_lpcfg.trees.brackets import read_lines

_COMMENT = re.compile(r"(?<!\\)%.*")
_TOKENS = re.compile(
    r"""\s*(?:
    (?P<slashes> /(?:\\.|[^/\\])*/(?:(?:\\.|[^/\\])*/)? )
  | (?P<bars> \|(?:\\.|[^|\\])*\| )
  | (?P<place> \$[-+] | >-?[0-9]+ )
  | (?P<mark> [\[\]()] )
  | (?P<word> [^\s()\[\]]+ )
  | (?P<end> \Z )
    )""",
    re.VERBOSE,
)
_IN_TREES = re.compile(r"\s*(?:(?P<mark>[()])|(?P<word>[^\s()]+)|(?P<end>\Z))")
_NODE = re.compile(r"(?P<label>(?:\\.|[^\\=])+?)(?:(?P<foot>@)|=(?P<name>[^\s\\=@]+))?")
_SLASHED = re.compile(r"(?:\\.|[^/\\])*")
_QUOTED = re.compile(r"\\(.)")
_PLACE = "a place: $+ or $- with the name of a sister, >1 or >-1 with that of a parent"


class RuleError(ValueError):
    """An error in a file of rules, or of a rule at work, with the `path` and the `line` of the rule."""

    def __init__(self, message: str, path: str, line: int) -> None:
        super().__init__(message, path, line)
        self.message, self.path, self.line = message, path, line

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class Operation(NamedTuple):
    """An operation with its arguments; it is skipped unless the match has all nodes of `only_if`."""

    run: Callable[..., None]
    arguments: tuple[Any, ...]
    only_if: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class EditRule:
    """A pattern, and the operations that are carried out in order where it matches.

    pattern (TreePattern): The pattern.
    operations (tuple of Operation): The operations, which name nodes of the pattern.
    path (str), line (int): The place of the pattern in a file, for messages.
    """

    pattern: TreePattern
    operations: tuple[Operation, ...]
    path: str
    line: int


def read_rules(path: PathLike) -> list[EditRule]:
    """Read a file of rules, plain or gzipped.

    RAISES (RuleError): For a mistake in the file. (TreebankError): If the file is not UTF-8, or damaged gzip data.
    """
    return parse_rules(read_lines(path), str(path))


def parse_rules(lines: str | Iterable[str], path: str = "<rules>") -> list[EditRule]:
    """Parse rules in the format of Tsurgeon's files.

    A rule is a pattern in one or more lines, a blank line, and one or more lines of operations; a blank line ends it.
    A comment runs from % to the end of its line, and a % that is no comment is written with a backslash before it.

    lines (str or iterable of str): A text, or its lines.
    path (str): The name of the text in errors.
    RAISES (RuleError): For a mistake in the text.
    """
    rules: list[EditRule] = []
    pattern: TreePattern | None = None
    first = 0
    for block in _blocks(lines.splitlines() if isinstance(lines, str) else lines):
        if pattern is None:
            first, pattern = block[0][0], _pattern(block, path)
        else:
            known = {*pattern.names}
            operations = [operation for line, text in block for operation in _operations(text, known, path, line)]
            rules.append(EditRule(pattern, tuple(operations), path, first))
            pattern = None
    if pattern is not None:
        raise RuleError("Expected a blank line and operations after this pattern, got the end", path, first)
    return rules


def _blocks(lines: Iterable[str]) -> Iterator[list[tuple[int, str]]]:
    """Yield runs of lines between blank ones, as numbers and texts, without comments."""
    for is_blank, run in groupby(enumerate(lines, start=1), lambda line: not line[1].strip()):
        texts = [(number, _COMMENT.sub("", text).replace("\\%", "%").rstrip()) for number, text in run]
        texts = [(number, text) for number, text in texts if text.strip()]
        if not is_blank and texts:
            yield texts


def _pattern(block: list[tuple[int, str]], path: str) -> TreePattern:
    text = "\n".join(line for _, line in block)
    try:
        return TreePattern(text)
    except PatternError as error:
        before = text[: error.column - 1].split("\n")
        message = f"{error.message}, at column {len(before[-1]) + 1} of the pattern"
        raise RuleError(message, path, block[len(before) - 1][0]) from error


# Operations --------------------------------------------------------------------------------------


def _operations(text: str, known: set[str], path: str, line: int) -> list[Operation]:
    """Parse a line of operations, and add to `known` the names that its new trees give."""
    try:
        return [*_Parser(text, known).operations()]
    except ValueError as error:
        raise RuleError(str(error), path, line) from error


class _Parser:
    """A parser of the operations on a line."""

    def __init__(self, text: str, known: set[str]) -> None:
        self.text, self.known = text, known
        self.at = 0

    def operations(self) -> Iterator[Operation]:
        yield from self._some(())
        if self._peek()[0] != "end":
            raise self._error("the end of the line, or several operations in [ ] each")

    def _some(self, only_if: tuple[str, ...]) -> Iterator[Operation]:
        """Parse one operation, or several in brackets."""
        if self._peek() != ("mark", "["):
            yield from self._operation(only_if)
        while self._peek() == ("mark", "["):
            self._take()
            yield from self._some(only_if)
            if self._peek() != ("mark", "]"):
                raise self._error("]")
            self._take()

    def _operation(self, only_if: tuple[str, ...]) -> Iterator[Operation]:
        kind, word = self._peek()
        if word == "if":
            self._take()
            if self._peek()[1] != "exists":
                raise self._error("exists")
            self._take()
            yield from self._some((*only_if, self._name()))
            return
        if kind != "word" or word not in OPERATIONS:
            raise self._error(f"an operation, which is one of {', '.join(OPERATIONS)}, or if exists")
        self._take()
        run, kinds = OPERATIONS[word]
        yield Operation(run, tuple(self._arguments(kinds)), only_if)

    def _arguments(self, kinds: str) -> Iterator[Any]:
        for kind in kinds.split():
            read = getattr(self, f"_{kind.rstrip('+?')}")
            if not kind.endswith("?") or not self._is_at_end():
                yield read()
            while kind.endswith("+") and not self._is_at_end():
                yield read()

    # Arguments, by their kinds in OPERATIONS

    def _name(self) -> str:
        kind, name = self._peek()
        if kind != "word" or name not in self.known:
            raise self._error(f"the name of a node ({', '.join(sorted(self.known)) or 'the pattern names none'})")
        self._take()
        return name

    def _place(self) -> Place:
        kind, relation = self._peek()
        if kind != "place":
            raise self._error(_PLACE)
        self._take()
        return Place(relation, self._name())

    def _label(self) -> NewLabel:
        kind, text = self._peek()
        if kind == "slashes":
            first = _SLASHED.match(text, 1)
            assert first is not None
            if first.end() + 1 < len(text):
                label = self._replacement(first[0].replace("\\/", "/"), text[first.end() + 1 : -1].replace("\\/", "/"))
            else:
                label = NewLabel(_QUOTED.sub(r"\1", first[0]))
        elif kind == "bars":
            label = NewLabel(_QUOTED.sub(r"\1", text[1:-1]))
        elif kind == "word":
            label = NewLabel(text)
        else:
            raise self._error("a new label: VP, /VP/ or /^V(.*)$/W$1/")
        self._take()
        return label

    def _replacement(self, regex: str, text: str) -> NewLabel:
        label = NewLabel(text, compile_regex(regex))
        for kind, reference in label.references():
            if kind == "group" and int(reference) > compile_regex(regex).groups:
                raise self._error(f"a group of the regular expression instead of ${reference}")
            if kind == "node" and reference not in self.known:
                raise self._error(f"the name of a node instead of {reference}")
        return label

    def _source(self) -> str | Node:
        return self._tree(has_foot=False) if self._peek() == ("mark", "(") else self._name()

    def _auxiliary(self) -> Node:
        return self._tree(has_foot=True)

    def _frame(self) -> Node:
        if self._peek() == ("mark", "("):
            return self._auxiliary()
        return Node(self._label().text, name=FOOT)

    def _tree(self, *, has_foot: bool) -> Node:
        """Parse a new tree, such as (NP (DT the) (NN=x dog)), or with a foot (VP (RB not) VP@)."""
        top = Node("")
        open_nodes = [top]
        while len(open_nodes) > 1 or not top.children:
            kind, token = self._peek(_IN_TREES)
            if token == ")" and len(open_nodes) > 1:
                open_nodes.pop()
            elif kind == "word" and len(open_nodes) > 1:
                open_nodes[-1].insert(len(open_nodes[-1].children), [self._new_node(token)])
            elif token == "(" and self._take(_IN_TREES) and self._peek(_IN_TREES)[0] == "word":
                node = self._new_node(self._peek(_IN_TREES)[1])
                open_nodes[-1].insert(len(open_nodes[-1].children), [node])
                open_nodes.append(node)
            else:
                raise self._error("a tree such as (NP (DT the) (NN dog))", _IN_TREES)
            self._take(_IN_TREES)
        (root,) = top.take_children()
        feet = [node for node in root.nodes() if node.name == FOOT]
        if len(feet) != has_foot or any(node.children for node in feet):
            expected = "one leaf with @ at its end, the foot, as in (VP (RB not) VP@)" if has_foot else "no foot @"
            raise ValueError(f"Expected a tree with {expected}, got {self.text.strip()}")
        self.known |= {node.name for node in root.nodes() if node.name} - {FOOT}
        return root

    def _new_node(self, token: str) -> Node:
        match = _NODE.fullmatch(token)
        if match is None:
            raise self._error("a label with a name at most, as in NP=x, or with @ at the end", _IN_TREES)
        name = FOOT if match["foot"] else match["name"]
        return Node(_QUOTED.sub(r"\1", match["label"]), is_word=not match["foot"], name=name)

    # Tokens

    def _peek(self, tokens: re.Pattern[str] = _TOKENS) -> tuple[str, str]:
        """Return the kind and the text of the next token."""
        match = tokens.match(self.text, self.at)
        assert match is not None
        assert match.lastgroup is not None
        return match.lastgroup, match[match.lastgroup]

    def _take(self, tokens: re.Pattern[str] = _TOKENS) -> bool:
        match = tokens.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return True

    def _is_at_end(self) -> bool:
        return self._peek() in (("end", ""), ("mark", "]"))

    def _error(self, expected: str, tokens: re.Pattern[str] = _TOKENS) -> ValueError:
        kind, token = self._peek(tokens)
        return ValueError(f"Expected {expected}, got {'the end of the line' if kind == 'end' else shown(token)}")
