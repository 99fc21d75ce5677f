"""Write the sentences of openly licensed texts, a sentence a line.

    python scripts/raw_text.py SOURCE... OUTPUT

A SOURCE is a folder of treebanks of Universal Dependencies, of which every line `# text = ...` is read, and nothing
that is annotated; or an archive, or a folder of them: `masc_tagged.zip` of NLTK's data (the Manually Annotated
Sub-Corpus of the American National Corpus), of which the words are read, not the tags; or texts named by years, such
as `state_union.zip` and `inaugural.zip` of NLTK's data. Of MASC, the Wall Street Journal articles are left out, as they
are in treebanks that others measure on, and so are spam and telephone calls, which are not written in sentences, and
documents of which `masc.py` keeps the trees to measure on. Every sentence of two words or more is written once.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from zipfile import ZipFile

import spacy
from masc import DEV

from spacy_lpcfg.storage.files import write_atomically

MARK = "# text = "
LEFT_OUT = {"spam", "telephone"}
PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "—": " -- "})


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sources", type=Path, nargs="+", metavar="SOURCE")
    arguments.add_argument("output", type=Path, metavar="OUTPUT")
    args = arguments.parse_args()
    lines = (" ".join(sentence.split()) for source in args.sources for sentence in sentences(source))
    text = list(dict.fromkeys(sentence for sentence in lines if is_sentence(sentence)))
    if not text:
        arguments.error(f"expected sentences in {', '.join(map(str, args.sources))}; found none")
    args.output.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(args.output, "".join(f"{sentence}\n" for sentence in text).encode())
    print(f"{len(text):,} sentences")


def sentences(source: Path) -> Iterator[str]:
    """Yield the sentences of a source of any kind."""
    if source.is_dir():
        yield from universal_dependencies(source)
        for path in sorted(source.glob("*.zip")):
            yield from sentences(path)
        return
    with ZipFile(source) as archive:
        if "masc_tagged/categories.txt" in archive.namelist():
            yield from masc(archive)
        else:
            yield from split(speeches(archive))


def universal_dependencies(folder: Path) -> Iterator[str]:
    """Yield the sentences of the files of a treebank, in the order of their paths."""
    for path in sorted(folder.rglob("*.conllu")):
        for line in path.read_text("utf-8").splitlines():
            if line.startswith(MARK):
                yield line.removeprefix(MARK)


def masc(archive: ZipFile) -> Iterator[str]:
    """Yield the sentences of MASC, their words between blanks."""
    kinds = archive.read("masc_tagged/categories.txt").decode().splitlines()
    for name, kind in sorted(line.split() for line in kinds):
        if kind not in LEFT_OUT and Path(name).stem not in DEV and not Path(name).name.startswith("wsj_"):
            for line in archive.read(f"masc_tagged/{name}").decode("utf-8", "replace").splitlines():
                yield " ".join(token.rpartition("_")[0] for token in line.split()).translate(PLAIN)


def speeches(archive: ZipFile) -> Iterator[str]:
    """Yield the texts that are named by years."""
    for name in sorted(name for name in archive.namelist() if re.search(r"/\d{4}-[^/]*\.txt$", name)):
        yield archive.read(name).decode("utf-8", "replace")


def split(texts: Iterable[str]) -> Iterator[str]:
    """Yield the sentences of texts, without quotation marks that open in one and close in another."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    for doc in nlp.pipe(" ".join(text.translate(PLAIN).split()) for text in texts):
        for sentence in doc.sents:
            yield sentence.text.replace('"', "") if sentence.text.count('"') % 2 else sentence.text


def is_sentence(text: str) -> bool:
    """Return whether a text has two words at least, and no signs that could not be read."""
    return len(re.findall(r"[A-Za-z]+", text)) > 1 and "\ufffd" not in text


if __name__ == "__main__":
    main()
