"""Posteriors by another parser's k best trees, against sums by hand."""

from __future__ import annotations

import math

import pytest

from benchmarks.accuracy.k_best import k_best_lists, parse_of
from spacy_lpcfg.trees import parse_trees

(GOLD,) = parse_trees("(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP me))))")
BEST = "( (S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP me)))) )"
OTHER = "( (S (NP (DT the) (JJ dog)) (VBD saw) (NP (PRP me))) )"


def test_k_best_posteriors_are_shares_of_the_trees_probability():
    (trees,) = k_best_lists([f"{math.log(0.3)}\t{BEST}", f"{math.log(0.1)}\t{OTHER}", ""])
    parse = parse_of(GOLD, trees)
    assert parse.tree == GOLD
    by_span = dict(zip(parse.spans, parse.span_scores.tolist(), strict=True))
    assert by_span == pytest.approx({(0, 4, "S"): 1, (0, 2, "NP"): 1, (2, 4, "VP"): 0.75, (3, 4, "NP"): 1})
    assert parse.tag_scores.tolist() == pytest.approx([1, 0.75, 1, 1])
    assert parse.log_probability == pytest.approx(math.log(0.3))


def test_k_best_sentences_without_a_tree_have_no_brackets():
    lists = k_best_lists(["-Infinity\t(())", "", f"-1.5\t{OTHER}", "", "-Infinity\t(())", ""])
    assert [len(trees) for trees in lists] == [0, 1, 0]
    assert parse_of(GOLD, lists[0]).spans == []
