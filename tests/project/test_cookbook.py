"""The patterns of the cookbook in docs/search.md find the sentence that stands below each."""

from __future__ import annotations

import re

import pytest
from commands import SAMPLE
from paths import ROOT

from spacy_lpcfg.queries import TreeIndex, TreeNode
from spacy_lpcfg.trees import read_trees

PAGE = (ROOT / "docs" / "search.md").read_text("utf-8")
COOKBOOK = PAGE[PAGE.index("## Cookbook\n") : PAGE.index("## Edit trees\n")]
RECIPES = re.findall(r"### ([^\n]+)\n\n```text\n(.+?)\n```\n\n\*(.+?)\* (.+?)\n\n", COOKBOOK, re.DOTALL)


def letters(text: str) -> str:
    """A sentence without spaces and punctuation, which pages write otherwise than treebanks."""
    return re.sub(r"\W", "", text)


@pytest.fixture(scope="module")
def index():
    trees = [tree for part in ("train", "dev") for tree in read_trees(SAMPLE / f"{part}.mrg")]
    return TreeIndex.from_trees(trees)


def test_cookbook_has_all_recipes():
    assert len(RECIPES) == COOKBOOK.count("\n### ") >= 11
    assert all(re.match(r"Right: \d+ of \d+\. ", notes) for _, _, _, notes in RECIPES)


@pytest.mark.parametrize(("name", "pattern", "example", "_"), RECIPES, ids=[name for name, *_ in RECIPES])
def test_cookbook_finds_its_example(name, pattern, example, _, index):
    matching = {letters("".join(TreeNode(index, i).root.words)) for i in index.nodes(pattern).tolist()}
    assert letters(example) in matching
    assert len(matching) < len(index) / 4  # a construction is something special
