"""Write the sentences of openly licensed corpora as raw text, a sentence a line.

    python scripts/open_text.py MASC.zip SPEECHES.zip... OUTPUT

MASC.zip is `masc_tagged.zip` of NLTK's data: the Manually Annotated Sub-Corpus of the American National Corpus, of
which the words are read, not the tags. Its Wall Street Journal articles are left out, as they are in treebanks
that others measure on, and so are spam and telephone calls, which are not written in sentences. SPEECHES.zip are
folders of texts whose sentences `sentencizer` finds, such as `state_union.zip` and `inaugural.zip`. Every sentence is
written once.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import spacy

from spacy_lpcfg.storage.files import write_atomically

LEFT_OUT = {"spam", "telephone"}
QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("masc", type=Path, metavar="MASC.zip")
    arguments.add_argument("speeches", type=Path, nargs="+", metavar="SPEECHES.zip")
    arguments.add_argument("output", type=Path, metavar="OUTPUT")
    args = arguments.parse_args()
    found = [*masc(args.masc), *(sentence for path in args.speeches for sentence in speeches(path))]
    text = list(dict.fromkeys(sentence for sentence in found if is_sentence(sentence)))
    args.output.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(args.output, "".join(f"{sentence}\n" for sentence in text).encode())
    print(f"{len(text):,} sentences")


def masc(path: Path) -> Iterator[str]:
    """Its sentences, their words between blanks."""
    with ZipFile(path) as archive:
        kinds = archive.read("masc_tagged/categories.txt").decode().splitlines()
        for name, kind in sorted(line.split() for line in kinds):
            if kind not in LEFT_OUT and not Path(name).name.startswith("wsj_"):
                for line in archive.read(f"masc_tagged/{name}").decode("utf-8", "replace").splitlines():
                    yield " ".join(token.rpartition("_")[0] for token in line.split()).translate(QUOTES)


def speeches(path: Path) -> Iterator[str]:
    """The sentences of all texts of an archive."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    with ZipFile(path) as archive:
        for name in sorted(name for name in archive.namelist() if re.search(r"/\d{4}-[^/]*\.txt$", name)):
            text = " ".join(archive.read(name).decode("utf-8", "replace").translate(QUOTES).split())
            for sentence in nlp(text).sents:
                yield sentence.text


def is_sentence(text: str) -> bool:
    """Whether it has two words at least, and no signs that could not be read."""
    return len(re.findall(r"[A-Za-z]+", text)) > 1 and "\ufffd" not in text


if __name__ == "__main__":
    main()
