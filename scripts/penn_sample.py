"""Make a treebank of the Penn Treebank sample of NLTK's data.

    python scripts/penn_sample.py ZIP FOLDER

ZIP is `packages/corpora/treebank.zip` of github.com/nltk/nltk_data, which has trees of the Wall Street Journal in the
files `treebank/combined/wsj_0001.mrg` to `wsj_0199.mrg`. Writes FOLDER/train.mrg of the files 1 to 149, FOLDER/dev.mrg
of 150 to 169, and FOLDER/test.mrg of the others, one after the other, as they are there.
"""

from __future__ import annotations

import argparse
import re
import zipfile
from pathlib import Path

from spacy_lpcfg.storage.files import write_atomically

FILE = re.compile(r"treebank/combined/wsj_(\d{4})\.mrg")
FILES = {"train": range(1, 150), "dev": range(150, 170), "test": range(170, 10000)}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("zip", type=Path, metavar="ZIP")
    arguments.add_argument("folder", type=Path, metavar="FOLDER")
    args = arguments.parse_args()
    if not zipfile.is_zipfile(args.zip):
        arguments.error(f"expected the zip file of NLTK's treebank sample, got {args.zip}")
    with zipfile.ZipFile(args.zip) as archive:
        files = {int(match[1]): archive.read(name) for name in archive.namelist() if (match := FILE.fullmatch(name))}
    if not files:
        arguments.error(f"{args.zip} has no trees: expected treebank/combined/wsj_0001.mrg and so on in it")
    args.folder.mkdir(parents=True, exist_ok=True)
    for part, numbers in FILES.items():
        write_atomically(args.folder / f"{part}.mrg", b"".join(files[i] for i in numbers if i in files))


if __name__ == "__main__":
    main()
