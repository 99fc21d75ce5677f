"""The Brown corpus as raw text to learn from: a sentence a line, in the tokens of the Penn Treebank.

    python -m benchmarks.accuracy.brown_text BROWN SENTENCES > FILE

BROWN has tokens of the form word/tag, a sentence a line, plain or gzip, such as corpus/brown.txt of the project's step
`brown`. Writes some of its distinct sentences in random order, always the same ones.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator
from pathlib import Path

from spacy_lpcfg.language_model import read_sentences

CONTRACTION = re.compile(r"(.+?)(n't|'s|'re|'ve|'ll|'d|'m|(?<=s)')", re.IGNORECASE)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("corpus", type=Path, metavar="BROWN")
    arguments.add_argument("sentences", type=int, metavar="SENTENCES")
    args = arguments.parse_args()
    sentences = list(dict.fromkeys(read(args.corpus)))
    random.Random(0).shuffle(sentences)
    print("\n".join(sentences[: args.sentences]))


def read(path: Path) -> Iterator[str]:
    """The sentences, with contractions apart: `did n't`, `Daniel 's`."""
    for tokens in read_sentences(path):
        words = [token.rsplit("/", 1)[0] for token in tokens]
        yield " ".join(part for word in words for part in split(word))


def split(word: str) -> list[str]:
    """A word and its contraction apart, or the word alone."""
    match = CONTRACTION.fullmatch(word)
    return list(match.groups()) if match else [word]


if __name__ == "__main__":
    main()
