"""Phrases and clauses of trees."""

import pytest

from spacy_lpcfg.queries import TreeIndex, clauses, phrases
from spacy_lpcfg.trees import parse_trees

OLD = "(NP-SBJ (NP (DT the) (NN cat)) (PP (IN of) (NP (PRP$ my) (NN aunt))))"


def index_of(*texts: str) -> TreeIndex:
    return TreeIndex.from_trees([tree for text in texts for tree in parse_trees(text)])


def words(node) -> str:
    return "" if node is None else " ".join(node.words)


@pytest.mark.parametrize(
    ("label", "maximal", "expected"),
    [
        ("NP", False, ["the cat of my aunt", "the cat", "my aunt", "it", "it"]),
        ("NP", True, ["the cat of my aunt", "it"]),
        ("NP|PP", True, ["the cat of my aunt", "it"]),
        ("PP|VP", False, ["of my aunt", "saw it"]),
        ("DT", False, []),
        ("it", False, []),
        ("ADJP", True, []),
        ("/NP/", False, []),
        ("__", False, []),
    ],
)
def test_phrases_have_a_category(label, maximal, expected):
    """Whatever their functions; a tag or a word is no phrase, and of a chain of the same category both are."""
    index = index_of(f"(S {OLD} (VP (VBD saw) (NP (NP (PRP it)))))")
    assert [words(node) for node in phrases(index, label, maximal=maximal)] == expected


WHO = "(SBAR (WHNP (WP who)) (S (VP (VBD ran))))"
HE = "(NP (PRP he))"


CLAUSES = f"""
(S {HE} (VP (MD may) (VP (VB have) (VP (VBN been) (VP (VBN seen))))) (. .))
he may have been seen . seen he F
(S (NP-TMP (NN now)) {OLD} (VP (VBD ran)))
now the cat of my aunt ran ran the_cat_of_my_aunt F
(S (NP (NP (DT the) (NN man)) {WHO}) (VP (VBD fell)))
the man who ran fell fell the_man_who_ran F / who ran ran who FSR
(S (NP (NP (NN fact)) (SBAR (IN that) (S {HE} (VP (VBD ran))))) (VP (VBD hurt)))
fact that he ran hurt hurt fact_that_he_ran F / that he ran ran he FS
(S (NP (SBAR (WHNP (WP what)) (S {HE} (VP (VBD saw))))) (VP (VBZ is)))
what he saw is is what_he_saw F / what he saw saw he FS
(S (SBAR (WHNP (WP what)) (S (VP (VBD ran)))) (VP (VBD fell)))
what ran fell fell what_ran F / what ran ran what FS
(S (NP (NP (NN man)) (SBAR {WHO} (CC and) {WHO})) (VP (VBD fell)))
man who ran and who ran fell fell man_who_ran_and_who_ran F / who ran ran who FSR / who ran ran who FSR
(S {HE} (VP (VBZ wants) (S (VP (TO to) (VP (VB go))))))
he wants to go wants he F / to go go - S
(S {HE} (VP (VBZ knows) (SBAR (WHNP (WP what)) (S (VP (TO to) (VP (VB do)))))))
he knows what to do knows he F / what to do do - S
(S (VP (VB Go)) (. !))
Go ! Go - F
(S (VP (VB let) (S (NP (PRP him)) (VP (VB go)))))
let him go let - F / him go go him S
(SQ (VBD did) {HE} (VP (VB go)))
did he go go he F
(SBARQ (WHADVP (WRB why)) (SQ (VBD did) {HE} (VP (VB see) (NP (PRP it)))))
why did he see it see he F
(SBARQ (WHNP (WP who)) (SQ (VP (VBD ran) (NP (NN home)))))
who ran home ran who F
(SINV (S {HE} (VP (VBD ran))) (, ,) (VP (VBD said)) (NP (NNP Jo)))
he ran , said Jo said Jo F / he ran ran he FS
(S (S {HE} (VP (VBD ran))) (CC and) (S {HE} (VP (VBD fell))))
he ran ran he F / he fell fell he F
(S (S (VP (VBG walking))) (, ,) {HE} (VP (VBD sang) (CC and) (VP (VBD ran))))
walking , he sang and ran sang he F / walking walking - S
(S (CC but) {HE} (VP (VP (VBD sang)) (CC and) (VP (VBD ran))))
but he sang and ran sang he F
(SBAR (IN that) (S (S {HE} (VP (VBD ran))) (CC and) (S {HE} (VP (VBD fell)))))
he ran ran he FS / he fell fell he FS
(NP (NP (DT the) (NN man)) (VP (VBN seen)))

(S (VP (TO to)))

(S (NP (NN man)))

"""
"""Trees; below each, its clauses: words, main verb, subject, and F of finite, S of subordinate, R of relative ones."""
CASES = [*zip(CLAUSES.splitlines()[1::2], CLAUSES.splitlines()[2::2], strict=True)]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_clauses_have_a_verb_a_subject_and_a_kind(text, expected):
    found = []
    for each in clauses(index_of(f"(ROOT {text})")):
        kind = "F" * each.is_finite + "S" * each.is_subordinate + "R" * each.is_relative
        subject = words(each.subject).replace(" ", "_") or "-"
        found.append(f"{words(each.node)} {words(each.verb)} {subject} {kind}")
    assert found == [each for each in expected.split(" / ") if each]


def test_clauses_are_those_of_each_tree():
    index = index_of("(S (NP (NN A)) (VP (VBZ is)))", "(NP (NN B))", "(S (NP (NN C)) (VP (VBZ is)))")
    assert [each.node.tree_number for each in clauses(index)] == [0, 2]
    assert [*clauses(index_of("(NP (NN B))"))] == []
    assert ([*clauses(index_of())], phrases(index_of(), "NP")) == ([], [])
