"""A pretrained encoder for a parser of an open treebank: fetched at a pinned revision, made a file, compared with none.

    python scripts/encoders.py fetch NAME FOLDER [--source URL]
    python scripts/encoders.py make NAME FOLDER TREEBANK OUTPUT [--epochs N]
    python scripts/encoders.py compare NAME TREEBANK PIPELINE

NAME is one of `ENCODERS`; for "auto", the encoder that comes with the package for the language if there is one, and for
"none" nothing is done.

`fetch` writes FOLDER/config.json, tokenizer.json, model.safetensors and card.json. The files come from
URL/REPOSITORY/resolve/REVISION/, where URL may be a mirror of the hub; or from URL itself if it is a folder. A file
whose SHA-256 is another one is refused.

`make` writes OUTPUT by `spacy-lpcfg encoder`. TREEBANK is a folder by `scripts/treebanks.py split`: the vocabulary is
cut to its training part, on which the encoder is tuned too if torch is installed and --epochs is not 0.

`compare` learns TREEBANK without an encoder, and prints the scores of this parser and of PIPELINE on its test part.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from universal import fetched

from spacy_lpcfg.learners import AUTO, NONE
from spacy_lpcfg.storage.files import write_atomically

SOURCE = "https://huggingface.co"


class Pinned(NamedTuple):
    """An encoder: its repository on the hub, the revision, its licence, and the SHA-256 of files."""

    repository: str
    revision: str
    licence: str
    checksums: Mapping[str, str]


ENCODERS = {
    "multilingual-e5-small": Pinned(
        "intfloat/multilingual-e5-small",
        "fd1525a9fd15316a2d503bf26ab031a61d056e98",
        "MIT",
        {
            "model.safetensors": "1a55775f53449dac10a2bcbc312469fac40b96d53198c407081a831f81c98477",
            "tokenizer.json": "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
        },
    ),
    "all-MiniLM-L6-v2": Pinned(
        "sentence-transformers/all-MiniLM-L6-v2",
        "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        "Apache-2.0",
        {
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
        },
    ),
}
FILES = ("config.json", "tokenizer.json", "model.safetensors")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = arguments.add_subparsers(required=True)
    steps = {fetch: ["folder"], make: ["folder", "treebank", "output"], compare: ["treebank", "pipeline"]}
    for run, names in steps.items():
        command = commands.add_parser(run.__name__)
        command.set_defaults(run=run)
        command.add_argument("name", choices=[AUTO, NONE, *ENCODERS], metavar="NAME", help=", ".join(ENCODERS))
        for name in names:
            command.add_argument(name, type=Path, metavar=name.upper())
        if run is fetch:
            command.add_argument("--source", default=SOURCE, metavar="URL")
        if run is make:
            command.add_argument("--epochs", type=int, default=6, metavar="N")
    args = vars(arguments.parse_args())
    run = args.pop("run")
    if args["name"] in ENCODERS:
        run(**args)


def spacy(*arguments: object) -> None:
    """Run a command of spaCy; the script ends if it fails."""
    done = subprocess.run([sys.executable, "-m", "spacy", *map(str, arguments)])
    if done.returncode:
        sys.exit(done.returncode)


# Fetch --------------------------------------------------------------------------------------------


def fetch(name: str, folder: Path, source: str) -> None:
    """Write the files of an encoder, but for those that are there already."""
    pinned = ENCODERS[name]
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        if not is_right(folder / file, pinned.checksums.get(file)):
            write_atomically(folder / file, checked(file, source, pinned))
    page = f"{SOURCE}/{pinned.repository}/tree/{pinned.revision}"
    card = {"name": name, "source": page, "licence": pinned.licence}
    write_atomically(folder / "card.json", (json.dumps(card, indent=2) + "\n").encode())
    print(f"{name}: {sum((folder / file).stat().st_size for file in FILES) / 1e6:.1f} MB")


def is_right(path: Path, checksum: str | None) -> bool:
    """Return whether a file is there already."""
    return path.is_file() and checksum in (None, hashlib.sha256(path.read_bytes()).hexdigest())


def checked(file: str, source: str, pinned: Pinned) -> bytes:
    """Return a file of an encoder; the script ends if it cannot be had, or is another one."""
    is_folder = Path(source).is_dir()
    place = f"{source}/{file}" if is_folder else f"{source}/{pinned.repository}/resolve/{pinned.revision}/{file}"
    try:
        data = Path(place).read_bytes() if is_folder else fetched(place)
    except (OSError, HTTPException, EOFError) as error:  # no answer, or half of one
        sys.exit(f"Expected {place}, got {error}: try again.")
    if data is None:
        sys.exit(f"Expected {place}, found nothing: check the address.")
    checksum = hashlib.sha256(data).hexdigest()
    if pinned.checksums.get(file, checksum) != checksum:
        sys.exit(f"Expected {place} with the SHA-256 {pinned.checksums[file]}, got {checksum}: it is another file.")
    return data


# Make, compare ------------------------------------------------------------------------------------


def make(name: str, folder: Path, treebank: Path, output: Path, epochs: int) -> None:
    """Write the file of an encoder, tuned if that can be."""
    train, tuning = treebank / "train.mrg", []
    if epochs and find_spec("torch") is not None:
        tuning = ["--tune", train, "--dev", treebank / "dev.mrg", "--epochs", epochs]
    elif epochs:
        print("torch is not installed: the encoder is not tuned")
    output.parent.mkdir(parents=True, exist_ok=True)
    spacy("lpcfg", "encoder", folder, "--text", train, *tuning, "--output", output, "--force")


def compare(name: str, treebank: Path, pipeline: Path) -> None:
    """Print the scores of a pipeline, and of one that learned the same trees without an encoder."""
    other = pipeline.parent.with_name(f"{pipeline.parent.name}-none")
    config = treebank / "config.cfg"
    spacy("train", config, "--output", other, "--components.lpcfg_parser.learner.encoder", NONE)
    for title, model in ((f"with {name}", pipeline), ("without", other / pipeline.name)):
        print(f"{title}:", flush=True)
        spacy("lpcfg", "evaluate", model, treebank / "test.mrg")


if __name__ == "__main__":
    main()
