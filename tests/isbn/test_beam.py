from dataclasses import replace

import numpy as np
import pytest
from networks import UNPRUNED, tiny
from oracles.isbn_search import Enumeration

from spacy_lpcfg.isbn import ISBN, BeamSettings, Relations
from spacy_lpcfg.isbn.network import APPROXIMATIONS
from spacy_lpcfg.isbn.parser import IncrementalParser
from spacy_lpcfg.isbn.search import Search
from spacy_lpcfg.isbn.vocabulary import Candidates
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees import Tree, parse_trees

SENTENCES = [["a"], ["a", "b"], ["b", "new", "c"]]
ALL_RELATIONS = Relations(
    latent=("previous", "last_shift", "top.context", "below.left_child", "below.right_child", "below2.introduced"),
    decisions=("top.context", "below.left_terminal", "below2.right_child", "last_shift"),
)


@pytest.fixture(autouse=True)
def _any_number_of_trees(monkeypatch):
    """Enumerations have more trees than a user may ask for."""
    monkeypatch.setattr("spacy_lpcfg.parsing.distribution.MAX_N_BEST", 10**6)


def enumerate_all(isbn: ISBN, words: list[str], tags=None, unary_cap: int = 2) -> Enumeration:
    return Enumeration(isbn, isbn.vocabulary.candidates(words, tags), words, unary_cap)


def agrees(isbn: ISBN, words: list[str], tags=None) -> None:
    expected = enumerate_all(isbn, words, tags)
    parser = IncrementalParser(isbn, search=UNPRUNED)
    found = parser.n_best(Query(words, tags), n=len(expected.derivations))
    logs = {Tree.from_spans(words, [""] * len(words), list(tree.spans())): log for tree, log, _ in found}
    trees = expected.trees()
    assert logs.keys() == trees.keys()
    assert len(logs) == len(found)
    for tree, log in logs.items():
        assert log == pytest.approx(trees[tree], abs=2e-4)
    assert [log for _, log, _ in found] == sorted(logs.values(), reverse=True)
    total = np.logaddexp.reduce(list(trees.values()))
    assert parser.parse(Query(words, tags)).log_probability == pytest.approx(total, abs=1e-4)
    surprisal = parser.surprisal(Query(words, tags))
    for n in range(1, len(words) + 1):
        assert -surprisal[:n].sum() * np.log(2) == pytest.approx(expected.prefix_log_probability(n), abs=1e-4)


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("words", SENTENCES[:2])
def test_beam_unpruned_is_enumeration(approximation, words):
    agrees(tiny(approximation), words)


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_beam_finds_the_probability_of_a_tree_with_its_tags(approximation):
    parser = IncrementalParser(tiny(approximation), search=UNPRUNED)
    for words, tags in ((["a", "b"], ["X", "Y"]), (["new", "c"], ["Y", "Y"])):
        for tree, log_probability, _ in parser.n_best(Query(words, tags), n=3):
            assert parser.tree_log_probability(tree) == pytest.approx(log_probability, abs=1e-3)
    unknown = next(parse_trees(["(Q (X a))"]))
    assert parser.tree_log_probability(unknown) == -np.inf
    with pytest.raises(ValueError, match="No log-probabilities of trees from a belief network"):
        IncrementalParser(tiny(approximation, approximation)).tree_log_probability(unknown)


@pytest.mark.slow
def test_beam_unpruned_is_enumeration_of_three_words():
    agrees(tiny("feed-forward"), SENTENCES[2], ["X", None, "Y"])


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_beam_follows_any_relations(approximation):
    agrees(tiny(approximation, relations=ALL_RELATIONS, seed=5), ["c", "a"])


@pytest.mark.parametrize(
    "approximations", [("feed-forward", "feed-forward"), ("mean-field-step", "mean-field", "feed-forward")]
)
def test_beam_of_an_ensemble_is_the_geometric_mean(approximations):
    agrees(tiny(*approximations), ["b", "c"], ["X", None])


def test_beam_prefix_trees_are_those_of_the_enumeration():
    isbn, words = tiny("feed-forward"), ["a", "b"]
    expected = enumerate_all(isbn, words).prefixes[1]
    prefix = IncrementalParser(isbn, search=UNPRUNED).start()
    for word in words:
        prefix = prefix.push(word)
    found = prefix.trees(len(expected) + 1)
    assert len(found) == len(expected)
    logs = sorted((state.log_probability for state in expected), reverse=True)
    assert [tree.log_probability for tree in found] == pytest.approx(logs, abs=1e-4)
    best = max(expected, key=lambda state: state.log_probability)
    assert [node.label for node in found[0].open] == [isbn.labels[cell.label] for cell in best.stack[1:-1]]
    assert found[0].last.word == "b"


def wildcards(isbn: ISBN, n: int) -> Candidates:
    """n times any word at all."""
    vocabulary = isbn.vocabulary
    sizes = np.diff(vocabulary.word_offsets)
    tags = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    outcomes = np.arange(vocabulary.first_word, vocabulary.n_outcomes, dtype=np.int32)
    return Candidates(
        offsets=np.arange(n + 1, dtype=np.int32) * len(tags),
        tags=np.tile(tags, n),
        outcomes=np.tile(outcomes, n),
        log_factors=np.zeros(n * len(tags), dtype=np.float32),
        has_signatures=np.zeros(n * len(tags), dtype=np.uint8),
        signature_offsets=np.zeros(n + 1, dtype=np.int32),
        signature_rows=np.zeros(0, dtype=np.int32),
    )


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_beam_probabilities_add_up(approximation):
    """A sentence has a first word; after that it ends or goes on, but for the nodes over `unary_cap`."""
    isbn = tiny(approximation, n_states=2)
    lost = []
    for unary_cap in (1, 2, 4):
        parser = IncrementalParser(isbn, search=replace(UNPRUNED, unary_cap=unary_cap))
        search = Search(parser._networks, parser.search)
        search.add(wildcards(isbn, 2))
        search.advance()
        first = np.exp(search.log_probabilities()).sum()
        search.finish()
        end = np.exp(search.final_log_probabilities()).sum()
        search.advance()
        second = np.exp(search.log_probabilities()).sum()
        assert first == pytest.approx(1, abs=1e-5)
        lost.append(first - end - second)
    assert lost[0] > lost[1] > lost[2] > -1e-5
    assert lost[2] < 0.1


def test_beam_any_pruning_loses_probability():
    isbn, words = tiny("feed-forward"), ["a", "b", "c"]
    narrow = [
        IncrementalParser(isbn, search=BeamSettings(beam=beam, branching=branching, unary_cap=2, tolerance=1e-5))
        for beam, branching in ((1, 1), (1, 3), (3, 3), (30, 10), (300, 10))
    ]
    logs = [parser.parse(words).log_probability for parser in narrow]
    most = IncrementalParser(isbn, search=UNPRUNED).parse(words).log_probability
    assert all(log <= most + 1e-5 for log in logs)
    assert logs[0] < logs[2] < logs[3] < logs[4]
    assert logs[4] == pytest.approx(most, abs=1)
