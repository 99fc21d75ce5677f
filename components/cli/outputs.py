"""What `parse` writes: trees in brackets, JSON lines, tables or Docs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy_lpcfg.components.cli.inputs import Parsed

if TYPE_CHECKING:
    from spacy_lpcfg.trees import Tree

EMPTY = "empty"
_ROUND_BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-"})
_SPANS = ("sentence", "start", "end", "label", "score", "text")
_RANKS = ("sentence", "rank", "probability", "log_probability", "tree", "difference")


class ParseFormat(str, Enum):
    brackets = "brackets"
    json = "json"
    table = "table"
    spacy = "spacy"


BY_SUFFIX = {
    ".json": ParseFormat.json,
    ".jsonl": ParseFormat.json,
    ".tsv": ParseFormat.table,
    ".spacy": ParseFormat.spacy,
}
SUFFIXES = {
    ParseFormat.brackets: ".mrg",
    ParseFormat.json: ".jsonl",
    ParseFormat.table: ".tsv",
    ParseFormat.spacy: ".spacy",
}
"""Of files that are named after others."""


class Span(NamedTuple):
    """A bracket over words [start, end), and its posterior probability if it is known."""

    start: int
    end: int
    label: str
    score: float | None


class ParsedSentence(NamedTuple):
    """A sentence of a Doc.

    words (list of str): as they stand in the text
    tree (Tree or None): over the words in treebank form, under the root label if there is one; None without words
    spans (list of Span): in pre-order
    tag_scores (list of float, or None): the posterior probability of each tag
    status (str): of its `Parse`, or "empty"
    log_probability (float or None): natural logarithm
    n_best (list of dict, or None): "tree", "log_probability", "probability", and "added" and "missing" spans of each,
        beside the first
    marginals (dict or None): "spans" and "tags" that may be, with their probabilities
    """

    words: list[str]
    tree: Tree | None
    spans: list[Span]
    tag_scores: list[float] | None
    status: str
    log_probability: float | None
    n_best: list[dict[str, Any]] | None
    marginals: dict[str, Any] | None


NOTHING = ParsedSentence([], None, [], None, EMPTY, None, None, None)


# From Docs ---------------------------------------------------------------------------------------


def sentences_of(parsed: Parsed, key: str, root: str | None) -> Iterator[ParsedSentence]:
    """The sentences of a parsed Doc that have words, or, if it was made of a list of none, `NOTHING`.

    key (str): of `doc.spans`
    root (str or None): label over every tree; None for none
    """
    from spacy_lpcfg.components.cli.answers import KEY as ANSWERS
    from spacy_lpcfg.components.constituents import trees
    from spacy_lpcfg.components.sentences import sentence_bounds, texts_of, words_of

    doc, given = parsed
    if given == []:
        yield NOTHING
        return
    attrs, asked = doc.spans[key].attrs, doc.user_data.get(ANSWERS, {})
    scores = iter(_numbers(attrs["scores"]))
    tag_scores, logs = attrs.get("tag_scores"), attrs.get("log_probabilities")
    for i, ((start, end), own) in enumerate(zip(sentence_bounds(doc), trees(doc, key), strict=True)):
        if own is None:
            continue
        positions = words_of(doc, start, end)
        tree = own if given is None else type(own).from_spans(printable(given), printable(own.tags), own.spans())
        yield ParsedSentence(
            words=texts_of(doc, positions) if given is None else given,
            tree=rooted(tree, root),
            spans=[Span(*span, next(scores)) for span in tree.spans() if span[2]],
            tag_scores=None if tag_scores is None else _numbers(tag_scores[positions]),
            status=attrs["status"][i],
            log_probability=None if logs is None else _numbers(logs[i : i + 1])[0],
            n_best=_analyses(tree.words, asked["n_best"][i], root) if "n_best" in asked else None,
            marginals=asked["posteriors"][i] if "posteriors" in asked else None,
        )


def answers_of(parsed: Parsed, question: str) -> Iterator[tuple[list[str], Any]]:
    """The words of each sentence that has any, and the answer to a question about it; see `answers.py`."""
    from spacy_lpcfg.components.cli.answers import KEY
    from spacy_lpcfg.components.sentences import sentence_bounds, texts_of, words_of

    doc, given = parsed
    for (start, end), answer in zip(sentence_bounds(doc), doc.user_data[KEY][question], strict=True):
        if answer is not None:
            yield texts_of(doc, words_of(doc, start, end)) if given is None else given, answer


def _analyses(words: list[str], answers: list[dict[str, Any]], root: str | None) -> list[dict[str, Any]]:
    """The n best trees of a `ParsedSentence`."""
    from spacy_lpcfg.parsing.alternatives import tree_difference

    trees = [tree_of(words, each) for each in answers]
    return [
        {
            "tree": str(rooted(tree, root)),
            "log_probability": each["log_probability"],
            "probability": each["probability"],
            **{name: _bare(spans) for name, spans in tree_difference(trees[0], tree)._asdict().items()},
        }
        for tree, each in zip(trees, answers, strict=True)
    ]


def _bare(spans: Iterable[tuple[int, int, str]]) -> list[dict[str, Any]]:
    return [{"start": start, "end": end, "label": label} for start, end, label in spans]


def tree_of(words: list[str], found: dict[str, Any]) -> Tree:
    """The tree of an answer over words in treebank form."""
    from spacy_lpcfg.trees import Tree

    return Tree.from_spans(
        words, printable(found["tags"]), [(start, end, label) for start, end, label in found["spans"]]
    )


def _numbers(array: Any) -> list[Any]:
    """The numbers of an array, with None for nan, as JSON has none; no more digits than single floats have."""
    digits = 6 if array.dtype.itemsize == 4 else 12
    return [None if x != x else round(float(x), digits) for x in array]


def printable(words: Iterable[str]) -> list[str]:
    """Words, or tags, that brackets can hold."""
    return [word.translate(_ROUND_BRACKETS) for word in words]


def rooted(tree: Tree, root: str | None) -> Tree:
    """The tree under the root label, unless it is None or stands there already.

    An unlabelled node is no constituent, but the root of words that none holds together: it gets the label.
    """
    if root is None or tree.label == root:
        return tree
    return type(tree)(root, tree.children if not tree.label and tree.children else [tree])


# To lines ----------------------------------------------------------------------------------------


def bracket_lines(sentences: Iterable[ParsedSentence]) -> Iterator[str]:
    """A tree a line, and an empty line for a sentence without words."""
    for sentence in sentences:
        yield "" if sentence.tree is None else str(sentence.tree)


def n_best_lines(sentences: Iterable[ParsedSentence]) -> Iterator[str]:
    """A tree a line, after its probability and before its difference; an empty line after each sentence."""
    for sentence in sentences:
        for each in sentence.n_best or []:
            yield f"{each['probability']:.6g}\t{each['tree']}\t{_difference(sentence.words, each)}".rstrip("\t")
        yield ""


def json_lines(sentences: Iterable[ParsedSentence]) -> Iterator[str]:
    """A JSON object a sentence."""
    for sentence in sentences:
        yield json.dumps(as_json(sentence), ensure_ascii=False)


def as_json(sentence: ParsedSentence) -> dict[str, Any]:
    """A sentence by the names of its parts; of its answers those that were asked for."""
    found = sentence._asdict()
    found["tree"] = None if sentence.tree is None else str(sentence.tree)
    found["tags"] = [] if sentence.tree is None else sentence.tree.tags
    found["spans"] = [span._asdict() for span in sentence.spans]
    return {name: found[name] for name in _JSON if found[name] is not None or name not in _ANSWERS}


_JSON = ("words", "tags", "tree", "spans", "tag_scores", "status", "log_probability", "n_best", "marginals")
_ANSWERS = ("tag_scores", "n_best", "marginals")


def tree_as_json(tree: Tree) -> dict[str, Any]:
    """A tree of a treebank as an object of JSON."""
    from spacy_lpcfg.trees import strip_root

    spans = [dict(zip(("start", "end", "label"), span, strict=True)) for span in strip_root(tree)[1].spans() if span[2]]
    return {"words": tree.words, "tags": tree.tags, "tree": str(tree), "spans": spans}


def span_rows(sentences: Iterable[ParsedSentence]) -> Iterator[str]:
    """A span a row, apart by tabs; sentences count from 1."""
    yield "\t".join(_SPANS)
    for number, sentence in enumerate(sentences, start=1):
        yield from _rows(number, sentence.words, sentence.spans)


def marginal_rows(sentences: Iterable[ParsedSentence]) -> Iterator[str]:
    """As `span_rows`, of all spans that may be."""
    yield "\t".join(_SPANS)
    for number, sentence in enumerate(sentences, start=1):
        found = sentence.marginals["spans"] if sentence.marginals else []
        yield from _rows(number, sentence.words, [Span(**span) for span in found])


def _rows(number: int, words: list[str], spans: Iterable[Span]) -> Iterator[str]:
    for start, end, label, score in spans:
        shown = "" if score is None else f"{score:.6g}"
        yield f"{number}\t{start}\t{end}\t{label}\t{shown}\t{' '.join(words[start:end])}"


def n_best_rows(sentences: Iterable[ParsedSentence]) -> Iterator[str]:
    """A tree a row, apart by tabs, best first."""
    yield "\t".join(_RANKS)
    for number, sentence in enumerate(sentences, start=1):
        for rank, each in enumerate(sentence.n_best or [], start=1):
            numbers = f"{number}\t{rank}\t{each['probability']:.6g}\t{each['log_probability']:.6f}"
            yield f"{numbers}\t{each['tree']}\t{_difference(sentence.words, each)}"


def _difference(words: list[str], analysis: dict[str, Any]) -> str:
    """What a tree has and lacks beside the likeliest one: "+NP(the old ferry) -VP(sold)"."""
    from spacy_lpcfg.parsing.alternatives import show_span

    return " ".join(
        sign + show_span(words, (span["start"], span["end"], span["label"]))
        for sign, name in (("+", "added"), ("-", "missing"))
        for span in analysis[name]
    )


LINES: dict[tuple[ParseFormat, str], Callable[[Iterable[ParsedSentence]], Iterator[str]]] = {
    (ParseFormat.brackets, ""): bracket_lines,
    (ParseFormat.brackets, "--n-best"): n_best_lines,
    (ParseFormat.table, ""): span_rows,
    (ParseFormat.table, "--n-best"): n_best_rows,
    (ParseFormat.table, "--marginals"): marginal_rows,
    (ParseFormat.json, ""): json_lines,
    (ParseFormat.json, "--n-best"): json_lines,
    (ParseFormat.json, "--marginals"): json_lines,
    (ParseFormat.json, "--n-best and --marginals"): json_lines,
}
"""How sentences are written in a format, by what was asked for."""
