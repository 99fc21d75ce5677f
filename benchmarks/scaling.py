"""How the cost of spectral learning grows with the number of trees.

    python benchmarks/scaling.py TREEBANK_DIR [--states M] [--times T...] [--seed S] [--plot FILE] [--json FILE]

A TREEBANK_DIR holds train.mrg. Measures CPU seconds (reading included) and peak memory of learning, each in a process
of its own, from every eighth, fourth and second tree of the treebank and from all, and from T times as many trees (1 to
20) drawn from the treebank's PCFG; there every rare word is a new one, in the form of words of the treebank, so that
the vocabulary grows as well. The slopes are those of straight lines through the logarithms: 1 is linear. The plot
needs matplotlib.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import measure
import numpy as np

from spacy_lpcfg.chart.sampling import sample_trees
from spacy_lpcfg.grammar.lexicon import UNKNOWN, ladder
from spacy_lpcfg.learning import Spectral, TreebankPCFG
from spacy_lpcfg.trees import Tree, read_trees, write_trees

STEPS = (8, 4, 2, 1)
LETTERS = 4


def learn(learner: Spectral, path: Path, n_trees: int) -> None:
    """Learn from the first trees of a file."""
    learner.fit(islice(read_trees(path), n_trees))


def drawn(trees: list[Tree], n_trees: int, seed: int) -> Iterator[Tree]:
    """Trees from the PCFG of a treebank, in words that a file can hold."""
    words = InventedWords(trees, seed)
    return map(words.into, islice(sample_trees(TreebankPCFG().fit(trees), seed=seed), n_trees))


class InventedWords:
    """New words for the forms of rare words: a word of the same form, with more letters after its first."""

    def __init__(self, trees: Iterable[Tree], seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.models: dict[str, list[str]] = defaultdict(list)
        for tree in trees:
            for i, word in enumerate(tree.words):
                for form in ladder(word, i == 0)[1:]:
                    self.models[form].append(word)

    def into(self, tree: Tree) -> Tree:
        """The tree with its forms replaced by words."""
        words = [self.invent(word) if self.is_form(word) else word for word in tree.words]
        return Tree.from_spans(words, tree.tags, tree.spans())

    def is_form(self, word: str) -> bool:
        return word.startswith(UNKNOWN[:-1]) and word.endswith(">")

    def invent(self, form: str) -> str:
        """A new word of a form."""
        word = self.models[form][self.rng.integers(len(self.models[form]))]
        if not word[0].isalnum():
            return word
        first = "0" if word[0].isdigit() else "A" if word.isupper() else "a"
        more = self.rng.integers(10 if first == "0" else 26, size=LETTERS)
        return word[0] + "".join(chr(ord(first) + letter) for letter in more) + word[1:]


def row(source: str, learner: Spectral, path: Path, n_trees: int) -> measure.Row:
    """Cost of learning from the first trees of a file."""
    measure.progress(f"{source}: {n_trees} trees")
    cost = measure.in_child(learn, learner, path, n_trees)
    return {
        "trees from": source,
        "trees": n_trees,
        "CPU s": cost.seconds,
        "ms / tree": 1e3 * cost.seconds / n_trees,
        "peak MB": cost.peak_mb,
    }


def slope_row(source: str, rows: list[measure.Row]) -> measure.Row:
    """How costs grow with the number of trees."""
    trees = [row["trees"] for row in rows]
    return {
        "trees from": source,
        "CPU s": measure.slope(trees, [row["CPU s"] for row in rows]),
        "peak MB": measure.slope(trees, [row["peak MB"] for row in rows]),
    }


def plot(rows: list[measure.Row], path: Path) -> None:
    """Draw the costs over the number of trees, on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    for axes, quantity in zip(figure.subplots(1, 2), ("CPU s", "peak MB")):
        for source in dict.fromkeys(row["trees from"] for row in rows):
            points = [(row["trees"], row[quantity]) for row in rows if row["trees from"] == source]
            axes.loglog(*zip(*points), "o-", label=source)
        axes.set(xlabel="trees", ylabel=quantity)
        axes.legend()
    figure.savefig(path)


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    arguments.add_argument("--states", type=int, default=16, metavar="M")
    arguments.add_argument("--times", type=int, nargs="+", default=[1, 2, 5, 10, 20], metavar="T")
    arguments.add_argument("--seed", type=int, default=0, metavar="S", help="of the drawn trees")
    arguments.add_argument("--plot", type=Path, metavar="FILE", help="also draw the curves, say as a .png")
    args = arguments.parse_args()
    measure.check_plot(arguments, args.plot)
    learner, trees = Spectral(n_states=args.states), list(read_trees(args.treebank / "train.mrg"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trees.mrg"
        own = []
        for step in STEPS:
            write_trees(file, trees[::step])
            own.append(row("treebank", learner, file, len(trees[::step])))
        measure.progress(f"drawing {len(trees) * max(args.times)} trees")
        write_trees(file, drawn(trees, len(trees) * max(args.times), args.seed))
        more = [row("its PCFG", learner, file, len(trees) * times) for times in args.times]
    slopes = [slope_row("treebank", own), slope_row("its PCFG", more)]
    measure.report({f"Learning, {args.treebank.name}, m = {args.states}": own + more, "Slopes": slopes}, args.json)
    if args.plot:
        plot(own + more, args.plot)


if __name__ == "__main__":
    main()
