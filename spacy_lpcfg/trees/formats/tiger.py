"""Read TIGER-XML (Mengel and Lezius, 2000), in which each sentence is a graph in an element `<s>`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from xml.etree import ElementTree

from spacy_lpcfg.trees.errors import BrokenFileError, OnError, TreebankError, raise_or_report
from spacy_lpcfg.trees.formats.graphs import ROOT, Graph, Phrase, Word, make_continuous
from spacy_lpcfg.trees.formats.negra import count_raised
from spacy_lpcfg.trees.tree import Tree

_LONGEST = 2**24  # characters of a sentence
_TOO_LONG = f"Expected a sentence of at most {_LONGEST:,} characters, but it goes on. Is its {{closes}} missing?"
_NOT_CLOSED = "Expected {closes} after the sentence that begins here, but the file ends. Fetch or make the file again."


GraphOf = Callable[[ElementTree.Element], tuple[Graph, str]]
"""A function that returns the graph of the element of a sentence, and the name of the sentence."""


def read_tiger(lines: Iterable[str], path: str, on_error: OnError, dropped: Counter[str]) -> Iterator[Tree]:
    """Yield the trees of a TIGER-XML file; arguments and errors are those of `TreeFormat.read`."""
    yield from read_graphs(
        lines, path, on_error, dropped, "s", lambda sentence: (_graph(sentence), sentence.get("id", ""))
    )


def read_graphs(
    lines: Iterable[str], path: str, on_error: OnError, dropped: Counter[str], element: str, graph_of: GraphOf
) -> Iterator[Tree]:
    """Yield the tree of each sentence in an XML file, made from the graph in its element.

    element (str): Name of the XML elements that hold a sentence each.
    graph_of (GraphOf): Returns the graph in such an element, and the sentence ID.
    RAISES (TreebankError): Even with `on_error`, if the file ends within a sentence, or a sentence is too long.

    Other arguments and errors are those of `TreeFormat.read`.
    """
    for number, text in _sentences(lines, path, element):
        try:
            graph, name = graph_of(ElementTree.fromstring(text))
            continuous = make_continuous(graph)
        except (ValueError, ElementTree.ParseError) as error:
            raise_or_report(_broken(error, path, number), on_error)
        else:
            count_raised(continuous, dropped)
            yield continuous.tree.with_id(name)


def _broken(error: ValueError | ElementTree.ParseError, path: str, first: int) -> TreebankError:
    """Return the error of a sentence that begins on line `first`, with the malformed line where that is known."""
    if not isinstance(error, ElementTree.ParseError):
        return TreebankError(str(error), path, first)
    reason, line = str(error).partition(": line ")[0], error.position[0]
    return TreebankError(
        f"Expected the XML of a sentence, but it is no XML: {reason}. Mend it.", path, first + line - 1
    )


def _sentences(lines: Iterable[str], path: str, element: str) -> Iterator[tuple[int, str]]:
    """Yield the number of the first line, and the text, of each XML element with the name `element`.

    RAISES (TreebankError): If an element is too long, or not closed.
    """
    opens, closes = re.compile(rf"<{element}[\s>]"), f"</{element}>"
    text, first = "", 0
    for number, line in enumerate(lines, 1):
        remainder = line
        while remainder:
            if not text:
                opening = opens.search(remainder)
                if opening is None:
                    break
                first, remainder = number, remainder[opening.start() :]
            before, closing, remainder = remainder.partition(closes)
            text += before + closing
            if len(text) > _LONGEST:
                raise BrokenFileError(_TOO_LONG.format(closes=closes), path, first)
            if closing:
                yield first, text
                text = ""
    if text:
        raise TreebankError(_NOT_CLOSED.format(closes=closes), path, first)


def _graph(sentence: ElementTree.Element) -> Graph:
    """Build the graph of a sentence element, without the virtual root VROOT."""
    above = {
        edge.get("idref", ""): (phrase.get("id", ""), edge.get("label", ""))
        for phrase in sentence.iter("nt")
        for edge in phrase.iter("edge")
    }
    words = [
        Word(word.get("word", ""), word.get("pos", ""), *above.get(word.get("id", ""), (ROOT, "")))
        for word in sentence.iter("t")
    ]
    phrases = {
        phrase.get("id", ""): Phrase(phrase.get("cat", ""), *above.get(phrase.get("id", ""), (ROOT, "")))
        for phrase in sentence.iter("nt")
    }
    # a virtual root is no phrase: what is below it is below the root
    virtual = {name for name, phrase in phrases.items() if phrase.label == "VROOT" and phrase.parent == ROOT}
    words = [word._replace(parent=ROOT, edge="") if word.parent in virtual else word for word in words]
    phrases = {
        name: phrase._replace(parent=ROOT, edge="") if phrase.parent in virtual else phrase
        for name, phrase in phrases.items()
        if name not in virtual
    }
    return Graph(words, phrases)
