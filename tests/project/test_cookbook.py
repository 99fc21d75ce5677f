"""The patterns of the cookbook in docs/search.md find the sentence that stands below each."""

from __future__ import annotations

import re

import pytest
from commands import SAMPLE
from paths import ROOT

from spacy_lpcfg.queries import TreeIndex, TreeNode
from spacy_lpcfg.trees import parse_trees, read_trees

PAGE = (ROOT / "docs" / "search.md").read_text("utf-8")
COOKBOOK = PAGE[PAGE.index("## Cookbook\n") : PAGE.index("## Edit trees\n")]
RECIPES = re.findall(r"### ([^\n]+)\n\n```text\n(.+?)\n```\n\n\*(.+?)\* (.+?)\n\n", COOKBOOK, re.DOTALL)
MADE_UP = """
(S (NP (NP (DT The) (NN destruction)) (PP (IN of) (NP (DT the) (NN bridge)))) (VP (VBD took) (NP (DT an) (NN hour))))
(S (NP (PRP We)) (VP (VBP regret) (NP (NP (DT the) (JJ late) (NN payment)) (PP (IN of) (NP (PRP$ your) (NN bill))))))
(S (NP (NP (DT The) (NN existence)) (PP (IN of) (NP (NNS ghosts)))) (VP (VBD was) (VP (VBN denied))))
(S (NP (NP (DT a) (NN distance)) (PP (IN of) (NP (CD 3) (NNS miles)))))
"""
"""Nominalisations, of which the sample has too few, and a noun that is none."""


def letters(text: str) -> str:
    """A sentence without spaces and punctuation, which pages write otherwise than treebanks."""
    return re.sub(r"\W", "", text)


@pytest.fixture(scope="module")
def index():
    trees = [tree for part in ("train", "dev") for tree in read_trees(SAMPLE / f"{part}.mrg")]
    return TreeIndex.from_trees([*trees, *parse_trees(MADE_UP)])


def test_cookbook_has_all_recipes():
    assert len(RECIPES) == COOKBOOK.count("\n### ") >= 12
    assert all(re.match(r"Right: \d+ of \d+\. ", notes) for _, _, _, notes in RECIPES)


@pytest.mark.parametrize(("name", "pattern", "example", "_"), RECIPES, ids=[name for name, *_ in RECIPES])
def test_cookbook_finds_its_example(name, pattern, example, _, index):
    matching = {letters("".join(TreeNode(index, i).root.words)) for i in index.nodes(pattern).tolist()}
    assert letters(example) in matching
    assert len(matching) < len(index) / 4  # a construction is something special
    assert "adistanceof3miles" not in matching
