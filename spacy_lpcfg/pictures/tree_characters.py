"""Draw trees with box-drawing or ASCII characters, for a terminal."""

from __future__ import annotations

from dataclasses import dataclass, field
from unicodedata import combining, east_asian_width

from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.visible import visible

UNICODE = {
    "up down": "│",
    "left right": "─",
    "right down": "┌",
    "left down": "┐",
    "up right": "└",
    "up left": "┘",
    "up left right": "┴",
    "left right down": "┬",
    "up right down": "├",
    "up left down": "┤",
    "up left right down": "┼",
}
"""The character that connects a cell of the drawing with its neighbours, by their directions."""
ASCII = dict.fromkeys(UNICODE, "|") | {"left right": "_", "left right down": "_", "right down": " ", "left down": " "}


@dataclass(eq=False)
class _Node:
    """A node of a tree to be drawn, with the columns [left, left + width) of its subtree; the first one stays empty.

    label, word (list of str): The character in each column; `word` is empty for inner nodes.
    below (list of _Node): The children.
    level (int): 0 for tags, otherwise one more than the highest level of the children.
    column (int): The column where lines are attached, in the middle of the label.
    """

    label: list[str]
    word: list[str]
    below: list[_Node] = field(default_factory=list)
    level: int = 0
    left: int = 0
    width: int = 0
    column: int = 0


def draw_tree(tree: Tree, lines: dict[str, str]) -> list[str]:
    """Draw a tree as rows of text, with all words in the last row.

    lines (dict of str to str): The characters of lines: `UNICODE` or `ASCII`.
    RETURNS (list of str): The rows, without blanks at their ends.
    """
    nodes = _nodes(tree)
    _lay_out(nodes)
    top = nodes[0].level
    rows = [[" "] * (nodes[0].left + nodes[0].width) for _ in range(2 * top + 3)]
    for node in nodes:
        row = 2 * (top - node.level)
        _write(rows[row], node.label, node.column)
        if node.word:
            rows[row + 1][node.column] = lines["up down"]
            _write(rows[row + 2], node.word, node.column)
            continue
        _branch(rows[row + 1], node, lines)
        for child in node.below:
            for between in rows[row + 2 : 2 * (top - child.level)]:
                between[child.column] = lines["up down"]
    return ["".join(row[1:]).rstrip(" ") for row in rows]


def _nodes(tree: Tree) -> list[_Node]:
    nodes: list[_Node] = []
    stack: list[tuple[Tree, _Node | None]] = [(tree, None)]
    while stack:
        source, above = stack.pop()
        nodes.append(_Node(_columns(source.label), [] if source.word is None else _columns(source.word)))
        if above is not None:
            above.below.append(nodes[-1])
        stack += [(child, nodes[-1]) for child in reversed(source.children)]
    return nodes


def _lay_out(nodes: list[_Node]) -> None:
    """Assign columns to nodes, each label above the middle of its children as far as it stays within the subtree."""
    for node in reversed(nodes):
        node.level = 1 + max((child.level for child in node.below), default=-1)
        node.width = max(1 + _length(node), sum(child.width for child in node.below))
    for node in nodes:
        left = node.left + (node.width - sum(child.width for child in node.below)) // 2
        for child in node.below:
            child.left = left
            left += child.width
    for node in reversed(nodes):
        length = _length(node)
        first, last = node.left + 1 + (length - 1) // 2, node.left + node.width - 1 - length // 2
        middle = (node.below[0].column + node.below[-1].column) // 2 if node.below else (first + last) // 2
        node.column = min(max(middle, first), last)


def _length(node: _Node) -> int:
    return max(len(node.label), len(node.word))


def _columns(text: str) -> list[str]:
    """Split a text into terminal columns: a character with its combining marks, and "" after a wide character."""
    columns: list[str] = []
    for char in visible(text):
        if combining(char) and columns:
            columns[-1] += char
        else:
            columns += [char, ""] if east_asian_width(char) in "WF" else [char]
    return columns or [" "]


def _write(row: list[str], text: list[str], column: int) -> None:
    start = column - (len(text) - 1) // 2
    row[start : start + len(text)] = text


def _branch(row: list[str], node: _Node, lines: dict[str, str]) -> None:
    children = {child.column for child in node.below}
    first, last = min(*children, node.column), max(*children, node.column)
    for column in range(first, last + 1):
        directions = (
            ("up", column == node.column),
            ("left", column > first),
            ("right", column < last),
            ("down", column in children),
        )
        row[column] = lines[" ".join(direction for direction, is_open in directions if is_open)]
