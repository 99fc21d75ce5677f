"""The benchmark goes from the papers' parser to ours, setting by setting."""

from benchmarks.papers.parser_parts import parsers
from spacy_lpcfg.chart import ChartSettings
from spacy_lpcfg.parsing.decodings import MBR, MaxRule


def test_parser_parts_lead_from_the_papers_parser_to_ours():
    (_, first, rule), *_, (_, last, decoding) = parsers()
    assert (first, rule) == (ChartSettings.variant("paper"), MaxRule())
    assert (last, decoding) == (ChartSettings(), MBR)
