"""Networks that search a lattice where the models before them say what is likely."""

from collections import Counter
from dataclasses import asdict, replace

import numpy as np
import pytest
import srsly
from hypothesis import given
from hypothesis import strategies as st

from spacy_lpcfg.chart import Parser
from spacy_lpcfg.combination import Combined
from spacy_lpcfg.combination.mirrored import MirroredParser
from spacy_lpcfg.combination.parser import CombinedParser
from spacy_lpcfg.isbn.known_words import KnownWords
from spacy_lpcfg.isbn.lattice.reader import LatticeReader
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.parser import IncrementalParser
from spacy_lpcfg.isbn.relations import Relations, codes
from spacy_lpcfg.isbn.search import Networks
from spacy_lpcfg.isbn.settings import BeamSettings, LatticeSettings
from spacy_lpcfg.parsing.constraints import Constraints
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import Posteriors
from spacy_lpcfg.storage.container import pack, unpack

SENTENCE = ["The", "ferry", "was", "the", "last", "one", "."]
LATTICE = LatticeSettings(guide="labels", nats=8)
BEAM = BeamSettings(lattice=LATTICE)


@pytest.fixture(scope="session")
def grammar(members):
    return members[0]


@pytest.fixture(scope="session")
def networks(members, mirrored):
    return members[1], mirrored


@pytest.fixture(scope="session")
def combined(grammar, networks):
    return Combined((networks[0], grammar, networks[1]), (0.3, 0.4, 0.3), lattice=LATTICE)


def of_beam(combined: Combined) -> CombinedParser:
    return CombinedParser(replace(combined, lattice=None))


def test_networks_of_a_combination_look_each_word_up_once(trees, networks, combined, monkeypatch):
    asked = Counter()
    known = KnownWords.of

    def of(self, word, first):
        asked[id(self)] += 1
        return known(self, word, first)

    parser = CombinedParser(combined)
    monkeypatch.setattr(KnownWords, "of", of)
    parser.parse(SENTENCE)
    assert list(asked.values()) == [2 * len(SENTENCE)]


def test_guides_are_the_means_of_grammars_and_of_the_networks_before(combined, grammar, networks, trees):
    parser, straight = CombinedParser(combined), IncrementalParser(networks[0], settings=BEAM)
    mirrored = MirroredParser(IncrementalParser(networks[1].model, settings=BEAM))
    n_other = 0
    for tree in trees[:20]:
        first = Parser(grammar).posteriors(tree.words)
        second = straight.read(tree.words, guide=first).posteriors
        third = mirrored.read(tree.words, guide=Posteriors.mean([first, second], (0.4 / 0.7, 0.3 / 0.7))).posteriors
        found, expected = parser.posteriors(tree.words), Posteriors.mean([second, first, third], (0.3, 0.4, 0.3))
        assert found.brackets == pytest.approx(expected.brackets)
        n_other += found.brackets != of_beam(combined).posteriors(tree.words).brackets
    assert n_other > 10


def test_mirrored_networks_have_mirrored_guides(networks, grammar, trees):
    """As if the trees that guide them were mirrored themselves."""
    straight = IncrementalParser(networks[1].model, settings=BEAM)
    for tree in trees[:10]:
        guide, query = Parser(grammar).posteriors(tree.words), Query(tree.words)
        found = MirroredParser(straight).read(query, guide=guide).posteriors
        expected = straight.read(query.mirrored(), guide=guide.mirrored()).posteriors.mirrored()
        assert (found.brackets, found.tags) == (expected.brackets, expected.tags)


@pytest.mark.parametrize("guide", ["labels", "fenceposts"])
def test_lattice_gives_probabilities_of_likely_brackets(networks, grammar, trees, guide):
    settings = LatticeSettings(guide=guide, width=5)
    parser = IncrementalParser(networks[0], settings=BeamSettings(lattice=settings))
    n_new = 0
    for tree in trees[:30]:
        likely = Parser(grammar).posteriors(tree.words)
        found = parser.read(tree.words, guide=likely).posteriors
        assert all(0 < p <= 1 for p in found.brackets.values())
        assert [sum(of_word.values()) for of_word in found.tags] == pytest.approx([1] * len(tree))
        assert max(p for (start, end, _), p in found.brackets.items() if (start, end) == (0, len(tree))) > 0.2
        assert list(found.brackets) == sorted(found.brackets, key=lambda span: (span[0], -span[1]))
        kept = {span for span, p in likely.brackets.items() if p >= settings.wider.min_bracket}
        n_new += len(found.brackets.keys() - kept)
    assert (n_new > 0) == (guide == "fenceposts")


@given(st.lists(st.sampled_from([*SENTENCE, "xyzzy", "they", "missed"]), min_size=1, max_size=9))
def test_any_words_have_posteriors(combined, words):
    found = CombinedParser(combined).posteriors(words)
    assert all(0 <= p <= 1 for p in found.brackets.values())
    assert len(words) == 1 or any(span[:2] == (0, len(words)) for span in found.brackets)
    assert all(0 < sum(of_word.values()) < 1 + 1e-6 for of_word in found.tags)
    assert len(found.tags) == len(words)


def test_given_tags_stay(combined, networks, grammar):
    tags = ["DT", "VB", None, "XX", None, None, "."]
    query = Query(SENTENCE, tags)
    assert CombinedParser(combined).parse(query).tags[:4:3] == ["DT", "XX"]
    found = (
        IncrementalParser(networks[0], settings=BEAM).read(query, guide=Parser(grammar).posteriors(query)).posteriors
    )
    assert [of_word.keys() for of_word, tag in zip(found.tags, tags, strict=True) if tag in ("DT", "VB", ".")] == [
        {"DT"},
        {"VB"},
        {"."},
    ]


def never(self, query, guide):
    raise AssertionError("Expected no lattice.")


def test_beam_searches_where_a_lattice_cannot(combined, networks, grammar, trees, monkeypatch):
    """Under constraints, without a guide of more than one tree, and in networks that remember more."""
    monkeypatch.setattr(LatticeReader, "posteriors", never)
    parser, beam = CombinedParser(combined), of_beam(combined)
    guide = Parser(grammar).posteriors(SENTENCE)
    with pytest.raises(AssertionError, match="no lattice"):
        parser.posteriors(SENTENCE)
    own = CombinedParser(combined, search=BeamSettings(beam=combined.beam))
    assert own.posteriors(SENTENCE).brackets == beam.posteriors(SENTENCE).brackets
    query = Query(SENTENCE, constraints=Constraints(required=((3, 5, "NP"),)))
    assert parser.posteriors(query).brackets == beam.posteriors(query).brackets
    without_tree = ["was"] * 200
    assert Parser(grammar).posteriors(without_tree).is_of_one
    assert parser.posteriors(without_tree).brackets == beam.posteriors(without_tree).brackets
    alone = IncrementalParser(networks[0], settings=BEAM)
    for found in (alone.read(SENTENCE), alone.read(SENTENCE, guide=replace(guide, is_of_one=True))):
        assert found.posteriors.brackets == IncrementalParser(networks[0]).posteriors(SENTENCE).brackets
    assert alone.parse(SENTENCE).spans == IncrementalParser(networks[0]).parse(SENTENCE).spans
    relations = Relations(latent=("previous", "top.context"), decisions=("previous",))
    for other in ({"approximation": "mean-field-step"}, {"relations": relations}):
        isbn = ISBNLearner(n_states=4, n_epochs=1, **other).fit(trees)
        found = IncrementalParser(isbn, settings=BEAM).read(SENTENCE, guide=guide).posteriors
        assert found.brackets == IncrementalParser(isbn).posteriors(SENTENCE).brackets


def test_guides_stand_in_where_no_derivation_is_left(networks, grammar):
    guide = Parser(grammar).posteriors(SENTENCE)
    unlikely = Posteriors({(0, 7, "S"): 1.0, (0, 1, "S"): 1.0}, guide.tags)
    only = replace(unlikely, brackets={(1, 7, "S"): 1.0})
    parser = IncrementalParser(networks[0], settings=BEAM)
    assert parser.read(SENTENCE, guide=only).posteriors is only
    assert parser.read(SENTENCE, guide=unlikely).posteriors is not unlikely


def test_wider_lattices_have_what_narrow_ones_lack(networks, grammar, monkeypatch):
    """Brackets less likely than the least are looked at where no derivation is left without them."""
    guide = Parser(grammar).posteriors(SENTENCE)
    rare = replace(guide, brackets=dict.fromkeys(guide.brackets, 0.1 * LATTICE.min_bracket))
    parser = IncrementalParser(networks[0], settings=BEAM)
    assert parser.read(SENTENCE, guide=rare).posteriors is not rare
    assert {*parser.read(SENTENCE, guide=rare).posteriors.brackets} <= {*guide.brackets}


def test_guides_stand_in_where_memory_ends(networks, grammar):
    guide, isbn = Parser(grammar).posteriors(SENTENCE), networks[0]
    numbers = Networks(isbn, codes(isbn.relations.latent), codes(isbn.relations.decisions))
    for max_bytes, is_guide in ((1e4, True), (1e9, False)):
        reader = LatticeReader(isbn, numbers, LATTICE, unary_cap=4, max_bytes=max_bytes)
        assert (reader.posteriors(Query(SENTENCE), guide) is guide) == is_guide


def test_guides_of_other_words_are_refused(networks, grammar):
    guide = Parser(grammar).posteriors(SENTENCE)
    parser = IncrementalParser(networks[0], settings=BEAM)
    for wrong in (replace(guide, brackets={(0, 8, "S"): 1.0}), replace(guide, tags=guide.tags[1:])):
        with pytest.raises(ValueError, match=r"Expected (brackets over|a guide of) 7 words"):
            parser.read(SENTENCE, guide=wrong)


def test_lattices_are_saved_with_a_combination(combined):
    for lattice in (None, LATTICE, LatticeSettings(guide="fenceposts", width=20, nats=14, min_tag=0)):
        assert Combined.from_bytes(replace(combined, lattice=lattice).to_bytes()).lattice == lattice
    values = unpack("combined", 3, combined.to_bytes())
    for wrong in ({"width": 0}, {"guide": "stars"}, {"nats": -1}, {"min_tag": "0.1"}, {"margin": 1}):
        text = srsly.json_dumps({**asdict(LATTICE), **wrong})
        with pytest.raises(ModelError, match="Expected"):
            Combined.from_bytes(pack("combined", 3, {**values, "lattice": text}))
    with pytest.raises(ModelError):
        Combined.from_bytes(pack("combined", 3, {**values, "lattice": np.zeros(1)}))
