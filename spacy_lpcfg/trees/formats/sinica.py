"""Read the Sinica Treebank of Chinese, a tree a line: `#1:1.[0] S(agent:NP(Head:Nhaa:我)|Head:VC2:看)#。(PERIOD)`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from spacy_lpcfg.trees.brackets import parse_trees
from spacy_lpcfg.trees.errors import OnError, TreebankError, raise_or_report
from spacy_lpcfg.trees.tree import Tree

_LINE = re.compile(r"#(\S+)\s+(?P<tree>.*?\))(?:#(?P<mark>[^#()]*)\((?P<tag>[A-Z]+)\))?#?\s*")
_TOKEN = re.compile(r"([^|()]*)([|()])")


def read_sinica(lines: Iterable[str], path: str, on_error: OnError, dropped: Counter[str]) -> Iterator[Tree]:
    """Yield the trees of a file of the Sinica Treebank; arguments and errors are those of `TreeFormat.read`."""
    for number, line in enumerate(lines, 1):
        parts = _LINE.fullmatch(line)
        if parts is None:
            if line.strip():
                message = "Expected a line such as #1:1.[0] NP(Head:Nab:書)#, but got another. Mend it or leave it out."
                raise_or_report(TreebankError(message, path, number), on_error)
            continue
        mark = f"({parts['tag']} {parts['mark']})" if parts["mark"] else ""
        try:
            yield from (
                tree.with_id(parts[1]) for tree in parse_trees(f"({_bracketed(parts['tree'])}{mark})", path=path)
            )
        except TreebankError as error:
            raise_or_report(TreebankError(error.message, path, number), on_error)


def _bracketed(tree: str) -> str:
    """Convert a tree to the brackets of the Penn Treebank, with the roles of phrases as function labels, `NP-agent`."""
    pieces = []
    for text, sign in _TOKEN.findall(tree):
        role, _, label = text.rpartition(":")
        if sign == "(":
            pieces.append(f"({label}{'-' if role else ''}{role.replace(':', '-')} ")
        else:
            leaf = f"({role.rpartition(':')[2]} {label})" if role else text
            pieces.append(leaf + (")" if sign == ")" else ""))
    return "".join(pieces)
