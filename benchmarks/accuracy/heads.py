"""Measure how far the heads of GUM's constituency trees agree with its dependency trees.

    python -m benchmarks.accuracy.heads CONST DEP [--json FILE]

CONST and DEP are the folders const/ and dep/ of GUM, of which documents have the same names. Dependencies of the trees
are by `spacy_lpcfg.trees.dependencies` and the English head rules; those of DEP are Universal Dependencies.
Punctuation is left out. Measured is

- as they stand: the words with the same head (unlabelled attachment), and the nodes of several words whose head is the
  one word that depends on another outside of the node;
- function words with their content words: the head of a phrase in Universal Dependencies is a content word, on which
  its preposition, subordinator, conjunction, auxiliary or copula depends (`FUNCTION`). These words make a group with
  it, and are no longer counted. A word has the right head if the first word above it that is outside of its own group
  is in the group of its head. A node has the right head if that is in the group of the other's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import measure
from spacy_lpcfg.trees import Tree, dependencies, read_trees
from spacy_lpcfg.trees.dependencies import NO_HEAD
from spacy_lpcfg.trees.heads import lexical_heads

FUNCTION = {"aux", "aux:pass", "case", "cc", "cop", "mark"}
N_WORST = 12


class Sentence(NamedTuple):
    """Universal Dependencies: words, and for each its head from 0, or NO_HEAD, and its relation."""

    words: list[str]
    heads: list[int]
    relations: list[str]

    def group(self, word: int) -> int:
        """The content word that a function word belongs to, or the word itself."""
        while self.relations[word] in FUNCTION and self.heads[word] != NO_HEAD:
            word = self.heads[word]
        return word


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("const", type=Path, metavar="CONST")
    arguments.add_argument("dep", type=Path, metavar="DEP")
    args = arguments.parse_args()
    right, all_, wrong = Counter(), Counter(), Counter()
    n_sentences = 0
    for tree, sentence in pairs(args.const, args.dep):
        n_sentences += 1
        for kind, is_right, relation in outcomes(tree, sentence):
            all_[kind] += 1
            right[kind] += is_right
            if kind == WORDS_IN_GROUPS:
                all_[relation] += 1
                wrong[relation] += not is_right
    rows = [{"heads": kind, "agree": f"{100 * right[kind] / all_[kind]:.2f} %", "of": all_[kind]} for kind in KINDS]
    worst = [
        {
            "relation": relation,
            "differ": n,
            "of": all_[relation],
            "of all": f"{100 * n / wrong.total():.0f} %",
        }
        for relation, n in wrong.most_common(N_WORST)
    ]
    measure.report({f"{n_sentences} sentences of {args.const}": rows, "in groups, by relation": worst}, args.json)


WORDS, NODES, WORDS_IN_GROUPS, NODES_IN_GROUPS = KINDS = (
    "of words, as they stand",
    "of nodes, as they stand",
    "of words, function words with their content words",
    "of nodes, function words with their content words",
)


def pairs(const: Path, dep: Path) -> Iterator[tuple[Tree, Sentence]]:
    """The trees of documents without underscores for words, which Reddit's have, with their dependencies."""
    for path in sorted(const.glob("*.ptb")):
        if "_reddit_" not in path.name:
            measure.progress(path.stem)
            sentences = read_conllu(dep / f"{path.stem}.conllu")
            yield from zip(read_trees(path), sentences, strict=True)


def read_conllu(path: Path) -> Iterator[Sentence]:
    for text in path.read_text("utf-8").strip().split("\n\n"):
        rows = [line.split("\t") for line in text.split("\n") if not line.startswith("#")]
        words = [row for row in rows if row[0].isdecimal()]
        yield Sentence([row[1] for row in words], [int(row[6]) - 1 for row in words], [row[7] for row in words])


def outcomes(tree: Tree, sentence: Sentence) -> Iterator[tuple[str, bool, str]]:
    """For each word and node that is compared its kind, whether its heads agree, and the word's relation."""
    gold_heads = [arc.head for arc in dependencies(tree)]
    if len(gold_heads) != len(sentence.words):
        raise ValueError(f"Expected a tree of the words {sentence.words}, got {tree.words}.")
    group = [sentence.group(word) for word in range(len(gold_heads))]
    is_word = [relation != "punct" for relation in sentence.relations]
    for word, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
        if not is_word[word]:
            continue
        yield WORDS, gold_heads[word] == head, relation
        if group[word] == word:
            above = gold_heads[word]
            while above != NO_HEAD and group[above] == word:
                above = gold_heads[above]
            wanted = NO_HEAD if head == NO_HEAD else group[head]
            yield WORDS_IN_GROUPS, (NO_HEAD if above == NO_HEAD else group[above]) == wanted, relation
    yield from of_nodes(tree, sentence, group)


def of_nodes(tree: Tree, sentence: Sentence, group: list[int]) -> Iterator[tuple[str, bool, str]]:
    """The same of the nodes over several words, each range of words once, if one word in it depends on one outside."""
    position, seen = 0, set()
    for node, head in zip(tree.nodes(), lexical_heads(tree), strict=True):
        inside = [i for i in range(position, position + len(node)) if sentence.relations[i] != "punct"]
        tops = [i for i in inside if sentence.heads[i] not in range(position, position + len(node))]
        if len(inside) > 1 and len(tops) == 1 and (position, len(node)) not in seen:
            seen.add((position, len(node)))
            yield NODES, head == tops[0], ""
            yield NODES_IN_GROUPS, group[head] == group[tops[0]], ""
        position += node.is_leaf


if __name__ == "__main__":
    main()
