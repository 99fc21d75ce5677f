"""An open treebank: its trees in parts, the config of a pipeline that learns from them, and the pipeline's card.

    python scripts/treebanks.py split NAME ASSETS FOLDER [--most 10000] [--seed 0] [--encoder auto]
    python scripts/treebanks.py card NAME FOLDER PARSED PIPELINE

NAME is one of `TREEBANKS`; those whose names begin with UD_ are fetched by `scripts/universal.py`. ASSETS has its files
in a folder NAME or a file NAME.zip, as `project.yml` downloads them.
`split` writes FOLDER/train.mrg, dev.mrg and test.mrg, plain trees, and FOLDER/config.cfg, which is configs/grammar.cfg
for these files and their language; of an --encoder by `scripts/encoders.py` it names training/NAME.encoder.

A tenth of the documents becomes test trees and a tenth development trees, drawn by the seed. Documents are files; of a
treebank with few files they are runs of trees. A treebank's own parts are kept: files or folders train, dev and test.
Of train at most --most trees are kept, and of the others an eighth as many, drawn by the seed; of Universal
Dependencies all.

`card` scores PARSED, which is test.mrg as the pipeline parses it, and writes into the pipeline's meta.json what it
learned from, under which licence, and the scores. `spacy package` makes its page of that.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import srsly
from thinc.api import Config
from universal import UNIVERSAL

from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.learners import AUTO, NONE
from spacy_lpcfg.trees import Tree, TreeFiles, clean, read_trees, write_trees

PARTS = "test", "dev", "train"
SHARE = 0.1  # of the documents, each for test and dev
FEWEST = 20  # documents; of treebanks with fewer files they are runs of trees
RUN = 100  # trees of a run
FREE = re.compile(r"^terms of use: (Public domain|Creative Commons(?!.*Non-Commercial))", re.MULTILINE)
"""Of a text whose terms its treebank tells: that anyone may use it for anything."""


NOTES = """\
A parser of spacy-lpcfg, learned from {trees:,} trees ({words:,} tokens) of {title}. On {tests:,} other
trees, from their tokens without tags, over all lengths, it has F1 {evalb_f:.2f} by EVALB, {complete_match:.1f}% of the
sentences are right as a whole, and {tag_acc:.1f}% of the tags. Text has to be cut into words as the treebank cuts
it.{note} Who passes this pipeline on does so under the treebank's licence, {license}.
"""


@dataclass(frozen=True)
class Source:
    """The origin of a treebank, and its terms.

    title, author, license, url (str): The source as the meta.json of a pipeline has it.
    lang (str): The language of a pipeline that learns from it; xx where spaCy has none.
    files (str): The pattern of `fnmatch` of its files with trees.
    coarse_tags (bool): Whether its tags are cut to parts of speech, as they are too many to learn.
    is_universal (bool): Whether its trees are made of dependencies; then all of its own parts are kept whole.
    note (str): A sentence on its trees for the card.
    """

    title: str
    author: str
    license: str
    url: str
    lang: str
    files: str = "*"
    coarse_tags: bool = False
    is_universal: bool = False
    note: str = ""


TREEBANKS = {
    "icepahc": Source(
        "Icelandic Parsed Historical Corpus 2024.03",
        "Joel C. Wallenberg, Anton Karl Ingason, Einar Freyr Sigurðsson, Eiríkur Rögnvaldsson",
        "CC BY 4.0",
        "https://github.com/antonkarl/icecorpus",
        "is",
        "*/finished/*.psd",
    ),
    "greynir": Source(
        "GreynirCorpus 1.1, its trees corrected by hand",
        "Miðeind ehf.",
        "CC BY 4.0",
        "https://github.com/mideind/GreynirCorpus",
        "is",
        coarse_tags=True,
    ),
    "icon": Source(
        "ICON, a constituency treebank of Indonesian",
        "AI Singapore",
        "CC BY-SA 4.0",
        "https://github.com/aisingapore/seacorenlp-data",
        "id",
    ),
    "keyaki": Source(
        "Keyaki Treebank 1.1, texts in the public domain or under Creative Commons licences for any use",
        "Alastair Butler, Kei Yoshimoto and others",
        "CC BY 4.0, some texts CC BY-SA 3.0",
        "https://github.com/ajb129/KeyakiTreebank",
        "ja",
        "treebank/*.psd",
    ),
    "craft": Source(
        "Colorado Richly Annotated Full-Text Corpus 5.0.2",
        "University of Colorado Denver, Center for Computational Pharmacology",
        "CC BY 3.0",
        "https://github.com/UCDenver-ccp/CRAFT",
        "en",
    ),
    "helipad": Source(
        "Heliand Parsed Database", "George Walkden", "CC BY 4.0", "https://github.com/gwalkden/HeliPaD", "xx"
    ),
    "farpahc": Source(
        "Faroese Parsed Historical Corpus 0.1",
        "Einar Freyr Sigurðsson, Anton Karl Ingason, Joel C. Wallenberg, Eiríkur Rögnvaldsson",
        "LGPL 3.0",
        "https://github.com/einarfs/farpahc",
        "fo",
    ),
}

TREEBANKS |= {
    name: Source(
        f"{name} of Universal Dependencies",
        "the contributors to Universal Dependencies",
        pinned.license,
        f"https://github.com/UniversalDependencies/{name}/tree/{pinned.commit}",
        pinned.lang if pinned.lang not in ("mt", "ug") else "xx",
        is_universal=True,
        note="Its phrases were made of dependencies by rules; docs/languages.md of spacy-lpcfg tells how.",
    )
    for name, pinned in UNIVERSAL.items()
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = arguments.add_subparsers(required=True)
    splits, cards = commands.add_parser("split"), commands.add_parser("card")
    for command, run in ((splits, write_parts), (cards, write_card)):
        command.set_defaults(run=run)
        command.add_argument("name", choices=TREEBANKS, metavar="NAME", help=", ".join(TREEBANKS))
    splits.add_argument("assets", type=Path, metavar="ASSETS")
    splits.add_argument("folder", type=Path, metavar="FOLDER")
    splits.add_argument("--most", type=int, default=10_000, help="trees to learn from")
    splits.add_argument("--seed", type=int, default=0)
    splits.add_argument("--encoder", default=AUTO)
    cards.add_argument("folder", type=Path, metavar="FOLDER")
    cards.add_argument("parsed", type=Path, metavar="PARSED")
    cards.add_argument("pipeline", type=Path, metavar="PIPELINE")
    args = vars(arguments.parse_args())
    args.pop("run")(TREEBANKS[args["name"]], **args)


# Parts ---------------------------------------------------------------------------------------------


def write_parts(source: Source, name: str, assets: Path, folder: Path, most: int, seed: int, encoder: str) -> None:
    """Write trees to learn from, to tune on and to test on, and the config that learns from them."""
    with unpacked(assets / name, source.files) as root:
        parts = split(root, list(files_of(root, source.files)), random.Random(seed), fill=not source.is_universal)
    if not parts["train"]:
        sys.exit(f"Expected the files of {source.title} in {assets / name}, or in {name}.zip beside it: download them.")
    folder.mkdir(parents=True, exist_ok=True)
    for part, trees in parts.items():
        most_of_part = len(trees) if source.is_universal else most if part == "train" else most // 8
        some = drawn(trees, most_of_part, random.Random(seed))
        write_trees(folder / f"{part}.mrg", some)
        print(f"{part}: {len(some):,} of {len(trees):,} trees, {sum(map(len, some)):,} tokens")
    paths = {part: str(folder / f"{part}.mrg") for part in ("train", "dev")}
    config = Config().from_disk("configs/grammar.cfg", interpolate=False)
    del config["nlp"]["tokenizer"]  # for the language's own
    learner = {"encoder": encoder if encoder in (AUTO, NONE) else f"training/{name}.encoder"}
    learner |= {"heads": "dependencies"} if source.is_universal else {}
    overrides = {"paths": paths, "vars": {"coarse_tags": source.coarse_tags}, "nlp": {"lang": source.lang}}
    overrides["components"] = {"lpcfg_parser": {"learner": learner}}
    config.merge(overrides).to_disk(folder / "config.cfg")


@contextmanager
def unpacked(folder: Path, pattern: str) -> Iterator[Path]:
    """Provide the folder, or a temporary one of the members of its zip file that fit the pattern."""
    archive = folder.with_name(f"{folder.name}.zip")
    if not archive.is_file():
        yield folder
        return
    with tempfile.TemporaryDirectory() as temporary, zipfile.ZipFile(archive) as members:
        members.extractall(temporary, [name for name in members.namelist() if fnmatch(name, pattern)])
        yield Path(temporary)


def files_of(root: Path, pattern: str) -> Iterator[Path]:
    """Yield the files with trees below a folder, but for those of texts that not everyone may use."""
    for path in sorted(root.rglob("*")):
        if path.is_file() and fnmatch(str(path.relative_to(root)), pattern):
            terms = root / "metadata" / f"{path.stem}.txt"
            if not terms.is_file() or FREE.search(terms.read_text("utf-8")):
                yield path


def split(root: Path, files: list[Path], rng: random.Random, fill: bool) -> dict[str, list[Tree]]:
    """Return the trees of each part: the treebank's own test and dev, or documents that are drawn for them.

    fill (bool): Whether documents are drawn for a small part of the treebank's own, besides for one that is missing.
    """
    parts: dict[str, list[Tree]] = {part: [] for part in PARTS}
    documents: list[list[Tree]] = []
    for path in files:
        part_of_file = path.relative_to(root).parts[0].split(".")[0]
        read = TreeFiles.of(path, on_error=lambda error: print(f"Left out: {error}"))
        trees = [tree for tree in (clean(tree, functions=True) for tree in read) if tree is not None]
        if part_of_file in ("test", "dev"):
            parts[part_of_file] += trees
        else:
            documents.append(trees)
    if len(documents) < FEWEST:
        documents = [trees[i : i + RUN] for trees in documents for i in range(0, len(trees), RUN)]
    rng.shuffle(documents)
    most = SHARE * sum(map(len, documents))
    for part in PARTS:
        is_whole = not fill and len(parts[part]) > 0
        while documents and (part == "train" or (len(parts[part]) < most and not is_whole)):
            parts[part] += documents.pop()
    return parts


def drawn(trees: list[Tree], most: int, rng: random.Random) -> list[Tree]:
    """Return at most `most` of the trees, in their order."""
    return [trees[i] for i in sorted(rng.sample(range(len(trees)), min(most, len(trees))))]


# The card -----------------------------------------------------------------------------------------


def write_card(source: Source, name: str, folder: Path, parsed: Path, pipeline: Path) -> None:
    """Write data, licence and scores into the meta.json of a pipeline."""
    read = partial(read_trees, coarse_tags=source.coarse_tags)
    train, golds = (list(read(folder / f"{part}.mrg")) for part in ("train", "test"))
    scores = evaluate(golds, list(read_trees(parsed))).scores()
    notes = NOTES.format(
        note=source.note and f" {source.note}",
        trees=len(train),
        words=sum(map(len, train)),
        tests=len(golds),
        title=source.title,
        license=source.license,
        **scores,
    )
    meta = srsly.read_json(pipeline / "meta.json")
    meta["performance"].update({key: round(value, 4) for key, value in scores.items()})
    meta |= {
        "name": name.lower().replace("-", "_"),
        "description": f"Constituency parser that learned from {source.title}.",
        "license": source.license,
        "sources": [{"name": source.title, "author": source.author, "license": source.license, "url": source.url}],
        "notes": notes,
    }
    srsly.write_json(pipeline / "meta.json", meta)
    print(notes)


if __name__ == "__main__":
    main()
