"""Unsupervised parsing in the field's protocol, which C-PCFG, TN-PCFG and SN-PCFG are reported by.

    python -m benchmarks.papers.unsupervised TEXT... --trees TREES... [--tags gold none] [--seeds N...]
        [--grammar-text FILE...] [--json FILE]

TEXT are files of words and tags to learn from: bracketed trees, of which words and tags are read, or lines of word/tag.
Punctuation is taken out of all. A grammar learns from the brackets of the files --grammar-text, the last TEXT if none
are named. Without tags (--tags none), `Unsupervised` learns from the same texts; its grammars are scored after each of
two rounds, alone and together, and at last with brackets left flat. TREES are scored.

F1 is the mean over sentences, of all lengths, without punctuation, without brackets of one word and of the whole
sentence, and each span once (Kim et al. 2019). Sentences that are left with one word do not count. A sentence that has
no other bracket in the treebank has an F1 of 100 if none was found, else of 0. Where two nodes span the whole sentence,
such as S and VP in (S (VP ...)), Kim et al.'s own script counts one of them. Here neither counts, and nor does it in
that of TN-PCFG.

Tags are those of the text (gold), or classes of words that are learned from the words of TEXT (none: nobody annotated
anything); `--tags` without a name leaves the systems that learn nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

from benchmarks import measure
from benchmarks.papers.baselines import GoldSentence, baselines, gold_sentences
from spacy_lpcfg.bracketing import SpectralBracketer
from spacy_lpcfg.bracketing.binary_trees import best_tree
from spacy_lpcfg.bracketing.bracketer import bracketed_tree
from spacy_lpcfg.bracketing.extensions.induced_tags import learn_tags
from spacy_lpcfg.bracketing.tagged import TaggedSentence, read_tagged
from spacy_lpcfg.bracketing.tags import is_punctuation, penn, split_compounds
from spacy_lpcfg.evaluation.unlabelled import Bracket, UnlabelledScore, counted_brackets, unlabelled_totals
from spacy_lpcfg.induced.learner import Unsupervised
from spacy_lpcfg.induced.model import Induced
from spacy_lpcfg.learning import Induction
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees import read_trees

Spans = Iterable[Bracket]
Tagger = Callable[[TaggedSentence], Sequence[str]]
Systems = dict[str, Callable[[TaggedSentence], Spans]]
"""By its name, a function from a sentence to the spans of its tokens that a system finds."""


def sentence_f1(scores: Iterable[UnlabelledScore]) -> float:
    """F1 in the field's protocol, in percent."""
    return unlabelled_totals(scores).sentence_f


class Views(NamedTuple):
    """Two taggers.

    of_bracketer, of_grammar (callable): From a sentence of the text to the tags that each reads.
    """

    of_bracketer: Tagger
    of_grammar: Tagger


def without_punctuation(sentence: TaggedSentence) -> TaggedSentence:
    """A sentence of the words that count; of none, as it is."""
    kept = [pair for pair in zip(*sentence, strict=True) if not is_punctuation(pair[1], pair[0])]
    return TaggedSentence(*zip(*kept, strict=True)) if kept else sentence


def spelled(sentence: TaggedSentence) -> TaggedSentence:
    """A sentence with tags as the Penn Treebank has them."""
    words, tags = split_compounds(tuple(sentence.words), tuple(sentence.tags))
    return TaggedSentence(words, tuple(map(penn, tags)))


def learned(text: Sequence[TaggedSentence], grammar_text: Sequence[TaggedSentence], views: Views, seed: int) -> Systems:
    """Learn a bracketer, and a grammar by its brackets."""

    def seen(sentence: TaggedSentence, tagger: Tagger) -> TaggedSentence:
        return TaggedSentence(sentence.words, tuple(tagger(sentence)))

    tagged = [seen(sentence, views.of_bracketer) for sentence in text]
    bracketer = SpectralBracketer().fit(lambda: tagged, seed=seed)

    def brackets(sentence: TaggedSentence) -> Spans:
        return bracketer.bracket(*seen(sentence, views.of_bracketer)).spans

    trees = [bracketed_tree(s.words, views.of_grammar(s), brackets(s)) for s in grammar_text if 2 < len(s.words) <= 50]
    parser = make_parser(Induction(seed=seed).fit(trees))

    def parsed(sentence: TaggedSentence) -> Spans:
        tree = parser.parse(Query(sentence.words, views.of_grammar(sentence))).tree
        return [(start, end) for start, end, _ in tree.spans()]

    return {"bracketer": brackets, "grammar by its brackets": parsed}


def unsupervised(text: Sequence[TaggedSentence], grammar_text: Sequence[TaggedSentence], seed: int) -> Systems:
    """Learn simple PCFGs, which are systems after each round of learning, alone and together."""
    systems: Systems = {}
    for n_rounds in (1, 2):
        learner = Unsupervised(n_rounds=n_rounds, seed=seed)
        model = learner.fit([s.words for s in text], [s.words for s in grammar_text])
        for n_classes, member in zip(learner.n_classes, model.members, strict=True):
            systems[f"simple PCFG of {n_classes} classes, round {n_rounds}"] = partial(binary_tree, Induced((member,)))
        systems[f"simple PCFGs together, round {n_rounds}, binary trees"] = partial(binary_tree, model)
    parser = make_parser(model)
    systems["simple PCFGs together"] = lambda s: [(start, end) for start, end, _ in parser.parse(s.words).spans]
    return systems


def binary_tree(model: Induced, sentence: TaggedSentence) -> Spans:
    """Spans of the binary tree with the largest posteriors."""
    return best_tree(model.posteriors([sentence.words])[0]) if len(sentence.words) > 1 else []


def induced(text: Sequence[TaggedSentence], seed: int) -> Views:
    """Tags of our own. Nothing in them is random: each seed but 0 leaves out another tenth of the text."""
    tags = learn_tags(s.words for number, s in enumerate(text) if not seed or number % 10 != seed % 10)
    return Views(lambda sentence: tags.tags(sentence.words), lambda sentence: tags.fine(sentence.words))


def main() -> None:
    arguments = measure.arguments(__doc__, seeds=[0, 1, 2, 3, 4])
    arguments.add_argument("text", type=Path, nargs="+", metavar="TEXT")
    arguments.add_argument("--trees", type=Path, nargs="+", required=True)
    arguments.add_argument("--grammar-text", type=Path, nargs="+", metavar="FILE")
    arguments.add_argument("--tags", nargs="*", choices=("gold", "none"), default=["gold", "none"])
    args = arguments.parse_args()
    text, grammar_text = (
        [without_punctuation(spelled(sentence)) for sentence in read_tagged(paths)]
        for paths in (args.text, args.grammar_text or args.text[-1:])
    )
    treebanks = {str(path): list(gold_sentences(read_trees(path))) for path in args.trees}
    rows: list[measure.Row] = []
    for name, tree_of in baselines().items():
        f1s = {path: [sentence_f1(gold.score(tree_of(gold)) for gold in golds)] for path, golds in treebanks.items()}
        rows.append(row("", name, f1s))
    for kind in args.tags:
        by_system: dict[str, dict[str, list[float]]] = {}
        start = time.process_time()
        for seed in args.seeds:
            views = induced(text, seed) if kind == "none" else Views(lambda s: s.tags, lambda s: s.tags)
            systems = learned(text, grammar_text, views, seed)
            if kind == "none":
                systems |= unsupervised(text, grammar_text, seed)
            for (name, spans), (path, golds) in product(systems.items(), treebanks.items()):
                f1 = sentence_f1(scored(gold, spans(without_punctuation(gold.tagged))) for gold in golds)
                by_system.setdefault(name, {}).setdefault(path, []).append(f1)
                measure.progress(f"tags: {kind}, seed {seed}, {name}, {path}: {f1:.2f}")
        seconds = (time.process_time() - start) / len(args.seeds)
        rows += [row(kind, name, f1s, seconds) for name, f1s in by_system.items()]
    measure.report({"Sentence F1; CPU seconds of a seed, all systems with scoring": rows}, args.json)


def row(tags: str, system: str, f1s: dict[str, list[float]], seconds: float | None = None) -> measure.Row:
    """Return the row of a system, with its F1 on each treebank by seed."""
    cells = {path: measure.mean_and_range(by_seed) for path, by_seed in f1s.items()}
    return {"tags": tags, "system": system, **cells, "CPU s": seconds}


def scored(gold: GoldSentence, spans: Spans) -> UnlabelledScore:
    return gold.score(counted_brackets(spans, [True] * gold.n_words))


if __name__ == "__main__":
    main()
