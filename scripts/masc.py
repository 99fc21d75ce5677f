"""Make a treebank of the gold trees of MASC, the Manually Annotated Sub-Corpus of the American National Corpus.

    python scripts/masc.py MASC FOLDER

MASC is a folder, or a zip file of folders, with a file of trees a document, `*.mrg`. Writes FOLDER/train.mrg and
FOLDER/dev.mrg, a tree a line, of which the second has a tenth of the documents, of every genre. Documents of the Wall
Street Journal are left out, as other treebanks measure on them. What stands for no word (CODE, SU) and what speakers
took back (EDITED) is cut out. NML is dissolved, and the preposition "to" is an IN, as in GUM and the English Web
Treebank. Tags that GUM's trees do not have, such as that of hyphens, become those that it has. Trees that hold words
which were damaged on the way are left out.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

from spacy_lpcfg.trees import Tree, normalize, parse_trees, write_trees

DEV = frozenset(
    (
        "110CYL068",  # letters
        "114CUL058",
        "118CWL049",
        "20000415_apw_eng-NEW",  # news
        "A1.E1-NEW",
        "Article247_500",  # essays
        "ENRON-pearson-email-25jul02",  # e-mail
        "HistoryJerusalem",  # travel
        "ReidSandra",  # conversation
        "lw1",  # fiction
        "pmed.0010029",  # medicine
        "sw2071-UTF16-ms98-a-trans",  # telephone
    )
)
ENDING = ".mrg"
NO_WORDS = frozenset(("CODE", "SU", "XX"))
TAGS = {"-LSB-": "-LRB-", "-RSB-": "-RRB-", "HYPH": ":", "NFP": ":", "AFX": "JJ", "NNS-4": "NNS"}
TAKEN_BACK, PARTS_OF_NAMES = "EDITED", "NML"
DAMAGED = re.compile(r"RSQUO|LSQUO|LDQUO|RDQUO|\$\$|&\w+;|\ufffd")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("masc", type=Path, metavar="MASC")
    arguments.add_argument("folder", type=Path, metavar="FOLDER")
    args = arguments.parse_args()
    documents = {name: text for name, text in sorted(read(args.masc)) if not name.startswith("wsj_")}
    if not documents.keys() >= DEV:
        arguments.error(f"expected MASC's files of trees, such as {min(DEV)}.mrg, got {args.masc}")
    args.folder.mkdir(parents=True, exist_ok=True)
    for part in ("train", "dev"):
        names = [name for name in documents if (name in DEV) == (part == "dev")]
        trees = [tree for name in names for tree in cleaned(parse(documents[name]))]
        write_trees(args.folder / f"{part}.mrg", trees)
        print(f"{part}: {len(trees):,} trees, {sum(map(len, trees)):,} tokens of {len(names)} documents")


def read(masc: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each document of a folder or a zip file."""
    if masc.is_dir():
        for path in masc.glob(f"*{ENDING}*"):
            yield path.name.split(ENDING)[0], path.read_text("utf-8")
        return
    with ZipFile(masc) as archive:
        for path in map(PurePosixPath, archive.namelist()):
            if ENDING in path.name:
                yield path.name.split(ENDING)[0], archive.read(str(path)).decode()


def parse(text: str) -> Iterator[Tree]:
    """Yield the trees of a document but for broken ones; some documents have no-break spaces between their brackets."""
    return parse_trees(text.replace("\xa0", " "), on_error=lambda _: None)


def cleaned(trees: Iterator[Tree]) -> Iterator[Tree]:
    """Yield the trees below the root ROOT that are whole and hold words."""
    for tree in trees:
        without = tree.fold(clean_node)
        whole = normalize(without) if without is not None else None
        if whole is not None and not any(DAMAGED.search(word) for word in whole.words):
            yield Tree("ROOT", (whole,))


def clean_node(node: Tree, children: list[Tree | None]) -> Tree | None:
    """Return a node without what stands for no word; None if nothing is left of it."""
    label = node.label.partition("-")[0]
    if node.is_leaf:
        return None if label in NO_WORDS else Tree(TAGS.get(node.label, node.label), (), node.word)
    left = [
        part
        for child in children
        if child is not None
        for part in (child.children if child.label.partition("-")[0] == PARTS_OF_NAMES else (child,))
    ]
    if label == TAKEN_BACK or not left:
        return None
    if label == "PP" and left[0].is_leaf and left[0].label == "TO":
        left[0] = Tree("IN", (), left[0].word)
    return Tree(node.label, tuple(left))


if __name__ == "__main__":
    main()
