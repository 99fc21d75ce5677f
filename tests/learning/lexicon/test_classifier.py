"""The classifier of words in context: features, its learner against a slow reference, and what it prunes."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from grammars import random_grammar
from hypothesis import given
from hypothesis import strategies as st
from paths import SAMPLE
from scipy.special import expit, log_softmax

from spacy_lpcfg.chart import EXHAUSTIVE, ChartSettings, Parser
from spacy_lpcfg.chart._context import emissions
from spacy_lpcfg.chart.context import ContextModel, SentenceContext, _with_given
from spacy_lpcfg.grammar._classifier import adagrad_epoch
from spacy_lpcfg.grammar.classifier import Classifier
from spacy_lpcfg.grammar.lexicon import NO_TAG
from spacy_lpcfg.grammar.windows import TAG, TEMPLATES, Windows, shape
from spacy_lpcfg.learning import LexicalSettings
from spacy_lpcfg.learning.lexicon.classifier import boundaries, fit_classifier, read_words
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank, build_lexicon
from spacy_lpcfg.learning.treebank.shards import read_skeletons
from spacy_lpcfg.learning.treebank.skeletons import skeletons
from spacy_lpcfg.trees import normalize, parse_trees, read_trees
from spacy_lpcfg.trees.transforms import split_chain

TAGS = ("DT", "NN", "VBD")
WORDS = st.lists(
    st.sampled_from(["the", "The", "cat", "Cats", "mat", "1990", "\ud800", "", "x-1"]), min_size=1, max_size=6
)


@pytest.fixture(scope="module")
def treebank() -> IndexedTreebank:
    return IndexedTreebank.of(read_skeletons(islice(read_trees(SAMPLE / "train.mrg"), 200)), LexicalSettings())


@pytest.fixture(scope="module")
def grammar(sample_grammar):
    return sample_grammar


@pytest.fixture(scope="module")
def golds():
    return [normalize(tree) for tree in islice(read_trees([SAMPLE / "dev.mrg"]), 60)]


# ---------------------------------------------------------------------------------------------- features


def texts(words, tags, i, template):
    """The feature of a template at word i, as plain texts; None beyond the edges."""

    def part(j, which):
        if not 0 <= j < len(words):
            return None
        lower = words[j].lower()
        return (words[j], lower, lower[-2:], lower[-3:], lower[:3], shape(words[j]), TAGS[tags[j]])[which]

    return tuple(part(i + place, which) for place, which in template)


@given(pairs=st.tuples(WORDS, WORDS), data=st.data())
def test_keys_are_equal_where_features_are(pairs, data):
    """This holds for one template at any two words of any two sentences; other templates never have the same key."""
    windows, seen = Windows(TAGS), {}
    for words in pairs:
        tags = np.array([data.draw(st.integers(0, 2)) for _ in words], dtype=np.int32)
        keys = windows.keys(words, tags)
        assert (keys.dtype, keys.shape) == (np.int32, (len(words), len(TEMPLATES)))
        assert keys.min() >= 0
        for i in range(len(words)):
            for t, template in enumerate(TEMPLATES):
                seen.setdefault((t, texts(words, tags, i, template)), set()).add(int(keys[i, t]))
    assert all(len(keys) == 1 for keys in seen.values())
    assert len({next(iter(keys)) for keys in seen.values()}) == len(seen)


def test_keys_do_not_depend_on_the_machine():
    """Saved grammars hold keys: these may change only with the format of grammars."""
    keys = Windows(TAGS).keys(["The", "cat"], np.array([0, 1], dtype=np.int32))
    assert keys[:, :3].tolist() == [[1327217884, 1787146939, 1225254323], [1327217884, 429764782, 749990922]]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Word", "Xxx"),
        ("U.S.", "X.X."),
        ("1,990", "d,dd"),
        ("-LRB-", "-XX-"),
        ("", ""),
        ("a" * 5000, "xx"),
        ("שלום", "xx"),
    ],
)
def test_shape(word, expected):
    assert shape(word) == expected


# --------------------------------------------------------------------------------------------- classifier


def test_scores_are_sums_of_rows():
    rng = np.random.default_rng(0)
    features = np.unique(rng.integers(0, 2**31, 500))
    table = rng.normal(size=(len(features), 9)) * (rng.random((len(features), 9)) < 0.4)
    table[::7] = 0
    classifier = Classifier.of(features, table)
    keys = rng.choice(np.append(features, rng.integers(0, 2**31, 500)), (20, 15)).astype(np.int32)
    rows = dict(zip(features.tolist(), table.astype(np.float16).astype(float), strict=True))
    expected = [sum((rows.get(key, np.zeros(9)) for key in word), np.zeros(9)) for word in keys.tolist()]
    np.testing.assert_allclose(classifier.scores(keys, 9), expected, atol=1e-5)
    assert len(classifier.features) == np.count_nonzero(table.any(axis=1))


def test_classifier_of_nothing_knows_nothing():
    empty = Classifier.of(np.empty(0), np.empty((0, 0)))
    assert not empty.scores(np.array([[0, 2**31 - 1]], dtype=np.int32), 4).any()


# ------------------------------------------------------------------------------------------------ learner


def loss(weights, features, candidates, symbol, happens):
    """Return the loss of one word: -log P(symbol | window) - log P(boundaries | window)."""
    scores = weights[features[features >= 0]].sum(axis=0)
    choices = log_softmax(scores[candidates])[candidates.index(symbol)] if symbol in candidates else 0.0
    return -choices - np.log(np.where(happens, expit(scores[-2:]), expit(-scores[-2:]))).sum()


def gradient(weights, *word):
    """Return the gradient of the loss, by central differences."""
    found = np.zeros_like(weights)
    for place in np.ndindex(*weights.shape):
        step = np.zeros_like(weights)
        step[place] = 1e-5
        found[place] = (loss(weights + step, *word) - loss(weights - step, *word)) / 2e-5
    return found


@pytest.mark.parametrize("seed", range(3))
def test_adagrad_follows_the_gradient(seed):
    """An epoch of the kernel, against steps by central differences of the objective."""
    rng = np.random.default_rng(seed)
    row_offsets, row_symbols = np.array([0, 2, 5, 6], dtype=np.int32), np.array([0, 2, 1, 2, 3, 0], dtype=np.int32)
    features = np.array([rng.permutation(6)[:3] for _ in range(8)], dtype=np.int32)
    features[rng.random(features.shape) < 0.2] = -1
    terminals, symbols = rng.integers(0, 3, 8, dtype=np.int32), rng.integers(0, 4, 8, dtype=np.int32)
    happens = rng.integers(0, 2, (8, 2), dtype=np.int8)
    weights = rng.normal(size=(6, 6)).astype(np.float32)
    squares = np.ones_like(weights)
    slow, slow_squares, slow_loss = weights.astype(float), squares.astype(float), 0.0
    for i in range(8):
        candidates = row_symbols[slice(*row_offsets[terminals[i] :][:2])].tolist()
        word = features[i], candidates, symbols[i], happens[i]
        slow_loss += loss(slow, *word)
        slope = gradient(slow, *word)
        slow_squares += slope**2
        slow -= 0.3 * slope / np.sqrt(slow_squares)
    total = adagrad_epoch(
        features, terminals, symbols, happens, row_offsets, row_symbols, weights, squares, np.float32(0.3)
    )
    np.testing.assert_allclose(weights, slow, atol=2e-3)
    np.testing.assert_allclose(squares, slow_squares, atol=2e-3)
    assert total == pytest.approx(slow_loss, rel=1e-3)


def test_boundaries_of_a_tree():
    """Beginnings of spans, "@" symbols included; ends of constituents; neither of single words."""
    nodes = skeletons(parse_trees(["(S (NP (DT the) (JJ fat) (NN cat)) (VP (VBD saw) (NP (PRP it))))"]))
    assert boundaries(nodes).tolist() == [[1, 0], [0, 0], [0, 1], [1, 0], [0, 1]]


def constants(monkeypatch, **values: float) -> None:
    for name, value in values.items():
        monkeypatch.setattr(f"spacy_lpcfg.learning.lexicon.classifier._{name}", value)


def test_learner_repeats_itself_and_leaves_out_what_is_rare(treebank, monkeypatch):
    lexicon = one_state_lexicon(treebank)
    words = read_words(treebank.nodes, treebank.terminal, lexicon, treebank.symbol_weights)
    n_symbols = len(treebank.nodes.preterminals)
    constants(monkeypatch, N_EPOCHS=2)
    one, two = (fit_classifier(words, lexicon, n_symbols) for _ in range(2))
    for name in ("features", "offsets", "outputs", "weights"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    constants(monkeypatch, MIN_COUNT=20, MIN_WEIGHT=0.5)
    small = fit_classifier(words, lexicon, n_symbols)
    assert np.abs(small.weights).min() >= 0.499
    keys, counts = np.unique(words.keys, return_counts=True)
    assert set(small.features) <= set(keys[counts >= 20])


def test_fit_learns_from_some_of_many_words(treebank, monkeypatch):
    """The feature that every word has is seen as often as there are words to learn from, and no other so often."""
    lexicon = one_state_lexicon(treebank)
    words = read_words(treebank.nodes, treebank.terminal, lexicon, treebank.symbol_weights)
    n_symbols = len(treebank.nodes.preterminals)
    constants(monkeypatch, N_EPOCHS=1, MIN_WEIGHT=0.0)
    always = words.keys[0, TEMPLATES.index(())]
    for n in (100, len(words.keys)):
        constants(monkeypatch, MAX_EXAMPLES=n, MIN_COUNT=n)
        assert fit_classifier(words, lexicon, n_symbols).features.tolist() == [always]
    weights = []
    for n in (10**9, len(words.keys)):
        constants(monkeypatch, MAX_EXAMPLES=n, MIN_COUNT=3)
        weights.append(fit_classifier(words, lexicon, n_symbols).weights)
    np.testing.assert_array_equal(*weights)


def one_state_lexicon(treebank):
    names = treebank.nodes.preterminals
    ones = np.ones(len(names), dtype=np.int32)
    return build_lexicon(treebank.emissions, treebank.vocabulary, names, ones, treebank.lexical)


# ------------------------------------------------------------------------------------------------ context


def context(grammar, words, tags=None, **settings):
    given = grammar.lexicon.tags_of(tags or [None] * len(words))
    terminals, factors = grammar.lexicon.look_up(words)
    thresholds = {"tag_threshold": 0.0, "boundary_threshold": 0.0}
    chosen = {"tag_factors": factors, "tag_weight": 0.0, "evidence": None, "listed": None, **thresholds, **settings}
    return ContextModel(grammar).context(words, terminals, given, **chosen)


def symbol_weights(grammar, context):
    """The factors of the emissions of each word under each symbol, 0 for none, float64 (n_words, n_preterminals)."""
    weights = np.zeros((len(context.first_row) - 1, grammar.n_preterminals))
    words = np.repeat(np.arange(len(weights)), np.diff(context.first_row))
    weights[words, grammar.lexicon.symbols[context.rows]] = context.row_scales
    return weights


def emitted(grammar, words):
    """Return the symbols that emit each word, bool (n_words, n_preterminals)."""
    lexicon, table = grammar.lexicon, np.zeros((len(words), grammar.n_preterminals), dtype=bool)
    for row, terminal in zip(table, lexicon.look_up(words)[0], strict=True):
        row[lexicon.symbols[slice(*lexicon.offsets[terminal : terminal + 2])]] = True
    return table


def test_thresholds_of_zero_rule_nothing_out(grammar, golds):
    for gold in golds:
        found = context(grammar, gold.words)
        factors = grammar.lexicon.look_up(gold.words)[1][:, grammar.tag_of]
        np.testing.assert_array_equal(
            symbol_weights(grammar, found), np.where(emitted(grammar, gold.words), factors, 0.0)
        )
        assert found.may_begin.all()
        assert found.may_end.all()


def test_classifier_does_not_touch_an_exhaustive_chart():
    grammar = random_grammar(0)
    rng = np.random.default_rng(0)
    words = ["ant", "bee", "cat", "dog"]
    keys = np.unique(Windows(grammar.tags).keys(words, np.zeros(4, dtype=np.int32)))
    wild = replace(
        grammar, classifier=Classifier.of(keys, 9 * rng.normal(size=(len(keys), grammar.n_preterminals + 2)))
    )
    one, two = (Parser(g, settings=EXHAUSTIVE) for g in (grammar, wild))
    assert one.parse(words).log_probability == two.parse(words).log_probability
    np.testing.assert_array_equal(one.forest(words).item_table(), two.forest(words).item_table())


@pytest.mark.parametrize("threshold", [0.5, 1.0])
def test_the_best_symbol_survives(grammar, golds, threshold):
    for words in [*(gold.words for gold in golds), ["\x00", "zzzz", "Q-77"]]:
        found = context(grammar, words, tag_threshold=threshold, boundary_threshold=1.0)
        assert (symbol_weights(grammar, found).sum(axis=1) > 0).all()
        assert found.may_begin[0]
        assert found.may_end[-1]


def test_true_symbols_and_boundaries_survive_and_most_others_do_not(grammar, golds):
    nodes, ids = skeletons(golds), {name: a for a, name in enumerate(grammar.symbols)}
    symbols = np.array([ids.get(nodes.symbols[a], -1) for a in nodes.symbol[nodes.leaves]])
    found = [context(grammar, gold.words, tag_threshold=1e-3, boundary_threshold=0.005) for gold in golds]
    kept = np.concatenate([symbol_weights(grammar, each) for each in found]) > 0
    open_ = np.concatenate([np.stack([each.may_begin[:-1], each.may_end[1:]], axis=1) for each in found]) > 0
    true = boundaries(nodes) > 0
    assert kept[np.arange(len(symbols)), symbols][symbols >= 0].mean() > 0.98
    assert open_[true].mean() > 0.98
    assert (~open_).mean() > 0.1


def test_given_tags_rule_out_others_and_are_seen_by_the_neighbours(grammar, golds):
    tags = list(grammar.tags)
    for gold in golds[:20]:
        found = context(grammar, gold.words, gold.tags, tag_threshold=1e-3)
        for weights, tag in zip(symbol_weights(grammar, found), gold.tags, strict=True):
            if tag in tags:
                assert {tags[t] for t in grammar.tag_of[weights > 0]} == {tag}
        prior = context(grammar, gold.words, gold.tags, tag_weight=0.25)
        factors = grammar.lexicon.look_up(gold.words)[1][:, grammar.tag_of]
        assert set(np.unique(symbol_weights(grammar, prior) / factors)) <= {0.0, 0.25, 1.0}
    keys = [Windows(grammar.tags).keys(["a", "b"], np.array([tag, 0], dtype=np.int32)) for tag in (0, 1)]
    assert (keys[0][1] != keys[1][1]).sum() == sum((-1, TAG) in template for template in TEMPLATES)


def test_a_given_tag_that_no_row_has_keeps_its_symbols(grammar):
    """The word was never seen under it: the symbols of the tag stand in."""
    for tag in grammar.tags:
        found = context(grammar, ["the", "dog"], [tag, None], tag_threshold=0.01)
        assert {grammar.tags[t] for t in grammar.tag_of[symbol_weights(grammar, found)[0] > 0]} == {tag}
    assert NO_TAG not in grammar.lexicon.tags_of(list(grammar.tags))


def test_the_merit_of_boundaries_keeps_true_constituents_among_fewer(grammar, golds):
    narrow = ChartSettings(beam=0.01, threshold=0.0, edge_threshold=0.0)
    with_it, without = (charts(grammar, golds, each) for each in (narrow, replace(narrow, boundary_merit=False)))
    kept, expected = (
        sum(span in chart for gold, chart in zip(golds, found, strict=True) for span in gold.spans())
        for found in (with_it, without)
    )
    assert kept > 0.99 * expected
    assert sum(map(len, with_it)) < 0.8 * sum(map(len, without))
    one, other = (charts(grammar, golds[:3], replace(EXHAUSTIVE, boundary_merit=m)) for m in (True, False))
    assert one == other


def charts(grammar, golds, settings):
    """The spans of the charts of sentences, with each label of their symbols."""
    tables = [Parser(grammar, settings=settings).forest(gold.words).item_table() for gold in golds]
    return [{(i, j, label) for i, j, a, _ in table for label in split_chain(grammar.symbols[a])} for table in tables]


@pytest.mark.parametrize(("tag_weight", "threshold"), [(0.0, 0.0), (0.25, 0.1), (1.0, 0.3)])
def test_emissions_are_bayes_rule(grammar, golds, tag_weight, threshold):
    """Posteriors by hand: softmax of the scores, times the factors of tags, over the symbols that emit the word."""
    rng, lexicon, tag_of = np.random.default_rng(0), grammar.lexicon, grammar.tag_of
    for words in (gold.words for gold in golds[:10]):
        n, terminals = len(words), lexicon.look_up(words)[0]
        tags = rng.integers(-1, len(grammar.tags), n, dtype=np.int32)
        scores = rng.normal(0, 2, (n, grammar.n_preterminals)).astype(np.float32)
        factors = rng.uniform(0.1, 3, (n, len(grammar.tags)))
        may_emit = emitted(grammar, words)
        lacking = (tags >= 0) & ~(may_emit & (tags[:, None] == tag_of)).any(axis=1)
        may_emit |= lacking[:, None] & (tags[:, None] == tag_of)
        given = np.where((tags >= 0)[:, None] & (tags[:, None] != tag_of), tag_weight, 1.0)
        weights = may_emit * given * factors[:, tag_of]
        posteriors = np.exp(scores) * weights / (np.exp(scores) * weights).sum(axis=1, keepdims=True)
        kept = (posteriors >= threshold) | (posteriors == posteriors.max(axis=1, keepdims=True))
        extra = np.zeros_like(factors)
        factors = _with_given(factors, extra, tags, tag_weight)
        *rows, of_tags = emissions(scores, factors, extra, terminals, threshold, lexicon, tag_of, lexicon.tag_terminals)
        found = symbol_weights(grammar, SentenceContext(*rows, *[None] * 4))
        np.testing.assert_allclose(found, weights * kept, rtol=1e-12)
        np.testing.assert_allclose(of_tags, posteriors @ np.eye(len(grammar.tags))[tag_of], atol=1e-6)
