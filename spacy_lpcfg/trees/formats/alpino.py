"""Read the XML of Alpino (van Noord): a `node` for each phrase and word; `begin` is the position in the sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from xml.etree import ElementTree

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees.errors import OnError
from spacy_lpcfg.trees.formats.graphs import ROOT, Graph, Phrase, Word
from spacy_lpcfg.trees.formats.tiger import read_graphs
from spacy_lpcfg.trees.tree import Tree

_NO_EDGE = ("--", "top")


def read_alpino(lines: Iterable[str], path: str, on_error: OnError, dropped: Counter[str]) -> Iterator[Tree]:
    """Yield the trees of an Alpino XML file; arguments and errors are those of `TreeFormat.read`."""

    def graph(element: ElementTree.Element) -> tuple[Graph, str]:
        sentence = element.find("sentence")
        return _graph(element, dropped), "" if sentence is None else sentence.get("sentid", "")

    yield from read_graphs(lines, path, on_error, dropped, "alpino_ds", graph)


def _graph(element: ElementTree.Element, dropped: Counter[str]) -> Graph:
    """Build the graph of a sentence, without the nodes that only refer to another node by its index."""
    words: list[tuple[int, Word]] = []
    phrases: dict[str, Phrase] = {}
    stack = [(node, ROOT) for node in element.findall("node")]
    while stack:
        node, parent = stack.pop()
        relation = node.get("rel", "--")
        edge = "" if relation in _NO_EDGE else relation
        if "word" in node.attrib:
            tag = node.get("pt") or node.get("pos") or ""
            words.append((_begin(node), Word(node.get("word", ""), tag, parent, edge.upper())))
        elif "cat" not in node.attrib:
            dropped["empty categories"] += 1
        else:
            name = parent
            if node.get("cat") != "top":
                name = str(len(phrases))
                phrases[name] = Phrase(node.get("cat", "").upper(), parent, edge.upper())
            stack.extend((child, name) for child in node)
    return Graph([word for _, word in sorted(words)], phrases)


def _begin(node: ElementTree.Element) -> int:
    begin = node.get("begin", "")
    if not begin.isdecimal():
        raise ValueError(f"Expected a number as the begin of a word, but got {shown(begin)}. Mend the node.")
    return int(begin)
