import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lpcfg.isbn import ISBN, Relations
from spacy_lpcfg.isbn.events import DecisionEvents, events_of
from spacy_lpcfg.isbn.network import Network, start_network
from spacy_lpcfg.isbn.relations import LEAF, ROOT
from spacy_lpcfg.isbn.transitions import ATTACH, MODIFY, PROJECT, SHIFT, derive
from spacy_lpcfg.isbn.vocabulary import mask_of, take_vocabulary
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.trees import Tree, parse_trees

TEXTS = [
    "(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog))))",
    "(S (NP (DT The) (JJ old) (NN cat)) (VP (VBD barked)))",
    "(S (NP (NP (DT a) (NN walk)) (PP (IN in) (NP (NNP Rome)))) (VP (VBD walked) (ADVP (RB badly))))",
]
TREES = list(parse_trees(TEXTS))


@pytest.fixture
def vocabulary():
    return take_vocabulary(TREES, min_count=2, min_signature_count=2, min_frequent=3)


def test_vocabulary_numbers(vocabulary):
    assert vocabulary.labels == ("ADVP", "NP", "PP", "S", "VP")
    assert vocabulary.tags == ("DT", "IN", "JJ", "NN", "NNP", "RB", "VBD")
    assert vocabulary.words == ("", "the", "", "", "", "cat", "", "", "")
    assert vocabulary.n_outcomes == 8 + 7 + 9
    assert vocabulary.outcome_of(0, "the", False) == vocabulary.word_offsets[0] + 1
    assert vocabulary.outcome_of(0, "The", True) == vocabulary.word_offsets[0] + 1
    assert vocabulary.outcome_of(0, "The", False) == vocabulary.word_offsets[0]


def test_vocabulary_has_all_words_of_the_treebank(vocabulary):
    assert vocabulary.known.spellings >= {str(leaf.word) for tree in TREES for leaf in tree.leaves()}
    assert "lynx" not in vocabulary.known.spellings


def test_vocabulary_masks(vocabulary):
    masks = vocabulary.masks
    np_ = vocabulary.labels.index("NP")
    assert not masks[mask_of(LEAF, ROOT), SHIFT]
    assert not masks[mask_of(LEAF, np_), SHIFT]
    assert masks[mask_of(np_, ROOT), SHIFT]
    assert not masks[mask_of(np_, ROOT), MODIFY]
    assert masks[mask_of(np_, 0), MODIFY]
    assert masks[mask_of(np_, 0), ATTACH]
    assert not masks[mask_of(np_, 0), PROJECT + np_]
    assert masks[mask_of(0, np_), PROJECT + np_]
    assert masks[mask_of(LEAF, ROOT), PROJECT:].all()


WORDS = st.sampled_from(["the", "The", "THE", "cat", "Cat", "walked", "badly", "Rome", "lynx", "", "\ud800", "x" * 200])


def columns(vocabulary, word, first, tag):
    """Outcome, factor and signatures of a word under a tag, from the lists that the vocabulary was made of."""
    own = slice(*(vocabulary.word_offsets[tag : tag + 2] - vocabulary.first_word))
    known = vocabulary.words[own][1:]
    spelling = next((each for each in (word, *[word.lower()] * first) if each in known), None)
    place = 0 if spelling is None else 1 + known.index(spelling)
    factor = vocabulary.rare.log_factors(word, first)[tag] if spelling is None else 0.0
    has_signatures = spelling is None or word not in vocabulary.frequent
    names = vocabulary.rare.known_signatures(word, first) if has_signatures else []
    rows = [
        vocabulary.n_outcomes + vocabulary.signatures.index(name) for name in names if name in vocabulary.signatures
    ]
    return int(vocabulary.word_offsets[tag]) + place, np.float32(factor), has_signatures, rows


@given(st.lists(st.tuples(WORDS, st.integers(0, 6)), min_size=1, max_size=6))
def test_candidates_are_what_is_known_of_each_word_under_its_tag(sentence):
    vocabulary = take_vocabulary(TREES, min_count=2, min_signature_count=2, min_frequent=3)
    words, tags = zip(*sentence, strict=True)
    found = vocabulary.candidates(words, [vocabulary.tags[tag] for tag in tags])
    expected = [columns(vocabulary, word, i == 0, tag) for i, (word, tag) in enumerate(sentence)]
    assert found.tags.tolist() == list(tags)
    of_words = zip(found.outcomes, found.log_factors, found.has_signatures, strict=True)
    assert list(of_words) == [each[:3] for each in expected]
    for i, (word, tag) in enumerate(sentence):
        rows = found.signature_rows[slice(*found.signature_offsets[i : i + 2])]
        assert rows.tolist() == expected[i][3]
        assert vocabulary.outcome_of(tag, word, i == 0) == expected[i][0]
        assert vocabulary.signature_rows(tag, word, i == 0) == expected[i][3]


def test_rare_words_are_a_distribution(vocabulary):
    """Over the rare words and the signatures of all others, the probabilities under each tag sum to 1."""
    rare = vocabulary.rare
    table = np.array([w * tags for w, tags in zip(rare.weights, rare.of_names(), strict=True)])
    assert np.allclose(table.sum(axis=0) / rare.tag_weights, 1, atol=1e-5)
    assert all(np.isclose(tags.sum(), 1) for tags in rare.of_names())
    own = rare.names.index("w walked")
    expected = np.log(rare.tags_of("walked", False) * rare.weights[own] / rare.tag_weights)
    assert np.allclose(rare.log_factors("walked", False), expected)
    assert rare.tags_of("walked", False).argmax() == vocabulary.tags.index("VBD")


def test_events_of_trees(vocabulary):
    events = events_of(TREES, vocabulary, Relations())
    assert events.n_sequences == 3
    assert events.n_positions == sum(len(derive(tree)) for tree in TREES)
    first, end, mask, outcome = events.choices.T
    assert ((first <= outcome) & (outcome < end)).all()
    masked = mask >= 0
    assert events.masks[mask[masked], outcome[masked]].all()
    assert (events.latent < np.arange(events.n_positions)[:, None]).all()
    assert events.rows.max() < 4 * vocabulary.n_rows


def test_events_are_selected_and_joined(vocabulary):
    def events(*trees: Tree) -> DecisionEvents:
        return events_of(trees, vocabulary, Relations())

    one, two, three = TREES
    for found, wanted in (
        (events(*TREES).select([2, 0]), events(three, one)),
        (DecisionEvents.join([events(one), events(), events(two, three)]), events(*TREES)),
    ):
        for name in DecisionEvents.__dataclass_fields__:
            assert np.array_equal(getattr(found, name), getattr(wanted, name)), name


def test_events_leave_out_unknown_symbols(vocabulary):
    trees = [Tree("S", [Tree("XX", word="the")]), Tree("FRAG", [Tree("NN", word="the")]), TREES[0]]
    assert events_of(trees, vocabulary, Relations()).n_sequences == 1
    assert events_of([], vocabulary, Relations()).n_positions == 0


def test_isbn_storage(vocabulary):
    relations = Relations(latent=("previous",))
    networks = [start_network("mean-field", vocabulary, relations, n_states=3, seed=i) for i in range(2)]
    isbn = ISBN(vocabulary, relations, tuple(networks), {"seed": 1})
    data = isbn.to_bytes()
    again = ISBN.from_bytes(data)
    assert again.to_bytes() == data
    assert again.meta == {"seed": 1}
    assert again.relations == relations
    words = ["The", "walker", "sat"]
    assert all(
        np.array_equal(a, b)
        for a, b in zip(vocabulary.candidates(words), again.vocabulary.candidates(words), strict=True)
    )
    for damaged in (b"", data[:-10], b"x" * 100, data[:200] + b"x" + data[201:]):
        with pytest.raises(ModelError):
            ISBN.from_bytes(damaged)


def test_isbn_checks(vocabulary):
    network = start_network("feed-forward", vocabulary, Relations(), n_states=3, seed=0)
    with pytest.raises(ModelError, match="relations"):
        ISBN(vocabulary, Relations(latent=("previous",)), (network,))
    with pytest.raises(ModelError, match="at least one"):
        ISBN(vocabulary, Relations(), ())
    with pytest.raises(ValueError, match="feed-forward"):
        Network("exact", **network.parameters)
    with pytest.raises(ValueError, match="shape"):
        network.of({**network.parameters, "outcome_bias": np.zeros(2)})
