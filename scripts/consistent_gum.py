"""Parse those sentences of GUM again whose trees contradict GUM's dependencies.

    python scripts/consistent_gum.py halves GUM FOLDER [--genres free]
    python scripts/consistent_gum.py mend GUM FOLDER EVEN ODD [--like TREES...] [--genres free]

GUM is a copy of the repository github.com/amir-zeldes/gum. Its trees are those of a parser, in const/; its dependencies
were made by hand, in dep/. Trees are mended by `gum.tsurgeon`.

`halves` writes the trees of every other document of the training part to FOLDER/even.mrg, and the others to
FOLDER/odd.mrg. A model is to be learned from each of them, and from other treebanks besides.

`mend` writes all training trees to FOLDER/train.mrg. Where a tree crosses a subtree of the dependencies, the model that
has not learned from its document (ODD for the first half, EVEN for the second) parses the sentence again, with its
tags, so that the new tree respects the dependencies. The old tree stays if neither that half nor TREES has a local tree
of the new one (a label over the labels of its children).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gum import LEFT_OUT, split

from spacy_lpcfg.components.cli.shared.pipelines import find_lpcfg_parser, load_pipeline
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.constraints import Constraints
from spacy_lpcfg.parsing.dependency_constraints import DependencyAnnotator
from spacy_lpcfg.queries import edit_trees, read_rules
from spacy_lpcfg.trees import Tree, read_trees, write_trees
from spacy_lpcfg.trees.dependency_sentences import DependencySentence, read_conllu, subtree_spans
from spacy_lpcfg.trees.local_trees import LocalTrees
from spacy_lpcfg.trees.transforms import normalize, normalize_rooted, strip_root

HALVES = ("even", "odd")
RULES = read_rules(Path(__file__).with_name("gum.tsurgeon"))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("step", choices=("halves", "mend"))
    arguments.add_argument("gum", type=Path, metavar="GUM")
    arguments.add_argument("folder", type=Path, metavar="FOLDER")
    arguments.add_argument("models", nargs="*", metavar="EVEN ODD")
    arguments.add_argument("--like", type=Path, nargs="+", default=[], metavar="TREES")
    arguments.add_argument("--genres", choices=LEFT_OUT, default="all", help="which to read")
    args = arguments.parse_args()
    if len(args.models) != (2 if args.step == "mend" else 0):
        arguments.error("expected the models EVEN and ODD for mend, and none for halves")
    documents = [
        name
        for name in split((args.gum / "splits.md").read_text("utf-8"))["train"]
        if name.split("_")[1] not in LEFT_OUT[args.genres]
    ]
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.step == "halves":
        for i, half in enumerate(HALVES):
            trees = [tree for name in documents[i::2] for tree, _ in sentences(args.gum, name)]
            write(args.folder / f"{half}.mrg", trees)
    else:
        models = [find_lpcfg_parser(load_pipeline(path))[1] for path in args.models]
        even, odd = (
            Stranger(
                DependencyAnnotator(model, make_parser(model)),
                local_trees_of([args.folder / f"{half}.mrg", *args.like]),
            )
            for model, half in zip(models, HALVES, strict=True)
        )
        strangers = [(odd, even)[i % 2] for i in range(len(documents))]
        write(args.folder / "train.mrg", list(mended(args.gum, documents, strangers)))


@dataclass(frozen=True)
class Stranger:
    """A model that has not learned from a document.

    annotator (DependencyAnnotator): Parses by the model.
    known (LocalTrees): The local trees that the model learned from.
    """

    annotator: DependencyAnnotator
    known: LocalTrees

    def tree(self, sentence: DependencySentence) -> Tree | None:
        """Return a tree that respects the dependencies and has known local trees; None if there is none."""
        (tree,) = self.annotator.trees([sentence])
        return tree if tree is not None and not self.known.unseen(strip_root(tree)[1]) else None


def local_trees_of(files: list[Path]) -> LocalTrees:
    """Return the local trees of files."""
    return LocalTrees.of_trees(tree for tree in map(normalize, read_trees(files)) if tree is not None)


def write(path: Path, trees: list[Tree]) -> None:
    """Write trees to a file, one a line, and print how many."""
    write_trees(path, trees)
    print(f"{path.name}: {len(trees):,} trees")


def sentences(gum: Path, document: str) -> Iterator[tuple[Tree, DependencySentence]]:
    """Yield the mended trees of a document, without functions, and the dependencies of the same sentences."""
    trees = edit_trees(read_trees(gum / "const" / f"{document}.ptb"), RULES)
    for tree, sentence in zip(trees, read_conllu(gum / "dep" / f"{document}.conllu"), strict=True):
        normalized = normalize_rooted(tree) if tree is not None else None
        if normalized is not None:
            yield normalized, sentence


def mended(gum: Path, documents: list[str], strangers: list[Stranger]) -> Iterator[Tree]:
    """Yield the trees of documents; a new tree replaces one that contradicts its dependencies, where there is one."""
    n_crossing = n_mended = 0
    for name, stranger in zip(documents, strangers, strict=True):
        for tree, sentence in sentences(gum, name):
            if not contradicts(tree, sentence):
                yield tree
                continue
            n_crossing += 1
            better = stranger.tree(sentence)
            if better is None:
                yield tree
            else:
                n_mended += 1
                yield Tree(tree.label, (better,))
    print(f"{n_crossing:,} trees contradict their dependencies; {n_mended:,} of them were replaced")


def contradicts(tree: Tree, sentence: DependencySentence) -> bool:
    """Return whether a bracket of a tree crosses a subtree of the dependencies."""
    whole = tuple(span for span in subtree_spans(sentence) if span is not None)
    return not Constraints(whole=whole).allow(strip_root(tree)[1].spans())


if __name__ == "__main__":
    main()
