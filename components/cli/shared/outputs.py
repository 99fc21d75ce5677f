"""Output of `parse`: bracketed trees, JSON objects, rows of tables, or Docs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import typer

from spacy_lpcfg.components.cli.shared.citations import EXTENT, PLACE, CitedSentence, located
from spacy_lpcfg.components.cli.shared.console import begun
from spacy_lpcfg.components.cli.shared.runs import Parsed

if TYPE_CHECKING:
    from spacy_lpcfg.trees import Tree

_ROUND_BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-"})
_SPANS = (*PLACE, "start", "end", "label", "score", *EXTENT)
_RANKS = (*PLACE, "rank", "probability", "log_probability", "tree", "difference", *EXTENT)

ParseFormat = Literal["brackets", "jsonl", "json", "tsv", "csv", "spacy"]


class ScoredSpan(NamedTuple):
    """A bracket over the words [start, end), with its label; `score` is its posterior probability, None if unknown."""

    start: int
    end: int
    label: str
    score: float | None


class ParsedSentence(NamedTuple):
    """A sentence with its tree and scores, to be written by a command.

    citation (CitedSentence): The location of the sentence in its file.
    words (list of str): The words as in the text.
    tree (Tree or None): The tree, with a root node if the command adds one; None for a sentence without words.
    spans (list of ScoredSpan): The brackets, in pre-order.
    tag_scores (list of (float or None), or None): The posterior probability of each tag; None if unknown.
    status (str): The status of the sentence's `Parse`, or "empty" for a sentence without words.
    log_probability (float or None): ln P(words) in nats, as in `Parse`; None if unknown.
    probability (float or None): P(tree | words), as in `Parse`; None if unknown.
    n_best (list of dict, or None): The n best trees; None if they were not requested. Each is a dict:
        tree: The bracketed tree.
        log_probability, probability: As in `Parse`.
        added: The brackets of this tree that the best tree lacks.
        missing: The brackets of the best tree that this tree lacks.
    marginals (dict or None): The possible "spans" and "tags" with their posterior probabilities; None if not requested.
    """

    citation: CitedSentence
    words: list[str]
    tree: Tree | None
    spans: list[ScoredSpan]
    tag_scores: list[float] | None
    status: str
    log_probability: float | None
    probability: float | None
    n_best: list[dict[str, Any]] | None
    marginals: dict[str, Any] | None


# From Docs ---------------------------------------------------------------------------------------


def sentences_of(parsed: Parsed, key: str, root: str | None) -> Iterator[ParsedSentence]:
    """Yield the sentences of a parsed Doc that have words, with trees and scores.

    A Doc made of an empty list of words, such as an empty line of --input tokens, yields one sentence without words.

    parsed (Parsed): The Doc with its location.
    key (str): Key of the trees in `doc.spans`.
    root (str or None): The label of a root node added above each tree; None to add no root.
    """
    from spacy_lpcfg.components.cli.shared.questions import KEY as ANSWERS
    from spacy_lpcfg.components.doc.read import trees
    from spacy_lpcfg.components.doc.sentences import sentence_bounds, texts_of, words_of
    from spacy_lpcfg.components.doc.tree_group import attributes
    from spacy_lpcfg.components.doc.write import EMPTY
    from spacy_lpcfg.trees.transforms import rooted

    doc, given = parsed.doc, parsed.words
    citations = parsed.sentences()
    if given == []:
        yield ParsedSentence(citations[0], [], None, [], None, EMPTY, None, None, None, None)
        return
    attrs, answers = attributes(doc, key), doc.user_data.get(ANSWERS, {})
    assert attrs.scores is not None
    assert attrs.status is not None
    scores = iter(_numbers(attrs.scores))
    tag_scores, logs, probabilities = attrs.tag_scores, attrs.log_probabilities, attrs.tree_probabilities
    for i, ((start, end), parsed_tree) in enumerate(zip(sentence_bounds(doc), trees(doc, key), strict=True)):
        if parsed_tree is None:
            continue
        positions = words_of(doc, start, end)
        tree = (
            parsed_tree
            if given is None
            else type(parsed_tree).from_spans(printable(given), printable(parsed_tree.tags), parsed_tree.spans())
        )
        yield ParsedSentence(
            citation=citations[i],
            words=texts_of(doc, positions) if given is None else given,
            tree=rooted(tree, root),
            spans=[ScoredSpan(*span, next(scores)) for span in tree.spans() if span[2]],
            tag_scores=None if tag_scores is None else _numbers(tag_scores[positions]),
            status=attrs.status[i],
            log_probability=None if logs is None else _numbers(logs[i : i + 1])[0],
            probability=None if probabilities is None else _numbers(probabilities[i : i + 1])[0],
            n_best=_analyses(tree.words, answers["n_best"][i], root) if "n_best" in answers else None,
            marginals=answers["posteriors"][i] if "posteriors" in answers else None,
        )


class Answer(NamedTuple):
    """The result of one of the parser's methods (a question) for a sentence, such as its surprisals.

    citation (CitedSentence): The location of the sentence in its file.
    words (list of str): The words of the sentence.
    answer (any): The item of the method's result for this sentence; see `questions.py`.
    """

    citation: CitedSentence
    words: list[str]
    answer: Any


def answers_of(parsed: Parsed, question: str) -> Iterator[Answer]:
    """Yield the stored result of the parser's method `question` for each sentence that has words."""
    from spacy_lpcfg.components.cli.shared.questions import KEY
    from spacy_lpcfg.components.doc.sentences import texts_of, words_of

    doc, given = parsed.doc, parsed.words
    answers = doc.user_data[KEY][question]
    for (citation, (start, end)), answer in zip(parsed.bounds(), answers, strict=True):
        if answer is not None:
            words = texts_of(doc, words_of(doc, start, end)) if given is None else given
            yield Answer(citation, words, answer)


def _analyses(words: list[str], answers: list[dict[str, Any]], root: str | None) -> list[dict[str, Any]]:
    """Convert the stored result of `n_best` for a sentence to the dicts in `ParsedSentence.n_best`."""
    from spacy_lpcfg.parsing.alternatives import tree_difference
    from spacy_lpcfg.trees.transforms import rooted

    trees = [tree_of(words, answer) for answer in answers]
    return [
        {
            "tree": str(rooted(tree, root)),
            "log_probability": answer["log_probability"],
            "probability": answer["probability"],
            **{name: _bare(spans) for name, spans in tree_difference(trees[0], tree)._asdict().items()},
        }
        for tree, answer in zip(trees, answers, strict=True)
    ]


def _bare(spans: Iterable[tuple[int, int, str]]) -> list[dict[str, Any]]:
    return [{"start": start, "end": end, "label": label} for start, end, label in spans]


def tree_of(words: list[str], answer: dict[str, Any]) -> Tree:
    """Build a tree from words in treebank spelling and the "tags" and "spans" of a stored tree (see `questions.py`)."""
    from spacy_lpcfg.trees import Tree

    return Tree.from_spans(
        words, printable(answer["tags"]), [(start, end, label) for start, end, label in answer["spans"]]
    )


def _numbers(array: Any) -> list[Any]:
    """Return an array as a list of floats for JSON: None for nan, and 6 decimals for float32, 12 for float64."""
    digits = 6 if array.dtype.itemsize == 4 else 12
    return [None if x != x else round(float(x), digits) for x in array]


def printable(words: Iterable[str]) -> list[str]:
    """Replace parentheses in words or tags by -LRB- and -RRB-, so that a bracketed tree can contain them."""
    return [word.translate(_ROUND_BRACKETS) for word in words]


# To lines, objects and rows ----------------------------------------------------------------------


def bracket_lines(sentences: Iterable[ParsedSentence]) -> Iterator[str]:
    """Yield the bracketed tree of each sentence as a line; an empty line for a sentence without words."""
    for sentence in sentences:
        yield "" if sentence.tree is None else str(sentence.tree)


def n_best_lines(sentences: Iterable[ParsedSentence]) -> Iterator[str]:
    """Yield a line for each of the n best trees, and an empty line after each sentence.

    A line has, separated by tabs, the probability, the tree, and its brackets that are added (+) or missing (-) in
    comparison with the best tree.
    """
    for sentence in sentences:
        for analysis in sentence.n_best or []:
            yield f"{analysis['probability']:.6g}\t{analysis['tree']}\t{_difference(sentence.words, analysis)}".rstrip(
                "\t"
            )
        yield ""


def objects(sentences: Iterable[ParsedSentence]) -> Iterator[dict[str, Any]]:
    """Yield each sentence as a dict for JSON (`as_json`), numbered from 1."""
    for number, sentence in enumerate(sentences, start=1):
        yield as_json(sentence, number)


def as_json(sentence: ParsedSentence, number: int) -> dict[str, Any]:
    """Return a sentence as a dict for JSON; tag scores, n-best trees and marginals that are None have no entry.

    number (int): The number of the sentence in its file, from 1.
    """
    citation, values = sentence.citation, sentence._asdict()
    values["tree"] = None if sentence.tree is None else str(sentence.tree)
    values["tags"] = [] if sentence.tree is None else sentence.tree.tags
    values["spans"] = located((span._asdict() for span in sentence.spans), citation)
    if sentence.marginals:
        values["marginals"] = {**sentence.marginals, "spans": located(sentence.marginals["spans"], citation)}
    if sentence.n_best:
        values["n_best"] = [
            {**tree, **{name: located(tree[name], citation) for name in ("added", "missing")}}
            for tree in sentence.n_best
        ]
    place = {**citation.place(number), **citation.extent(), "words": sentence.words, **citation.word_characters()}
    return place | {name: values[name] for name in _JSON if values[name] is not None or name not in _ANSWERS}


_ALWAYS = ("tags", "tree", "spans", "tag_scores", "status", "log_probability", "probability")
_ANSWERS = ("tag_scores", "n_best", "marginals")
_JSON = (*_ALWAYS, "n_best", "marginals")


def span_rows(sentences: Iterable[ParsedSentence]) -> Iterator[tuple[Any, ...]]:
    """Yield the header of a table, then a row for each bracket; sentences are numbered from 1."""
    yield _SPANS
    for number, sentence in enumerate(sentences, start=1):
        for span in sentence.spans:
            yield sentence.citation.row(number, *span, start=span.start, end=span.end)


def marginal_rows(sentences: Iterable[ParsedSentence]) -> Iterator[tuple[Any, ...]]:
    """Yield a table as `span_rows` does, but with a row for each possible bracket, and its posterior as score."""
    return span_rows(
        sentence._replace(spans=[ScoredSpan(**span) for span in (sentence.marginals or {"spans": ()})["spans"]])
        for sentence in sentences
    )


def n_best_rows(sentences: Iterable[ParsedSentence]) -> Iterator[tuple[Any, ...]]:
    """Yield the header of a table, then a row for each of the n best trees of each sentence, best first."""
    yield _RANKS
    for number, sentence in enumerate(sentences, start=1):
        for rank, analysis in enumerate(sentence.n_best or [], start=1):
            numbers = f"{analysis['probability']:.6g}", f"{analysis['log_probability']:.6f}"
            difference = _difference(sentence.words, analysis)
            yield sentence.citation.row(number, rank, *numbers, analysis["tree"], difference)


def _difference(words: list[str], analysis: dict[str, Any]) -> str:
    """Describe how a tree differs from the most probable one, as in "+NP(the old ferry) -VP(sold)"."""
    from spacy_lpcfg.parsing.alternatives import show_span

    return " ".join(
        sign + show_span(words, (span["start"], span["end"], span["label"]))
        for sign, name in (("+", "added"), ("-", "missing"))
        for span in analysis[name]
    )


_OPTIONS = {"n_best": "--n-best", "posteriors": "--marginals"}
"""The option of `parse` that requests each kind of result."""
_JSON_WRITERS = {"jsonl": objects, "json": objects}
_WRITERS: dict[tuple[str, ...], dict[str, Callable[[Iterable[ParsedSentence]], Iterator[Any]]]] = {
    (): {"brackets": bracket_lines, "tsv": span_rows, "csv": span_rows, **_JSON_WRITERS},
    ("n_best",): {"brackets": n_best_lines, "tsv": n_best_rows, "csv": n_best_rows, **_JSON_WRITERS},
    ("posteriors",): {"tsv": marginal_rows, "csv": marginal_rows, **_JSON_WRITERS},
    ("n_best", "posteriors"): {**_JSON_WRITERS},
}
"""Functions that convert sentences to lines, objects or rows, by the requested results and the output format."""


def check_contents(form: str, questions: Iterable[str]) -> None:
    """Check that an output format can hold the requested results.

    form (str): The name of the output format.
    questions (iterable of str): The requested results: "n_best", "posteriors", both or neither.
    RAISES (BadParameter): If the format has no place for them.
    """
    asked = tuple(sorted(questions))
    if form not in _WRITERS[asked] and (asked or form != "spacy"):
        names = " and ".join(_OPTIONS[question] for question in asked)
        raise typer.BadParameter(f"{names} has no place in {form}: use --format jsonl", param_hint="--format")


def contents_of(
    parsed: Iterable[Parsed], form: str, questions: Iterable[str], key: str, root: str | None
) -> Iterator[Any]:
    """Return the items to write for parsed Docs: the Docs themselves, or lines, JSON objects or rows of sentences.

    parsed (iterable of Parsed): The parsed Docs.
    form (str): The name of the output format, which `check_contents` has accepted.
    questions (iterable of str): The requested results, as for `check_contents`.
    key (str): Key of the trees in `doc.spans`.
    root (str or None): The label of a root node added above each tree; None to add no root.
    """
    if form == "spacy":
        return (document.doc for document in parsed)
    sentences = (sentence for document in parsed for sentence in sentences_of(document, key, root))
    return _WRITERS[tuple(sorted(questions))][form](begun(sentences))
