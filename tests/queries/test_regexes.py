"""Regular expressions of patterns end in bounded time, whoever asks."""

import pytest
from commands import run
from spacy.vocab import Vocab

from spacy_lpcfg.components.doc.tree_matcher import TreeMatcher
from spacy_lpcfg.components.training.corpus import tree_to_doc
from spacy_lpcfg.queries import TreeIndex, TreePattern, regexes
from spacy_lpcfg.trees import parse_trees

WORD = "a" * 30 + "b"
TREE = f"(S (NP (NN {WORD})) (VP (VBD fell)))"
NESTED, AMBIGUOUS = "/^(a+)+$/", "/^(a|a)*$/"  # Python's `re` takes hours for either


@pytest.fixture
def _limit(monkeypatch):
    monkeypatch.setattr(regexes, "MAX_SECONDS", 0.02)


def asked(pattern: str) -> list[int]:
    return [match.node.number for match in TreeIndex.from_trees(parse_trees(TREE)).search(pattern)]


def test_regexes_that_backtrack_find_what_they_should():
    assert asked(NESTED) == []
    assert asked("/^(a+)+b$/") == [3]


@pytest.mark.usefixtures("_limit")
@pytest.mark.parametrize("pattern", [AMBIGUOUS, f"NN < {AMBIGUOUS}", f"@{AMBIGUOUS}", f"!{AMBIGUOUS}"])
def test_regexes_that_take_too_long_are_an_error_that_names_the_word(pattern):
    with pytest.raises(ValueError, match=f"took too long at '{WORD}': repeat nothing that has repeats"):
        asked(pattern)
    with pytest.raises(ValueError, match="took too long"):
        TreeIndex.from_trees(parse_trees(TREE)).nodes(TreePattern(pattern))


@pytest.mark.usefixtures("_limit")
def test_regexes_of_a_matcher_and_of_the_command_are_bounded_too(tmp_path):
    doc = tree_to_doc(Vocab(), [*parse_trees(TREE)])
    matcher = TreeMatcher(doc.vocab)
    matcher.add("long", [AMBIGUOUS])
    with pytest.raises(ValueError, match="took too long"):
        matcher(doc)
    (tmp_path / "trees.mrg").write_text(TREE, "utf-8")
    result = run("search", AMBIGUOUS, tmp_path / "trees.mrg", code=1)
    assert "Error: Expected a regular expression that needs little time, but '^(a|a)*$' took too long" in result.stderr


def test_regexes_have_time_in_proportion_to_the_words(monkeypatch):
    """A limit for all words together would end harmless searches of large treebanks."""
    monkeypatch.setattr(regexes, "MAX_SECONDS", 0.0)
    monkeypatch.setattr(regexes, "MAX_SECONDS_EACH", 0.01)
    found = regexes.search_all(regexes.compile_regex("[0-9]{3}$"), map(str, range(5000)))
    assert sum(match is not None for match in found) == 4900


def test_regexes_are_searched_once_for_a_word_however_often_it_occurs():
    index = TreeIndex.from_trees([*parse_trees("(S (A b-c) (A b-c))")] * 3)
    assert len([*index.search("/(.)-(.)/#1%v")]) == 6
    one, other = (index.groups(TreePattern("/(.)-(.)/").roots[0].test, node) for node in (2, 4))
    assert one is other
    assert one == ("b-c", "b", "c")
