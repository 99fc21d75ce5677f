"""Covariances, the spectral metric, and recovery of latent trees as the data grow."""

import itertools

import numpy as np
import pytest

from benchmarks.papers.simulated_trees import LatentModel, leaves, random_shape, sequence_covariances, spans
from spacy_lpcfg.bracketing.paper.anchors import PaperAnchors
from spacy_lpcfg.bracketing.paper.covariances import Covariances, covariances
from spacy_lpcfg.bracketing.paper.embeddings import Embedding, EmbeddingVocabulary
from spacy_lpcfg.bracketing.paper.latent_tree import minimal_tree
from spacy_lpcfg.bracketing.paper.metric import distance_table, log_volume, smooth
from spacy_lpcfg.bracketing.sentences import N_UNIVERSAL, UNIVERSAL_IDS, chunks

WORDS = ["a", "b", "c", "d"]
TAGS = ["NOUN", "VERB", "DET"]


def random_text(n: int, seed: int, longest: int = 6) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest + 1, size=n)
    return [(tuple(rng.choice(WORDS, k)), tuple(rng.choice(TAGS, k))) for k in lengths]


def random_embedding(p: int, seed: int) -> Embedding:
    vectors = np.random.default_rng(seed).normal(size=(N_UNIVERSAL + len(WORDS), p))
    return Embedding(EmbeddingVocabulary(WORDS), vectors.astype(np.float32))


def algorithm_1(text, embedding, groups, sentence, gamma) -> np.ndarray:
    """Covariances of a sentence by the sums of algorithm 1, over all pairs of positions of all sentences."""
    anchors = [groups[UNIVERSAL_IDS[tag]] for tag in sentence[1]]
    n, p = len(anchors), embedding.vectors.shape[1]
    out = np.zeros((n, n, p, p))
    for j, k in itertools.combinations(range(n), 2):
        total = 0.0
        for words, tags in text:
            rows = [embedding.vectors[N_UNIVERSAL + WORDS.index(word)].astype(float) for word in words]
            for a, b in itertools.combinations(range(len(words)), 2):
                if [groups[UNIVERSAL_IDS[tags[a]]], groups[UNIVERSAL_IDS[tags[b]]]] == [anchors[j], anchors[k]]:
                    kappa = abs((k - j) - (b - a)) / ((k - j) + (b - a))
                    weight = max(0.0, 1 - kappa / gamma)
                    out[j, k] += weight * np.outer(rows[a], rows[b])
                    total += weight
        out[j, k] /= total
    return out


def test_metric_table_is_algorithm_1():
    text, embedding = random_text(60, 0), random_embedding(3, 1)
    groups = PaperAnchors().fit(lambda: [])
    sentence = (("a", "b", "c", "d"), ("NOUN", "VERB", "DET", "NOUN"))
    table = covariances(chunks(text, n_tokens=50), embedding, groups, max_distance=6)
    means, _ = smooth(table, 0.4, 6)
    anchors = groups[[UNIVERSAL_IDS[tag] for tag in sentence[1]]]
    expected = algorithm_1(text, embedding, groups, sentence, 0.4)
    left, right = np.triu_indices(4, 1)
    found = means[right - left - 1, anchors[left], anchors[right]]
    np.testing.assert_allclose(found, expected[left, right], rtol=1e-4, atol=1e-5)


def spectral_distances(covariances: np.ndarray, m: int) -> np.ndarray:
    """Equation 5 with all of its terms: (n, n, p, p) uncentred covariances to (n, n) distances."""
    volumes = log_volume(covariances, m)
    diagonal = np.diag(volumes)
    return 0.5 * (diagonal[:, None] + diagonal[None, :]) - volumes


def exact_covariances(model: LatentModel) -> np.ndarray:
    """E[v_i v_j'] of all words, by sums along the paths of the tree (assumption 1)."""
    n, (p, m) = len(model.emissions), model.emissions[0].shape
    sigma = np.zeros((n, n, p, p))

    def visit(node, above: np.ndarray) -> dict[int, np.ndarray]:
        """Return the map from the latent vector above the node to each word; `above` is that one's second moments."""
        if isinstance(node, int):
            sigma[node, node] = model.emissions[node] @ above @ model.emissions[node].T
            return {node: model.emissions[node]}
        step = model.maps[spans(node)[0]]
        own = step @ above @ step.T + 0.25 * np.eye(m)
        left, right = (visit(child, own) for child in node)
        for i, j in itertools.product(left, right):
            sigma[i, j] = left[i] @ own @ right[j].T
            sigma[j, i] = sigma[i, j].T
        return {word: x @ step for word, x in (left | right).items()}

    visit(model.shape, np.eye(m))
    return sigma


def paths(shape) -> dict[tuple[int, int], set]:
    """The edges between each two words of the undirected tree."""
    to_root: dict[int, set] = {word: set() for word in leaves(shape)}
    for node in [*spans(shape)[1:], *((word, word + 1) for word in leaves(shape))]:
        for word in range(*node):
            to_root[word].add(node)
    return {(i, j): to_root[i] ^ to_root[j] for i, j in itertools.combinations(to_root, 2)}


@pytest.mark.parametrize("seed", range(12))
def test_metric_is_additive_along_any_tree(seed):
    """Lemma 1 on random trees of 4 to 9 words: one length for each edge explains all distances."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 4))
    model = LatentModel.random(random_shape(0, int(rng.integers(4, 10)), rng), m, m + 2, 0.0, rng)
    distances = spectral_distances(exact_covariances(model), m)
    of_pairs = paths(model.shape)
    edges = sorted(set.union(*of_pairs.values()))
    crossed = np.array([[edge in path for edge in edges] for path in of_pairs.values()], dtype=float)
    wanted = np.array([distances[pair] for pair in of_pairs])
    lengths, *_ = np.linalg.lstsq(crossed, wanted, rcond=None)
    np.testing.assert_allclose(crossed @ lengths, wanted, atol=1e-8)
    assert len(wanted) > np.linalg.matrix_rank(crossed)
    found = minimal_tree(distances, len(leaves(model.shape[0])))
    assert [tuple(span) for span in found.spans] == spans(model.shape)[1:]


def test_metric_of_the_paper_backs_off_from_ranks_alone():
    rng = np.random.default_rng(0)
    counts = np.array([9.0, 2.0])[:, None].repeat(3, axis=1).T.reshape(3, 1, 2)[:, [0, 0]]  # (D, A, A)
    sums = rng.normal(size=(3, 2, 2, 4, 4)).astype(np.float32)
    sums[:, 1, 1, 1:] = 0  # of rank 1
    few = distance_table(Covariances(sums, counts), m=2, gamma=0.1, n_distances=3, min_pairs=0)
    own = -log_volume(sums / counts[..., None, None], 2)
    np.testing.assert_allclose(few[:, 0], np.moveaxis(own, 0, -1)[:, 0], rtol=1e-5)
    assert np.isfinite(few[1, 1]).all()
    assert not np.allclose(distance_table(Covariances(sums, counts), m=2, gamma=0.1, n_distances=3)[0, 0], few[0, 0])


def test_metric_says_how_much_text_it_needs():
    empty = Covariances(np.zeros((2, 1, 1, 4, 4), np.float32), np.zeros((2, 1, 1)))
    with pytest.raises(match="rank 3, which take at least 3 pairs"):
        distance_table(empty, m=3, gamma=0.4, n_distances=2)
    with pytest.raises(ValueError, match="from 1 to 4, the dimension"):
        distance_table(empty, m=5, gamma=0.4, n_distances=2)


def recovered(model: LatentModel, n: int, m: int, rng: np.random.Generator) -> bool:
    distances = spectral_distances(sequence_covariances(model.sample(n, rng)), m)
    found = minimal_tree(distances, len(leaves(model.shape[0])))
    return [tuple(span) for span in found.spans] == spans(model.shape)[1:]


def test_metric_recovers_trees_as_the_data_grow():
    rng = np.random.default_rng(0)
    models = [LatentModel.random(random_shape(0, 7, rng), 2, 6, 1.0, rng) for _ in range(12)]
    few, many = ([recovered(model, n, 2, rng) for model in models] for n in (30, 20_000))
    assert all(many)
    assert sum(few) < len(few)
