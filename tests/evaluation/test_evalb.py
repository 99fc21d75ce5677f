"""EVALB: small cases, and the worked examples of evalb.c."""

import random
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.strategies import trees as random_trees

from spacy_lpcfg.evaluation.evalb import COLLINS, PRF, Params, Status, evaluate, read_evalb, score_sentence
from spacy_lpcfg.evaluation.evalb_report import reference_table, summary_table
from spacy_lpcfg.trees.brackets import parse_trees
from spacy_lpcfg.trees.errors import TreebankError
from spacy_lpcfg.trees.tree import Tree

CAT = "(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog))))"
QUOTES = Params(deleted=COLLINS.deleted, quotes=frozenset({"``", "''", "POS"}))


def score(gold, test, params=COLLINS):
    return score_sentence(tuple(parse_trees(gold)), tuple(parse_trees(test)), params)


def test_params_from_file_reads_the_collins_file(shared_evalb):
    assert Params.from_file(shared_evalb / "COLLINS.prm") == COLLINS


def test_params_from_file_reads_every_keyword(new_file):
    path = new_file(
        "all.prm",
        "## comment\nDEBUG 1\nMAX_ERROR 7\n\nCUTOFF_LEN 10  \nCUTOFF_LEN 20\nLABELED 0\n"
        "DELETE_LABEL #\nDELETE_LABEL .\nDELETE_LABEL_FOR_LENGTH -NONE-\nQUOTE_LABEL POS\n"
        "EQ_LABEL ADVP PRT\nEQ_WORD This  this\n",
    )
    assert Params.from_file(path) == Params(
        deleted=frozenset("#."),
        deleted_for_length=frozenset({"-NONE-"}),
        equal_labels=frozenset({("ADVP", "PRT")}),
        equal_words=frozenset({("This", "this")}),
        quotes=frozenset({"POS"}),
        cutoff=20,
        labeled=False,
        max_error=7,
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("DELETE_LABLE TOP", r"bad\.prm:2: unknown keyword 'DELETE_LABLE'"),
        ("DELETE_LABEL", r"bad\.prm:2: DELETE_LABEL takes one label, got ''"),
        ("EQ_LABEL ADVP", r"bad\.prm:2: EQ_LABEL takes two values, got 'ADVP'"),
        ("CUTOFF_LEN forty", r"bad\.prm:2: CUTOFF_LEN takes a whole number of at most 9 digits, got 'forty'"),
    ],
)
def test_params_from_file_names_the_place_of_a_bad_line(new_file, line, message):
    path = new_file("bad.prm", f"# settings\n{line}\n")
    with pytest.raises(ValueError, match=message):
        Params.from_file(path)


def test_score_sentence_of_equal_trees():
    result = score(CAT, CAT)
    assert (result.status, result.length, result.n_words) == (Status.VALID, 5, 5)
    assert result.labels == {"S": PRF(1, 1, 1), "NP": PRF(2, 2, 2), "VP": PRF(1, 1, 1)}
    assert result.brackets == PRF(4, 4, 4)
    assert (result.n_correct_tags, result.n_crossing, result.is_complete) == (5, 0, True)


def test_score_sentence_takes_trees_and_forests():
    (tree,) = parse_trees(CAT)
    assert score_sentence(tree, tree) == score_sentence([tree], (tree,))


def test_score_sentence_counts_wrong_labels_and_tags():
    result = score(CAT, "(S (NP (DT the) (NNP cat)) (VP (VBD saw) (PP (DT a) (NN dog))))")
    assert result.labels["NP"] == PRF(1, 2, 1)
    assert result.labels["PP"] == PRF(0, 0, 1)
    assert (result.n_correct_tags, result.is_complete) == (4, False)


def test_score_sentence_counts_duplicate_brackets_one_to_one():
    once, thrice = "(NP (NN cat))", "(NP (NP (NP (NN cat))))"
    assert score(once, thrice).brackets == PRF(1, 1, 3)
    assert score(thrice, once).brackets == PRF(1, 3, 1)


def test_score_sentence_counts_crossings_as_their_definition_does():
    for rng in map(random.Random, range(20)):
        words = [str(i) for i in range(rng.randint(2, 12))]
        flat = Tree("S", [Tree("X", word=word) for word in words])
        gold, test = (with_brackets(flat, rng, 12) for _ in range(2))
        by_definition = sum(any(g < t < h < u or t < g < u < h for g, h, _ in gold.spans()) for t, u, _ in test.spans())
        assert score_sentence(gold, test, Params()).n_crossing == by_definition


def test_score_sentence_deletes_words_brackets_and_what_they_leave_empty():
    gold = "(TOP (S (NP (-NONE- *)) (VP (VB go) (PRN (, ,) (`` ``)) (-LRB- -LRB-)) (. .)))"
    result = score(gold, "(S (VP (VB go) (-LRB- -LRB-)))")
    assert (result.length, result.n_words, result.is_complete) == (5, 2, True)
    assert result.labels == {"S": PRF(1, 1, 1), "VP": PRF(1, 1, 1)}


def test_score_sentence_cuts_labels_but_not_tags():
    result = score("(S-TPC-1 (NP=2 (NN-1 cat)) (ADVP|PRT (RB up)))", "(S (NP (NN cat)) (ADVP (RB up)))")
    assert result.labels == {"S": PRF(1, 1, 1), "NP": PRF(1, 1, 1), "ADVP|PRT": PRF(0, 1, 0), "ADVP": PRF(0, 0, 1)}
    assert result.n_correct_tags == 1


def test_score_sentence_keeps_the_empty_label():
    assert score("((NN cat))", "(-X- (NN cat))").labels == {"": PRF(1, 1, 1)}


def test_score_sentence_matches_equivalent_labels_and_words():
    params = Params(equal_labels=frozenset({("ADVP", "PRT"), ("PRT", "PP")}), equal_words=frozenset({("Up", "up")}))
    result = score("(ADVP (ADVP up))", "(PRT (PRT Up))", params)
    assert result.labels == {"ADVP": PRF(1, 1, 1)}
    assert result.n_correct_tags == 1
    assert score("(ADVP (RB up))", "(PP (RB up))", params).brackets == PRF(0, 1, 1)


def test_score_sentence_deletes_brackets_but_not_words_by_equivalence():
    params = Params(deleted=frozenset({"PRT"}), equal_labels=frozenset({("ADVP", "PRT")}))
    result = score("(S (ADVP (ADVP up)))", "(S (ADVP (ADVP up)))", params)
    assert (result.n_words, result.brackets) == (1, PRF(1, 1, 1))


def test_score_sentence_without_labels_compares_spans():
    result = score(CAT, CAT.replace("VP", "X"), Params(labeled=False))
    assert result.is_complete
    assert result.labels["VP"] == PRF(1, 1, 1)


@pytest.mark.parametrize(
    ("test", "status", "reason"),
    [
        (CAT.replace("cat", "rat"), Status.ERROR, "the word 'cat' in gold is 'rat' in test"),
        ("(S (DT the) (NN cat))", Status.ERROR, "5 words count in gold, 2 in test"),
        ("(S (. .))", Status.SKIPPED, "no words in test"),
        ("", Status.SKIPPED, "no words in test"),
    ],
)
def test_score_sentence_tells_why_it_does_not_score(test, status, reason):
    result = score(CAT, test)
    assert (result.status, result.reason, result.length) == (status, reason, 5)
    assert (result.brackets, result.n_words, result.is_complete) == (PRF(), 0, False)


def test_score_sentence_of_nothing():
    assert score_sentence(None, None).status == Status.SKIPPED
    assert score("", CAT).status == Status.ERROR


def test_score_sentence_restores_quotes_that_one_side_deleted():
    gold = """(S (NP (`` ") (NN cat) ('' ")) (VP (VBD ran)))"""
    test = """(S (NP (POS ") (NN cat)) (X (POS ")) (VP (VBD ran)))"""
    assert score(gold, test).status == Status.ERROR
    for one, other in [(gold, test), (test, gold)]:
        result = score(one, other, QUOTES)
        assert (result.status, result.n_words, result.n_correct_tags) == (Status.VALID, 4, 2)
        assert result.brackets.matched == 2
    assert score(test, gold, QUOTES).labels["X"] == PRF(0, 1, 0)


def test_score_sentence_handles_trees_of_any_depth():
    tree = Tree("X", word="a")
    for _ in range(3000):
        tree = Tree("NP", [tree, Tree("X", word="b")])
    assert score_sentence(tree, tree).is_complete


@pytest.fixture
def evaluation():
    short = "(S (VP (VB go)))"
    golds = parse_trees([CAT, short, short, short])
    tests = parse_trees([CAT.replace("VP", "X"), short, "(S (VP (VB stop)))"])
    return evaluate(golds, [*tests, None], Params(cutoff=3, max_error=0))


def test_evaluate_sums_the_valid_sentences(evaluation):
    total = evaluation.total()
    assert (total.n_sentences, total.n_error, total.n_skipped, total.n_valid) == (4, 1, 1, 2)
    assert total.brackets == PRF(5, 6, 6)
    assert total.recall == total.precision == pytest.approx(500 / 6)
    assert (total.complete_match, total.no_crossing, total.average_crossing) == (50, 100, 0)
    assert total.tag_accuracy == 100


def test_evaluate_cuts_off_long_sentences(evaluation):
    short = evaluation.total(max_length=3)
    assert (short.n_sentences, short.brackets, short.complete_match) == (3, PRF(2, 2, 2), 100)


def test_evaluate_scores_are_percentages_and_counts(evaluation):
    assert evaluation.scores() == {
        "evalb_p": pytest.approx(500 / 6),
        "evalb_r": pytest.approx(500 / 6),
        "evalb_f": pytest.approx(500 / 6),
        "complete_match": 50.0,
        "tag_acc": 100.0,
        "n_sentences": 4,
        "n_error": 1,
        "n_skipped": 1,
    }


def test_evaluate_per_label_adds_up_to_the_total(evaluation):
    labels = evaluation.per_label()
    assert list(labels) == ["NP", "S", "VP", "X"]
    assert labels["VP"] == PRF(1, 2, 1)
    assert sum(labels.values(), PRF()) == evaluation.total().brackets


def test_evaluate_table_shows_scores_labels_and_errors(evaluation):
    lines = summary_table(evaluation).splitlines()
    assert lines[0].split() == ["all", "<=", "3", "words"]
    assert ["bracketing", "F1", "83.33", "100.00"] in [line.split() for line in lines]
    assert ["VP", "2", "1", "1", "50.00", "100.00", "66.67"] in [line.split() for line in lines]
    assert lines[-1].endswith("Sentence 3: the word 'go' in gold is 'stop' in test.")


def test_evaluate_wants_a_test_tree_for_each_gold_tree():
    tree = Tree("NN", word="cat")
    with pytest.raises(ValueError, match="Gold has 3 trees and test has 2"):
        evaluate([tree] * 3, iter([tree] * 2))


def test_evaluate_of_nothing_is_zero():
    scores = evaluate([], []).scores()
    assert set(scores.values()) == {0}
    assert "FMeasure       =    nan" in reference_table(evaluate([], []))
    assert summary_table(evaluate([], [])).startswith(" ")


def test_prf_of_no_items_is_zero():
    assert (PRF().precision, PRF().recall, PRF().fmeasure) == (0.0, 0.0, 0.0)
    assert PRF(1, 2, 4).fmeasure == pytest.approx(100 / 3)


def test_read_evalb_keeps_lines(new_file):
    path = new_file("lines.mrg", "(S (X a))\n\n(X a) (X b)\n(())\n")
    assert [len(trees) for trees in read_evalb(path)] == [1, 0, 2, 0]
    path.write_text("(S (X a))\n(S (X a)\n")
    with pytest.raises(TreebankError, match=r"lines\.mrg:2: "):
        list(read_evalb(path))


# The worked examples. Their results are older than the evalb.c of 2006 and later. Differences:
# (1) below "Cross Bracket" they add up the sentences without crossings, not the crossings;
# (2) sample.rsl has no F1, and gives unscored sentences the number of their words;
# (3) bug.rsl-old holds stderr as well, and its word counts show that "." was not deleted, so that
#     it was run with sample.prm; with COLLINS.prm only those counts change.


def cells(text):
    return [line.split() for line in text.splitlines() if line.strip()]


def example(folder, name, params):
    stem = folder / name / name
    evaluation = evaluate(read_evalb(f"{stem}.gld"), read_evalb(f"{stem}.tst"), Params.from_file(folder / params))
    report = cells(reference_table(evaluation))
    sums = report[len(evaluation.sentences) + 4]
    if len(sums) == 9:
        assert sums[5] == str(evaluation.total().n_crossing)
        sums[5] = str(evaluation.total().n_no_crossing)  # (1)
    return evaluation, report


def test_evalb_agrees_with_sample_results(shared_evalb):
    evaluation, report = example(shared_evalb, "sample", "sample/sample.prm")
    for row, sentence in zip(report[3:], evaluation.sentences, strict=False):
        if sentence.status != Status.VALID:
            row[9] = str(sentence.length)  # (2)
    f1 = [row for row in report if "FMeasure" in row]
    assert [row[-1] for row in f1] == ["89.12", "83.20"]
    expected = cells((shared_evalb / "sample/sample.rsl").read_text())
    assert [row for row in report if row not in f1] == expected


def test_evalb_agrees_with_results_after_the_quote_repair(shared_evalb):
    _, report = example(shared_evalb, "bug", "new.prm")
    assert report == cells((shared_evalb / "bug/bug.rsl-new").read_text())


@pytest.mark.parametrize("params", ["COLLINS.prm", "sample/sample.prm"])
def test_evalb_agrees_with_results_before_the_quote_repair(shared_evalb, params):
    evaluation, report = example(shared_evalb, "bug", params)
    expected = cells((shared_evalb / "bug/bug.rsl-old").read_text())
    assert report == [row for row in expected if "unmatch" not in row]
    messages = [" ".join(row) for row in expected if "unmatch" in row]
    if params == "sample/sample.prm":  # (3)
        assert messages == [
            "{} : Length unmatch ({}|{})".format(i, *re.findall(r"\d+", sentence.reason))
            for i, sentence in enumerate(evaluation.sentences, start=1)
        ]


def with_brackets(tree, rng, n_new):
    """A tree with few or many brackets gone, some renamed, and up to `n_new` new ones."""
    share = rng.random()
    labels = ["NP", "VP", "ADVP", "PRT", "S", "NP-SBJ"]
    root, *spans = tree.spans() or [(0, len(tree), "S")]
    spans = [span for span in spans if rng.random() < share]
    for _ in range(n_new):
        start, end = sorted((rng.randint(0, len(tree)), rng.randint(0, len(tree))))
        if start < end and not any(s < start < e < end or start < s < end < e for s, e, _ in spans):
            spans.append((start, end, ""))
    spans = [root, *sorted(spans, key=lambda span: (span[0], -span[1]))]
    spans = [(s, e, old if old and rng.random() < 0.9 else rng.choice(labels)) for s, e, old in spans]
    return Tree.from_spans(tree.words, tree.tags, spans)


@settings(max_examples=50)
@given(st.data())
def test_confusions_are_what_is_left_over_the_same_words(data):
    """Against a count over spans: of each, as many pairs as the side with fewer unmatched brackets has."""
    gold = data.draw(random_trees(st.sampled_from("ABC"), st.sampled_from("DE"), max_leaves=6))
    labels = [data.draw(st.sampled_from("ABC")) for _ in gold.spans()]
    test = Tree.from_spans(
        gold.words, gold.tags, [(i, j, label) for (i, j, _), label in zip(gold.spans(), labels, strict=True)]
    )
    found = score_sentence(gold, test, Params()).confusions
    wanted = 0
    for span in {span[:2] for span in gold.spans()}:
        own, other = (Counter(label for i, j, label in tree.spans() if (i, j) == span) for tree in (gold, test))
        wanted += (own - other).total()
    assert sum(found.values()) == wanted
    assert all(own != other for own, other in found)
    assert score_sentence(gold, gold, Params()).confusions == {}


def test_evaluate_per_length_has_the_sentences_of_each_range():
    trees = [Tree("S", [Tree("X", word="a")] * n) for n in (1, 10, 11, 20, 40, 41, 99)]
    found = evaluate(trees, trees).per_length()
    assert {name: total.n_sentences for name, total in found.items()} == {"1-10": 2, "11-20": 2, "31-40": 1, ">40": 2}


def test_evaluate_confusions_are_summed_and_sorted():
    gold, test = "(S (NP (A a) (B b)) (VP (C c)))", "(S (VP (A a) (B b)) (NP (C c)))"
    golds, tests = (list(parse_trees(f"{text} {text} (S (NP (A a)) (B b))")) for text in (gold, test))
    tests[2] = next(parse_trees("(S (VP (A a)) (B b))"))
    assert list(evaluate(golds, tests).confusions().items()) == [(("NP", "VP"), 3), (("VP", "NP"), 2)]
