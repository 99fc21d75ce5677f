from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from networks import tiny
from oracles.lattice import LinearEnumeration, posteriors

from spacy_lpcfg.isbn import ISBN, LatticeSettings
from spacy_lpcfg.isbn.lattice._lattice import Lattice
from spacy_lpcfg.isbn.relations import codes
from spacy_lpcfg.isbn.search import Networks

SENTENCES = [["a"], ["a", "b"], ["b", "new", "c"]]
UNPRUNED = LatticeSettings(width=10**8, nats=10**6)
UNARY_CAP = 2
EVERYTHING = -1


def lattice(isbn: ISBN, **settings) -> Lattice:
    networks = Networks(isbn, codes(isbn.relations.latent), codes(isbn.relations.decisions))
    return Lattice(networks, UNPRUNED, unary_cap=UNARY_CAP, **settings)


def run(one: Lattice, isbn: ISBN, words, tags=None, brackets=None) -> bool:
    """Whether a derivation of nothing but some brackets was found; None allows all."""
    n, labels = len(words), {label: i for i, label in enumerate(isbn.labels)}
    spans = combinations(range(n + 1), 2) if brackets is None else []
    allowed = [(i, j, EVERYTHING) for i, j in spans] + [(i, j, labels[label]) for i, j, label in brackets or ()]
    one.begin(isbn.vocabulary.candidates(words, tags), np.array(allowed, dtype=np.int32).reshape(-1, 3))
    return all(one.advance() for _ in words) and one.finish()


def agree(one: Lattice, expected) -> None:
    of_brackets, of_tags = expected
    found = one.brackets(0.0)
    assert {span for span, p in of_brackets.items() if p > 1e-12} <= found.keys() <= of_brackets.keys()
    for span, p in found.items():
        assert p == pytest.approx(min(of_brackets[span], 1), abs=1e-4)
    for of_word, expected_of_word in zip(one.tags(), of_tags, strict=True):
        assert of_word == pytest.approx(expected_of_word, abs=1e-4)


def all_derivations(isbn: ISBN, words, tags=None) -> LinearEnumeration:
    return LinearEnumeration(isbn, isbn.vocabulary.candidates(words, tags), words, UNARY_CAP)


@pytest.mark.slow
@pytest.mark.parametrize(("words", "tags"), [*((words, None) for words in SENTENCES[:2]), (SENTENCES[2], "XXY")])
@pytest.mark.parametrize("n_networks", [1, 2])
def test_lattice_of_single_derivations_is_enumeration(n_networks, words, tags):
    isbn = tiny(*n_networks * ["feed-forward"])
    one = lattice(isbn, merges=False)
    assert run(one, isbn, words, tags)
    agree(one, posteriors(all_derivations(isbn, words, tags)))


def test_lattice_takes_normalisers_that_are_linear_in_the_means():
    isbn, words = tiny("feed-forward", "feed-forward"), ["a", "b"]
    n_states = sum(network.n_states for network in isbn.networks)
    random = np.random.default_rng(0).standard_normal((len(isbn.tags), 1 + n_states), dtype=np.float32)
    isbn = replace(isbn, normalizers=random)
    one = lattice(isbn, merges=False)
    assert run(one, isbn, words)
    agree(one, posteriors(all_derivations(isbn, words)))


def forgetful(isbn: ISBN) -> ISBN:
    """Networks that see nothing of the past."""
    networks = [
        network.of({**network.parameters, **{name: 0 * network.parameters[name] for name in _OF_THE_PAST}})
        for network in isbn.networks
    ]
    return ISBN(isbn.vocabulary, isbn.relations, tuple(networks))


_OF_THE_PAST = ("latent_weights", "decision_weights")


@pytest.mark.parametrize("words", [SENTENCES[1], ["c", "a"]])
def test_lattice_merges_without_loss_what_the_networks_do_not_tell_apart(words):
    isbn = forgetful(tiny("feed-forward", seed=3))
    one, single = lattice(isbn), lattice(isbn, merges=False)
    assert run(one, isbn, words)
    assert run(single, isbn, words)
    agree(one, posteriors(all_derivations(isbn, words)))
    assert one.n_vertices < single.n_vertices / 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_lattice_builds_allowed_brackets_only(seed):
    """And of the derivations that have no others all."""
    rng = np.random.default_rng(seed)
    isbn, words = tiny("feed-forward", seed=seed), ["a", "b", "c"]
    everything = all_derivations(isbn, words, "XYY")
    tree = everything.derivations[rng.integers(len(everything.derivations))][0]
    spans = sorted({span for tree, _ in everything.derivations for span in tree.spans()})
    allowed = {*tree.spans()} | {span for span in spans if rng.random() < 0.7}
    one = lattice(isbn, merges=False)
    assert run(one, isbn, words, "XYY", allowed)
    agree(one, posteriors(everything, allowed))
    assert not run(one, isbn, words, "XYY", {span for span in spans if span[1] < 3})


@pytest.mark.parametrize("seed", range(3))
def test_lattice_puts_brackets_in_pre_order_and_those_outside_in_most_trees_first(seed):
    isbn, words = tiny("feed-forward", seed=seed), ["a", "b"]
    one = lattice(isbn, merges=False)
    assert run(one, isbn, words, "XY", {(0, 2, "A"), (0, 2, "B"), (0, 1, "B")})
    found = list(one.brackets(0.0))
    assert found == sorted(found, key=lambda span: (span[0], -span[1]))
    heights, shares = Counter(), Counter()
    for tree, log in all_derivations(isbn, words, "XY").derivations:
        whole = [span for span in tree.spans() if span[1] == 2]
        for n_above, span in enumerate(whole if {*tree.spans()} <= {*found} else []):
            shares[span] += np.exp(log)
            heights[span] += (len(whole) - 1 - n_above - min(n_above, 1)) * np.exp(log)
    assert found[0] == max(shares, key=lambda span: heights[span] / shares[span])


def test_candidates_under_some_tags_are_those_under_each():
    vocabulary, words = tiny("feed-forward").vocabulary, ["new", "b"]
    found = vocabulary.candidates_among(words, [["Y", "X"], ["none"]])
    expected = [vocabulary.candidates(words, [tag, None]) for tag in ("Y", "X")]
    own = slice(*expected[0].offsets[1:3])
    for name in ("tags", "outcomes", "log_factors", "has_signatures"):
        of_all = [getattr(each, name)[0] for each in expected] + getattr(expected[0], name)[own].tolist()
        assert getattr(found, name).tolist() == of_all
    assert found.offsets.tolist() == [0, 2, 2 + own.stop - own.start]
    assert found.signature_rows.tolist() == expected[0].signature_rows.tolist()


def test_brackets_of_other_words_are_refused():
    isbn = tiny("feed-forward")
    one = lattice(isbn)
    for wrong in ((0, 3, 0), (-1, 2, 0), (1, 1, 0), (0, 2, 2), (0, 2, -2)):
        with pytest.raises(ValueError, match="Expected brackets over 2 words"):
            one.begin(isbn.vocabulary.candidates(["a", "b"]), np.array([wrong], dtype=np.int32))
