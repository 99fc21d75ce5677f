"""Terminals, and emissions that are distributions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.latent import PLAIN, projections_of

from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.grammar.lexicon import NO_TAG, tag_terminal
from spacy_lpcfg.learning import LexicalSettings, Smoothing, Spectral, TreebankPCFG
from spacy_lpcfg.learning.lexicon.lexical import _BACKOFF_WEIGHT
from spacy_lpcfg.trees import Tree, normalize, parse_trees
from spacy_lpcfg.trees.transforms import collapse_unaries, split_chain
from spacy_lpcfg.words.signatures import UNKNOWN, signature_backoff

LEARNERS = pytest.mark.parametrize("learner", [TreebankPCFG, Spectral], ids=["pcfg", "spectral"])
SETTINGS = pytest.mark.parametrize(
    "lexical", [LexicalSettings(), PLAIN, LexicalSettings(rare=10**6), LexicalSettings(min_posterior=0.3)], ids=str
)


def rows(grammar: Grammar) -> list[tuple[str, int, float, np.ndarray]]:
    """Terminal, symbol, weight and vector of every row, for all words together that it emits."""
    lexicon = grammar.lexicon
    terminals = np.repeat(np.array(lexicon.terminals, dtype=object), np.diff(lexicon.offsets))
    shares = lexicon.words_per_row(grammar.tag_of)
    places = zip(lexicon.vector_offsets[:-1], lexicon.vector_offsets[1:], shares, strict=True)
    vectors = [share * lexicon.vectors[start:end] for start, end, share in places]
    return list(
        zip(terminals.tolist(), lexicon.symbols.tolist(), (shares * lexicon.weights).tolist(), vectors, strict=True)
    )


def is_fall_back(name: str) -> bool:
    return name.startswith("<tag ")


# ------------------------------------------------------------------------------------- terminals of words


def learn(*brackets: str, **lexical) -> Grammar:
    return TreebankPCFG(lexical=LexicalSettings(**lexical)).fit(parse_trees(brackets))


def test_words_are_terminals_when_seen_often_enough():
    lexicon = learn(*["(S (DT the) (NN dog))"] * 3, "(S (DT the) (NN Walking))", rare=2).lexicon

    def name(word, first=False):
        return lexicon.terminals[lexicon.terminal(word, first)]

    assert name("dog") == "dog"
    assert name("Dog") == UNKNOWN
    assert name("Dog", first=True) == "dog"
    assert name("Walking") == name("Talking") == name("...") == UNKNOWN  # forms seen once are rare as well
    forms = learn(
        *["(S (DT the) (NN dog))"] * 3, *(f"(S (DT the) (NN {w}))" for w in ("Baking", "Cutting", "Digging")), rare=2
    )
    ids = forms.lexicon.look_up(["The", "Walking", "walking", "the"])[0]
    assert [forms.lexicon.terminals[i] for i in ids] == ["the", "<form Cap ing>", UNKNOWN, "the"]


@given(st.lists(st.text() | st.sampled_from(["\ud800", "<tag NN>", "<form Cap>"]), max_size=5))
def test_any_word_has_a_terminal(words):
    lexicon = _GRAMMAR.lexicon
    for _ in range(2):  # looked up, and from the cache
        ids = lexicon.look_up(words)[0]
        assert (ids.dtype, len(ids)) == (np.int32, len(words))
        assert all(
            lexicon.terminals[i] in signature_backoff(word, k == 0)
            for k, (i, word) in enumerate(zip(ids, words, strict=True))
        )


_GRAMMAR = learn(*["(S (DT the) (NN dog))"] * 5)


def test_cache_of_terminals_is_bounded(monkeypatch):
    monkeypatch.setattr("spacy_lpcfg.grammar.lexicon._CACHE_SIZE", 10)
    lexicon = learn(*["(S (DT the) (NN dog))"] * 5).lexicon
    for i in range(100):
        assert lexicon.terminals[lexicon.terminal(f"{i}", False)] == UNKNOWN
        assert len(lexicon._cache) <= 10


def test_given_tags_have_ids():
    lexicon = _GRAMMAR.lexicon
    assert lexicon.tags == ("DT", "NN")
    assert lexicon.tags_of(["NN", None, "XX", "", "DT"]).tolist() == [1, NO_TAG, NO_TAG, NO_TAG, 0]


# --------------------------------------------------------------------------------------------- emissions


@SETTINGS
@LEARNERS
def test_emissions_are_distributions(sample, learner, lexical):
    """The sum over all terminals of q(x | a) is 1 for every preterminal; fall-backs of given tags stand apart."""
    grammar = learner(lexical=lexical).fit(sample)
    sums = np.zeros(grammar.n_preterminals)
    for name, symbol, weight, vector in rows(grammar):
        assert weight > 0
        assert len(vector) == grammar.n_states[symbol]
        if not is_fall_back(name):
            sums[symbol] += weight
    assert sums == pytest.approx(1.0)


@SETTINGS
def test_vectors_of_one_state_are_the_weights(sample, lexical):
    lexicon = TreebankPCFG(lexical=lexical).fit(sample).lexicon
    np.testing.assert_allclose(lexicon.vectors, lexicon.weights, rtol=1e-6)


@pytest.mark.parametrize("chain_weight", [0.0, 10.0])
@pytest.mark.parametrize("signature_weight", [0.0, 0.5])
def test_vectors_sum_to_the_mean_of_their_symbol(sample, chain_weight, signature_weight):
    """Smoothing gives to E[Z | a] what it takes from E[Z | a -> x]: latent emissions add up as the exact ones do."""
    lexical = LexicalSettings(rare=0, signature_weight=signature_weight, chain_weight=chain_weight, min_posterior=0.0)
    estimate = Spectral(n_states=3, tokens_per_state=5, lexical=lexical).estimate(sample[:50])
    grammar = estimate.grammar(Smoothing(nu=1.0))
    sums = [np.zeros(grammar.n_states[a]) for a in range(grammar.n_preterminals)]
    for name, symbol, _, vector in rows(grammar):
        if not is_fall_back(name):
            sums[symbol] += vector
    nodes, (_, z) = estimate.treebank.nodes, projections_of(estimate)
    for a, found in enumerate(sums):
        np.testing.assert_allclose(found, z[nodes.symbol == a, : len(found)].mean(axis=0), atol=1e-4)


def test_emissions_without_smoothing_are_relative_frequencies(sample):
    """But for a hundredth that stands for unknown words, which every word lends to `<form>`."""
    grammar = TreebankPCFG(lexical=PLAIN).fit(sample)
    found = {(grammar.symbols[a], x): weight for x, a, weight, _ in rows(grammar) if not is_fall_back(x)}
    counts = {}
    for tree in sample:
        for leaf in _preterminals(tree):
            counts[leaf] = counts.get(leaf, 0) + 1
    totals = {a: sum(n for (b, _), n in counts.items() if b == a) for a, _ in counts}
    for (a, word), n in counts.items():
        assert found.pop((a, word)) == pytest.approx(n / totals[a] / (1 + _BACKOFF_WEIGHT))
    assert {x for _, x in found} == {UNKNOWN}
    assert np.array([*found.values()]) == pytest.approx(_BACKOFF_WEIGHT / (1 + _BACKOFF_WEIGHT))


def _preterminals(tree: Tree) -> list[tuple[str, str]]:
    return [(leaf.label, leaf.word) for leaf in collapse_unaries(normalize(tree)).leaves()]


def test_smoothed_emissions_as_loops():
    """A tag's distribution counts chain_weight tokens; a word has signature_weight tokens of its signature."""
    words = {"NN": "dogs cats dogs the Fox Foxes", "NNS": "dogs runs hats", "X|NN": "dogs Foxy"}
    brackets = [f"(S ({tag} {word}) (A a))" for tag, line in words.items() for word in line.split()]
    brackets = [
        line.replace("(X|NN ", "(X (NN ").replace(") (A", ")) (A") if "X|NN" in line else line for line in brackets
    ]
    signature_weight, chain_weight = 0.5, 3.0
    grammar = learn(
        *brackets * 2, rare=3, signature_weight=signature_weight, chain_weight=chain_weight, min_posterior=0.0
    )
    known = {"dogs", "a"}
    terminals = {x for x in grammar.lexicon.terminals if not is_fall_back(x)}
    seen: dict[tuple[str, str], float] = {}
    for symbol, line in [*words.items(), ("A", "a " * 11)]:
        for word in line.split() * 2:
            names = [name for name in signature_backoff(word, symbol != "A") if name in terminals]
            seen[symbol, names[0]] = seen.get((symbol, names[0]), 0) + 1
            for name in names if names[0] not in known else ():
                seen[symbol, name] = seen.get((symbol, name), 0) + _BACKOFF_WEIGHT
    tags = {symbol: split_chain(symbol)[-1] for symbol, _ in seen}
    by_tag = {
        (t, x): sum(n for (a, y), n in seen.items() if (tags[a], y) == (t, x))
        for t in {*tags.values()}
        for x in terminals
    }
    smoothed = dict(by_tag)
    for x in known:
        form = next(name for name in signature_backoff(x, False)[1:] if name in terminals)
        total = sum(by_tag[t, form] for t in {*tags.values()})
        for t in {*tags.values()}:
            smoothed[t, x] += signature_weight * by_tag[t, form] / max(total, 1.0)
    found = {(grammar.symbols[a], x): weight for x, a, weight, _ in rows(grammar) if not is_fall_back(x)}
    for a, tag in tags.items():
        total = sum(n for (b, _), n in seen.items() if a == b)
        of_tag = sum(smoothed[tag, y] for y in terminals)
        for x in terminals:
            own = seen.get((a, x), 0.0)
            expected = (own + chain_weight * smoothed[tag, x] / of_tag) / (total + chain_weight)
            assert found.get((a, x), 0.0) == pytest.approx(expected), (a, x)


def test_symbols_of_a_tag_share_its_words():
    """NP|NNP may emit what was only seen as NNP, and the other way round."""
    brackets = ["(S (NP (NNP Ann)) (VB go))", "(S (NP (DT the) (NNP Bob)) (VB go))"] * 5
    found = {(a, x) for x, a, _, _ in rows(learn(*brackets, rare=1))}
    grammar = learn(*brackets, rare=1)
    for symbol in ("NNP", "NP|NNP"):
        assert {(grammar.symbols.index(symbol), name) for name in ("Ann", "Bob")} <= found


def test_every_tag_has_a_terminal_of_its_own(sample):
    """All symbols of the tag may emit a word that was never seen with it."""
    grammar = Spectral().fit(sample)
    lexicon = grammar.lexicon
    assert [lexicon.terminals[i] for i in lexicon.tag_terminals] == [tag_terminal(tag) for tag in lexicon.tags]
    for tag, terminal in enumerate(lexicon.tag_terminals):
        symbols = lexicon.symbols[slice(*lexicon.offsets[terminal : terminal + 2])]
        np.testing.assert_array_equal(symbols, np.flatnonzero(grammar.tag_of == tag))


def test_unlikely_rows_are_left_out(sample):
    """Rows below a share of their terminal's weight go; the rest of the symbol makes up for them."""
    few, all_ = (TreebankPCFG(lexical=LexicalSettings(min_posterior=p)).fit(sample) for p in (0.05, 0.0))
    assert len(few.lexicon.symbols) < len(all_.lexicon.symbols)
    kept = {(x, a): weight for x, a, weight, _ in rows(few)}
    full = {(x, a): weight for x, a, weight, _ in rows(all_)}
    assert set(kept) < set(full)
    assert all(weight >= full[row] * (1 - 1e-12) for row, weight in kept.items())
    share = few.symbol_weights
    for (x, a), weight in full.items():
        posterior = weight * share[a] / sum(w * share[b] for (y, b), w in full.items() if y == x)
        if not is_fall_back(x) and posterior > 0.06:
            assert (x, a) in kept
