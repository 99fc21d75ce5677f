"""Prefix probabilities: against sums over all continuations, the forward algorithm, and P(sentence)."""

import numpy as np
import pytest
from grammars import WORDS, grammar_of, hmm_model, one_state, random_grammar, random_model
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.enumeration import Model, model_of, total

from spacy_lpcfg.chart import EXHAUSTIVE, Parser
from spacy_lpcfg.chart._fine import FineGrammar
from spacy_lpcfg.chart._prefix import child_matrices
from spacy_lpcfg.chart.prefix import Prefixes
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.grammar.lexicon import tag_terminal
from spacy_lpcfg.grammar.tensors import Tensors
from spacy_lpcfg.models import pretrained_path
from spacy_lpcfg.models.kinds import model_from_disk
from spacy_lpcfg.words.signatures import UNKNOWN

ANYTHING = "*"  # a word that stands for all words
SEEDS = st.integers(0, 10**6)


def prefix_logs(grammar: Grammar, words: list[str], threshold: float = 0.0) -> np.ndarray:
    prefixes, lexicon = Prefixes(grammar, FineGrammar(grammar), threshold=threshold), grammar.lexicon
    return prefixes.log_probabilities(*lexicon.look_up(words))


def with_anything(grammar: Grammar) -> Model:
    """The model of a grammar of `grammar_of` with a word that is emitted as likely as all words together."""
    model, shares = model_of(grammar), grammar.lexicon.words_per_row(grammar.tag_of)
    everything: dict[str, np.ndarray] = {}
    for ((a, word), vector), share in zip(model.lexical.items(), shares, strict=True):
        if not word.startswith("<tag "):
            everything[a] = everything.get(a, 0.0) + share * vector
    return Model(model.roots, model.binary, model.lexical | {(a, ANYTHING): v for a, v in everything.items()})


def without_recursion(seed: int) -> Grammar:
    """A random grammar in which symbols are above later ones only: sentences of at most eight words."""
    rng = np.random.default_rng(seed)
    order = ["S", "VP", "NP", "D", "N", "V"]
    states = {a: int(rng.integers(1, 4)) for a in order}
    roots = rng.dirichlet(np.ones(states["S"] + states["N"]))
    model = Model({"S": roots[: states["S"]], "N": roots[states["S"] :]}, {}, {})
    for place, a in enumerate(order[:3]):
        pairs = [(b, c) for b in order[place + 1 :] for c in order[place + 1 :]]
        chosen = [pairs[i] for i in rng.choice(len(pairs), min(4, len(pairs)), replace=False)]
        sizes = [states[b] * states[c] for b, c in chosen]
        values = rng.dirichlet(np.ones(sum(sizes)), states[a])
        for (b, c), block in zip(chosen, np.split(values, np.cumsum(sizes)[:-1], axis=1), strict=True):
            model.binary[a, b, c] = block.reshape(states[a], states[b], states[c])
    for a in order[3:]:
        for word, vector in zip(WORDS[:3], rng.dirichlet(np.ones(3), states[a]).T, strict=True):
            model.lexical[a, word] = vector
    return grammar_of(model, one_state(model, seed), is_proper=True)


@settings(max_examples=20)
@given(SEEDS)
def test_prefix_probabilities_sum_all_continuations(seed):
    grammar = without_recursion(seed)
    model = with_anything(grammar)
    words = np.random.default_rng(seed).choice(WORDS[:3], 5).tolist()
    logs = prefix_logs(grammar, words)
    for k in range(1, len(words) + 1):
        expected = sum(total(model, words[:k] + [ANYTHING] * more) for more in range(9 - k))
        assert np.exp(logs[k]) == pytest.approx(expected, rel=1e-5)
    assert np.exp(logs[-1]) == pytest.approx(total(model, words), rel=1e-5)


@pytest.mark.parametrize(("store", "tolerance"), [(Tensors.from_dense, 1e-5), (Tensors.sparsify, 1e-3)])
def test_prefix_probabilities_of_a_hidden_markov_model_are_forward_probabilities(store, tolerance):
    rng = np.random.default_rng(1)
    start, transition = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), 3)
    emission, stop = rng.dirichlet(np.ones(4), 3), 0.2
    model = hmm_model(start, transition, emission, stop)
    grammar = grammar_of(model, one_state(model, 0), is_proper=True, store=store)
    words = rng.integers(4, size=40)
    logs = prefix_logs(grammar, [WORDS[x] for x in words])
    all_words = with_anything(grammar).lexical["X", ANYTHING][0]  # unknown ones beside the model's
    end = np.log(stop / (1 - (1 - stop) * all_words))
    forward, log = start * emission[:, words[0]], 0.0
    for k in range(1, len(words) + 1):
        log += np.log(forward.sum())
        assert logs[k] == pytest.approx(log + (k - 1) * np.log(1 - stop) + end, abs=tolerance * k)
        forward = forward / forward.sum()
        if k < len(words):
            forward = (forward @ transition) * emission[:, words[k]]
    assert logs[-1] == pytest.approx(logs[-2] + np.log(stop) - end, abs=tolerance)


@given(SEEDS, st.integers(1, 7))
def test_surprisals_add_up_to_the_probability_of_the_sentence(seed, n):
    grammar = random_grammar(seed)
    words = np.random.default_rng(seed).choice([*WORDS, "emu", "gnu"], n).tolist()
    parser = Parser(grammar, settings=EXHAUSTIVE)
    bits, log_probability = parser.surprisal(words), parser.distribution(words).log_probability
    assert bits.shape == (n + 1,)
    assert (bits >= 0).all()
    if np.isnan(log_probability):
        assert bits[-1] == np.inf
    else:
        logs = prefix_logs(grammar, words)
        assert parser.log_probability(words) == logs[-1]
        assert -logs[-1] / np.log(2) == pytest.approx(-log_probability / np.log(2), abs=1e-5)
        assert logs[-1] <= logs[-2] + 1e-6  # equal where no sentence goes on, but for rounding
        assert bits.sum() >= -log_probability / np.log(2) - 1e-5


@settings(max_examples=20)
@given(SEEDS)
@example(84260)  # words of a state add up to 1.004, trees to more
def test_a_threshold_makes_lower_bounds(seed):
    grammar = random_grammar(seed)
    words = np.random.default_rng(seed).choice(WORDS, 6).tolist()
    exact = prefix_logs(grammar, words)
    for threshold in (0.1, 1e-3):
        assert (prefix_logs(grammar, words, threshold) <= exact + 1e-5).all()
    close = prefix_logs(grammar, words, 1e-7)
    np.testing.assert_allclose(close[np.isfinite(exact)], exact[np.isfinite(exact)], atol=1e-2)


def test_a_word_that_cannot_follow_is_infinitely_surprising():
    model = Model(
        {"S": np.ones(1)}, {("S", "A", "B"): np.ones((1, 1, 1))}, {("A", "ant"): np.ones(1), ("B", "bee"): np.ones(1)}
    )
    parser = Parser(grammar_of(model, model, is_proper=True))
    assert parser.surprisal(["ant", "ant"]).tolist()[1:] == [np.inf, np.inf]
    assert parser.surprisal(["ant", "bee"]) == pytest.approx([0, 0, 0], abs=0.01)


def test_a_grammar_whose_trees_need_not_end_counts_those_that_do():
    """S -> S S with 2/3, S -> A A with 1/3: half of the derivations never end."""
    model = Model(
        {"S": np.ones(1)},
        {("S", "S", "S"): np.full((1, 1, 1), 2 / 3), ("S", "A", "A"): np.full((1, 1, 1), 1 / 3)},
        {("A", "ant"): np.ones(1)},
    )
    grammar = grammar_of(model, model, is_proper=True)
    all_words = float(with_anything(grammar).lexical["A", ANYTHING][0])  # unknown ones beside "ant"
    ends = (1 - np.sqrt(1 - 8 / 9 * all_words**2)) * 3 / 4
    assert ends == pytest.approx(0.5, abs=0.02)
    expected = [ends / all_words, ends / all_words**2]
    assert np.exp(prefix_logs(grammar, ["ant", "ant"])[1:3]) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("rule", [("S", "S", "A"), ("S", "A", "S")])
def test_a_grammar_whose_trees_never_end_is_refused(rule):
    """S -> S A or S -> A S with 1, beside S -> A A with less than a float has of it: a matrix is singular."""
    model = Model(
        {"S": np.ones(1)},
        {rule: np.ones((1, 1, 1)), ("S", "A", "A"): np.full((1, 1, 1), 1e-9)},
        {("A", "ant"): np.ones(1), ("A", UNKNOWN): np.zeros(1)},
    )
    parser = Parser(grammar_of(model, model, is_proper=True))
    assert parser.parse(["ant"] * 3).is_parsed
    for ask in (parser.surprisal, parser.log_probability):
        with pytest.raises(ValueError, match="trees end") as raised:
            ask(["ant", "ant"])
        assert not isinstance(raised.value, np.linalg.LinAlgError)


@pytest.mark.parametrize("words", [[UNKNOWN], [tag_terminal("N")], ["-LRB-", "\ud800"]])
def test_surprisal_takes_any_words(words):
    assert not np.isnan(Parser(random_grammar(0)).surprisal(words)).any()


def test_surprisal_refuses_what_is_no_distribution():
    model = random_model(0, proper=False)
    with pytest.raises(ValueError, match="No surprisal from"):
        Parser(grammar_of(model, one_state(model, 0), is_proper=False)).surprisal(["ant"])
    with pytest.raises(ValueError, match="at least one word"):
        Parser(random_grammar(0)).surprisal([])


@pytest.mark.parametrize("store", [Tensors.from_dense, Tensors.sparsify])
def test_matrices_of_children_are_sums_over_the_other_child(store):
    model = random_model(5)
    grammar = grammar_of(model, one_state(model, 5), is_proper=True, store=store)
    first, n = grammar.state_offsets[grammar.n_preterminals], int(grammar.state_offsets[-1])
    weights = np.random.default_rng(0).random(n)
    chosen = np.arange(0, grammar.n_rules, 2, dtype=np.int32)
    expected = np.zeros((2, n, n))
    for rule in chosen:
        a, b, c = (slice(*grammar.state_offsets[symbol : symbol + 2]) for symbol in grammar.rules[rule])
        expected[0, a, b] += np.einsum("ijk,k->ij", grammar.tensor(rule), weights[c])
        expected[1, a, c] += np.einsum("ijk,j->ik", grammar.tensor(rule), weights[b])
    found = child_matrices(FineGrammar(grammar), grammar, chosen, weights)
    np.testing.assert_allclose(found, expected[:, first:], rtol=1e-12)


def test_first_surprisal_and_first_unparsable_sentence_make_no_dense_tensors():
    """They would take 160 MB, and seconds to make."""
    grammar = model_from_disk(pretrained_path("en")).grammar
    parser = Parser(grammar)
    parser.surprisal(["The", "old", "ferry", "was", "sold", "."])
    unparsable = ["-RRB-", "the", "-LRB-", "of", "-RRB-", "$", "'s", "-LRB-"]
    assert parser.parse(unparsable).status == "backed-off"
    assert "dense" not in vars(grammar.tensors)
