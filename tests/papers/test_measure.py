"""What all benchmarks share: scores with the sentences that are in none of them, and files of results."""

import json
import sys
from types import SimpleNamespace

from benchmarks import measure
from spacy_lpcfg.parsing.result import PARSED
from spacy_lpcfg.trees import parse_trees

GOLDS = list(parse_trees("(S (NP (N a)) (VP (V b)) (. .))" * 3))


class Mistagging:
    """A parser that takes the full stop of the first sentence for a word, and falls back in the last one."""

    def __init__(self) -> None:
        self.n_parsed = 0

    def parse(self, query, tags=None) -> SimpleNamespace:
        self.n_parsed += 1
        (tree,) = parse_trees("(S (NP (N a)) (VP (V b)) (N .))") if self.n_parsed == 1 else GOLDS[:1]
        return SimpleNamespace(tree=tree, status=PARSED if self.n_parsed < len(GOLDS) else "glued")


def test_measure_counts_sentences_that_are_dropped_and_that_fail():
    scored = measure.scored(Mistagging(), GOLDS, "model")
    assert (scored.n_dropped, scored.n_failed, scored.f1) == (1, 1, 100.0)


def test_measure_results_tell_where_they_are_from(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmark", "TREES", "--seeds", "0"])
    measure.report({"F1": [{"m": 16, "F1": 83.333}]}, tmp_path / "folder" / "results.json")
    results = json.loads((tmp_path / "folder" / "results.json").read_text("utf-8"))
    assert results["arguments"] == ["TREES", "--seeds", "0"]
    assert results["tables"] == {"F1": [{"m": 16, "F1": 83.333}]}
    assert results["commit"] is None or len(results["commit"].removesuffix("-dirty")) == 40
    assert "| 16 | 83.33 |" in capsys.readouterr().out
