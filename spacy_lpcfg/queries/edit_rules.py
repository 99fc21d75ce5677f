"""Rules that edit trees, in Tsurgeon's format: a pattern, a blank line, operations on the nodes that it matches."""

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
from spacy_lpcfg.trees.lines import read_lines

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
_NODE = re.compile(r"(?P<label>(?:\\.|[^\\=])*?)(?:(?P<foot>@)|(?<=.)=(?P<name>[^\s\\=@]+)|(?<=.))")
_PARTS = re.compile(r"((?:\\.|[^/\\])*)/")
_QUOTED = re.compile(r"\\(.)")


class RuleError(ValueError):
    """A mistake in a file of rules, or a rule that cannot be applied.

    message (str): What is wrong, without path and line.
    path (str), line (int): The file and line of the mistake; for a rule that cannot be applied, of its pattern.
    """

    def __init__(self, message: str, path: str, line: int) -> None:
        super().__init__(message, path, line)
        self.message, self.path, self.line = message, path, line

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class Operation(NamedTuple):
    """An operation of a rule with its arguments.

    run (callable): Carries out the operation on a `Site` with the arguments.
    arguments (tuple): The arguments: names of nodes, places, labels or new trees.
    only_if (tuple of str): Names that the match must have bound; otherwise the operation is skipped.
    """

    run: Callable[..., None]
    arguments: tuple[Any, ...]
    only_if: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class EditRule:
    """A pattern, and the operations that are carried out in order where it matches.

    pattern (TreePattern): The pattern.
    operations (tuple of Operation): The operations, which refer to nodes by the names that the pattern gives them.
    path (str), line (int): The file and line of the pattern, for error messages.
    """

    pattern: TreePattern
    operations: tuple[Operation, ...]
    path: str
    line: int


def read_rules(path: PathLike) -> list[EditRule]:
    """Read a file of rules in Tsurgeon's format, plain or gzipped; see `parse_rules`.

    RAISES (RuleError): For a mistake in a rule.
        (TreebankError): If the file is not UTF-8, or damaged gzip data.
        (OSError): If the file cannot be opened.
    """
    return parse_rules(read_lines(path), str(path))


def parse_rules(lines: str | Iterable[str], path: str = "<rules>") -> list[EditRule]:
    r"""Parse rules in the format of Tsurgeon's files.

    A rule is a pattern in one or more lines, a blank line, and one or more lines of operations, ended by a blank line.
    A comment runs from % to the end of its line; a % that begins no comment is written `\%`.

    lines (str or iterable of str): A text, or its lines.
    path (str): What error messages call the text, such as the name of its file.
    RETURNS (list of EditRule): The rules in order; [] for an empty text.
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
    """Yield blocks of non-blank lines, each line as its number and its text without comments."""
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
    """Parse a line of operations; add to `known` the names of nodes in new trees."""
    try:
        return [*_Parser(text, known).operations()]
    except ValueError as error:
        raise RuleError(str(error), path, line) from error


class _Parser:
    """A parser of the operations on a line."""

    def __init__(self, text: str, known: set[str]) -> None:
        self.text, self.known = text.strip(), known
        self.tokens = [(match.lastgroup or "", match[match.lastgroup or 0]) for match in _TOKENS.finditer(self.text)]
        self.at = 0

    def operations(self) -> Iterator[Operation]:
        """Parse one operation, or several in square brackets; each may follow conditions, and so may all together."""
        only_if = self._conditions()
        if self._text != "[":
            yield self._operation(only_if)
        while self._text == "[":
            self.at += 1
            yield self._operation(only_if + self._conditions())
            self._expect("]", "]")
        self._expect("", "the end of the line, or several operations in [ ] each")

    def _conditions(self) -> tuple[str, ...]:
        """Parse any number of conditions `if exists NAME`; return the names."""
        names: tuple[str, ...] = ()
        while self._text == "if":
            self.at += 1
            self._expect("exists", "exists")
            names += (self._name(),)
        return names

    def _operation(self, only_if: tuple[str, ...]) -> Operation:
        name = self._text
        if name not in OPERATIONS:
            raise self._error(f"an operation, which is one of {', '.join(OPERATIONS)}, or if exists")
        self.at += 1
        run, kinds = OPERATIONS[name]
        return Operation(run, tuple(self._arguments(kinds)), only_if)

    def _arguments(self, kinds: str) -> Iterator[Any]:
        """Parse arguments of the given kinds; "+" marks one or more, "?" an optional one."""
        for kind in kinds.split():
            read = getattr(self, f"_{kind.rstrip('+?')}")
            if not kind.endswith("?") or not self._is_at_end():
                yield read()
            while kind.endswith("+") and not self._is_at_end():
                yield read()

    # Arguments, by their kinds in OPERATIONS

    def _name(self) -> str:
        if self._text not in self.known:
            raise self._error(f"the name of a node ({', '.join(sorted(self.known)) or 'the pattern names none'})")
        return self._take()

    def _place(self) -> Place:
        if self._kind != "place":
            raise self._error("a place: $+ or $- with the name of a sister, >1 or >-1 with that of a parent")
        return Place(self._take(), self._name())

    def _label(self) -> NewLabel:
        """Parse a new label: VP, /VP/, |VP|, /regex/replacement/ or /regex/#1."""
        if self._kind not in ("slashes", "bars", "word"):
            raise self._error("a new label: VP, /VP/ or /^V(.*)$/W$1/")
        kind, text = self._kind, self._take()
        if kind == "word":
            return NewLabel(text)
        first, *others = _PARTS.findall(text[1:]) if kind == "slashes" else [text[1:-1]]
        if not others and re.fullmatch("#[0-9]", self._text):  # /regex/#1: the label becomes the group
            first, others = f"^.*?(?:{first}).*$", [self._take().replace("#", "$")]
        if not others:
            return NewLabel(_QUOTED.sub(r"\1", first))
        regex, replacement = (part.replace("\\/", "/") for part in (first, others[0]))
        label = NewLabel(replacement, compile_regex(regex))
        for kind, reference in label.references():
            if kind == "group" and int(reference) > compile_regex(regex).groups:
                raise ValueError(f"Expected a group of the regular expression {regex}, got ${reference}")
            if kind == "node" and reference not in self.known:
                raise ValueError(f"Expected the name of a node in {replacement}, got {reference}")
        return label

    def _source(self) -> str | Node:
        return self._tree(has_foot=False) if self._text == "(" else self._name()

    def _auxiliary(self) -> Node:
        return self._tree(has_foot=True)

    def _frame(self) -> Node:
        """Parse an auxiliary tree (a new tree with a foot), or a label for a new node that is its own foot."""
        return self._auxiliary() if self._text == "(" else Node(self._label().text, name=FOOT)

    def _tree(self, *, has_foot: bool) -> Node:
        """Parse a new tree: (NP (DT the) (NN=x dog)), or, with a foot below which nodes are put, (VP (RB not) VP@)."""
        top = Node("")
        open_nodes = [top]
        while len(open_nodes) > 1 or not top.children:
            if self._text == ")" and len(open_nodes) > 1:
                open_nodes.pop()
            else:
                is_phrase = self._text == "("
                self.at += is_phrase
                is_bare = has_foot and len(open_nodes) == 1 and self._text == "("  # as adjoinH ignores the label
                if (self._text in ("", "(", ")") and not is_bare) or (len(open_nodes) == 1 and not is_phrase):
                    raise self._error("a tree such as (NP (DT the) (NN dog))")
                node = Node("") if is_bare else self._new_node()
                self.at -= is_bare
                open_nodes[-1].insert(len(open_nodes[-1].children), [node])
                open_nodes += [node] * is_phrase
            self.at += 1
        (root,) = top.take_children()
        feet = [node for node in root.nodes() if node.name == FOOT]
        if len(feet) != has_foot or any(node.children for node in feet):
            expected = "one leaf with @ at its end, the foot, as in (VP (RB not) VP@)" if has_foot else "no foot @"
            raise ValueError(f"Expected a tree with {expected}, got {self.text}")
        self.known |= {node.name for node in root.nodes() if node.name} - {FOOT}
        return root

    def _new_node(self) -> Node:
        match = _NODE.fullmatch(self._text)
        if match is None:
            raise self._error("a label with a name at most, as in NP=x, or with @ at the end")
        name = FOOT if match["foot"] else match["name"]
        return Node(_QUOTED.sub(r"\1", match["label"]), is_word=not match["foot"], name=name)

    # Tokens

    @property
    def _kind(self) -> str:
        return self.tokens[self.at][0]

    @property
    def _text(self) -> str:
        return self.tokens[self.at][1]

    def _take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][1]

    def _expect(self, text: str, expected: str) -> None:
        if self._take() != text:
            self.at -= 1
            raise self._error(expected)

    def _is_at_end(self) -> bool:
        return self._text in ("", "]")

    def _error(self, expected: str) -> ValueError:
        return ValueError(f"Expected {expected}, got {shown(self._text) if self._text else 'the end of the line'}")
