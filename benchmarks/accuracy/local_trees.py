"""Measure how much the trees of models look like the trees of a treebank, whatever their F1.

    python -m benchmarks.accuracy.local_trees MODEL... --known TREES... [--trees TREES...] [--text TEXT]
        [--decodings NAME...] [--json FILE]

MODEL is a folder that spacy.load opens, or a model of the package, such as en. A local tree is a label over the labels
and tags of its children, without punctuation. The measures of each file of TREES, from its words: F1 and sentences that
are entirely right, as EVALB with COLLINS.prm over all lengths; local trees that the known trees do not have, and
sentences with any; and sentences that match a pattern of trees that look wrong (`PATTERNS`). Rows called "gold" are of
the trees of the file. Patterns match some of these too, so that a model can be expected to have as many.

With --text, the last two measures are also taken of the trees that the pipeline gives to the sentences of a file of
plain text, and to those sentences of `tests/data/gallery.tsv` that may be looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spacy.language import Language

from benchmarks import measure
from benchmarks.accuracy.gallery import SEEN, parsed, read_gallery
from spacy_lpcfg.components.cli.shared.pipelines import find_lpcfg_parser, load_pipeline
from spacy_lpcfg.components.doc.constituents import trees as trees_of
from spacy_lpcfg.components.lpcfg_parser import LPCFGParser
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.queries import TreeIndex
from spacy_lpcfg.trees import Tree, normalize, read_trees
from spacy_lpcfg.trees.local_trees import LocalTrees, local_trees

_VERB = "/^(VB|MD)/"
_AUXILIARY = (
    "/^(?i)(am|are|is|was|were|be|been|being|has|have|had|having|do|does|did|done|doing|get|gets|got|gotten|getting"
    "|ai|let|help|['’](m|re|s|ve|d|ll))$/"
)
_PHRASE = "ADJP|NP|PP|S|SBAR|VP"
PATTERNS = {
    "skeleton": "S|FRAG < /^(VB|MD|NN|DT$|IN$|TO$)/ | VP < /^VB/ < (/^(NN|DT$|IN$)/ !$ CC)"
    f" | VP < ({_VERB} $-- NP|PP|S|SBAR !$-- CC)",
    "PP over PP": "PP < PP !< /^(IN|TO|RB|JJ|VB.|CC|CONJP|ADVP|PRN|NP)$/ !< (PP $ PP)",
    "VP without a verb": "VP !< /^(VB|MD|TO|VP|CC)/",
    "main verb swallowed": f"VP < (/^VB/ !< {_AUXILIARY}) < (VP !$ VP) !< /^(CC|CONJP|[,:])$/",
    "mixed coordination": f"CC $- {_PHRASE}=left $+ ({_PHRASE} == !~left !$+ ~left) !> UCP"
    " | $- VP $+ VP $-- NP | $- /^VB/ $+ VP | $- VP $+ /^VB/",
}
"""What looks wrong, in the language of docs/search.md: most matches are mistakes, though not all."""


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("models", nargs="+", metavar="MODEL")
    arguments.add_argument("--known", type=Path, nargs="+", required=True, metavar="TREES")
    arguments.add_argument("--trees", type=Path, nargs="+", default=[], metavar="TREES")
    arguments.add_argument("--text", type=Path, metavar="TEXT")
    arguments.add_argument("--decodings", nargs="+", default=["mbr"], metavar="NAME")
    args = arguments.parse_args()
    if not args.trees and not args.text:
        arguments.error("expected --trees or --text, got neither")
    treebanks = {str(Path(*path.parts[-2:])): measure.read_gold(path) for path in args.trees}
    known = LocalTrees.of_trees(tree for tree in map(normalize, read_trees(args.known)) if tree is not None)
    tables: dict[str, list[measure.Row]] = {name: [] for name in treebanks}
    for model in args.models:
        nlp = load_pipeline(model)
        pipe, _ = find_lpcfg_parser(nlp)
        for name, golds in treebanks.items():
            tables[name].append(row(model, "gold", golds, golds, known))
        for decoding in args.decodings:
            pipe.decoding = decoding
            for name, golds in treebanks.items():
                measure.progress(f"{model} {decoding} {name}")
                tables[name].append(row(model, decoding, golds, parses(pipe, golds), known))
            for name, trees in texts(nlp, args.text).items() if args.text else ():
                shares = {"model": model, "decoding": decoding, "sentences": len(trees), **strangeness(trees, known)}
                tables.setdefault(name, []).append(shares)
    measure.report(tables, args.json)


def parses(pipe: LPCFGParser, golds: Sequence[Tree]) -> list[Tree]:
    """Parse the words of trees."""
    parser = pipe.ready_parser()
    return [
        Tree.from_spans(gold.words, parse.tags, parse.spans) for gold in golds for parse in [parser.parse(gold.words)]
    ]


def texts(nlp: Language, path: Path) -> dict[str, list[Tree]]:
    """Parse a text, paragraph by paragraph, and the half of the gallery that may be looked at."""
    paragraphs = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    of_text = [tree for doc in nlp.pipe(paragraphs) for tree in trees_of(doc) if tree is not None]
    gallery = [parsed(nlp, sentence) for sentence in read_gallery() if sentence.half == SEEN]
    return {path.stem: of_text, f"gallery, {SEEN}": gallery}


def row(model: str, decoding: str, golds: Sequence[Tree], trees: Sequence[Tree], known: LocalTrees) -> measure.Row:
    """Return the accuracy of a model's trees, and the share of their local trees that are unseen."""
    scores = evaluate(golds, trees).scores()
    right = {"F1": scores["evalb_f"], "right, %": scores["complete_match"]}
    return {"model": model, "decoding": decoding, **right, **strangeness(trees, known)}


def strangeness(trees: Sequence[Tree], known: LocalTrees) -> measure.Row:
    """Percentage of local trees that a treebank lacks, and of sentences with any, and with each of the patterns."""
    unseen = [len(known.unseen(tree)) for tree in trees]
    n_local_trees = sum(1 for tree in trees for _ in local_trees(tree, known.punctuation))
    matching = matching_trees(trees)
    return {
        "unseen local trees, %": 100 * sum(unseen) / n_local_trees,
        "sentences with any, %": 100 * sum(map(bool, unseen)) / len(trees),
        **{f"{name}, %": 100 * len(numbers) / len(trees) for name, numbers in matching.items()},
        "any pattern, %": 100 * len(set().union(*matching.values())) / len(trees),
    }


def matching_trees(trees: Sequence[Tree]) -> dict[str, set[int]]:
    """Return the numbers of the trees that match each pattern."""
    index = TreeIndex.from_trees(trees)
    return {name: {match.node.tree_number for match in index.search(pattern)} for name, pattern in PATTERNS.items()}


if __name__ == "__main__":
    main()
