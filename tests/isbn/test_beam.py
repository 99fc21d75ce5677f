import numpy as np
import pytest
from networks import UNPRUNED, tiny
from oracles.isbn_search import Enumeration

from spacy_lpcfg.isbn import ISBN, Relations
from spacy_lpcfg.isbn.network import APPROXIMATIONS
from spacy_lpcfg.isbn.parser import IncrementalParser
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
