"""Make one file of the Brown corpus of NLTK's data: tokens of the form word/tag, a sentence a line.

    python scripts/brown.py ZIP FILE

ZIP is `packages/corpora/brown.zip` of github.com/nltk/nltk_data, which has the texts `brown/ca01` to `brown/cr09`.
Writes their sentences to FILE, in the corpus's order, with one blank between tokens.
"""

from __future__ import annotations

import argparse
import re
import zipfile
from pathlib import Path

from spacy_lpcfg.storage.files import write_atomically

TEXT = re.compile(r"brown/c[a-r]\d\d")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("zip", type=Path, metavar="ZIP")
    arguments.add_argument("file", type=Path, metavar="FILE")
    args = arguments.parse_args()
    if not zipfile.is_zipfile(args.zip):
        arguments.error(f"expected the zip file of NLTK's Brown corpus, got {args.zip}")
    with zipfile.ZipFile(args.zip) as archive:
        texts = [archive.read(name) for name in sorted(filter(TEXT.fullmatch, archive.namelist()))]
    sentences = [tokens for text in texts for line in text.splitlines() if (tokens := line.split())]
    if not sentences:
        arguments.error(f"{args.zip} has no sentences: expected brown/ca01 and so on in it")
    args.file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(args.file, b"".join(b" ".join(tokens) + b"\n" for tokens in sentences))


if __name__ == "__main__":
    main()
