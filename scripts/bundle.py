"""Make the model of a pipeline one that comes with the package.

    python scripts/bundle.py NAME MODEL TREES... [--bits N] [--least SHARE]

NAME is that of the model, such as en or en-fast; MODEL is a folder that spacy.load opens, with an lpcfg_parser in it;
TREES are files of gold trees that it did not learn from, the first of the treebank that it learned from; of others,
such as the same trees before they were mended, there is F1 alone. Writes spacy_lpcfg/models/NAME.model. There networks
and span layers keep N bits of the fractions of their weights (4; 23 keep all), weights below SHARE of the root mean
square of their matrix are 0, features of layers whose weights are all 0 go, and probabilities of grammars keep 8 bits.
The temperature that `spacy-lpcfg calibrate` has saved as a setting becomes that of the model. Writes the table of the
model card NAME.md too: how it was learned, its size, checksum, load time and memory, and scores on the words of TREES
as EVALB has them with COLLINS.prm. Times are CPU seconds, taken in a process of its own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from spacy_lpcfg.components.cli.shared.pipelines import find_lpcfg_parser, load_pipeline
from spacy_lpcfg.components.parsing_pipe import TextParser
from spacy_lpcfg.evaluation.calibration import outcomes, reliability, tempered
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.isbn.network import ISBN
from spacy_lpcfg.models import pretrained_path
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.stacking.stacked import Stacked
from spacy_lpcfg.storage.container import compressed
from spacy_lpcfg.storage.files import write_atomically
from spacy_lpcfg.trees import Tree, clean, read_trees

TABLE = re.compile(r"(?<=<!-- table: by scripts/bundle.py -->\n).*?(?=<!-- end of the table -->)", re.DOTALL)
GRAMMAR_BITS = 8  # of the fractions of probabilities
SCORES = {
    "F1": "evalb_f",
    "precision": "evalb_p",
    "recall": "evalb_r",
    "whole sentences right, %": "complete_match",
    "tags right, %": "tag_acc",
}
FIRST_PARSE = """
import time
import spacy, spacy_lpcfg.components.lpcfg_parser
from spacy_lpcfg.models import pretrained_model
start = time.process_time()
pretrained_model({name!r})
read = time.process_time() - start
nlp = spacy.blank("en")
nlp.add_pipe("lpcfg_sentencizer")
nlp.add_pipe("lpcfg_parser", config={{"pretrained": {name!r}}})
start = time.process_time()
nlp("Go.")
parsed = time.process_time() - start
status = open("/proc/self/status").read().split()
print(read, parsed, int(status[status.index("VmHWM:") + 1]) * 1.024e-3)
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("name", metavar="NAME")
    arguments.add_argument("model", metavar="MODEL")
    arguments.add_argument("trees", type=Path, nargs="+", metavar="TREES")
    arguments.add_argument("--bits", type=int, default=4, metavar="N")
    arguments.add_argument("--least", type=float, default=0.0, metavar="SHARE")
    args = arguments.parse_args()
    nlp = load_pipeline(args.model)
    parser, model = find_lpcfg_parser(nlp)
    model = lighter(model, args.bits, args.least)
    if parser.output.temperature is not None:
        model = replace(model, temperature=parser.output.temperature)
    path = pretrained_path(args.name)
    write_atomically(path, compressed(model.to_bytes()))
    parser.grammar = model
    learner = without_folders(nlp.config.interpolate()["components"][parser.name]["learner"])
    text_parser = parser.ready_parser()
    first, *others = args.trees
    rows = {
        "learner": f"`{json.dumps(learner)}`",
        **file_rows(path),
        **cost_rows(args.name),
        **scores(text_parser, first, model.temperature),
        **other_rows(text_parser, others),
    }
    table = "".join(f"| {name} | {value} |\n" for name, value in {"": "", "---": "---", **rows}.items())
    card = path.with_suffix(".md")
    write_atomically(card, TABLE.sub(lambda _: table, card.read_text("utf-8")).encode())
    print(table, end="")


def without_folders(config: Any) -> Any:
    """Return a part of a config without what is None, and with the names alone of files, which lie anywhere."""
    if not isinstance(config, dict):
        return config
    return {
        key: Path(value).name if key in ("text", "path") and isinstance(value, str) else without_folders(value)
        for key, value in config.items()
        if value is not None
    }


def lighter(model: ParsingModel, bits: int, least: float) -> ParsingModel:
    """Return a model whose networks and span layers take less room when they are compressed.

    bits (int): The bits of the fraction that each weight keeps.
    least (float): Weights below this share of the root mean square of their matrix become 0.
    """
    if isinstance(model, Stacked):
        weights = sparse(rounded(model.layer.weights, bits), least).astype(model.layer.weights.dtype)
        used = weights.any(axis=1)
        layer = replace(model.layer, keys=model.layer.keys[used], weights=weights[used])
        return replace(model, model=lighter(model.model, bits, least), layer=layer)
    if isinstance(model, Grammar):
        lexicon = replace(model.lexicon, vectors=rounded(model.lexicon.vectors, GRAMMAR_BITS))
        tensors = replace(model.tensors, rests=rounded(model.tensors.rests, GRAMMAR_BITS))
        return replace(model, lexicon=lexicon, tensors=tensors)
    if isinstance(model, ISBN):
        networks = [
            network.of({name: sparse(rounded(array, bits), least) for name, array in network.parameters.items()})
            for network in model.networks
        ]
        return replace(model, networks=tuple(networks))
    return model


def rounded(array: np.ndarray, bits: int) -> np.ndarray:
    """Return the nearest single floats that have so many bits in their fractions."""
    mantissas, exponents = np.frexp(array.astype(np.float64))
    scale = 2.0 ** (bits + 1)
    return np.ldexp(np.round(mantissas * scale) / scale, exponents).astype(np.float32)


def sparse(array: np.ndarray, least: float) -> np.ndarray:
    """Return a matrix whose entries below a share of their root mean square are 0; vectors stay as they are."""
    if array.ndim == 1:
        return array
    return np.where(np.abs(array) < least * np.sqrt(np.mean(np.square(array))), np.float32(0), array)


def file_rows(path: Path) -> dict[str, str]:
    """Return the size and the checksum of a file."""
    data = path.read_bytes()
    return {"size, MB": f"{len(data) / 1e6:.2f}", "SHA-256": hashlib.sha256(data).hexdigest()}


def cost_rows(name: str) -> dict[str, str]:
    """Return what a model of the package costs a fresh process in time and memory, on Linux."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FIRST_PARSE.format(name=name)],
        capture_output=True,
        check=True,
        text=True,
    )
    read, parsed, peak = map(float, done.stdout.split())
    return {
        "reading it, s": f"{read:.2f}",
        "first parse, with reading it, s": f"{parsed:.2f}",
        "peak memory of the process, with Python and spaCy, MB": f"{peak:.0f}",
    }


def scores(parser: TextParser, trees: Path, temperature: float) -> dict[str, str]:
    """Return scores of a parser on gold trees, from their words alone, and the calibration of its own scores."""
    golds = read_gold(trees)
    start = time.process_time()
    parses = [parser.parse(gold.words) for gold in golds]
    seconds = time.process_time() - start
    tests = [Tree.from_spans(gold.words, parse.tags, parse.spans) for gold, parse in zip(golds, parses, strict=True)]
    evaluation = evaluate(golds, tests)
    percentages, (probabilities, right) = evaluation.scores(), outcomes(parses, golds)
    return {
        "sentences scored": f"{evaluation.total().n_valid:,}",
        **{name: f"{percentages[key]:.2f}" for name, key in SCORES.items()},
        "temperature": f"{temperature:g}",
        "expected calibration error, %": _calibration_error(probabilities, right, temperature),
        "the same without the temperature, %": _calibration_error(probabilities, right, 1.0),
        "sentences without a tree of the grammar": str(sum(not parse.is_parsed for parse in parses)),
        "sentences per CPU second": f"{len(golds) / seconds:.0f}",
    }


def read_gold(path: Path) -> list[Tree]:
    """Return the trees of a file, normalized for scoring."""
    return [tree for tree in map(clean, read_trees(path)) if tree is not None]


def other_rows(parser: TextParser, files: list[Path]) -> dict[str, str]:
    """Return F1 on other gold trees, and their numbers of sentences."""
    rows = {}
    for path in files:
        golds = read_gold(path)
        total = evaluate(golds, [parser.parse(gold.words).tree for gold in golds]).total()
        rows[f"F1 on `{path.as_posix()}`"] = f"{total.brackets.fmeasure:.2f}"
        rows[f"sentences scored of `{path.as_posix()}`"] = f"{total.n_valid:,}"
    return rows


def _calibration_error(scores: np.ndarray, right: np.ndarray, temperature: float) -> str:
    return f"{100 * reliability(tempered(scores, temperature), right).expected_error:.2f}"


if __name__ == "__main__":
    main()
