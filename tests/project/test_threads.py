"""Threads that share one model: every public answer of every kind of model is that of one thread, bit for bit.

Models are read anew for each round, so that the threads meet while caches fill.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
import spacy
from stored_models import KINDS, SENTENCE, TAGS, model, trees

from spacy_lpcfg.chart import EXHAUSTIVE, Parser
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.isbn import ISBN, IncrementalParser
from spacy_lpcfg.isbn.settings import BeamSettings
from spacy_lpcfg.learning import Pivot, Spectral, TreebankPCFG
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.constraints import Constraints
from spacy_lpcfg.parsing.query import Query

pytestmark = pytest.mark.slow

N_THREADS = 4
SENTENCES = [
    SENTENCE,
    ["The", "ferry", "was", "late", "again", "."],
    ["Did", "you", "lock", "the", "old", "shed", ",", "or", "was", "the", "unlockable", "ship", "McGregor-like", "?"],
    ["She", "said", "that", "they", "missed", "it", "."],
    ["#"] * 5,  # of which no grammar has a tree
    ["zebras"],
]
Question = Callable[[Any, list[str]], Any]


def plain(answer: Any) -> Any:
    """An answer as one can compare it: all numbers by their bits."""
    if isinstance(answer, np.ndarray):
        return answer.dtype.str, answer.shape, answer.tobytes()
    if isinstance(answer, float):
        return answer.hex()
    if is_dataclass(answer):
        return type(answer).__name__, [plain(getattr(answer, field.name)) for field in fields(answer)]
    if isinstance(answer, dict):
        return [(plain(key), plain(value)) for key, value in answer.items()]
    if isinstance(answer, list | tuple):
        return [plain(each) for each in answer]
    return str(answer)


def by_threads(make: Callable[[], Any], calls: list[Callable[[Any], Any]]) -> None:
    """Let each thread ask all, begun at different ones, what one thread has asked a model of its own."""
    alone = make()
    expected = [plain(call(alone)) for call in calls]
    shared, both_wait = make(), threading.Barrier(N_THREADS)

    def ask(number: int) -> list[Any]:
        both_wait.wait()
        found = [None] * len(calls)
        for i in range(len(calls)):
            place = (i + number * len(calls) // N_THREADS // 2) % len(calls)
            found[place] = plain(calls[place](shared))
        return found

    with ThreadPoolExecutor(N_THREADS) as pool:
        for found in pool.map(ask, range(N_THREADS)):
            assert found == expected


@pytest.fixture(autouse=True)
def _threads_change_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@cache
def stored(kind: str) -> bytes:
    """A small model."""
    return _MAKERS[kind]().to_bytes() if kind in _MAKERS else model(kind).to_bytes()


def one_network() -> ISBN:
    return replace(model("isbn"), networks=model("isbn").networks[:1])


_MAKERS: dict[str, Callable[[], Any]] = {
    "pcfg": lambda: TreebankPCFG().fit(trees(120)),
    "pivot": lambda: Pivot(n_states=6, n_iterations=1, tokens_per_state=5).fit(trees(120)),
    "spectral": lambda: Spectral(n_states=6, tokens_per_state=10).fit(trees(120)),
    "one network": one_network,
}
_READERS = {"one network": ISBN.from_bytes} | {kind: reader.read for kind, reader in KINDS.items()}


def fresh(kind: str, **settings: Any) -> Any:
    """Return a parser, bracketer or language model that nobody has asked yet."""
    found = _READERS.get(kind, Grammar.from_bytes)(stored(kind))
    if isinstance(found, ISBN):
        return IncrementalParser(found, search=BeamSettings(beam=8))
    return found if kind in ("bracketer", "language model") else make_parser(found, **settings)


WORDS = {
    "parse": lambda parser, words: parser.parse(words),
    "posteriors": lambda parser, words: parser.posteriors(words),
    "constraints": lambda parser, words: parser.parse(Query(words, constraints=Constraints(required=((0, 1, "NP"),)))),
}
GIVEN = {"tags": lambda parser, words: [parser.parse(Query(SENTENCE, TAGS)), parser.posteriors(Query(SENTENCE, TAGS))]}
DISTRIBUTION = {
    "n_best": lambda parser, words: parser.n_best(words, n=3),
    "samples": lambda parser, words: parser.distribution(words).samples(3, seed=1),
    "entropy": lambda parser, words: parser.distribution(words).entropy(),
    "log_probability": lambda parser, words: parser.log_probability(words),
    "surprisal": lambda parser, words: parser.surprisal(words),
}
TREES = {"tree": lambda parser, words: [parser.tree_log_probability(tree) for tree in trees(2)]}
STATES = {"states": lambda parser, words: parser.states(words)}


def prefixes(parser: IncrementalParser, words: list[str]) -> list[Any]:
    """All about the prefixes of a sentence, word by word."""
    found, prefix = [], parser.start()
    for word in words:
        prefix = prefix.push(word)
        found += [prefix.log_probability, prefix.surprisal, prefix.trees(3), tuple(prefix.finish())]
    return found


BY_CHART: dict[str, Question] = {**WORDS, **GIVEN, **STATES}
QUESTIONS: dict[str, dict[str, Question]] = {
    "pcfg": {**BY_CHART, **DISTRIBUTION, **TREES},
    "grammar": {**BY_CHART, **DISTRIBUTION, **TREES},
    "pivot": {**BY_CHART, **DISTRIBUTION, **TREES},
    "spectral": BY_CHART,
    "isbn": {**WORDS, **GIVEN, **DISTRIBUTION, "prefixes": prefixes},
    "one network": {**WORDS, **GIVEN, **DISTRIBUTION, **TREES, "prefixes": prefixes},
    "bracketer": {"bracket": lambda parser, words: parser.bracket(words, (TAGS * 2)[: len(words)], max_words=8)},
    "language model": {
        "surprisal": lambda parser, words: parser.surprisal([*words, "a", "b"]),
        "perplexity": lambda parser, words: parser.perplexity([["a", "b", *words], ["b"]]),
    },
}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_threads_find_what_one_thread_finds(kind):
    calls = [partial(ask, words) for words in SENTENCES for ask in map(reordered, QUESTIONS[kind].values())]
    for _ in range(2):
        by_threads(partial(fresh, kind), calls)


def reordered(question: Question) -> Callable[[list[str], Any], Any]:
    return lambda words, parser: question(parser, words)


@pytest.mark.parametrize("decoding", ["max-rule", "most-probable"])
def test_threads_decode_alike_in_every_way(decoding):
    calls = [lambda parser, words=words: parser.parse(words) for words in SENTENCES]
    by_threads(partial(fresh, "pivot", decoding=decoding), calls)


def test_many_surprisals_at_a_time():
    """A solver that writes to what it is given for the time of its call is caught where calls are many."""
    calls = [lambda parser, words=words: parser.surprisal(words * 3) for words in SENTENCES * 4]
    by_threads(partial(fresh, "pivot"), calls)


@pytest.mark.parametrize("kind", ["pcfg", "pivot", "isbn"])
def test_threads_share_a_distribution(kind):
    calls = [lambda shared, seed=seed: shared.samples(100, seed=seed) for seed in range(20)]
    calls += [lambda shared: shared.entropy(), lambda shared: shared.n_best(5)]
    settings = {} if kind == "isbn" else {"chart": replace(EXHAUSTIVE, edge_threshold=1e-6)}
    by_threads(lambda: fresh(kind, **settings).distribution(SENTENCES[2]), calls)


def test_threads_share_a_prefix():
    def begun() -> Any:
        prefix = fresh("isbn").start()
        for word in SENTENCE[:4]:
            prefix = prefix.push(word)
        return prefix

    calls = [lambda prefix, word=word: (prefix.push(word).surprisal, prefix.trees(3)) for word in SENTENCE]
    by_threads(begun, [*calls, lambda prefix: tuple(prefix.finish())])


def pipe(kind: str) -> Any:
    """A pipeline with the component of a model that nobody has asked yet."""
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_sentencizer")
    if kind == "one network":
        nlp.add_pipe("isbn_parser", config={"output": {"surprisal": True}}).learned = ISBN.from_bytes(stored(kind))
    else:
        nlp.add_pipe("lpcfg_parser", config={"output": {"surprisal": True}}).learned = Grammar.from_bytes(stored(kind))
    return nlp


def written(nlp: Any, text: str) -> Any:
    """Return all that a pipeline writes to a Doc."""
    doc = nlp(text)
    groups = [
        ([(span.start, span.end, span.label_) for span in group], dict(sorted(group.attrs.items())))
        for group in doc.spans.values()
    ]
    return groups, [(token.tag_, token._.surprisal) for token in doc]


def asked(nlp: Any, text: str) -> Any:
    """Return the answers of a component about a Doc."""
    component = nlp.components[-1][1]
    doc = nlp.get_pipe("lpcfg_sentencizer")(nlp.make_doc(text))
    answers = component.surprisals(doc), component.log_probabilities(doc), component.entropies(doc)
    return *answers, component.posteriors(doc), component.n_best(doc, 2), component.samples(doc, 2)


@pytest.mark.parametrize("kind", ["pivot", "one network"])
def test_threads_share_a_pipeline(kind):
    texts = [" ".join(words) for words in SENTENCES]
    calls = [lambda nlp, text=text, ask=ask: ask(nlp, text) for text in texts for ask in (written, asked)]
    by_threads(partial(pipe, kind), calls)


def test_what_threads_share_cannot_be_written():
    grammar = Grammar.from_bytes(stored("pivot"))
    parser = Parser(grammar)
    parser.surprisal(SENTENCE)
    shared = [parser.prefixes._left_corner_closure, grammar.tensors.dense, grammar.state_offsets, grammar.tag_of]
    for array in [*shared, grammar.lexicon.row_terminals]:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
