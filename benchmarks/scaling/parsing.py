"""Parsing time against the length of sentences and the number of latent states: two curves of `scaling.py`."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

import spacy

from benchmarks import measure, peers
from benchmarks.accuracy.growth import Plot, Result, Series
from benchmarks.scaling.models import MODELS, WITH_STATES, Models, parse_of
from benchmarks.speed.parsers import timed_passes
from spacy_lpcfg.chart import ChartSettings, Parser
from spacy_lpcfg.evaluation.evalb import read_evalb
from spacy_lpcfg.trees import Tree

N_SENTENCES = 5  # of each length
LEAST = 20  # words from which exponents are fitted; below, what every sentence costs counts
UNCUT = "pivot, not cut"
PEER_SECONDS = 90.0  # CPU seconds after which the peer has given up
PEER_WORDS = 100

Sentence = tuple[list[str], list[str]]
Parse = Callable[[list[str], list[str]], object]


@dataclass(frozen=True)
class Theory:
    """The growth of parsing time with the length of sentences in theory.

    exponent (float): At most.
    because (str): Why.
    longest (int or None): Words beyond which sentences are parsed in pieces, so that time is linear from there on.
    """

    exponent: float
    because: str
    longest: int | None = None


CHART = "cubic chart, less by pruning"
THEORIES = {
    "pivot": Theory(3, CHART, 150),
    UNCUT: Theory(3, CHART),
    "isbn": Theory(1, "a beam of constant width"),
    "bracketer": Theory(3, "cubic chart of spans"),
    "peer": Theory(3, "cubic chart, coarse to fine"),
}


def sentences_of(golds: Sequence[Tree], n_words: int) -> list[Sentence]:
    """Sentences of so many words with their tags, cut from the running text."""
    n_tokens = n_words * N_SENTENCES
    words = list(islice(chain.from_iterable(gold.words for gold in golds), n_tokens))
    tags = list(islice(chain.from_iterable(gold.tags for gold in golds), n_tokens))
    return [(words[i : i + n_words], tags[i : i + n_words]) for i in range(0, len(words) - n_words + 1, n_words)]


def length_curves(models: Models, golds: Sequence[Tree], lengths: Sequence[int], peer: str | None) -> Result:
    """Milliseconds a sentence of each length, by each model, and by another parser's command."""
    tested = {n: sentences_of(golds, n) for n in lengths}
    by_model, wholes = {}, {}
    for name in (*MODELS, UNCUT):
        path = models.path("pivot" if name == UNCUT else name)
        measure.progress(f"parsing by {name}")
        timed = measure.in_child(times, path, name == UNCUT, tested).result
        by_model[name] = {n: ms for n, (ms, _) in timed.items()}
        wholes[name] = {n: n_whole for n, (_, n_whole) in timed.items()}
    tables = {}
    if peer:
        tables["The peer"] = rows = measure.in_child(peer_rows, peer, tested).result
        by_model["peer"] = {row["words"]: row["ms / sentence"] for row in rows if row["ms / sentence"] is not None}
    in_one = [{"words": n, **{name: of[n] for name, of in wholes.items()}} for n in lengths]
    by_length = [{"words": n, **{name: of.get(n) for name, of in by_model.items()}} for n in lengths]
    curves = {name: Series(list(of.items()), [], THEORIES[name].exponent) for name, of in by_model.items()}
    return Result(
        {
            f"CPU milliseconds a sentence, median of {N_SENTENCES}": by_length,
            f"Sentences of {N_SENTENCES} with a tree of the model over all of them": in_one,
            "Growth with the length": [growth_row(name, of) for name, of in by_model.items()],
            **tables,
        },
        {"parsing": Plot("words", "CPU milliseconds", curves)},
    )


def times(path: Path, is_uncut: bool, tested: dict[int, list[Sentence]]) -> dict[int, tuple[float, int]]:
    """Return for each length the median milliseconds of a pipeline, and the number of sentences with a tree."""
    parse = uncut(path) if is_uncut else parse_of(path)
    parse(*next(iter(tested.values()))[0])
    by_length = {}
    for n, sentences in tested.items():
        costs, are_whole = zip(*(timed(parse, sentence) for sentence in sentences), strict=True)
        by_length[n] = 1e3 * statistics.median(costs), sum(are_whole)
        measure.progress(f"{n} words in {by_length[n][0]:.2f} ms, {by_length[n][1]} of {len(sentences)} with a tree")
    return by_length


def uncut(path: Path) -> Parse:
    """Parsing by a grammar that parses sentences of any length as one."""
    settings = replace(ChartSettings(), max_applications=10 * ChartSettings.max_applications)
    whole = Parser(spacy.load(path).get_pipe("lpcfg_parser").grammar, settings=settings)
    return lambda words, tags: whole.parse(words)


def timed(parse: Parse, sentence: Sentence) -> tuple[float, bool]:
    """CPU seconds, and whether the model has a tree over the whole sentence; brackets always are."""
    start = time.process_time()
    parse_result = parse(*sentence)
    return time.process_time() - start, getattr(parse_result, "is_parsed", True)


def growth_row(name: str, by_length: dict[int, float]) -> measure.Row:
    """The exponent of the lengths at which sentences are parsed in one piece, beside that of theory."""
    theory = THEORIES[name]
    in_range = {n: ms for n, ms in by_length.items() if LEAST <= n <= (theory.longest or n)}
    last = dict(list(in_range.items())[-3:])
    return {
        "model": name,
        "from": min(in_range, default=0),
        "to": max(in_range, default=0),
        "ms ~ words ^": measure.slope(list(in_range), list(in_range.values())),
        "of the last three": measure.slope(list(last), list(last.values())),
        "theory": theory.exponent,
        "because": theory.because,
    }


def peer_rows(command: str, tested: dict[int, list[Sentence]]) -> list[measure.Row]:
    """A peer's time a sentence, without its start-up, up to the first length that takes it too long."""
    rows: list[measure.Row] = []
    shortest = next(iter(tested.values()))
    start_up, _ = run_peer(command, shortest[:1])
    for n, sentences in tested.items():
        if n > PEER_WORDS:
            break
        measure.progress(f"parsing by the peer: {n} words")
        try:
            spent, n_parsed = run_peer(command, sentences)
        except peers.GaveUp:
            rows.append({"words": n, "ms / sentence": None, "trees": f"none after {PEER_SECONDS:.0f} CPU s"})
            break
        ms = 1e3 * max(spent - start_up, 0.0) / len(sentences)
        rows.append({"words": n, "ms / sentence": ms, "trees": f"{n_parsed} of {len(sentences)}"})
    return [{**row, "start-up, s": start_up} for row in rows]


def run_peer(command: str, sentences: list[Sentence], **values: int) -> tuple[float, int]:
    """CPU seconds of a peer's command on sentences, and how many it found a tree for."""
    with tempfile.TemporaryDirectory() as folder:
        words, output = Path(folder, "words"), Path(folder, "output")
        words.write_text("".join(" ".join(sentence) + "\n" for sentence, _ in sentences), encoding="utf-8")
        spent = peers.run(command, most_seconds=PEER_SECONDS, words=words, output=output, jobs=1, **values)
        return spent, sum(any(map(len, trees)) for trees in read_evalb(output))


# States ------------------------------------------------------------------------------------------


def state_curves(models: Models, golds: Sequence[Tree], states: Sequence[int], peer: str | None) -> Result:
    """Milliseconds a sentence of a treebank by grammars of more and more states, and by another parser's."""
    rows = []
    for learner in WITH_STATES:
        for m in states:
            path = models.path(f"{learner}-{m}")
            measure.progress(f"parsing with {m} states by {learner}")
            rows.append({"grammar": learner, "m": m, **measure.in_child(passes, path, golds).result})
    sentences = [(list(gold.words), list(gold.tags)) for gold in golds]
    for m in filter(is_power_of_two, states if peer else ()):
        measure.progress(f"parsing with {m} states by the peer")
        rows.append({"grammar": "peer", "m": m, **measure.in_child(peer_states, peer, m, sentences).result})
    curves = [("grammar", "ms / sentence"), ("fine pass of", "of it the fine pass")]
    by_grammar = {}
    for what, quantity in curves:
        for name in dict.fromkeys(row["grammar"] for row in rows):
            points = [(row["m"], row[quantity]) for row in rows if row["grammar"] == name and row[quantity]]
            if points:
                by_grammar[f"{what} {name}"] = points
    growth = [
        {"time of": name, "ms ~ m ^": measure.slope(*zip(*points_of_name, strict=True)), "theory": 3}
        for name, points_of_name in by_grammar.items()
    ]
    plots = {name: Series(points, [], 3) for name, points in by_grammar.items()}
    return Result(
        {f"CPU milliseconds a sentence of {len(golds)}, by states": rows, "Growth with the states": growth},
        {"states": Plot("states (m)", "CPU milliseconds a sentence", plots)},
    )


def is_power_of_two(m: int) -> bool:
    """Whether a parser that splits its states in two has a grammar of so many."""
    return m & (m - 1) == 0


def passes(path: Path, golds: Sequence[Tree]) -> measure.Row:
    """Return the number of states of all symbols, and what a sentence costs."""
    parser = Parser(spacy.load(path).get_pipe("lpcfg_parser").grammar)
    parser.parse(golds[0].words)
    spent = [timed_passes(parser, gold.words)[1] for gold in golds]
    *_, fine, whole = (1e3 * sum(times) / len(golds) for times in zip(*spent, strict=True))
    n_states = int(parser.grammar.n_states.sum())
    return {"states of all symbols": n_states, "ms / sentence": whole, "of it the fine pass": fine}


def peer_states(command: str, m: int, sentences: list[Sentence]) -> measure.Row:
    """The same of a peer; it does not tell its passes."""
    spent = [run_peer(command, some, states=m)[0] for some in (sentences, sentences[:1])]
    per_sentence = 1e3 * (spent[0] - spent[1]) / (len(sentences) - 1)
    return {"states of all symbols": None, "ms / sentence": per_sentence, "of it the fine pass": None}
