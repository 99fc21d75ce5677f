"""Make a grammar and a tuned encoder the model of a language that comes with the package.

    python scripts/bundle.py NAME GRAMMAR ENCODER TREES...

NAME is that of the model, such as en; GRAMMAR is a folder that spacy.load opens, with an lpcfg_parser by a grammar in
it; ENCODER is an encoder with the classifier that it was tuned with, from `spacy-lpcfg encoder --tune`; TREES are files
of gold trees that none of them learned from. Writes spacy_lpcfg/models/NAME.model: the grammar, whose probabilities
keep 8 bits of their fractions, with the encoder's evidence, whose weights are fitted on TREES. Writes the table of the
model card NAME.md too: its size, checksum, load time and memory, and scores on the words of TREES as EVALB has them
with COLLINS.prm, with and without evidence. Times are CPU seconds, taken in a process of its own.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from spacy_lpcfg.components.cli.shared.pipelines import find_lpcfg_parser, load_pipeline
from spacy_lpcfg.evaluation.calibration import DomainOutcomes
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.evidence.grammar import EvidenceGrammar
from spacy_lpcfg.evidence.learner import with_fitted_weights
from spacy_lpcfg.evidence.model import EncoderEvidence
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.models import pretrained_path
from spacy_lpcfg.models.encoders import find_encoder
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.protocol import SentenceParser
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.storage.container import compressed
from spacy_lpcfg.storage.files import write_atomically
from spacy_lpcfg.trees import Tree, clean, read_trees
from spacy_lpcfg.trees.transforms import normalize_rooted

TABLE = re.compile(r"(?<=<!-- table: by scripts/bundle.py -->\n).*?(?=<!-- end of the table -->)", re.DOTALL)
GRAMMAR_BITS = 8  # of the fractions of probabilities
MOST = 1000  # trees that the weights of evidence are fitted on
SCORES = {
    "F1": "evalb_f",
    "sentences right, %": "complete_match",
    "tags right, %": "tag_acc",
}
FIRST_PARSE = """
import time
import spacy, spacy_lpcfg.components.lpcfg_parser
from spacy_lpcfg.models.loading import pretrained_model
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
    arguments.add_argument("grammar", metavar="GRAMMAR")
    arguments.add_argument("encoder", metavar="ENCODER")
    arguments.add_argument("trees", type=Path, nargs="+", metavar="TREES")
    args = arguments.parse_args()
    model = joined(args.grammar, args.encoder, args.trees)
    path = pretrained_path(args.name)
    write_atomically(path, compressed(model.to_bytes()))
    facts = {
        **file_rows(path),
        "power of spans": f"{model.weights.span_power:g}",
        "tau": f"{model.weights.tau:g}",
        **cost_rows(args.name),
    }
    measured = {
        f"`{name}`, `{trees.as_posix()}`": scores(parser, trees)
        for name, parser in ((args.name, make_parser(model)), (f"{args.name}-fast", make_parser(model.grammar)))
        for trees in args.trees
    }
    tables = f"{table(('', ''), facts.items())}\n{score_table(measured)}"
    card = path.with_suffix(".md")
    write_atomically(card, TABLE.sub(lambda _: tables, card.read_text("utf-8")).encode())
    print(tables, end="")


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table in Markdown."""
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, ("---",) * len(head), *rows))


def score_table(measured: dict[str, dict[str, str]]) -> str:
    """Return a table in Markdown with a row for each parser and file, and a column for each score."""
    names = next(iter(measured.values()))
    return table(("", *names), [(row, *values.values()) for row, values in measured.items()])


def joined(grammar: str, encoder: str, trees: list[Path]) -> EvidenceGrammar:
    """Return the grammar of a pipeline with an encoder's evidence, whose weights are fitted on trees of files."""
    parser, _ = find_lpcfg_parser(load_pipeline(grammar))
    found = find_encoder(encoder, "")
    if not isinstance(parser.learned, Grammar) or found is None or found.classifier is None:
        raise SystemExit(
            "expected a grammar without evidence, and an encoder with the classifier that it was tuned with"
        )
    evidence = EncoderEvidence(found.encoder, found.classifier)
    golds = [tree for path in trees for tree in map(normalize_rooted, read_trees(path)) if tree is not None]
    return with_fitted_weights(EvidenceGrammar(lighter(parser.learned), evidence), golds[:: len(golds) // MOST + 1])


def lighter(grammar: Grammar) -> Grammar:
    """Return a grammar whose probabilities take less room when they are compressed."""
    lexicon = replace(grammar.lexicon, vectors=rounded(grammar.lexicon.vectors))
    tensors = replace(grammar.tensors, rests=rounded(grammar.tensors.rests))
    return replace(grammar, lexicon=lexicon, tensors=tensors)


def rounded(array: np.ndarray) -> np.ndarray:
    """Return the nearest single floats that have `GRAMMAR_BITS` bits in their fractions."""
    mantissas, exponents = np.frexp(array.astype(np.float64))
    scale = 2.0 ** (GRAMMAR_BITS + 1)
    return np.ldexp(np.round(mantissas * scale) / scale, exponents).astype(np.float32)


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


def scores(parser: SentenceParser, path: Path) -> dict[str, str]:
    """Return scores of a parser on the gold trees of a file, from their words alone, and its calibration."""
    golds: list[Tree] = [tree for tree in map(clean, read_trees(path)) if tree is not None]
    start = time.process_time()
    parses = [parser.parse(query) for query in parser.prepare([Query(gold.words) for gold in golds])]
    seconds = time.process_time() - start
    evaluation = evaluate(golds, [parse.tree for parse in parses])
    percentages = evaluation.scores()
    of_brackets, _, of_trees = DomainOutcomes.of(parses, golds).expected_errors()
    return {
        "sentences scored": f"{evaluation.total().n_valid:,}",
        **{name: f"{percentages[key]:.2f}" for name, key in SCORES.items()},
        "calibration error, %: brackets": f"{100 * of_brackets:.2f}",
        "of whole trees": f"{100 * of_trees:.2f}",
        "sentences per CPU second": f"{len(golds) / seconds:.0f}",
    }


if __name__ == "__main__":
    main()
