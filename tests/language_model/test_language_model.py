"""The model of Saul and Pereira: EM, pivots, Kneser-Ney beside it, and all of it as an L-PCFG."""

import gzip
import itertools
import json
import logging
from collections import Counter

import numpy as np
import pytest
import spacy
from commands import run, sets
from grammars import WORDS, grammar_of, one_state
from hypothesis import given
from hypothesis import strategies as st
from oracles.enumeration import Model, tree_log_probability, weight
from scipy import sparse

from spacy_lpcfg.chart import Parser
from spacy_lpcfg.components.doc.surprisal import doc_surprisal
from spacy_lpcfg.language_model import LanguageModel, LanguageModelError, LanguageModelLearner, read_sentences
from spacy_lpcfg.language_model.aggregate import Aggregate, Bigrams, em, fit_states, random_aggregate
from spacy_lpcfg.language_model.kneser_ney import KneserNey, count_ngrams
from spacy_lpcfg.language_model.learning import METHODS, Iteration, interpolate
from spacy_lpcfg.language_model.pivot import PivotSettings, pivot_aggregate, row_states
from spacy_lpcfg.language_model.text import EDGE, UNKNOWN, TextVocabulary
from spacy_lpcfg.learning.moments.decomposition import bayes
from spacy_lpcfg.storage.container import pack

seeds = st.integers(0, 10_000)
EXACT = PivotSettings(
    candidates=np.inf, kappa=0.0, shrinkage=0.0, softening=0.0, tolerance=1e-14, concave_iterations=5000
)


def some_text(n_sentences: int = 400, seed: int = 0) -> list[list[str]]:
    """Sentences of a small aggregate model over 40 words."""
    rng = np.random.default_rng(1)
    words, states = rng.dirichlet(np.full(40, 0.2), 4), rng.dirichlet(np.full(4, 0.3), 40)
    rng = np.random.default_rng(seed)
    sentences = []
    for _ in range(n_sentences):
        word, sentence = 0, []
        for _ in range(rng.integers(1, 12)):
            word = rng.choice(40, p=words[rng.choice(4, p=states[word])])
            sentence.append(f"w{word}")
        sentences.append(sentence)
    return sentences


TEXT, DEV = some_text(), some_text(80, seed=7)


def em_learner(n_states: int, n_iterations: int) -> LanguageModelLearner:
    return LanguageModelLearner("em", n_states, n_iterations)


PIVOT_EM = LanguageModelLearner(n_states=4, pivots=PivotSettings(kappa=1.0, shrinkage=1.0))


def random_bigrams(seed: int, n_words: int = 12) -> Bigrams:
    rng = np.random.default_rng(seed)
    return Bigrams.of_matrix(sparse.csr_matrix(rng.poisson(0.7, (n_words, n_words)).astype(float)))


def separable(seed: int, n_words: int = 15, m: int = 4) -> Aggregate:
    """Parameters of which s(w2 | h) has a pivot for every state, and all r(h | w1) are positive."""
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.ones(m), n_words)
    pivots = rng.choice(n_words, m, replace=False)
    words[pivots] = np.eye(m)
    return Aggregate(0.1 / m + 0.9 * rng.dirichlet(np.full(m, 0.5), n_words), words / words.sum(axis=0))


def test_language_model_reads_text_plain_or_zipped(tmp_path):
    text = "\ufeffA b\tc\n\n  \r\nna\u00efve d/e\n"
    (tmp_path / "plain.txt").write_text(text, encoding="utf-8")
    with gzip.open(tmp_path / "zipped.txt.gz", "wt", encoding="utf-8") as file:
        file.write(text)
    expected = [["A", "b", "c"], ["na\u00efve", "d/e"]]
    assert list(read_sentences(tmp_path / "plain.txt")) == expected
    assert list(read_sentences([tmp_path / "zipped.txt.gz"] * 2)) == 2 * expected


def test_vocabulary_has_the_words_that_are_not_rare():
    vocabulary = TextVocabulary.of([["b", "a", "b", EDGE], ["a", "c", EDGE, UNKNOWN, UNKNOWN]])
    assert vocabulary.words == (UNKNOWN, EDGE, "a", "b")
    assert vocabulary.trigrams([["a", EDGE], [], ["c"]]).tolist() == [
        [1, 1, 2], [1, 2, 0], [2, 0, 1],
        [1, 1, 1],
        [1, 1, 0], [1, 0, 1],
    ]  # fmt: skip


@given(seed=seeds, m=st.integers(1, 5))
def test_em_never_lowers_the_likelihood(seed, m):
    bigrams = random_bigrams(seed)
    steps = itertools.islice(em(bigrams, random_aggregate(bigrams, m, seed)), 30)
    models, likelihoods = zip(*steps, strict=True)
    assert np.diff(likelihoods).min() >= -1e-9 * abs(likelihoods[0])
    for model in models:
        np.testing.assert_allclose(model.states.sum(axis=1), 1.0)
        np.testing.assert_allclose(model.words.sum(axis=0), 1.0)


def test_concave_em_forgets_where_it_began():
    bigrams, truth = random_bigrams(3), separable(3, n_words=12)
    found = []
    for prior in (np.full(4, 0.25), np.array([0.7, 0.1, 0.1, 0.1])):
        model = fit_states(bigrams, truth.words, prior, 3000)
        found.append(bigrams.counts @ np.log(model.probabilities(bigrams.first, bigrams.second)))
    assert found[0] == pytest.approx(found[1], rel=1e-6)


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (LanguageModelLearner, {"method": "emm", "n_states": 0, "n_iterations": -1, "rare": -1, "held_out": 1.0}),
        (PivotSettings, {"candidates": np.nan, "kappa": -1, "shrinkage": np.inf, "softening": 1.0, "tolerance": 0}),
    ],
)
def test_settings_refuse_what_cannot_be(make, settings):
    for name, value in settings.items():
        with pytest.raises(ValueError, match=f"Expected {name} .*got {value!r}"):
            make(**{name: value})


@pytest.mark.parametrize("seed", range(3))
def test_row_states_recover_the_parameters_of_an_exact_matrix(seed):
    """Matrix decomposition problem 2: p(h) and p(f | h) up to a permutation, of which the pivots tell."""
    truth, prior = separable(seed), np.random.default_rng(seed).dirichlet(np.full(4, 5.0))
    columns = np.random.default_rng(seed).dirichlet(np.ones(9), 4)
    matrix = sparse.csr_matrix(truth.words * prior @ columns)
    found = row_states(matrix, 4, settings=EXACT)
    found_prior, found_words = bayes(matrix.sum(axis=1).A1, found.posteriors)
    order = truth.words[found.anchors].argmax(axis=1)
    assert sorted(order) == [0, 1, 2, 3]
    np.testing.assert_allclose(found_prior, prior[order], atol=1e-6)
    np.testing.assert_allclose(found_words, truth.words[:, order], atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_pivot_recovers_an_exact_language_model(seed):
    """Theorem 2 for p(w1, w2): both r(h | w1) and s(w2 | h) come out, up to one permutation.

    No r(h | w1) is zero here, because EM comes near to a zero too slowly; section 8 has no need of pivots in r.
    """
    truth = separable(seed)
    first = np.random.default_rng(seed).dirichlet(np.full(15, 5.0))
    bigrams = Bigrams.of_matrix(sparse.csr_matrix(first[:, None] * (truth.states @ truth.words.T)))
    found = pivot_aggregate(bigrams, 4, settings=EXACT)
    order = [int(np.argmin(np.abs(truth.words - column[:, None]).sum(axis=0))) for column in found.words.T]
    np.testing.assert_allclose(found.words, truth.words[:, order], atol=1e-6)
    np.testing.assert_allclose(found.states, truth.states[:, order], atol=1e-6)


def test_row_states_are_fewer_states_where_there_are_fewer_pivots(caplog):
    truth = separable(0)
    matrix = sparse.csr_matrix(truth.words @ np.random.default_rng(0).dirichlet(np.ones(9), 4))
    with caplog.at_level(logging.WARNING, logger="spacy_lpcfg"):
        found = row_states(matrix, 7, settings=EXACT)
    assert len(found.anchors) == 4
    assert "4 states instead of 7: the 15 most frequent words" in caplog.text


@pytest.mark.parametrize("method", METHODS)
def test_fit_of_one_line_has_fewer_states_and_says_why(method, caplog):
    with caplog.at_level(logging.WARNING, logger="spacy_lpcfg"):
        model, _ = LanguageModelLearner(method, n_states=16).fit([["the", "cat", "saw", "the", "cat"]])
    assert model.aggregate.n_states <= 4
    assert "16: the text has bigrams of only so many words" in caplog.text
    assert np.isfinite(model.perplexity([["the", "cat"]]).perplexity)


def test_fit_keeps_the_best_iteration_on_the_development_text():
    model, history = em_learner(6, 60).fit(TEXT, held_out=DEV)
    bits = [iteration.dev.bits for iteration in history]
    assert model.perplexity(DEV).bits == min(bits)
    assert len(bits) == np.argmin(bits) + 3
    assert [iteration.n for iteration in history] == list(range(len(history)))
    assert np.diff([iteration.log_likelihood for iteration in history]).min() > 0


def test_fit_by_pivots_is_repeatable_and_ahead_of_em():
    model, history = PIVOT_EM.fit(TEXT, held_out=DEV)
    assert model.to_bytes() == PIVOT_EM.fit(TEXT, held_out=DEV).model.to_bytes()
    _, random = em_learner(4, 10).fit(TEXT, held_out=DEV)
    assert history[0].dev.perplexity < random[10].dev.perplexity


def reference_kneser_ney(
    tokens: np.ndarray, n_words: int, order: int, gram: tuple[int, ...], is_modified: bool = False
) -> float:
    """By the formula, with dictionaries."""
    counts = Counter(tuple(row[len(row) - order :]) for row in tokens.tolist())
    below, probability = [counts], 1 / n_words
    while len(next(iter(below[0]))) > 1:
        below.insert(0, Counter(gram[1:] for gram in below[0]))
    for k, table in enumerate(below):
        once, twice, thrice, four_times = (sum(n == c for n in table.values()) for c in (1, 2, 3, 4))
        y = once / (once + 2 * twice) if once and twice else 0.5
        discounts = [y, y, y]
        if is_modified and once and twice and thrice and four_times:
            estimates = (1 - 2 * y * twice / once, 2 - 3 * y * thrice / twice, 3 - 4 * y * four_times / thrice)
            discounts = [max(estimate, 0.0) for estimate in estimates]
        context, word = gram[len(gram) - k - 1 : -1], gram[-1]
        followers = {g[-1]: n for g, n in table.items() if g[:-1] == context}
        total = sum(followers.values())
        if total:
            lost_by = {w: min(n, discounts[min(n, 3) - 1]) for w, n in followers.items()}
            kept, lost = followers.get(word, 0) - lost_by.get(word, 0), sum(lost_by.values())
            probability = (kept + lost * probability) / total
    return probability


@pytest.mark.parametrize("is_modified", [False, True])
@pytest.mark.parametrize(("order", "n_words"), [(1, 5), (2, 5), (3, 5), (4, 3), (5, 3)])
def test_kneser_ney_agrees_with_the_formula(order, n_words, is_modified):
    """With a word that was never seen, and n-grams of which only a beginning was."""
    width = max(order, 3)
    tokens = np.random.default_rng(order).integers(0, n_words, (60, width)).astype(np.int32)
    model = KneserNey(*count_ngrams(tokens), n_words + 1, order, is_modified=is_modified)
    grams = np.array(list(itertools.product(range(n_words + 1), repeat=width)))
    expected = [reference_kneser_ney(tokens, n_words + 1, order, tuple(gram), is_modified) for gram in grams.tolist()]
    np.testing.assert_allclose(model.probabilities(grams), expected)


def test_kneser_ney_numbers_long_grams_of_many_words():
    """More than 64 bits have numbers for."""
    tokens = np.random.default_rng(0).integers(0, 100_000, (500, 5)).astype(np.int32)
    model = KneserNey(*count_ngrams(tokens), 100_000, 5)
    for gram in tokens[:3].tolist():
        assert model.probabilities(np.array([gram])) == pytest.approx(
            reference_kneser_ney(tokens, 100_000, 5, tuple(gram))
        )


def test_vocabulary_makes_ngrams_of_any_order():
    vocabulary = TextVocabulary((UNKNOWN, EDGE, "a", "b"))
    sentences = [["a", "b"], [], ["b"]]
    assert vocabulary.ngrams(sentences, 2).tolist() == [[1, 2], [2, 3], [3, 1], [1, 1], [1, 3], [3, 1]]
    assert vocabulary.ngrams(sentences, 4)[:, 1:].tolist() == vocabulary.trigrams(sentences).tolist()


def test_the_papers_pivots_leave_no_known_bigram_without_probability():
    """Without a floor under p(h | f), a word after which only others were seen has none."""
    model, _ = LanguageModelLearner.variant("paper", n_states=4).fit(TEXT)
    known = [word for word in model.vocabulary.words if word not in (UNKNOWN, EDGE)]
    for first, second in itertools.product(known[:8], known):
        assert np.isfinite(model.surprisal([first, second])[1])


def test_kneser_ney_refuses_what_it_cannot_number():
    with pytest.raises(ValueError, match="fewer than 2097152 different words"):
        KneserNey(np.zeros((1, 3), np.int32), np.ones(1, np.int32), 3_000_000, 3)


def test_interpolation_is_at_least_as_good_as_its_parts():
    model, _ = em_learner(4, 20).fit(TEXT, held_out=DEV)
    mixture = interpolate(model, TEXT, DEV)
    assert mixture.weights.sum() == pytest.approx(1.0)
    trigrams = model.vocabulary.trigrams(DEV)
    known = mixture.components(trigrams[trigrams[:, 2] > 0])
    assert np.log2(known @ mixture.weights).mean() >= np.log2(known).mean(axis=0).max() - 1e-9


@pytest.mark.parametrize("is_mixture", [False, True])
def test_language_model_probabilities_sum_to_one(is_mixture):
    model, _ = PIVOT_EM.fit(TEXT)
    model = interpolate(model, TEXT, DEV) if is_mixture else model
    n = len(model.vocabulary)
    for context in [(1, 1), (1, 5), (2, 7), (0, 0), (n - 1, 0)]:
        trigrams = np.array([[*context, word] for word in range(n)])
        assert model.probabilities(trigrams).sum() == pytest.approx(1.0, abs=1e-5)


def test_language_model_perplexity_by_hand():
    """One state is the unigram model: of a, b, a, b, </s> and a, a, </s> each has 4, 2 and 2 of 8 tokens."""
    model, _ = em_learner(1, 1).fit([["a", "b", "a", "b"], ["a", "a"]])
    np.testing.assert_allclose(model.surprisal(["a", "b", "zebra"]), [1.0, 2.0, np.nan, 2.0], rtol=1e-6)
    found = model.perplexity([["a", "b", "zebra"], ["a"]])
    assert (found.n_tokens, found.n_unknown) == (5, 1)
    assert found.bits == pytest.approx((1 + 2 + 2 + 1 + 2) / 5)
    assert found.perplexity == pytest.approx(2**1.6)
    with pytest.raises(ValueError, match="at least one sentence"):
        model.perplexity([])


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("vocabulary", (EDGE, UNKNOWN)),
        ("states", np.ones((3, 2), np.float32)),
        ("words", np.full((5, 2), np.nan, np.float32)),
        ("weights", np.ones(2)),
        ("weights", np.full(1, 0.5)),
        ("trigrams", np.full((1, 3), 10**6, np.int32)),
        ("counts", np.ones(4, np.int32)),
    ],
)
def test_language_model_names_the_part_that_does_not_fit(part, value):
    parts = {
        "vocabulary": (UNKNOWN, EDGE, "a"),
        "states": np.full((3, 2), 0.5, np.float32),
        "words": np.full((3, 2), 1 / 3, np.float32),
        "weights": np.ones(1),
        "trigrams": np.zeros((0, 3), np.int32),
        "counts": np.zeros(0, np.int32),
    }
    assert LanguageModel.from_bytes(pack("language model", 1, parts)).aggregate.n_states == 2
    with pytest.raises(LanguageModelError, match=f"in its {part}"):
        LanguageModel.from_bytes(pack("language model", 1, {**parts, part: value}))
    with pytest.raises(LanguageModelError, match=f"in its {part}"):
        LanguageModel.from_bytes(pack("language model", 1, {name: parts[name] for name in parts if name != part}))


def right_branching(words):
    """(S.a (a a) (S.b (b b) (END .))): a node S.w holds the latent state between w and the next word."""
    from spacy_lpcfg.trees import Tree

    tree = Tree("END", word=".")
    for word in reversed(words):
        tree = Tree(f"S.{word}", (Tree(word, word=word), tree))
    return tree


def as_lpcfg(model: LanguageModel) -> Model:
    """S.a(h) -> a S.b(h') has s(b | h) r(h' | b), S.a(h) -> a END has s(edge | h), and a root p(a | edge) r(h | a)."""
    r, s = (array.astype(float) for array in (model.aggregate.states, model.aggregate.words))
    ids = {word: model.vocabulary.words.index(word) for word in WORDS}
    binary = {
        (f"S.{a}", a, f"S.{b}"): s[ids[b]][:, None, None] * r[ids[b]][None, None, :] for a in WORDS for b in WORDS
    }
    binary.update({(f"S.{a}", a, "END"): s[1][:, None, None] for a in WORDS})
    return Model(
        {f"S.{a}": (r[1] @ s[ids[a]]) * r[ids[a]] for a in WORDS},
        binary,
        {("END", "."): np.ones(1), **{(a, a): np.ones(1) for a in WORDS}},
    )


def test_language_model_is_an_lpcfg_of_right_branching_trees():
    rng = np.random.default_rng(0)
    vocabulary, m = TextVocabulary((UNKNOWN, EDGE, *WORDS)), 3
    n = len(vocabulary)
    aggregate = Aggregate(rng.dirichlet(np.ones(m), n), rng.dirichlet(np.ones(n), m).T)
    model = LanguageModel.of(vocabulary, aggregate)
    lpcfg = as_lpcfg(model)
    grammar = grammar_of(lpcfg, one_state(lpcfg, 0), is_proper=True)
    parser = Parser(grammar)
    for length in (1, 2, 3):
        for words in itertools.product(WORDS, repeat=length):
            log_probability = -model.surprisal(words).sum() * np.log(2)
            tree = right_branching(words)
            assert np.log(weight(lpcfg, tree)) == pytest.approx(log_probability, rel=1e-6)
            assert tree_log_probability(grammar, tree) == pytest.approx(log_probability, rel=1e-4)
    parse = parser.parse([*words, "."])
    assert parse.tree == tree
    assert parse.log_probability == pytest.approx(log_probability, rel=1e-4)


def test_token_surprisal_of_a_doc():
    model, _ = PIVOT_EM.fit(TEXT)
    doc = spacy.blank("en")("w1 w2  zebra\nw3 w1")
    alone = doc_surprisal(doc, model)[0]
    words = [i for i, token in enumerate(doc) if not token.is_space]
    assert np.isnan(np.delete(alone, words)).all()
    np.testing.assert_array_equal(alone[words], model.surprisal(["w1", "w2", "zebra", "w3", "w1"])[:-1])
    for token in doc:
        token.is_sent_start = token.text in ("w1", "w3") and token.i != words[-1]
    found = doc_surprisal(doc, model)[0]
    np.testing.assert_array_equal(found[words[3:]], model.surprisal(["w3", "w1"])[:-1])


@pytest.fixture
def texts(tmp_path):
    """A folder with text and development text."""
    for name, sentences in (("train.txt", TEXT), ("dev.txt", DEV)):
        (tmp_path / name).write_text("".join(" ".join(words) + "\n" for words in sentences), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("method", METHODS)
def test_cli_learns_language_models(texts, method):
    result = run(
        "learn", "lm", texts / "train.txt", "--dev", texts / "dev.txt", *sets(f"method={method}", "n_states=4"),
        "--seed", 1, "-o", texts / "lm",
    )  # fmt: skip
    expected = LanguageModelLearner(method, n_states=4, seed=1).fit(TEXT, held_out=DEV).model
    told = run("surprisal", texts / "lm", texts / "dev.txt", "--input", "tokens").stderr
    perplexity = expected.perplexity(DEV).perplexity
    assert f"dev perplexity {perplexity:.2f} on 80 sentences" in result.stdout
    assert f"perplexity {perplexity:.2f} (" in told
    assert LanguageModel.from_disk(texts / "lm" / "language_model" / "model").to_bytes() == expected.to_bytes()


@pytest.mark.parametrize("dev", [True, False])
def test_cli_keeps_the_history_in_the_meta_of_the_pipeline(texts, dev):
    held_out = ("--dev", texts / "dev.txt") if dev else ()
    learn = ("learn", "lm", texts / "train.txt", *sets("method=em", "n_states=4", "n_iterations=3"))
    run(*learn, *held_out, "-o", texts / "lm")
    kept = json.loads((texts / "lm" / "meta.json").read_text("utf-8"))["fit"]
    expected = em_learner(4, 3).fit(TEXT, held_out=DEV if dev else ()).history
    assert [step["iteration"] for step in kept] == [0, 1, 2, 3]
    assert [step["log_likelihood"] for step in kept] == pytest.approx([step.log_likelihood for step in expected])
    assert [step["dev_perplexity"] for step in kept] == [
        step.dev and pytest.approx(step.dev.perplexity) for step in expected
    ]
    assert all(0 <= before["seconds"] <= after["seconds"] for before, after in itertools.pairwise(kept))


def test_cli_history_is_json_where_a_likelihood_is_not_finite():
    step = Iteration(0, -np.inf, None, 0.5)
    assert json.loads(json.dumps(step.to_values(), allow_nan=False)) == {
        "iteration": 0, "log_likelihood": None, "dev_perplexity": None, "seconds": 0.5,
    }  # fmt: skip


def test_cli_mixes_language_models_with_n_grams(texts):
    arguments = ("learn", "lm", texts / "train.txt", *sets("method=em", "n_states=4", "n_iterations=9"))
    result = run(*arguments, "--dev", texts / "dev.txt", *sets("kneser_ney=true"), "-o", texts / "lm")
    assert "weights of latent model, bigrams, trigrams: " in result.stderr
    assert len(LanguageModel.from_disk(texts / "lm" / "language_model" / "model").weights) == 3
    assert "--dev" in run(*arguments, *sets("kneser_ney=true"), "-o", texts / "lm", code=2).stderr


def test_cli_names_what_is_no_text_or_no_language_model(texts):
    (texts / "empty.txt").write_text("\n", encoding="utf-8")
    learn = ("learn", "lm", *sets("method=em", "n_states=2"), "-o", texts / "lm")
    assert "at least one sentence" in run(*learn, texts / "empty.txt", code=1).stderr
    assert "empty.txt has no words" in run(*learn, texts / "dev.txt", "--dev", texts / "empty.txt", code=1).stderr
