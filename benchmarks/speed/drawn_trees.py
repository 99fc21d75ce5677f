"""As many trees as one likes, drawn from a treebank's PCFG and kept in files. Not a benchmark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks import measure
from spacy_lpcfg.chart.sampling import sample_trees
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.trees import Tree, read_trees, write_trees
from spacy_lpcfg.words.signatures import is_signature, signature_backoff

SHARD_SIZE = 10_000  # trees
LETTERS = 4


@dataclass(frozen=True)
class DrawnTrees:
    """Trees from the PCFG of a treebank in words that a file can hold, drawn by shards when they are asked for.

    treebank (Path): The file that the PCFG is learned from.
    folder (Path): Of the shards; those that are there are not drawn again.
    seed (int): A shard depends on it and on its own number alone.
    """

    treebank: Path
    folder: Path
    seed: int

    def shards(self, n_trees: int) -> list[Path]:
        """Files that together have at least so many trees; always the same ones first."""
        paths = [self.folder / f"drawn-{self.seed}-{number:04}.mrg" for number in range(-(-n_trees // SHARD_SIZE))]
        self.folder.mkdir(parents=True, exist_ok=True)
        for number, path in enumerate(paths):
            if not path.exists():
                measure.progress(f"drawing {SHARD_SIZE} trees to {path.name}")
                write_trees(path, islice(self._drawn(number), SHARD_SIZE))
        return paths

    def _drawn(self, number: int) -> Iterator[Tree]:
        seed = int(np.random.SeedSequence((self.seed, number)).generate_state(1)[0])
        words = InventedWords(self._models, seed)
        return map(words.into, sample_trees(self._grammar, seed=seed))

    @cached_property
    def _grammar(self) -> Grammar:
        return TreebankPCFG().fit(read_trees(self.treebank))

    @cached_property
    def _models(self) -> dict[str, list[str]]:
        return words_of_forms(read_trees(self.treebank))


def words_of_forms(trees: Iterable[Tree]) -> dict[str, list[str]]:
    """The words of each form."""
    models: dict[str, list[str]] = defaultdict(list)
    for tree in trees:
        for i, word in enumerate(tree.words):
            for form in signature_backoff(word, i == 0)[1:]:
                models[form].append(word)
    return models


class InventedWords:
    """New words for the forms of rare words: a word of the same form, with more letters after its first."""

    def __init__(self, models: dict[str, list[str]], seed: int) -> None:
        self.models = models
        self.rng = np.random.default_rng(seed)

    def into(self, tree: Tree) -> Tree:
        """The tree with its forms replaced by words."""
        words = [self.invent(word) if is_signature(word) else word for word in tree.words]
        return Tree.from_spans(words, tree.tags, tree.spans())

    def invent(self, form: str) -> str:
        """A new word of a form."""
        word = self.models[form][self.rng.integers(len(self.models[form]))]
        if not word[0].isalnum():
            return word
        first = "0" if word[0].isdigit() else "A" if word.isupper() else "a"
        more = self.rng.integers(10 if first == "0" else 26, size=LETTERS)
        return word[0] + "".join(chr(ord(first) + letter) for letter in more) + word[1:]
