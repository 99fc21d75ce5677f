"""Write the sentences of CoNLL-U files as raw text, a sentence a line.

    python scripts/conllu_text.py FOLDER OUTPUT

FOLDER holds the files `*.conllu`, at any depth, which are read in the order of their paths. Every sentence is its line
`# text = ...`, with its white space as single blanks; its words and their annotation are not looked at.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from spacy_lpcfg.storage.files import write_atomically

MARK = "# text = "


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path, metavar="FOLDER")
    arguments.add_argument("output", type=Path, metavar="OUTPUT")
    args = arguments.parse_args()
    text = [sentence for path in sorted(args.folder.rglob("*.conllu")) for sentence in sentences(path)]
    if not text:
        arguments.error(f"expected sentences in files *.conllu below {args.folder}, after {MARK!r}; found none")
    args.output.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(args.output, "".join(f"{sentence}\n" for sentence in text).encode())
    print(f"{len(text):,} sentences")


def sentences(path: Path) -> Iterator[str]:
    """The sentences of a file, in their order."""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith(MARK):
            yield " ".join(line.removeprefix(MARK).split())


if __name__ == "__main__":
    main()
