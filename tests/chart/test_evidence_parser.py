"""The chart with evidence against the list of all trees: marginals, the projection, and how all answers agree."""

from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np
import pytest
from grammars import WORDS, random_grammar
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.enumeration import Model, all_trees, edges, items, model_of, weight

from spacy_lpcfg.chart import EXHAUSTIVE, ChartSettings, Parser, evidence_parser
from spacy_lpcfg.chart.context import _LEAST_SHARE, _LIKELY, _UNSEEN
from spacy_lpcfg.chart.evidence_parser import EvidenceParser, EvidenceWeights
from spacy_lpcfg.chart.factors import FLOOR, UNLISTED
from spacy_lpcfg.grammar.lexicon import tag_terminal
from spacy_lpcfg.parsing.constraints import Constraints
from spacy_lpcfg.parsing.evidence import Evidence, span_bounds
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.trees.transforms import expand_unaries, split_chain, unbinarize
from spacy_lpcfg.words.tag_dictionary import TagDictionary

CHAINS = (("NP",), ("S",), ("VP",), ("ADJP",))  # lacks S|VP, which counts as S
TAGS = ("N", "D", "SYM")  # lacks V
CASES = given(st.integers(0, 10**6), st.integers(2, 3), st.sampled_from([1.0, 0.6]))


class RandomEvidence:
    """Evidence at random, the same for the same words."""

    chains, tags = CHAINS, TAGS

    def evidence(self, sentences):
        found = []
        for words in sentences:
            rng = np.random.default_rng([len(word) * ord(word[0]) for word in words])
            n = len(words)
            tags = np.log(rng.dirichlet(np.ones(len(TAGS)), n)).astype(np.float32)
            spans = rng.normal(0, 3, (n * (n + 1) // 2, len(CHAINS))).astype(np.float32)
            found.append(Evidence(spans, tags))
        return found


class Case(NamedTuple):
    """A parser with evidence, a sentence, and the weights of its skeletal trees by definition."""

    parser: EvidenceParser
    words: list[str]
    weights: dict[Tree, float]

    def shares(self) -> dict[Tree, float]:
        """P(skeletal tree | words) of the projection, by enumeration."""
        mu_items, mu_edges = self.sums(items), self.sums(edges)
        whole = sum(self.weights.values())
        shares = {}
        for tree in self.weights:
            root = (tree.label, 0, len(self.words))
            share = mu_items[root] / whole
            for edge in edges(tree):
                share *= mu_edges[edge] / mu_items[edge[0], edge[3], edge[5]]
            shares[tree] = share**self.parser.tau
        return {tree: share / sum(shares.values()) for tree, share in shares.items()}

    def sums(self, parts) -> dict:
        sums = defaultdict(float)
        for tree, value in self.weights.items():
            for part in parts(tree):
                sums[part] += value
        return sums


def factor_of(evidence: Evidence, n: int, label: str, i: int, j: int, weights: EvidenceWeights, *, is_leaf: bool):
    """The factor of a symbol over [i, j), by the definition of `FactorTable`."""
    if label.startswith("@"):
        return 1.0
    chain, factor = tuple(split_chain(label)), 1.0
    if is_leaf:
        tag = TAGS.index(chain[-1]) if chain[-1] in TAGS else None
        factor = np.exp(evidence.tags[i, tag] if tag is not None else FLOOR) ** weights.tag_power
        chain = chain[:-1]
    if not chain:
        return factor
    chain = chain if chain in CHAINS else chain[:1]
    starts, ends = span_bounds(n)
    (row,) = np.flatnonzero((starts == i) & (ends == j))
    odds = np.exp(evidence.spans[row, CHAINS.index(chain)] if chain in CHAINS else FLOOR)
    return factor * odds**weights.span_power


def with_unseen(grammar, model: Model, words, evidence: Evidence, dictionary: TagDictionary) -> Model:
    """The model with emissions under likely or listed tags that a word was never seen with, as `_unseen` defines."""
    lexical = dict(model.lexical)
    shares = dict(zip(grammar.symbols, grammar.symbol_weights, strict=True))
    rows = grammar.lexicon
    weights = defaultdict(float)
    for terminal, symbol, value in zip(rows.row_terminals.tolist(), rows.symbols.tolist(), rows.weights, strict=True):
        weights[rows.terminals[terminal]] += value * grammar.symbol_weights[symbol]
    tags_of = {a: split_chain(a)[-1] for a in grammar.symbols[: grammar.n_preterminals]}
    for word, logs in zip(words, evidence.tags, strict=True):
        likely = {tag for tag, log in zip(TAGS, logs.tolist(), strict=True) if np.exp(log) >= _LIKELY}
        for tag in likely.union(dictionary.tags.get(word, ())):
            if any(tags_of[a] == tag for a, x in model.lexical if x == word):
                continue
            share = sum(shares[a] for a in tags_of if tags_of[a] == tag)
            scale = _UNSEEN * weights[word] / max(share, _LEAST_SHARE)
            for a, x in model.lexical:
                if x == tag_terminal(tag):
                    lexical[a, word] = scale * model.lexical[a, x]
    return Model(model.roots, model.binary, lexical)


def listed_factor(dictionary: TagDictionary, words, label: str, i: int) -> float:
    """The factor of a preterminal symbol over a word, by the definition of `UNLISTED`."""
    tags = dictionary.tags.get(words[i], ())
    return UNLISTED if tags and split_chain(label)[-1] not in tags else 1.0


def case(
    seed: int, n: int, tau: float, *, proper: bool = True, is_listed: bool = False, settings: ChartSettings = EXHAUSTIVE
) -> Case:
    grammar = random_grammar(seed, proper=proper)
    known = [word for word in WORDS if word in grammar.lexicon.words]
    words = np.random.default_rng(seed).permutation(known)[:n].tolist()  # each once: emissions are by position
    evidence = RandomEvidence()
    weights = EvidenceWeights(span_power=0.5, tag_power=0.7, tau=tau)
    dictionary = TagDictionary({words[0]: [grammar.tags[seed % len(grammar.tags)]]} if is_listed else {})
    parser = EvidenceParser(grammar, evidence, weights, settings=settings, words=dictionary)
    given = evidence.evidence([words])[0]
    model = with_unseen(grammar, model_of(parser.grammar), words, given, dictionary)
    found = {}
    for tree in all_trees(model, words):
        factors = 1.0
        for label, i, j in items(tree):
            factors *= factor_of(given, n, label, i, j, weights, is_leaf=j - i == 1)
            factors *= listed_factor(dictionary, words, label, i) if j - i == 1 else 1.0
        found[tree] = weight(model, tree) * factors
    return Case(parser, words, {tree: value for tree, value in found.items() if value != 0})


def n_ary(shares: dict[Tree, float]) -> dict[Tree, float]:
    """The shares of the n-ary trees that skeletal trees stand for."""
    sums = defaultdict(float)
    for tree, share in shares.items():
        sums[expand_unaries(unbinarize(tree))] += share
    return sums


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(2, 3), st.sampled_from([1.0, 0.6]), st.booleans())
def test_all_answers_about_trees_are_of_the_projection(seed, n, tau, is_listed):
    parser, words, _ = found = case(seed, n, tau, is_listed=is_listed)
    expected = n_ary(found.shares())
    listed = parser.n_best(words, 10_000)
    assert {each.tree for each in listed} >= {tree for tree, share in expected.items() if share > 1e-6}
    for each in listed:
        assert each.probability == pytest.approx(expected[each.tree], rel=1e-4, abs=1e-6)
    assert [each.probability for each in listed] == sorted((each.probability for each in listed), reverse=True)

    sums = defaultdict(float)
    for tree, share in expected.items():
        for span in set(tree.spans()):
            sums[span] += share
    brackets = parser.posteriors(words).brackets
    for span in sums.keys() | brackets.keys():
        assert brackets.get(span, 0.0) == pytest.approx(sums[span], abs=1.1e-3)
    parse = parser.parse(words)
    assert parse.probability == pytest.approx(expected[parse.tree], rel=1e-4, abs=1e-6)
    scores = dict(zip(parse.spans, parse.span_scores.tolist(), strict=True))
    assert scores == pytest.approx({span: brackets.get(span, 0) for span in parse.spans}, abs=1.1e-3)
    assert parser.distribution(words).entropy() >= bits(expected) - 1e-6


def tag_error(parser: EvidenceParser, words: list[str], shares: dict[Tree, float]) -> float:
    """The largest difference of a tag's probability from its sum over all trees."""
    sums = defaultdict(float)
    for tree, share in shares.items():
        for i, tag in enumerate(tree.tags):
            sums[i, tag] += share
    given = parser.posteriors(words).tags
    return max(abs(given[i].get(tag, 0.0) - p) for (i, tag), p in sums.items())


def test_the_chart_keeps_the_tags_that_tempering_makes_likely(monkeypatch):
    """Without evidence the same tags may be pruned, since they stay as unlikely as they are."""
    errors = []
    for lower in (1.0, evidence_parser._LOWER_TAGS):
        monkeypatch.setattr(evidence_parser, "_LOWER_TAGS", lower)
        cases = [case(seed, 3, 0.35, settings=ChartSettings(beam=0)) for seed in range(12)]
        errors.append(np.mean([tag_error(each.parser, each.words, n_ary(each.shares())) for each in cases]))
    assert errors[1] < errors[0] / 1.5


def test_a_parse_computes_the_probability_of_its_words_once(monkeypatch):
    calls = []
    monkeypatch.setattr(evidence_parser, "words_log_probability", lambda *args: calls.append(args) or 0.0)
    parser, words, _ = case(3, 3, 0.5)
    assert not np.isnan(parser.parse(words).probability)
    assert len(calls) == 1


@pytest.mark.parametrize("seed", [15, 30])
def test_a_chart_that_pruning_leaves_one_tree_of_is_built_again(seed, monkeypatch):
    parser, words, _ = found = case(seed, 3, 0.35, settings=ChartSettings(beam=1, tag_threshold=1))
    expected = n_ary(found.shares())
    listed = parser.n_best(words, 2)
    assert len(listed) == 2
    assert {each.tree for each in listed} <= expected.keys()
    assert parser.parse(words).probability < 1
    monkeypatch.setattr(EvidenceParser, "_has_enough", Parser._has_enough)
    assert len(parser.n_best(words, 2)) == 1


def test_a_sentence_without_a_tree_is_not_tried_again_with_the_same_rules(monkeypatch):
    parser, words, _ = case(3, 3, 0.5)
    tried = []
    forest = EvidenceParser.forest
    monkeypatch.setattr(EvidenceParser, "forest", lambda self, query: tried.append(query) or forest(self, query))
    impossible = Constraints(required=[(0, 2, "none")])
    assert parser.parse(Query(words, constraints=impossible)).status == "unconstrained"
    assert [bool(query.constraints) for query in tried] == [True, False]


def bits(shares: dict[Tree, float]) -> float:
    p = np.array([share for share in shares.values() if share > 0])
    return float(-(p * np.log2(p)).sum())


@settings(max_examples=20)
@CASES
def test_marginals_with_evidence_are_those_of_all_trees(seed, n, tau):
    parser, words, weights = found = case(seed, n, tau)
    forest = parser.forest(words)
    computed = parser.marginals(forest)
    whole = sum(weights.values())
    sums = found.sums(items)
    names = parser.grammar.symbols
    for (i, j, symbol, _), mu in zip(forest.item_table().tolist(), computed.items(), strict=True):
        assert mu == pytest.approx(sums[names[symbol], i, j] / whole, rel=1e-4, abs=1e-6)
    assert computed.log_probability == pytest.approx(np.log(whole), abs=1e-4)


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(2, 3))
def test_samples_are_drawn_by_their_probability(seed, n):
    parser, words, _ = found = case(seed, n, 0.5)
    expected = n_ary(found.shares())
    drawn = Counter(parser.distribution(words).samples(2000, seed=seed))
    for tree, share in expected.items():
        assert drawn[tree] / 2000 == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 2000) + 1e-3)


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(2, 3))
def test_words_have_the_probability_of_the_grammar_alone(seed, n):
    parser, words, _ = case(seed, n, 0.5)
    alone = parser._alone.parse(words)
    of_words = parser.parse(words).log_probability
    if alone.is_parsed:
        assert of_words >= alone.log_probability - 1e-4  # likely tags that the lexicon lacks add to it
    assert parser.log_probability(words) == parser._alone.log_probability(words)
    np.testing.assert_array_equal(parser.surprisal(words), parser._alone.surprisal(words))


@pytest.mark.parametrize("seed", range(6))
def test_grammars_with_negative_weights_have_one_distribution_too(seed):
    parser, words, _ = case(seed, 3, 0.5, proper=False)
    listed = parser.n_best(words, 10_000)
    assert sum(each.probability for each in listed) == pytest.approx(1, abs=1e-4)
    brackets = parser.posteriors(words).brackets
    for span, p in brackets.items():
        assert sum(each.probability for each in listed if span in each.tree.spans()) == pytest.approx(p, abs=2e-3)


@pytest.mark.parametrize("seed", range(5))
def test_constraints_and_given_tags_hold_with_evidence(seed):
    parser, words, _ = case(seed, 3, 0.5)
    best = parser.n_best(words, 1)[0].tree
    span = next((i, j, label) for i, j, label in best.spans() if j - i < len(words)) if len(best.spans()) > 1 else None
    if span is None:
        pytest.skip("the best tree has one bracket")
    without = parser.parse(Query(words, constraints=Constraints(forbidden=[span])))
    assert span not in without.spans or without.status == "unconstrained"
    required = parser.parse(Query(words, constraints=Constraints(required=[span])))
    assert span in required.spans
    tags = ["V"] * len(words)
    assert parser.parse(Query(words, tags)).tags == tags


def test_evidence_of_a_part_is_the_evidence_of_its_spans():
    evidence = RandomEvidence().evidence([["ant", "bee", "cat", "dog"]])[0]
    starts, ends = span_bounds(4)
    part = evidence.part(1, 3)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        (row,) = np.flatnonzero((starts == i + 1) & (ends == j + 1))
        place = [*zip(*span_bounds(2), strict=True)].index((i, j))
        np.testing.assert_array_equal(part.spans[place], evidence.spans[row])
    np.testing.assert_array_equal(part.tags, evidence.tags[1:3])


def test_evidence_that_is_computed_beforehand_gives_the_same_parse():
    parser, words, _ = case(3, 3, 0.5)
    evidence = RandomEvidence().evidence([words])[0]
    one, other = parser.parse(words), parser.parse(Query(words, evidence=evidence))
    assert one.spans == other.spans
    np.testing.assert_array_equal(one.span_scores, other.span_scores)
