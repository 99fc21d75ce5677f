"""A small model of every kind that is saved, and what reads and uses it."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import NamedTuple

import numpy as np
from encoders import make_encoder
from paths import SAMPLE

from spacy_lpcfg.bracketing import Bracketer
from spacy_lpcfg.bracketing.extensions.induced_tags import InducedTags
from spacy_lpcfg.bracketing.extensions.learned_top import TopScores
from spacy_lpcfg.bracketing.extensions.span_model import SpanModel
from spacy_lpcfg.bracketing.extensions.symbols import N_SYMBOLS, Symbols
from spacy_lpcfg.bracketing.paper.metric_model import MetricModel
from spacy_lpcfg.bracketing.sentences import N_UNIVERSAL
from spacy_lpcfg.chart import Parser
from spacy_lpcfg.evidence.feature_learning import FeatureSettings, learn_features
from spacy_lpcfg.evidence.grammar import EvidenceGrammar
from spacy_lpcfg.evidence.learning import ClassifierSettings, learn_classifier
from spacy_lpcfg.evidence.model import EncoderEvidence
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.induced.lexical import LexicalPCFG, Vocabulary
from spacy_lpcfg.induced.model import Induced, InducedGrammar
from spacy_lpcfg.induced.simple_pcfg import SimplePCFG
from spacy_lpcfg.isbn import ISBN, IncrementalParser, Relations
from spacy_lpcfg.isbn.network import APPROXIMATIONS, start_network
from spacy_lpcfg.isbn.vocabulary import take_vocabulary
from spacy_lpcfg.language_model import LanguageModel
from spacy_lpcfg.learning import EM, Spectral
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.storage.container import Stored
from spacy_lpcfg.trees import clean, read_trees
from spacy_lpcfg.words.classes import WordClasses

CLASSES = WordClasses(("boat", "ship", "zebra"), np.array([1, 1, 2], np.int32))
SENTENCE = ["The", "zebra", "that", "they", "missed", "was", "the", "last", "ship", "."]
TAGS = ["DT", "NN", "WDT", "PRP", "VBD", "VBD", "DT", "JJ", "NN", "."]


class Kind(NamedTuple):
    """A reader of the bytes of a kind of model, and a use of the model."""

    read: Callable[[bytes], Stored]
    use: Callable[[Stored], object]


def parse(model: Stored) -> None:
    """Parse by the model's own parser."""
    parser = make_parser(model)
    for words in (SENTENCE, ["#"] * 5):
        assert parser.parse(words).tree.words == words


def parse_by_chart(grammar: Grammar) -> None:
    parser = Parser(grammar)
    for words in (SENTENCE, SENTENCE[:1], ["#"] * 5):
        assert parser.parse(words).tree.words == words
        parser.posteriors(Query(words, ["NN"] * len(words)))


def parse_from_left(model: ISBN) -> None:
    parser = IncrementalParser(model)
    for words in (SENTENCE, SENTENCE[:1], ["#"] * 5):
        assert parser.parse(words).tree.words == words


def bracket(bracketer: Bracketer) -> None:
    for n in (10, 3, 2):
        bracketer.bracket(SENTENCE[:n], TAGS[:n])
        replace(bracketer, span_model=None).bracket(SENTENCE[:n], TAGS[:n])


def foresee(model: LanguageModel) -> None:
    model.surprisal(["a", "b", "zebra"])


KINDS = {
    "grammar": Kind(Grammar.from_bytes, parse_by_chart),
    "factored": Kind(Grammar.from_bytes, parse_by_chart),
    "isbn": Kind(ISBN.from_bytes, parse_from_left),
    "evidence": Kind(EvidenceGrammar.from_bytes, parse),
    "features": Kind(EvidenceGrammar.from_bytes, parse),
    "induced": Kind(Induced.from_bytes, parse),
    "bracketer": Kind(Bracketer.from_bytes, bracket),
    "language model": Kind(LanguageModel.from_bytes, foresee),
}


@cache
def model(kind: str) -> Stored:
    """A small model; the same at every call."""
    return _MAKERS[kind]()


def trees(n: int) -> list:
    return [tree for tree in map(clean, islice(read_trees(SAMPLE / "train.mrg"), n)) if tree]


def some_isbn() -> ISBN:
    """Networks of all approximations, of different sizes."""
    vocabulary, relations = take_vocabulary(trees(40), min_signature_count=3), Relations()
    networks = [
        start_network(approximation, vocabulary, relations, n_states=n, seed=n)
        for n, approximation in enumerate(APPROXIMATIONS, start=3)
    ]
    return ISBN(vocabulary, relations, tuple(networks), {"root_label": "ROOT", "n_trees": 40})


def some_bracketer() -> Bracketer:
    rng = np.random.default_rng(0)
    groups = np.arange(N_UNIVERSAL, dtype=np.int32) % 3
    metric = MetricModel(groups, rng.random((3, 3, 5)), 0.5)
    keys = rng.integers(-(2**20), 2**20, 30)
    top = TopScores(rng.random(2 * N_SYMBOLS).astype(np.float32), 1.0)
    symbols = Symbols(("DET the", "NOUN ship"))
    values = rng.normal(size=30).astype(np.float32)
    return Bracketer(metric, SpanModel(symbols, keys, values, np.array([-1.0, -2.0]), top, True), {"seed": 0})


def some_induced() -> Induced:
    """Grammars of other numbers of states."""
    tags = InducedTags(CLASSES, frozenset({"Ulower-st"}), {"C1": "NOUN", "PUNCT": "PUNCT"})
    vocabulary = Vocabulary.listed(["the", "was"], ["C1", "C2", "PUNCT"])
    pcfgs = [SimplePCFG.random(n, np.ones(vocabulary.size), seed=n) for n in (2, 3)]
    return Induced(tuple(InducedGrammar(tags, LexicalPCFG(vocabulary, pcfg)) for pcfg in pcfgs))


def some_language_model() -> LanguageModel:
    from spacy_lpcfg.language_model.aggregate import Aggregate
    from spacy_lpcfg.language_model.text import EDGE, UNKNOWN, TextVocabulary

    rng = np.random.default_rng(0)
    states, words = rng.random((2, 5, 2)).astype(np.float32)
    return LanguageModel(
        TextVocabulary((UNKNOWN, EDGE, "a", "b", "c")),
        Aggregate(states / states.sum(axis=1, keepdims=True), words / words.sum(axis=0)),
        np.array([0.5, 0.25, 0.25]),
        np.array([[1, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 1]], np.int32),
        np.array([3, 2, 1, 1], np.int32),
    )


def some_evidence() -> EncoderEvidence:
    encoder = make_encoder(quantized=True)
    return EncoderEvidence(encoder, learn_classifier(encoder, trees(30), settings=ClassifierSettings(hidden=8)))


_MAKERS: dict[str, Callable[[], Stored]] = {
    "evidence": lambda: EvidenceGrammar(model("grammar"), some_evidence()),
    "features": lambda: EvidenceGrammar(model("grammar"), learn_features(trees(30), settings=FeatureSettings())),
    "grammar": lambda: EM(n_states=3, n_iterations=2, tokens_per_state=10).fit(trees(60)),
    "factored": lambda: Spectral(n_states=6, tokens_per_state=10).fit(trees(60)),
    "isbn": some_isbn,
    "induced": some_induced,
    "bracketer": some_bracketer,
    "language model": some_language_model,
}
