"""`inspect`: what was learned."""

from __future__ import annotations

import json

import numpy as np
import pytest
import spacy
from commands import run

from spacy_lpcfg.grammar.summary import top_rules, top_words
from spacy_lpcfg.learning import Spectral
from spacy_lpcfg.trees import read_trees


def inspected(model, *options: object) -> dict:
    return json.loads(run("inspect", model, "--json", *options).stdout)


def test_summary_of_rules_is_a_sum_over_the_states_of_children(pcfg_model, spectral_model):
    for model in (pcfg_model, spectral_model):
        grammar = spacy.load(model).get_pipe("lpcfg_parser").learned
        symbol = grammar.symbols.index("NP")
        found = top_rules(grammar, symbol, 10_000)
        rules = [i for i in range(grammar.n_rules) if grammar.rules[i, 0] == symbol]
        for state, best in enumerate(found):
            weights = sorted((float(grammar.tensor(rule)[state].sum(dtype=float)) for rule in rules), reverse=True)
            np.testing.assert_allclose([weight for _, weight in best], [w for w in weights if w], rtol=1e-5)
            left, right = grammar.rules[rules[0], 1:]
            assert all(name.startswith("NP -> ") for name, _ in best)
            assert f"NP -> {grammar.symbols[left]} {grammar.symbols[right]}" in {name for name, _ in best}
        if grammar.is_proper:
            assert sum(weight for _, weight in found[0]) == pytest.approx(1, abs=1e-4)
        assert [each[:2] for each in found] == top_rules(grammar, symbol, 2)


def test_summary_of_words_is_a_distribution(pcfg_model):
    grammar = spacy.load(pcfg_model).get_pipe("lpcfg_parser").learned
    for tag in ("DT", "NN"):
        (found,) = top_words(grammar, grammar.symbols.index(tag), 10_000)
        assert sum(weight for _, weight in found) == pytest.approx(1, abs=1e-3)
        assert [weight for _, weight in found] == sorted((weight for _, weight in found), reverse=True)
        assert not any(name.startswith("<tag ") for name, _ in found)
    assert top_words(grammar, grammar.symbols.index("DT"), 1)[0][0].name == "the"


def test_cli_inspect_shows_a_grammar(pcfg_model):
    grammar = spacy.load(pcfg_model).get_pipe("lpcfg_parser").learned
    found = inspected(pcfg_model, "--symbol", "NP", "--symbol", "DT", "--top", 3)
    sizes = found["model"]
    assert (sizes["kind"], sizes["is_proper"], sizes["root_label"]) == ("grammar", True, "ROOT")
    assert (sizes["n_labels"], sizes["n_rules"]) == (len(grammar.labels), grammar.n_rules)
    assert sizes["states"] == dict(zip(grammar.symbols, grammar.n_states.tolist(), strict=True))
    assert list(sizes["shares"].values()) == sorted(sizes["shares"].values(), reverse=True)
    assert list(found["symbols"]) == ["NP", "DT"]
    assert found["symbols"]["DT"]["kind"] == "words"
    assert [len(state) for state in found["symbols"]["NP"]["states"]] == [3]
    text = run("inspect", pcfg_model, "--symbol", "NP").stdout
    assert "NP -> DT NN" in text
    assert f"n_rules: {grammar.n_rules}\n" in text
    assert set(inspected(pcfg_model, "--symbol", "all")["symbols"]) == set(grammar.symbols)
    assert len(inspected(pcfg_model)["symbols"]) == 6


def test_cli_inspect_shows_singular_values(spectral_model, sample_folder):
    found = inspected(spectral_model)["singular_values"]
    bases = Spectral(n_states=2).estimate(read_trees(sample_folder / "train.mrg")).bases
    symbols = spacy.load(spectral_model).get_pipe("lpcfg_parser").learned.symbols
    for name, row, m in zip(symbols, bases.singular_values, bases.n_states, strict=True):
        np.testing.assert_allclose(found[name], row[:m], atol=1e-6)
    lines = run("inspect", spectral_model).stdout.splitlines()
    (row,) = [line.split() for line in lines if line.startswith("NN  ") and len(line.split()) == 5]
    assert float(row[2]) == pytest.approx(found["NN"][0] / found["NN"][1], abs=0.01)


def test_cli_inspect_shows_networks_and_their_learning(isbn_model):
    isbn = spacy.load(isbn_model).get_pipe("isbn_parser").learned
    found = inspected(isbn_model)
    sizes = found["model"]
    assert (sizes["kind"], sizes["labels"]) == ("networks", list(isbn.labels))
    assert sizes["networks"][0]["n_states"] == 4
    assert sizes["networks"][0]["parameters"]["bias"] == [4]
    assert len(found["fit"]) == 2
    assert "network: feed-forward, 4 states" in run("inspect", isbn_model).stdout
    assert "no symbols with states" in run("inspect", isbn_model, "--symbol", "NP", code=1).stderr
