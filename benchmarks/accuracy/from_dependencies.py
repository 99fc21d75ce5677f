"""Measure trees from gold dependencies against gold trees of the same sentences.

    python -m benchmarks.accuracy.from_dependencies gum GUM [--part train] [--every 12] [--json FILE]
    python -m benchmarks.accuracy.from_dependencies icepahc ICEPAHC UD [--every 10] [--json FILE]

GUM is a copy of github.com/amir-zeldes/gum, as `project.yml` has it; a part is one of its `splits.md`, and Reddit,
which comes without its words, is left out. Its trees are those of a parser: they are measured as they are, and after
the rules in `scripts/gum.tsurgeon`. ICEPAHC is a folder with the .psd files of the Icelandic Parsed Historical Corpus,
and UD a copy of UD_Icelandic-IcePaHC; sentences whose words are not the same in both are left out, and both sides take
the labels of `LABELS`. --every takes each so many documents only.

F1 is that of EVALB with COLLINS.prm, which leaves out punctuation; without labels, the brackets of a parse and its gold
tree all have the same one. Tags are those of the gold tree, since EVALB tells punctuation by them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks import measure
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.queries import edit_trees, read_rules
from spacy_lpcfg.trees import Tree, read_trees
from spacy_lpcfg.trees.brackets import read_lines
from spacy_lpcfg.trees.dependency_sentences import DependencySentence, read_conllu, read_sentences
from spacy_lpcfg.trees.phrases import phrases_of
from spacy_lpcfg.trees.transforms import normalize_rooted, strip_root

RULES = Path(__file__).parents[2] / "scripts" / "gum.tsurgeon"
Pair = tuple[Tree, Tree]
LABELS = {
    "IP": "S",
    "CP": "SBAR",
    "NX": "NP",
    "WNP": "NP",
    "WHNP": "NP",
    "QP": "NP",
    "QTP": "S",
    "NUMP": "NP",
    "ADJX": "ADJP",
    "WADJP": "ADJP",
    "WHADJP": "ADJP",
    "WADVP": "ADVP",
    "WHADVP": "ADVP",
    "WPP": "PP",
    "WHPP": "PP",
    "RP": "ADVP",
    "PRT": "ADVP",
    "SQ": "S",
    "SINV": "S",
    "SBARQ": "SBAR",
    "INTJP": "INTJ",
    "FRAG": "S",
}
"""Labels of IcePaHC, and ours, by what both are called for the comparison."""
FEWEST = 20  # gold brackets of a label in the table


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("treebank", choices=("gum", "icepahc"))
    arguments.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    arguments.add_argument("--part", default="dev", help="of GUM")
    arguments.add_argument("--every", type=int, default=1, metavar="N", help="take each N-th document")
    args = arguments.parse_args()
    if args.treebank == "gum":
        sentences = list(gum(args.folders[0], args.part, args.every))
        golds, dependencies = zip(*sentences, strict=True)
        mended = zip(edit_trees(golds, read_rules(RULES)), dependencies, strict=True)
        tables = table("as distributed", pairs(sentences)) | table("mended", pairs(mended))
    else:
        tables = table(
            "IcePaHC", [(icelandic(gold), icelandic(tree)) for gold, tree in pairs(icepahc(*args.folders, args.every))]
        )
    measure.report(tables, args.json)


def table(name: str, trees: Iterable[Pair]) -> dict[str, list[measure.Row]]:
    """Return a table of the scores over all labels, over none, and per label."""
    trees = list(trees)
    golds, tests = zip(*((Tree("", [gold]), Tree("", [test])) for gold, test in trees), strict=True)
    labelled = evaluate(golds, tests)
    unlabelled = evaluate(map(without_labels, golds), map(without_labels, tests)).scores()
    n_gold = sum(score.n_gold for score in labelled.per_label().values())
    rows: list[measure.Row] = [
        {
            "label": label,
            "precision": scores["evalb_p"],
            "recall": scores["evalb_r"],
            "F1": scores["evalb_f"],
            "of": n_gold,
        }
        for label, scores in (("all", labelled.scores()), ("without labels", unlabelled))
    ]
    per_label = sorted(labelled.per_label().items(), key=lambda item: -item[1].n_gold)
    rows += [
        {"label": label, "precision": score.precision, "recall": score.recall, "F1": score.fmeasure, "of": score.n_gold}
        for label, score in per_label
        if score.n_gold >= FEWEST and label
    ]
    return {f"{name}, {len(trees)} sentences": rows}


def pairs(sentences: Iterable[tuple[Tree, DependencySentence]]) -> Iterator[Pair]:
    """Yield gold trees with the trees of dependencies, with the words and tags of the gold ones."""
    for rooted, sentence in sentences:
        gold = normalize_rooted(rooted)
        if gold is not None:
            gold = strip_root(gold)[1]
            yield gold, Tree.from_spans(gold.words, gold.tags, phrases_of(sentence).tree.spans())


def without_labels(tree: Tree) -> Tree:
    return tree.fold(lambda node, below: node if node.is_leaf else Tree("X" if node.label else "", below))


# Treebanks -----------------------------------------------------------------------------------------


def gum(folder: Path, part: str, every: int) -> Iterator[tuple[Tree, DependencySentence]]:
    text = (folder / "splits.md").read_text("utf-8")
    names = re.findall(r"^\s*\*\s+(\S+)\s*$", text.partition(f"## {part}")[2].partition("##")[0], re.MULTILINE)
    for name in [name for name in names if "_reddit_" not in name][::every]:
        trees = read_trees(folder / "const" / f"{name}.ptb")
        yield from zip(trees, read_conllu(folder / "dep" / f"{name}.conllu"), strict=True)


def icepahc(folder: Path, ud: Path, every: int) -> Iterator[tuple[Tree, DependencySentence]]:
    """Yield the sentences of documents of which both treebanks have the same words, in their order."""
    for path in sorted(folder.glob("*.psd"))[::every]:
        conllu = next(ud.rglob(f"{path.stem}.conllu"))
        sentences = list(read_sentences(read_lines(conllu), str(conllu), print))  # some have a circle of heads
        trees = [tree for tree in read_trees(path) if normalize_rooted(tree) is not None]
        golds = [words_of(normalize_rooted(tree).words) for tree in trees]
        texts = [words_of(sentence.words) for sentence in sentences]
        for block in difflib.SequenceMatcher(None, golds, texts, autojunk=False).get_matching_blocks():
            for i in range(block.size):
                yield trees[block.a + i], sentences[block.b + i]


def words_of(words: Iterable[str]) -> str:
    return " ".join(words).lower()


def icelandic(tree: Tree) -> Tree:
    """Return a tree with the labels and the brackets by which both sides are compared.

    These brackets go on both sides, since one of them has none: verb phrases, the noun phrase of the noun alone within
    a larger one, conjunctions with the conjunct after them, and phrases of one particle, negation or possessor.
    """

    def renamed(node: Tree, below: list[Tree]) -> Tree:
        if node.is_leaf:
            return node
        label = re.split("[-=]", node.label)[0]
        label = LABELS.get(label, label)
        children: list[Tree] = []
        for i, child in enumerate(below):
            is_base = (
                not child.is_leaf and label == child.label == "NP" and i == 0 and not any(map(is_conjunction, below))
            )
            children += child.children if is_base or is_dissolved(child, label) else [child]
        return Tree(label, children)

    return Tree("", [tree]).fold(renamed)


def is_dissolved(node: Tree, above: str) -> bool:
    if node.is_leaf:
        return False
    tags = "".join(child.label if child.is_leaf else "*" for child in node.children)
    is_possessor = above == node.label == "NP" and tags.startswith("PRO-")
    return node.label in ("VP", "CONJP") or is_possessor or (node.label == "ADVP" and tags in ("RP", "NEG", "ALSO"))


def is_conjunction(node: Tree) -> bool:
    return node.label in ("CONJ", "CONJP")


if __name__ == "__main__":
    main()
