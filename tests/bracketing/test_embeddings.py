"""Vectors of words: by CCA, as Brown clusters, from outside; and groups of tags."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from spacy_lpcfg.bracketing import CCA, Brown, GivenVectors, TagGroups
from spacy_lpcfg.bracketing.paper.brown import merge_paths
from spacy_lpcfg.bracketing.paper.embeddings import EmbeddingVocabulary, context_counts
from spacy_lpcfg.bracketing.sentences import N_UNIVERSAL, UNIVERSAL_IDS, chunks
from spacy_lpcfg.words.brown import cluster, n_log_n


def log_likelihood(pairs: np.ndarray) -> float:
    """Return the part of the log-likelihood of a class bigram model, in nats, that depends on the classes."""
    return n_log_n(pairs).sum() - n_log_n(pairs.sum(axis=0)).sum() - n_log_n(pairs.sum(axis=1)).sum()


SLOTS = [["the", "a", "this"], ["dog", "cat", "bird", "fish"], ["sees", "hears", "likes"]]
TAGS = ["DET", "NOUN", "VERB"]


def two_kinds_of_words(n: int = 400, seed: int = 0):
    """Sentences of one pattern, in which words of a slot are exchangeable."""
    rng = np.random.default_rng(seed)
    order = [0, 1, 2, 0, 1]
    return [(tuple(rng.choice(SLOTS[k]) for k in order), tuple(TAGS[k] for k in order)) for _ in range(n)]


def similarity(embedding, first: str, second: str) -> float:
    ids = {word: N_UNIVERSAL + k for k, word in enumerate(embedding.vocabulary.words)}
    a, b = (embedding.vectors[ids[word]] for word in (first, second))
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@pytest.mark.parametrize("embedder", [CCA(size=3), Brown(n_clusters=4)])
def test_embeddings_put_words_of_a_slot_together(embedder):
    text = two_kinds_of_words()
    embedding = embedder.fit(lambda: chunks(text), seed=0)
    assert embedding.vectors.shape[0] == N_UNIVERSAL + 10
    assert similarity(embedding, "the", "this") > 0.95
    assert similarity(embedding, "sees", "likes") > 0.95
    assert similarity(embedding, "the", "sees") < 0.6


@pytest.mark.parametrize("roots", [True, False])
def test_embeddings_are_singular_vectors_of_scaled_counts(roots):
    """Counts over the roots of their margins, or the square roots of these; rows by singular values, of length 1."""
    text = two_kinds_of_words(50)
    embedding = CCA(size=3, window=1, roots=roots).fit(lambda: chunks(text))
    (counts,) = (each.toarray() for each in context_counts(chunks(text), embedding.vocabulary, 1))
    blocks = []
    for block in (counts, counts.T):
        margins = [np.maximum(block.sum(axis=axis, keepdims=True), 1) for axis in (1, 0)]
        scaled = block / np.sqrt(margins[0] * margins[1])
        blocks.append(np.sqrt(scaled) if roots else scaled)
    left, values, _ = np.linalg.svd(np.hstack(blocks))
    rows = (left[:, :3] * values[:3])[:-1]
    rows = rows[N_UNIVERSAL:] / np.linalg.norm(rows[N_UNIVERSAL:], axis=1, keepdims=True)
    words = embedding.vectors[N_UNIVERSAL:]
    np.testing.assert_allclose(words @ words.T, rows @ rows.T, atol=1e-5)


def test_embeddings_know_rare_words_by_their_tags():
    vocabulary = EmbeddingVocabulary(["dog"])
    (chunk,) = chunks([(("Dog", "wug", "sees"), ("NN", "NN", "VBZ"))])
    assert vocabulary.ids(chunk).tolist() == [N_UNIVERSAL, UNIVERSAL_IDS["NOUN"], UNIVERSAL_IDS["VERB"]]


def test_embeddings_count_contexts_within_sentences():
    vocabulary = EmbeddingVocabulary(["a", "b", "c"])
    text = [(("a", "b", "c"), ("NN",) * 3), (("b", "a"), ("NN",) * 2)]
    one, two = (each.toarray() for each in context_counts(chunks(text), vocabulary, 2))
    a, b, c, edge = (N_UNIVERSAL + k for k in range(4))
    expected = {(a, b): 1, (b, c): 1, (b, a): 1, (edge, a): 1, (edge, b): 1, (c, edge): 1, (a, edge): 1}
    assert {(i, j): one[i, j] for i, j in zip(*np.nonzero(one), strict=True)} == expected
    assert two[a, c] == 1
    assert two[c, b] == two[b, b] == 0


def test_embeddings_from_outside_keep_their_angles():
    text = two_kinds_of_words()
    rng = np.random.default_rng(0)
    given = {word: rng.normal(size=6) for slot in SLOTS for word in slot} | {"unused": rng.normal(size=6)}
    embedding = GivenVectors.of({word.upper(): vector for word, vector in given.items()}, 6).fit(lambda: chunks(text))
    expected = given["the"] @ given["dog"] / np.linalg.norm(given["the"]) / np.linalg.norm(given["dog"])
    assert similarity(embedding, "the", "dog") == pytest.approx(expected, abs=1e-5)
    noun = embedding.vectors[UNIVERSAL_IDS["NOUN"]]
    assert np.linalg.norm(noun) == pytest.approx(1, abs=1e-5)
    assert "unused" not in embedding.vocabulary.words


@pytest.mark.parametrize(
    ("embedder", "message"),
    [
        (CCA(size=50), "more than 50 different words"),
        (Brown(n_clusters=16), "at least 16 different words"),
        (Brown(n_clusters=12), "power of two"),
        (GivenVectors(("a", "b"), np.zeros((1, 3))), "2 words, got shape"),
        (GivenVectors(("dog", "cat"), np.full((2, 3), np.nan)), "finite"),
        (GivenVectors(("dog", "cat"), np.eye(2), 2), "more than 2 words"),
    ],
)
def test_embeddings_refuse_what_is_too_little(embedder, message):
    text = two_kinds_of_words(20)
    with pytest.raises(match=message):
        embedder.fit(lambda: chunks(text), seed=0)


def class_pairs(counts: np.ndarray, classes: np.ndarray, n: int) -> np.ndarray:
    pairs = np.zeros((n, n), np.int64)
    for (i, j), count in np.ndenumerate(counts):
        pairs[classes[i], classes[j]] += count
    return pairs


def test_embeddings_brown_exchange_climbs_to_where_no_word_gains(monkeypatch):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.7, size=(13, 13))
    counts[-1, -1] = 0
    values = []
    for sweeps in range(6):
        monkeypatch.setattr("spacy_lpcfg.words.brown._N_SWEEPS", sweeps)
        classes, pairs = cluster(csr_array(counts), 3)
        assert np.array_equal(pairs, class_pairs(counts, classes, 4))
        assert classes[-1] == 3
        values.append(log_likelihood(pairs))
    assert values == sorted(values)
    assert values[-1] > values[0]
    monkeypatch.setattr("spacy_lpcfg.words.brown._N_SWEEPS", 100)
    classes, pairs = cluster(csr_array(counts), 3)
    for word in range(12):
        for other in range(3):
            moved = classes.copy()
            moved[word] = other
            assert log_likelihood(class_pairs(counts, moved, 4)) <= log_likelihood(pairs) + 1e-6


def test_embeddings_brown_paths_merge_what_loses_least():
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 20, size=(6, 6))
    losses = {}
    for i in range(6):
        for j in range(i + 1, 6):
            classes = np.arange(6)
            classes[classes == j] = i
            losses[i, j] = log_likelihood(pairs) - log_likelihood(class_pairs(pairs, classes, 6))
    i, j = min(losses, key=losses.__getitem__)
    paths = merge_paths(pairs)
    assert paths[i][:-1] == paths[j][:-1]
    assert sorted(paths) == sorted(set(paths))
    assert sum(2.0 ** -len(path) for path in paths) == 1  # the leaves of a binary tree


def test_embeddings_tag_groups_join_tags_of_a_slot():
    rng = np.random.default_rng(0)
    tags = [tuple(rng.choice(slot) for slot in (["DET", "NUM"], ["NOUN", "PROPN"], ["VERB"])) for _ in range(200)]
    text = [(("w",) * 3, each) for each in tags]
    groups = TagGroups(3).fit(lambda: chunks(text))
    of = {tag: groups[UNIVERSAL_IDS[tag]] for tag in ("DET", "NUM", "NOUN", "PROPN", "VERB")}
    assert of["DET"] == of["NUM"] != of["NOUN"] == of["PROPN"] != of["VERB"] != of["DET"]
    assert groups.shape == (N_UNIVERSAL,)
    assert set(groups) == {0, 1, 2}
