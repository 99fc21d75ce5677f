"""Make a treebank of the constituency trees of GUM, the Georgetown University Multilayer Corpus.

    python scripts/gum.py GUM FOLDER

GUM is a copy of the repository github.com/amir-zeldes/gum, with its official parts in `splits.md` and a file of trees
a document in `const/`. Writes FOLDER/train.mrg and FOLDER/dev.mrg, a tree a line, as they are there. Reddit documents
are left out: they come without their words.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from spacy_lpcfg.storage.files import write_atomically
from spacy_lpcfg.trees import Tree, read_trees

PARTS = ("train", "dev")
WITHOUT_WORDS = "GUM_reddit_"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("gum", type=Path, metavar="GUM")
    arguments.add_argument("folder", type=Path, metavar="FOLDER")
    args = arguments.parse_args()
    if not (args.gum / "splits.md").is_file() or not (args.gum / "const").is_dir():
        arguments.error(f"expected a copy of GUM's repository, with splits.md and const/ in it; got {args.gum}")
    documents = split((args.gum / "splits.md").read_text("utf-8"))
    args.folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        trees = list(read_part(args.gum / "const", documents.get(part, [])))
        write_atomically(args.folder / f"{part}.mrg", "".join(f"{tree}\n" for tree in trees).encode())
        print(f"{part}: {len(trees):,} trees, {sum(map(len, trees)):,} tokens")


def split(text: str) -> dict[str, list[str]]:
    """The documents of each part, by the headings and lists of `splits.md`."""
    documents: dict[str, list[str]] = {}
    part = ""
    for kind, name in re.findall(r"^\s*(##|\*)\s+(\S+)\s*$", text, re.MULTILINE):
        if kind == "##":
            part = name
        else:
            documents.setdefault(part, []).append(name)
    return documents


def read_part(const: Path, documents: list[str]) -> Iterator[Tree]:
    """The trees of some documents, but for those whose words are hidden."""
    for name in documents:
        if not name.startswith(WITHOUT_WORDS):
            yield from read_trees(const / f"{name}.ptb")


if __name__ == "__main__":
    main()
