"""Several grammars as one parser."""

from itertools import islice

import numpy as np
import pytest
from paths import SAMPLE

from spacy_lpcfg.chart import EXHAUSTIVE, ChartSettings, Parser
from spacy_lpcfg.chart.ensemble import EnsembleParser
from spacy_lpcfg.grammar import Ensemble, Grammar
from spacy_lpcfg.learning import EM, Clusters, LexicalSettings, Spectral, TreebankPCFG
from spacy_lpcfg.learning.treebank.rules import RuleSettings
from spacy_lpcfg.parsing.model import ModelError, model_from_bytes, model_from_disk
from spacy_lpcfg.storage.container import pack, unpack
from spacy_lpcfg.trees import Tree, read_trees


@pytest.fixture(scope="module")
def golds() -> list[Tree]:
    return list(islice(read_trees([SAMPLE / "dev.mrg"]), 8))


@pytest.fixture(scope="module")
def proper(sample) -> list[Grammar]:
    return [TreebankPCFG().fit(sample), Clusters(n_states=3, n_iterations=1).fit(sample), EM(n_states=4).fit(sample)]


def ensemble_of(*grammars: Grammar, combine: str = "product") -> Ensemble:
    return Ensemble(grammars, combine)


def assert_same_parses(one: Parser, other: Parser, golds: list[Tree]) -> None:
    for gold in golds:
        parse, wanted = one.parse(gold.words), other.parse(gold.words)
        assert (parse.spans, parse.tags, parse.status) == (wanted.spans, wanted.tags, wanted.status)
        np.testing.assert_allclose(parse.span_scores, wanted.span_scores, rtol=1e-5)
        assert parse.log_probability == pytest.approx(wanted.log_probability, nan_ok=True)


@pytest.mark.parametrize("combine", ["product", "sum"])
def test_equal_grammars_parse_as_one_does(proper, golds, combine):
    settings = ChartSettings(cascade=0.0)
    alone = Parser(proper[1], settings=settings)
    for n in (1, 3):
        assert_same_parses(
            EnsembleParser(ensemble_of(*proper[1:2] * n, combine=combine), settings=settings), alone, golds
        )


def test_marginals_and_probabilities_are_means(proper, golds):
    sums = EnsembleParser(ensemble_of(*proper, combine="sum"), settings=EXHAUSTIVE)
    products = EnsembleParser(ensemble_of(*proper), settings=EXHAUSTIVE)
    members = [Parser(grammar, settings=EXHAUSTIVE) for grammar in proper]
    for gold in golds:
        forest = sums.forest(gold.words)
        mean, product = sums.marginals(forest), products.marginals(forest)
        every = [member.marginals(mean.forest) for member in members]
        np.testing.assert_allclose(mean.items(), np.mean([one.items() for one in every], axis=0), rtol=1e-4)
        np.testing.assert_allclose(mean.edges(), np.mean([one.edges() for one in every], axis=0), rtol=1e-4)
        np.testing.assert_allclose(product.items(), mean.items())
        edges = np.prod([np.maximum(one.edges(), 1e-7) for one in every], axis=0) ** (1 / 3)
        np.testing.assert_allclose(product.edges(), edges, rtol=1e-4)
        logs = [one.log_probability for one in every]
        assert mean.log_probability == pytest.approx(max(logs) + np.log(np.mean(np.exp(np.array(logs) - max(logs)))))


def test_the_first_grammar_prunes_for_the_others(proper, golds):
    """The edges that are left have a large marginal in trees of such edges alone."""
    threshold = 0.01
    parser = Parser(proper[1], settings=EXHAUSTIVE)
    for gold in golds:
        forest = parser.forest(gold.words)
        marginals = parser.marginals(forest).edges()
        kept, items, edges = forest.pruned(marginals, threshold)
        expected = reachable(forest, np.flatnonzero(np.abs(marginals) >= threshold))
        assert edges.tolist() == expected
        table, part = forest.edge_table()[edges], kept.edge_table()
        np.testing.assert_array_equal(part[:, 3], table[:, 3])
        np.testing.assert_array_equal(items[part[:, :3]], table[:, :3])
        np.testing.assert_array_equal(kept.item_table(), forest.item_table()[items])
        np.testing.assert_array_equal(kept.edge_posteriors(), forest.edge_posteriors()[edges])
        assert 0 < kept.n_edges < forest.n_edges
        assert parser.marginals(kept).total > 0


def reachable(forest, likely: np.ndarray) -> list[int]:
    """Return the likely edges that stand in a whole tree of likely edges, by repeated deletion."""
    items, edges = forest.item_table(), forest.edge_table()
    is_leaf = set(np.flatnonzero(items[:, 3] >= 0).tolist())
    is_root = set(np.flatnonzero((items[:, 0] == 0) & (items[:, 1] == forest.n_words)).tolist())
    kept = likely.tolist()
    while True:
        built = is_leaf | {int(edges[e, 0]) for e in kept}
        used = is_root | {int(child) for e in kept for child in edges[e, 1:3]}
        left = [e for e in kept if {int(edges[e, 1]), int(edges[e, 2])} <= built and int(edges[e, 0]) in used]
        if left == kept:
            return kept
        kept = left


def test_pruning_that_leaves_no_tree_leaves_all(proper, golds):
    parser = Parser(proper[1])
    forest = parser.forest(golds[0].words)
    kept, items, edges = forest.pruned(np.zeros(forest.n_edges), 0.5)
    assert kept is forest
    assert (len(items), len(edges)) == (forest.n_items, forest.n_edges)


def test_a_cascade_hardly_changes_the_trees(proper, golds):
    all_edges, few = (ensemble_of(*proper).parser(chart=ChartSettings(cascade=threshold)) for threshold in (0.0, 1e-6))
    for gold in golds:
        assert all_edges.parse(gold.words).spans == few.parse(gold.words).spans


def test_spectral_grammars_have_no_log_probability(sample, proper, golds):
    parser = ensemble_of(proper[1], Spectral(n_states=3).fit(sample)).parser()
    parses = [parser.parse(gold.words) for gold in golds]
    assert all(np.isnan(parse.log_probability) for parse in parses)
    assert all(((parse.span_scores >= 0) & (parse.span_scores <= 1)).all() for parse in parses)


def test_any_text_gets_a_tree(proper):
    parser = ensemble_of(*proper).parser()
    for words in (["?"], [")", "("], ["the"] * 200, ["xyzzy", "", "\n"]):
        assert parser.parse(words).tree.words == words


def test_grammars_that_share_too_little_are_refused(sample, proper):
    with pytest.raises(ValueError, match="differ in their symbols"):
        ensemble_of(proper[0], TreebankPCFG(rules=RuleSettings(markov=1)).fit(sample))
    with pytest.raises(ValueError, match="differ in their lexicon"):
        ensemble_of(proper[0], TreebankPCFG(lexical=LexicalSettings(rare=1)).fit(sample))
    with pytest.raises(ValueError, match="at least one grammar"):
        ensemble_of()
    with pytest.raises(ValueError, match="Expected combine to be one of"):
        ensemble_of(proper[0], combine="mean")


def test_bytes_round_trip(proper, golds, tmp_path):
    """Parts that the grammars share are stored once."""
    ensemble = ensemble_of(*proper, combine="sum")
    data = ensemble.to_bytes()
    again = model_from_bytes(data)
    assert isinstance(again, Ensemble)
    assert again.to_bytes() == data
    assert again.combine == "sum"
    assert [one.to_bytes() for one in again.grammars] == [one.to_bytes() for one in proper]
    assert len(data) < sum(len(one.to_bytes()) for one in proper)
    ensemble.to_disk(tmp_path / "ensemble")
    assert_same_parses(model_from_disk(tmp_path / "ensemble").parser(), ensemble.parser(), golds[:3])
    assert isinstance(model_from_bytes(proper[0].to_bytes()), Grammar)


def test_wrong_numbers_of_grammars_are_refused(proper):
    values = unpack(Ensemble.kind, Ensemble.version, ensemble_of(*proper).to_bytes())
    for n in (0, 4, 10**9, "3", True):
        with pytest.raises(ModelError):
            Ensemble.from_bytes(pack(Ensemble.kind, Ensemble.version, {**values, "n_grammars": n}))


def test_grammars_of_one_treebank_share_their_lexicon(sample):
    """Even where most words are too unlikely to keep, and a state may emit none of the others."""
    lexical = LexicalSettings(min_posterior=0.3)
    grammars = [
        learner.fit(sample).lexicon
        for learner in (Clusters(n_states=8, tokens_per_state=2.0, lexical=lexical), TreebankPCFG(lexical=lexical))
    ]
    np.testing.assert_array_equal(grammars[0].offsets, grammars[1].offsets)
    np.testing.assert_array_equal(grammars[0].symbols, grammars[1].symbols)
