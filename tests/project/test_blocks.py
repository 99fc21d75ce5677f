"""Blocks of settings, as a config has them."""

from __future__ import annotations

import pytest

from spacy_lpcfg.blocks import check_text
from spacy_lpcfg.learning import LexicalSettings, Pivot, Spectral, TreebankPCFG


def test_blocks_that_are_none_are_the_defaults():
    assert TreebankPCFG(lexical=None) == TreebankPCFG() == TreebankPCFG(lexical=LexicalSettings())
    assert TreebankPCFG(lexical=LexicalSettings(rare=1)).lexical.rare == 1
    assert Pivot().smoothing != Spectral().smoothing


@pytest.mark.parametrize("wrong", [{"rare": 1}, "rare", 1])
def test_blocks_are_objects(wrong):
    with pytest.raises(ValueError, match=r"Expected lexical to be an object such as LexicalSettings\(...\), got"):
        TreebankPCFG(lexical=wrong)


def test_a_text_is_no_list_and_no_path():
    check_text([["No", "."]])
    for wrong in ("raw.txt", 3, None):
        with pytest.raises(ValueError, match=r"Expected a text as sentences of words, as spacy-lpcfg.RawText.v1"):
            check_text(wrong)
