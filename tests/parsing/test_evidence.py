"""The contract of evidence."""

from __future__ import annotations

from spacy_lpcfg.parsing.evidence import span_bounds


def test_contract_spans_are_sorted_by_start_then_end():
    starts, ends = span_bounds(3)
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert [len(span_bounds(n)[0]) for n in range(4)] == [0, 1, 3, 6]
