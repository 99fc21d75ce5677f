"""The measures of `benchmarks.accuracy.confidence`, against counts by hand and a slow reference."""

import json

import numpy as np
import pytest

from benchmarks.accuracy.confidence import Judged, above, brier, parses_by, read_parse, selected
from spacy_lpcfg.parsing.result import PARSED, Parse
from spacy_lpcfg.trees import Tree, parse_trees

(GOLD,) = parse_trees("(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP me))))")
LINE = {
    "spans": [{"start": 0, "end": 4, "label": "S", "score": 0.9}, {"start": 0, "end": 2, "label": "NP", "score": 0.8}],
    "tags": ["DT", "NN", "VBD", "PRP"],
    "tag_scores": [1.0, 0.5, 1.0, 1.0],
}
EMPTY = {"spans": [], "tags": [], "tag_scores": []}


def random_domain(n_sentences=37, seed=0):
    """Parses and gold trees over five words, whose brackets agree by chance."""
    rng = np.random.default_rng(seed)
    words, tags = list("abcde"), list("VWXYZ")
    inner = [(0, 2), (2, 5), (3, 5)]
    parses, golds = [], []
    for _ in range(n_sentences):
        spans, gold = ([(0, 5, "S"), *((*span, rng.choice(["A", "B"])) for span in inner)] for _ in range(2))
        scores = rng.random(len(spans))
        parses.append(Parse(words, tags, spans, scores, rng.random(5), 0.0, PARSED, rng.random()))
        golds.append(Tree.from_spans(words, tags, gold))
    return parses, golds


def judged(parses, golds):
    return [Judged.of(parse, gold) for parse, gold in zip(parses, golds, strict=True)]


def surest_by_sorting(parses, golds, share):
    """F1 and the share of right trees of the likeliest sentences, with sets and a sort."""
    pairs = sorted(zip(parses, golds, strict=True), key=lambda pair: -pair[0].probability)
    pairs = pairs[: round(len(pairs) * share / 100)]
    brackets = [{(index, *span) for index, (parse, _) in enumerate(pairs) for span in parse.spans}]
    brackets.append({(index, *span) for index, (_, gold) in enumerate(pairs) for span in gold.spans()})
    precision, recall = (len(brackets[0] & brackets[1]) / len(one) for one in brackets)
    f1 = 2 * precision * recall / (precision + recall)
    return 100 * f1, 100 * np.mean([set(parse.spans) == set(gold.spans()) for parse, gold in pairs])


def test_surest_sentences_are_those_of_a_slow_reference():
    parses, golds = random_domain()
    row = selected(judged(parses, golds))
    for share in (50, 80, 90, 100):
        assert (row[f"F1, {share}%"], row[f"right, {share}%"]) == pytest.approx(surest_by_sorting(parses, golds, share))


def test_sentences_without_a_tree_are_the_least_sure():
    parse, none = read_parse(GOLD, json.dumps(LINE)), read_parse(GOLD, json.dumps(EMPTY))
    row = selected(judged([none, parse], [GOLD, GOLD]))
    assert row["F1, 50%"] == pytest.approx(100 * 2 * 2 / (2 + 4))
    assert row["F1, 100%"] == pytest.approx(100 * 2 * 2 / (2 + 8))


def test_brier_score_by_hand():
    assert brier(np.array([1.0, 0.5, 0.2]), np.array([True, False, False])) == pytest.approx((0.25 + 0.04) / 3)


def test_thresholds_by_hand():
    brackets = np.array([0.99, 0.8, 0.4]), np.array([True, False, True])
    tags = np.array([1.0, 0.6]), np.array([True, False])
    rows = {row["at least"]: row for row in above(brackets, tags, 4)}
    assert list(rows[0.8].values())[1:] == pytest.approx([50, 25, 100, 50])
    assert list(rows[0.0].values())[1:] == pytest.approx([200 / 3, 50, 50, 100])


def test_peer_writes_what_parse_writes(tmp_path):
    (tmp_path / "parses").write_text(f"{json.dumps(LINE)}\n{json.dumps(EMPTY)}\n", encoding="utf-8")
    parse, none = parses_by(f"cp '{tmp_path / 'parses'}' {{output}}", [GOLD, GOLD])
    assert dict(zip(parse.spans, parse.span_scores, strict=True)) == {(0, 4, "S"): 0.9, (0, 2, "NP"): 0.8}
    assert parse.tags == GOLD.tags
    assert (parse.probability, none.probability) == (pytest.approx(0.72), 0.0)
    assert none.spans == []
    assert none.tag_scores.tolist() == [0, 0, 0, 0]
