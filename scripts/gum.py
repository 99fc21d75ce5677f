"""Make a treebank of the constituency trees of GUM, the Georgetown University Multilayer Corpus.

    python scripts/gum.py GUM FOLDER [--genres free]

GUM is a copy of the repository github.com/amir-zeldes/gum, with its official parts in `splits.md` and a file of trees
a document in `const/`. Writes train.mrg, dev.mrg and test.mrg in FOLDER, a tree a line, as they are there. Reddit
documents are left out: they come without their words. With --genres free, so are the genres of which GUM's LICENSE.txt
says that their texts are for non-commercial use.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from spacy_lpcfg.trees import Tree, read_trees, write_trees

PARTS = ("train", "dev", "test")
LEFT_OUT = {"all": {"reddit"}, "free": {"reddit", "essay", "fiction", "letter", "podcast", "whow"}}
"""The genres that are not read, as names of documents have them; whow is wikiHow."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("gum", type=Path, metavar="GUM")
    arguments.add_argument("folder", type=Path, metavar="FOLDER")
    arguments.add_argument("--genres", choices=LEFT_OUT, default="all", help="which to read")
    args = arguments.parse_args()
    if not (args.gum / "splits.md").is_file() or not (args.gum / "const").is_dir():
        arguments.error(f"expected a copy of GUM's repository, with splits.md and const/ in it; got {args.gum}")
    documents = split((args.gum / "splits.md").read_text("utf-8"))
    args.folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        trees = list(read_part(args.gum / "const", documents.get(part, []), LEFT_OUT[args.genres]))
        write_trees(args.folder / f"{part}.mrg", trees)
        print(f"{part}: {len(trees):,} trees, {sum(map(len, trees)):,} tokens")


def split(text: str) -> dict[str, list[str]]:
    """Return the documents of each part, by the headings and lists of `splits.md`."""
    documents: dict[str, list[str]] = {}
    part = ""
    for kind, name in re.findall(r"^\s*(##|\*)\s+(\S+)\s*$", text, re.MULTILINE):
        if kind == "##":
            part = name
        else:
            documents.setdefault(part, []).append(name)
    return documents


def read_part(const: Path, documents: list[str], left_out: set[str]) -> Iterator[Tree]:
    """Yield the trees of documents, but for those of some genres."""
    for name in documents:
        if name.split("_")[1] not in left_out:
            yield from read_trees(const / f"{name}.ptb")


if __name__ == "__main__":
    main()
