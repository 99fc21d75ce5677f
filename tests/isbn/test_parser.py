from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networks import UNPRUNED, tiny

from spacy_lpcfg.isbn import ISBN, BeamSettings, IncrementalParser
from spacy_lpcfg.isbn.derivations import Derivations
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.learning_settings import ISBNLexical
from spacy_lpcfg.isbn.network import APPROXIMATIONS
from spacy_lpcfg.isbn.search import Search
from spacy_lpcfg.parsing.decodings import DECODINGS, MostProbable
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import GLUED, PARSED
from spacy_lpcfg.trees import Tree, parse_trees

WORDS = ["a", "b", "new", "c", "a", "d"]
LN2 = np.log(2)
PARSER = IncrementalParser(tiny("feed-forward"))
TEXT = st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=8)


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("decoding", ["mbr", "most-probable"])
def test_parse_is_a_tree_of_the_words(approximation, decoding):
    parser = IncrementalParser(tiny(approximation), search=BeamSettings(beam=10), decoding=DECODINGS[decoding])
    for words in (WORDS, ["a"], ["new"] * 40):
        parse = parser.parse(words)
        assert parse.tree.words == words
        assert parse.tree.tags == parse.tags
        assert parse.status == PARSED
        assert parse.span_scores.shape == (len(parse.spans),)
        assert parse.tag_scores.shape == (len(words),)
        assert ((parse.span_scores > 0) & (parse.span_scores <= 1)).all()
        assert ((parse.tag_scores > 0) & (parse.tag_scores <= 1)).all()
        assert -np.inf < parse.log_probability < 0


def test_parse_decodes_the_best_tree():
    parser = IncrementalParser(PARSER.isbn, decoding=MostProbable())
    best, *others = parser.n_best(WORDS, n=5)
    parse = parser.parse(WORDS)
    assert parse.tree == best.tree
    assert len(others) == 4
    assert best.log_probability > others[0].log_probability
    assert parse.log_probability > best.log_probability


def test_parse_decodes_likely_brackets():
    posteriors, parse = PARSER.posteriors(WORDS), PARSER.parse(WORDS)
    assert [posteriors.brackets[span] for span in parse.spans] == pytest.approx(parse.span_scores.tolist())
    assert {span for span, p in posteriors.brackets.items() if p > 0.5} <= set(parse.spans)
    assert all(sum(shares.values()) == pytest.approx(1) for shares in posteriors.tags)
    assert parse.tags == [max(shares, key=shares.get) for shares in posteriors.tags]
    whole = [p for (start, end, _), p in posteriors.brackets.items() if (start, end) == (0, len(WORDS))]
    assert sum(whole) >= 1 - 1e-6


def test_posteriors_are_shares_of_the_derivations():
    """Two trees, one of them with two sequences of tags, and a chain that stands over its lower label in most."""
    derivations = [
        (((0, 2, "S"), (0, 1, "NP")), [0, 1]),
        (((0, 2, "S"), (0, 1, "NP")), [0, 2]),
        (((0, 2, "S"), (0, 1, "FRAG"), (0, 1, "NP")), [0, 1]),
    ]
    found = Derivations(derivations, np.log([0.02, 0.01, 0.01]))
    posteriors = found.posteriors(["DT", "NN", "VB"])
    assert list(posteriors.brackets) == [(0, 2, "S"), (0, 1, "FRAG"), (0, 1, "NP")]
    assert list(posteriors.brackets.values()) == pytest.approx([1, 0.25, 1])
    assert posteriors.tags[0] == {"DT": 1}
    assert posteriors.tags[1] == pytest.approx({"NN": 0.75, "VB": 0.25})
    assert [np.exp(log) for _, _, log in found.trees()] == pytest.approx([0.03, 0.01])


@pytest.mark.parametrize("decoding", ["mbr", "most-probable"])
def test_parse_of_a_network_that_is_all_but_certain(decoding):
    """Derivations whose logs are so far apart that the shares of some are 0."""
    isbn = tiny("feed-forward")
    certain = [
        network.of({name: 20_000 * array for name, array in network.parameters.items()}) for network in isbn.networks
    ]
    isbn = ISBN.from_bytes(replace(isbn, networks=tuple(certain)).to_bytes())
    parser = IncrementalParser(isbn, search=BeamSettings(final_margin=1e6, margin=1e6), decoding=DECODINGS[decoding])
    assert parser.n_best(WORDS, n=30)[-1].probability == 0
    assert parser.parse(WORDS).status == PARSED
    assert parser.posteriors(WORDS).brackets


def test_n_best_sums_over_tags_and_tree_log_probability_does_not():
    parser, words = IncrementalParser(PARSER.isbn, search=UNPRUNED), ["a", "new"]
    (best,) = parser.n_best(words, n=1)
    tagged = [Tree.from_spans(words, tags, best.tree.spans()) for tags in product(PARSER.isbn.tags, repeat=len(words))]
    logs = {tree: parser.tree_log_probability(tree) for tree in tagged}
    assert best.log_probability == pytest.approx(np.logaddexp.reduce([*logs.values()]), abs=1e-4)
    assert max(logs, key=logs.__getitem__) == best.tree
    given = {each.tree: each.log_probability for each in parser.n_best(Query(words, best.tree.tags), n=100)}
    assert given[best.tree] == pytest.approx(logs[best.tree], abs=1e-4)
    assert logs[best.tree] < best.log_probability - 0.1


def test_tree_log_probability_reads_trees_with_function_labels_if_the_model_has_them():
    trees = list(parse_trees("(A-SBJ (B-X (X a) (Y b)) (Y c)) (A-SBJ (X a) (Y b))"))
    isbn = ISBNLearner(n_states=3, n_epochs=1, lexical=ISBNLexical(min_count=1), functions=True).fit(trees)
    assert np.isfinite(IncrementalParser(isbn).tree_log_probabilities(trees)).all()


def test_parse_keeps_given_tags():
    tags = ["Y", None, "no such tag", "X", None, None]
    parse = PARSER.parse(Query(WORDS, tags))
    assert [tag for tag, given in zip(parse.tags, tags, strict=True) if given] == ["Y", "no such tag", "X"]
    assert set(parse.tags) <= {"X", "Y", "no such tag"}
    assert parse.log_probability < PARSER.parse(WORDS).log_probability


def test_parse_of_any_width_is_repeatable():
    for beam in (1, 2, 100):
        parser = IncrementalParser(PARSER.isbn, search=BeamSettings(beam=beam))
        first = parser.parse(WORDS)
        parser.parse(["c", "new", "b"])
        assert parser.parse(WORDS).log_probability == first.log_probability
        assert parser.parse(WORDS).spans == first.spans


@given(TEXT)
def test_parse_never_fails(words):
    for text in (words, [*words, "\ud800", " "]):
        parse = PARSER.parse(text)
        assert parse.tree.words == text
        assert parse.status == PARSED
        found = PARSER.surprisal(text)
        assert (found >= 0).all()
        assert -found.sum() * LN2 == pytest.approx(parse.log_probability, abs=1e-6)


def test_parse_of_a_long_text():
    parser = IncrementalParser(PARSER.isbn, search=BeamSettings(beam=3))
    words = ["a", "b", "new", "c"] * 250
    parse = parser.parse(words)
    assert parse.tree.words == words
    assert parse.status == PARSED
    found = parser.surprisal(words)
    assert found.shape == (1001,)
    assert -found.sum() * LN2 == pytest.approx(parse.log_probability, abs=1e-6)


def test_parse_where_the_end_is_out_of_reach():
    """After one step for the end no derivation has it: the beam is completed step by step."""
    parser = IncrementalParser(PARSER.isbn, search=BeamSettings(beam=2, max_pops=1))
    search = Search(parser._networks, parser.search)
    search.add(parser.isbn.vocabulary.candidates(["a"]))
    search.advance()
    search.finish()
    assert len(search.final_log_probabilities()) == 2
    parser = IncrementalParser(PARSER.isbn, search=BeamSettings(beam=2, max_pops=3))
    parse = parser.parse(["a", "b", "c"])
    assert parse.status == PARSED
    assert parse.tree.words == ["a", "b", "c"]


def test_parse_without_numbers_is_flat():
    """The weights of a network may be such that nothing is left of any derivation."""
    isbn = tiny("feed-forward")
    nowhere = {name: array * np.float32(np.nan) for name, array in isbn.networks[0].parameters.items()}
    parser = IncrementalParser(ISBN(isbn.vocabulary, isbn.relations, (isbn.networks[0].of(nowhere),)))
    parse = parser.parse(Query(WORDS, ["X", *[None] * 5]))
    assert parse.status == GLUED
    assert np.isnan(parse.log_probability)
    assert parse.spans == [(0, 6, "A")]
    assert parse.tags[0] == "X"
    assert parser.n_best(WORDS, n=3) == []
    assert parser.posteriors(WORDS).brackets == {(0, 6, "A"): 0}
    assert parser.surprisal(WORDS)[0] == np.inf
    prefix = parser.start().push("a")
    assert prefix.trees() == []
    assert prefix.finish().parse.status == GLUED


def test_parse_refuses_no_words():
    for call in (PARSER.parse, PARSER.surprisal, PARSER.posteriors):
        with pytest.raises(ValueError, match="at least one word"):
            call([])
        with pytest.raises(ValueError, match="got 2 words and 1 tags"):
            call(Query(["a", "b"], ["X"]))
    for n in (0, 10**9):
        with pytest.raises(ValueError, match=f"n to be a whole number from 1 to 10,000, got {n}"):
            PARSER.n_best(WORDS, n=n)
    with pytest.raises(ValueError, match="push one"):
        PARSER.start().finish()


@pytest.mark.parametrize("words", ["She left.", ["a", ""], [3]])
def test_parse_refuses_what_is_no_list_of_words(words):
    with pytest.raises(ValueError, match="Expected a list of words"):
        PARSER.parse(words)
    with pytest.raises(ValueError, match="Expected a list of words"):
        PARSER.start().push(words[-1] if isinstance(words, list) else "")


def test_settings_refuse_nonsense():
    with pytest.raises(ValueError, match="Only grammars have marginals of rules"):
        IncrementalParser(PARSER.isbn, decoding=DECODINGS["max-rule"])
    with pytest.raises(ValueError, match="Expected beam to be a whole number from 1 to 100,000,000, got 0"):
        BeamSettings(beam=0)
    with pytest.raises(ValueError, match="max_pops to be a whole number from 1"):
        BeamSettings(max_pops=10**30)


def pushed(parser, words, tags=None):
    prefix = parser.start()
    for word, tag in zip(words, tags or [None] * len(words), strict=True):
        prefix = prefix.push(word, tag)
        yield prefix


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("tags", [None, ["X", "Y", None, "Y", "X", None]])
def test_prefixes_add_up_to_the_sentence(approximation, tags):
    parser = IncrementalParser(tiny(approximation), search=BeamSettings(beam=5))
    prefixes = list(pushed(parser, WORDS, tags))
    finished = prefixes[-1].finish()
    surprisals = [*(prefix.surprisal for prefix in prefixes), finished.surprisal]
    assert min(surprisals) >= 0
    assert surprisals == pytest.approx(parser.surprisal(Query(WORDS, tags)).tolist(), abs=1e-6)
    assert -sum(surprisals) * LN2 == pytest.approx(finished.parse.log_probability, abs=1e-9)
    parse = parser.parse(Query(WORDS, tags))
    assert finished.parse.log_probability == pytest.approx(parse.log_probability, abs=1e-6)
    assert finished.parse.spans == parse.spans
    logs = [prefix.log_probability for prefix in prefixes]
    assert logs == sorted(logs, reverse=True)


def test_prefix_never_changes():
    one, two = pushed(PARSER, ["a", "b"])
    before = one.log_probability, one.trees(3)
    others = [one.push(word).push("c") for word in ("b", "new", "d")]
    two.finish()
    assert (one.log_probability, one.trees(3)) == before
    again = two.push("c")
    assert again.log_probability == others[0].log_probability
    assert again.trees(5) == others[0].trees(5)
    assert again.words == ("a", "b", "c")


def test_prefix_trees_hold_the_words():
    assert PARSER.start().trees() == []
    assert PARSER.start().log_probability == 0
    for prefix in pushed(PARSER, WORDS):
        trees = prefix.trees(100)
        assert len(trees) <= PARSER.search.beam
        assert np.logaddexp.reduce([tree.log_probability for tree in trees]) == pytest.approx(prefix.log_probability)
        for tree in trees:
            words = [word for node in tree.open for child in node.children for word in child.words]
            assert (*words, tree.last.word) == prefix.words
            starts = [node.start for node in tree.open]
            assert starts == sorted(set(starts))
            assert str(tree).count("(") - str(tree).count(")") == len(tree.open)


def test_prefix_knows_which_word_opens_the_sentence():
    words = ["A", "A"]
    one, two = pushed(PARSER, words)
    assert [one.surprisal, two.surprisal] == pytest.approx(PARSER.surprisal(words)[:2].tolist())
