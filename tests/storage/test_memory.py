"""Small models that would take much memory: it is counted before it is taken."""

import json
import tracemalloc
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import spacy
import stored_models
from commands import run

from spacy_lpcfg.arrays import offsets
from spacy_lpcfg.chart import ChartSettings, Parser
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.grammar.backoff import backoff_bytes, with_backoff
from spacy_lpcfg.grammar.checking import parser_bytes
from spacy_lpcfg.grammar.layout import layout
from spacy_lpcfg.grammar.summary import top_rules
from spacy_lpcfg.grammar.tensors import FACTORED, Tensors
from spacy_lpcfg.isbn import IncrementalParser
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.storage import reader
from spacy_lpcfg.storage.reader import LIMIT_NAME, TooLargeError


def wide(n_states, n_trees=60):
    """A treebank PCFG whose symbols have so many states each, all alike: a file of some kilobytes a state."""
    grammar = TreebankPCFG().fit(stored_models.trees(n_trees))
    lexicon, n_rules = grammar.lexicon, grammar.n_rules
    shapes = np.full((n_rules, 3), n_states, np.int32)
    rank_one = np.concatenate([[1.0], np.ones(n_states), np.full(2 * n_states, 1 / n_states)])
    none = np.empty(0)
    tensors = Tensors(
        shapes=shapes,
        forms=np.full(n_rules, FACTORED, np.int32),
        ranks=np.ones_like(shapes),
        exact=none.astype(np.float32),
        factors=np.tile(rank_one, n_rules).astype(np.float16),
        scales=grammar.rule_weights.astype(np.float32),
        kept=none.astype(np.uint8),
        entries=none.astype(np.float16),
        rests=none.astype(np.float32),
    )
    n_of = np.full(grammar.n_symbols, n_states, np.int32)
    return replace(
        grammar,
        n_states=n_of,
        root_vectors=np.repeat(grammar.root_vectors / n_states, n_states),
        tensors=tensors,
        lexicon=replace(
            lexicon, vectors=np.repeat(lexicon.vectors, n_states), vector_offsets=offsets(n_of[lexicon.symbols])
        ),
        is_proper=False,
    )


@pytest.fixture(scope="module")
def attack():
    """2,500 states a symbol."""
    return wide(2500)


def most_bytes(ask):
    tracemalloc.start()
    try:
        ask()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_of_backoff_rules_is_counted_before_they_are_made(attack, monkeypatch):
    """By the limit as it is."""
    data = attack.to_bytes()
    assert len(data) < 20e6
    assert backoff_bytes(attack) > 2**30

    def load():
        with pytest.raises(ValueError, match=r"too large. A parser by it takes .* and 1,073,741,824 are allowed"):
            Grammar.from_bytes(data)

    assert most_bytes(load) < 10 * len(data)
    monkeypatch.setenv(LIMIT_NAME, str(10**12))
    assert Grammar.from_bytes(data).n_rules == attack.n_rules


@pytest.mark.parametrize("n_states", [1, 8, 40])
def test_memory_of_backoff_rules_is_counted_well(n_states):
    grammar = wide(n_states, 20)
    found = []
    taken = most_bytes(lambda: found.append(with_backoff(grammar)))
    laid_out = layout(found[0].tensors)
    taken += sum(array.nbytes for array in laid_out)
    assert taken / 3 < backoff_bytes(grammar) < 6 * taken + 1e5


def test_memory_of_parsers_is_limited(monkeypatch):
    grammar, isbn = stored_models.model("grammar"), stored_models.model("isbn")
    data = {each: each.to_bytes() for each in (grammar, isbn)}
    needs = {grammar: parser_bytes(grammar), isbn: isbn.parser_bytes}
    for model, least in needs.items():
        monkeypatch.setenv(LIMIT_NAME, str(int(least) - 1000))
        with pytest.raises(ValueError, match=rf"A parser by .*are allowed.*{LIMIT_NAME}"):
            type(model).from_bytes(data[model])
        monkeypatch.setenv(LIMIT_NAME, str(int(least + 1e6) if least > 2e6 else 10**8))
        assert type(model).from_bytes(data[model]).labels == model.labels


def test_memory_of_a_large_model_is_in_proportion_to_its_file(monkeypatch):
    """Models of a large treebank load as they are; a small file that asks for much does not."""
    monkeypatch.delenv(LIMIT_NAME, raising=False)
    model = stored_models.model("features")
    data = model.to_bytes()
    monkeypatch.setattr(reader, "LIMIT", int(model.parser_bytes) // 2)
    for per_stored, is_small in ((1_000, False), (1, True)):
        monkeypatch.setattr(reader, "_PER_STORED", per_stored)
        with pytest.raises(ValueError, match="A parser by this") if is_small else nullcontext():
            assert type(model).from_bytes(data).labels == model.labels


def test_memory_of_a_network_of_many_units_is_counted():
    isbn = stored_models.model("isbn")
    network = isbn.networks[0]
    n = 2**16
    many = replace(
        network,
        bias=np.zeros(n, np.float32),
        latent_weights=np.zeros((0, n, n), np.float32),
        decision_weights=np.zeros((0, n), np.float32),
        outcome_weights=np.zeros((0, n), np.float32),
        outcome_bias=np.zeros(0, np.float32),
    )
    from spacy_lpcfg.isbn.checking import check_network

    with pytest.raises(ValueError, match=r"A parser by this isbn takes .* and 1,073,741,824 are allowed"):
        check_network(many.parameters, replace(isbn.relations, latent=(), decisions=()), 0, 0)


def test_memory_of_a_search_is_bounded(monkeypatch):
    isbn = stored_models.model("isbn")
    words = ["ship"] * 40
    assert IncrementalParser(isbn).parse(words).status == "parsed"
    monkeypatch.setenv(LIMIT_NAME, "20000")
    poor = IncrementalParser(isbn)
    found = poor.parse(words)
    assert found.status == "glued"
    assert found.tree.words == words
    assert np.isnan(poor.surprisal(words)).all()


def test_memory_of_state_vectors_is_bounded():
    model = wide(200, 200)
    words = stored_models.trees(5)[2].words
    assert len(words) > 5
    parser = make_parser(model, decoding="mbr")
    forest = parser.forest(words)
    symbols = forest.item_table()[:, 2]
    taken = 2 * 4 * 200 * len(symbols)
    assert parser.parse(words).status == "parsed"
    enough, less = (ChartSettings(max_applications=most // 48) for most in (taken + 48, taken - 48))
    n = len(forest.edge_table())
    assert n < less.max_applications  # so that it is the vectors that count
    assert make_parser(model, chart=enough).parse(words).spans == parser.parse(words).spans
    poor = make_parser(model, chart=less)
    assert poor.parse(words).status == "segmented"
    assert {*poor.posteriors(words).brackets} == {*poor.parse(words).spans}


def test_memory_of_all_parameters_is_counted(attack):
    """By the limit as it is, which a terabyte is beyond."""
    with pytest.raises(TooLargeError, match="This needs all parameters of the grammar at once, which takes"):
        attack.tensor(0)
    with pytest.raises(TooLargeError, match=r"Surprisal by a grammar of [0-9,]+ states in all takes .* are allowed"):
        Parser(replace(wide(600), is_proper=True)).prefixes  # noqa: B018


@pytest.mark.slow
def test_memory_of_a_summary_is_that_of_the_stored_tensors(attack, tmp_path, monkeypatch):
    symbol = attack.rules[0, 0]

    def ask():
        best = top_rules(attack, symbol, 2)
        assert len(best) == 2500
        assert best[0] == best[-1]

    assert most_bytes(ask) < 5e8
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_parser").learned = attack
    nlp.to_disk(tmp_path / "model")
    assert "A parser by it takes" in run("inspect", tmp_path / "model", code=1).stderr
    monkeypatch.setenv(LIMIT_NAME, str(10**12))
    found = json.loads(run("inspect", tmp_path / "model", "--json", "--top", 1).stdout)
    assert found["model"]["n_rules"] == attack.n_rules


@pytest.mark.parametrize("kind", ["grammar", "factored"])
def test_memory_sums_of_tensors_are_those_of_dense_ones(kind):
    grammar = stored_models.model(kind)
    assert len(set(grammar.tensors.forms.tolist())) > 1
    dense = [grammar.tensor(rule).sum(axis=(1, 2), dtype=np.float64) for rule in range(grammar.n_rules)]
    assert np.allclose(np.concatenate(dense), grammar.tensors.sums, rtol=1e-4, atol=1e-6)
