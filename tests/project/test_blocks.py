"""Blocks of settings, as a config has them."""

from __future__ import annotations

import pytest

from spacy_lpcfg.learning import LexicalSettings, Pivot, Spectral, TreebankPCFG


def test_blocks_that_are_none_are_the_defaults():
    assert TreebankPCFG(lexical=None) == TreebankPCFG() == TreebankPCFG(lexical=LexicalSettings())
    assert TreebankPCFG(lexical=LexicalSettings(rare=1)).lexical.rare == 1
    assert Pivot().smoothing != Spectral().smoothing


@pytest.mark.parametrize("wrong", [{"rare": 1}, "rare", 1])
def test_blocks_are_objects(wrong):
    with pytest.raises(ValueError, match=r"Expected lexical to be an object such as LexicalSettings\(...\), got"):
        TreebankPCFG(lexical=wrong)
