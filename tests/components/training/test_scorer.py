"""EVALB scores of Docs: equal to those of trees, and fair where tokens or sentences differ."""

import pickle

import pytest
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_lpcfg.bracketing import Brackets
from spacy_lpcfg.components.doc.tree_group import KEY
from spacy_lpcfg.components.doc.write import set_brackets, set_trees
from spacy_lpcfg.components.training.corpus import tree_to_doc
from spacy_lpcfg.components.training.scorer import make_bracket_scorer, make_constituency_scorer
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.evaluation.unlabelled import score_brackets, unlabelled_totals
from spacy_lpcfg.trees import Tree, parse_trees

VOCAB = Vocab()
GOLD = "(S (NP (DT The) (NN cat)) (VP (VBD saw) (NP (PRP him))) (. .))"
TEST = "(S (NP (DT The) (NN cat)) (VP (VBD saw)) (NP (PRP$ him)) (. .))"


def forest(text: str) -> list[Tree]:
    return list(parse_trees(text))


def example(gold: str, test: str) -> Example:
    return Example(tree_to_doc(VOCAB, forest(test)), tree_to_doc(VOCAB, forest(gold)))


def test_scorer_agrees_with_evalb_on_trees():
    pairs = [(GOLD, TEST), ("(S (VP (VB Go)))", "(S (VP (VB Go)))")]
    scores = make_constituency_scorer()([example(*pair) for pair in pairs])
    golds, tests = ([forest(pair[side]) for pair in pairs] for side in (0, 1))
    wanted = evaluate(golds, tests).scores()
    for name in ("evalb_p", "evalb_r", "evalb_f", "complete_match", "tag_acc"):
        assert scores[name] == pytest.approx(wanted[name] / 100)
    assert scores["complete_match"] == 0.5
    assert scores["tag_acc"] == pytest.approx(4 / 5)
    assert (scores["evalb_n_sentences"], scores["evalb_n_error"]) == (2, 0)


def test_scorer_has_the_keys_that_spacy_prints():
    scores = make_constituency_scorer()([example(GOLD, TEST)], spans_key=KEY)
    assert scores[f"spans_{KEY}_f"] == scores["evalb_f"] == pytest.approx(0.75)
    assert scores[f"spans_{KEY}_per_type"]["NP"] == {"p": 1.0, "r": 1.0, "f": 1.0}
    assert scores[f"spans_{KEY}_per_type"]["VP"] == {"p": 0.0, "r": 0.0, "f": 0.0}


def test_scorer_without_gold_trees_says_nothing():
    doc = Doc(VOCAB, words=["Go"])
    scores = make_constituency_scorer()([Example(tree_to_doc(VOCAB, forest("(VB Go)")), doc)])
    assert {scores[key] for key in scores if "n_" not in key} == {None}


def test_scorer_without_predicted_trees_is_an_error():
    gold = tree_to_doc(VOCAB, forest("(VB Go)"))
    with pytest.raises(ValueError, match="has no constituents"):
        make_constituency_scorer()([Example(Doc(VOCAB, words=["Go"]), gold)])


def test_scorer_compares_over_the_pieces_of_different_tokens():
    gold = "(S (NP (PRP I)) (VP (MD ca) (RB n't) (VP (VB re-open) (NP (PRP it)))))"
    test = "(S (NP (PRP I)) (VP (MD can't) (VP (VB re) (: -) (VB open) (NP (PRP it)))))"
    scores = make_constituency_scorer()([example(gold, test)])
    assert scores["evalb_n_error"] == 1  # the hyphen is punctuation on one side only
    test = test.replace("(: -)", "(HYPH -)")
    scores = make_constituency_scorer()([example(gold, test)])
    assert scores["evalb_f"] == 1.0
    shifted = "(S (NP (PRP I)) (VP (MD can't) (VP (VB re) (NP (HYPH -) (VB open) (PRP it)))))"
    scores = make_constituency_scorer()([example(gold, shifted)])
    assert scores["evalb_p"] == scores["evalb_r"] == pytest.approx(4 / 5)


def test_scorer_ignores_white_space_tokens():
    test = Doc(VOCAB, words=["\n", "The", " ", "cat"], sent_starts=[1, 0, 0, 0])
    set_trees(test, forest("(NP (DT The) (NN cat))"))
    gold = tree_to_doc(VOCAB, forest("(NP (DT The) (NN cat))"))
    assert make_constituency_scorer()([Example(test, gold)])["evalb_f"] == 1.0


def test_scorer_compares_what_was_split_in_two_as_one():
    gold = "(S (NP (PRP I)) (VP (VBP go) (ADVP (RB now)))) (S (VP (VB Stop)))"
    test = "(S (NP (PRP I)) (VP (VBP go))) (ADVP (RB now)) (S (VP (VB Stop)))"
    scores = make_constituency_scorer()([example(gold, test)])
    assert scores["evalb_n_sentences"] == 2
    assert (scores["evalb_p"], scores["evalb_r"]) == pytest.approx((4 / 6, 4 / 6))
    assert scores["complete_match"] == 0.5
    assert make_constituency_scorer()([example(test, gold)])["evalb_n_sentences"] == 2


def test_scorer_refuses_different_texts():
    with pytest.raises(ValueError, match="different text: 'Go ' and 'Stop '"):
        make_constituency_scorer()([example("(VB Go)", "(VB Stop)")])


def test_scorer_reads_parameter_files_and_can_be_pickled(new_file):
    path = new_file("all.prm", "LABELED 0\nDELETE_LABEL TOP\n")
    scorer = pickle.loads(pickle.dumps(make_constituency_scorer(path)))
    relabelled = GOLD.replace("VP", "XP")
    assert scorer([example(GOLD, relabelled)])["evalb_f"] == 1.0
    assert make_constituency_scorer()([example(GOLD, relabelled)])["evalb_f"] == 0.75


def bracketed(doc: Doc, spans: list[tuple[int, int]]) -> Doc:
    """A Doc of one sentence with these brackets."""
    brackets = [Brackets(tuple(spans), (1.0,) * len(spans))]
    set_brackets(doc, [range(len(doc))], brackets, ["parsed"], label="X", key="brackets")
    return doc


def gold_doc(text: str) -> Doc:
    return tree_to_doc(VOCAB, list(parse_trees(text)))


UNLABELLED = "(S (NP (DT The) (NN dog)) (, ,) (VP (VBD saw) (NP (DT a) (NN cat))) (. .))"


def test_scorer_of_brackets_counts_as_the_library_does():
    reference = gold_doc(UNLABELLED)
    spans = [(0, 6), (0, 2), (3, 6), (3, 5)]
    predicted = bracketed(reference.copy(), spans)
    found = make_bracket_scorer()([Example(predicted, reference)])
    keep = [True, True, False, True, True, True, False]
    totals = unlabelled_totals([score_brackets([(0, 7), (0, 2), (3, 6), (4, 6)], spans, keep)])
    assert found == {
        "brackets_f": pytest.approx(totals.f / 100),
        "brackets_f_with_sentence": pytest.approx(totals.f_with_sentence / 100),
        "brackets_sentence_f": pytest.approx(totals.sentence_f / 100),
        "brackets_sentence_f_with_sentence": pytest.approx(totals.sentence_f_with_sentence / 100),
        "spans_brackets_p": pytest.approx(2 / 3),
        "spans_brackets_r": pytest.approx(2 / 3),
        "spans_brackets_f": pytest.approx(2 / 3),
        "brackets_n_sentences": 1,
    }


def test_scorer_of_brackets_compares_other_tokens_by_their_text():
    """The dog, saw a ca|t: the brackets over the same characters match."""
    reference = gold_doc(UNLABELLED)
    words = ["The", "dog", ",", "saw", "a", "ca", "t", "."]
    predicted = Doc(VOCAB, words=words, spaces=[True] * 5 + [False] * 3, sent_starts=[1] + [0] * 7)
    bracketed(predicted, [(0, 7), (0, 2), (3, 7), (4, 7)])
    found = make_bracket_scorer()([Example(predicted, reference)])
    assert (found["brackets_f"], found["brackets_f_with_sentence"]) == (1, 1)


def test_scorer_of_brackets_reads_gold_where_it_is_told():
    reference = gold_doc(UNLABELLED)
    predicted = bracketed(reference.copy(), [(0, 6)])
    found = make_bracket_scorer("elsewhere")([Example(predicted, reference)])
    assert found["brackets_f"] is found["spans_brackets_f"] is None
    assert found["brackets_n_sentences"] == 0
    reference.spans["elsewhere"] = list(reference.spans[KEY])
    assert make_bracket_scorer("elsewhere")([Example(predicted, reference)])["brackets_f"] == 0
