"""Vectors of words from a neural network that knows pieces of words: the mean of the pieces' input vectors.

    python -m benchmarks.papers.piece_vectors NETWORK TEXT... > FILE

NETWORK is a folder with tokenizer.json and model.safetensors of a network like BERT, as Hugging Face has them; it needs
`pip install safetensors tokenizers`. TEXT are files whose words get vectors, as in `benchmarks.papers.bracketing`,
which reads FILE: a word and its vector a line.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from spacy_lpcfg.bracketing.tagged import read_tagged

VECTORS = "embeddings.word_embeddings.weight"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("network", type=Path, metavar="NETWORK")
    arguments.add_argument("text", type=Path, nargs="+", metavar="TEXT")
    args = arguments.parse_args()
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(args.network / "tokenizer.json"))
    tokenizer.no_padding()
    vectors = load_file(args.network / "model.safetensors")[VECTORS]
    for word in sorted({word for words, _ in read_tagged(args.text) for word in words}):
        pieces = tokenizer.encode(word, add_special_tokens=False).ids
        if pieces:
            print(word, *(f"{number:.4f}" for number in vectors[pieces].mean(axis=0)))


if __name__ == "__main__":
    main()
