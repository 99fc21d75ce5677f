"""Whether surprisal foretells how long people read each word: Natural Stories (Futrell et al. 2021).

    python -m benchmarks.papers.reading_times STORIES --brown FILE [--treebanks FOLDER...] [--json FILE]

STORIES is a copy of github.com/languageMIT/naturalstories (CC BY-NC-SA 4.0): ten stories, read word by word by about
180 people. FOLDER has a train.mrg, from which a pivot grammar and a belief network are learned. FILE is the Brown
corpus, lines of word/tag, for a language model (pivot + EM with bigrams and trigrams mixed), a Kneser-Ney model of
5-grams and unigram frequencies.

What is foretold is the mean reading time of a word, over the readers that the corpus keeps: those with five of six
questions right, and times above 100 and below 3,000 ms. Linear regression, by least squares; a story is foretold from
the other nine. The baseline has length in characters and unigram frequency of the word and of the two before it, and
its position in the story and in the sentence. A predictor comes with its values at the two words before, too. The first
and the last word of a sentence, and the first two of a story, are not foretold, but their values count for the words
after them. What is told is by how many nats the log-likelihood of a thousand held-out words rises, with 95% intervals
by a bootstrap over stories; and by how many milliseconds a word is slower for each bit of itself and of the two words
before, all words fitted.

The surprisal of a word is the sum of its tokens', punctuation too, tokenised as the corpus's trees are. Sentences are
the trees. For models of the Brown corpus, which does not split "don't", it is one token. They share the probability of
an unknown word among all words that occur once.

The surprisal of a grammar has two parts (Roark et al. 2009). The syntactic one is -log2 of the probability that the
next word has a tag which this word can have, and the lexical one is the rest. The entropy is that of the next word's
tag; what a word takes from it, if it does, is the reduction (Hale 2006).

The file of mean times in the repository, processed_wordinfo.tsv, was not made again when the corpus's authors found in
May 2025 that all times stood one word too early. They are moved by one here. Where the folder has the corrected times
of each reader, processed_RTs.tsv, these are taken.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import measure
from spacy_lpcfg.chart import ChartSettings, Parser
from spacy_lpcfg.chart._fine import FineGrammar
from spacy_lpcfg.chart.prefix import Prefixes
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.isbn import IncrementalParser
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.language_model import LanguageModelLearner, read_sentences
from spacy_lpcfg.language_model.kneser_ney import KneserNey, count_ngrams
from spacy_lpcfg.language_model.text import TextVocabulary
from spacy_lpcfg.learning import Pivot
from spacy_lpcfg.trees import read_trees

TIMES, MEANS = "processed_RTs.tsv", "processed_wordinfo.tsv"
LAGS = (0, 1, 2)
N_GRAM = 5
N_GRAMS = "5-grams, Brown"
N_BOOTSTRAPS = 10_000
_LEAF = re.compile(r"\(\S+ ([^\s()]+)/(\d+)\.(\d+)(?:\.\w+)?\)|\((-NONE-) [^\s()]+\)|\((ROOT)\b")
_EDGES = re.compile(r"^\W+|\W+$")

Values = np.ndarray
"""float64 (n_words,): a number of each word of the corpus."""


class Place(NamedTuple):
    """The position of a word: its story and its number in it, both from 1."""

    story: int
    word: int


@dataclass(frozen=True)
class Corpus:
    """The words of all stories in their order.

    places (list of Place), texts (list of str): Of each word, with its punctuation
    tokens (list of list of str): Of each word, as its tree has them
    sentences (list of list of int): The words of each, as positions in the lists
    times (Values): Mean reading times in ms; nan for none
    """

    places: list[Place]
    texts: list[str]
    tokens: list[list[str]]
    sentences: list[list[int]]
    times: Values

    @property
    def stories(self) -> np.ndarray:
        return np.array([position.story for position in self.places])

    @property
    def letters(self) -> list[str]:
        """The words without the punctuation around them."""
        return [_EDGES.sub("", text) or text for text in self.texts]


# Reading -----------------------------------------------------------------------------------------


def read_corpus(folder: Path) -> Corpus:
    """RAISES (ValueError): If a word has no token in the trees."""
    texts = {}
    for line in (folder / "words.tsv").read_text("utf-8").splitlines():
        code, text = line.split("\t")
        story, word, kind = code.split(".")
        if kind == "whole":
            texts[Place(int(story), int(word))] = text.replace(" ", "")
    places = sorted(texts)
    number = {position: i for i, position in enumerate(places)}
    tokens: list[list[str]] = [[] for _ in places]
    sentences: list[list[int]] = []
    for position, token in _leaves(folder / "parses" / "penn" / "all-parses-aligned.txt.penn"):
        if position is None:
            sentences.append([])
            continue
        tokens[number[position]].append(token)
        if number[position] not in sentences[-1][-1:]:
            sentences[-1].append(number[position])
    missing = [places[i] for i, of_word in enumerate(tokens) if not of_word]
    if missing or sum(map(len, sentences)) != len(places):
        raise ValueError(
            f"Expected trees over all {len(places)} words, each in one sentence; without a tree: {missing}."
        )
    times = read_times(folder / "naturalstories_RTS")
    mean_times = np.array([times.get(position, np.nan) for position in places])
    return Corpus(places, [texts[position] for position in places], tokens, sentences, mean_times)


def _leaves(path: Path) -> Iterator[tuple[Place | None, str]]:
    """The tokens of trees in their order, and None before each tree."""
    for token, story, word, empty, root in _LEAF.findall(path.read_text("utf-8")):
        if root:
            yield None, ""
        elif not empty:
            yield Place(int(story), int(word)), token


def read_times(folder: Path) -> dict[Place, float]:
    """Mean reading times: the corrected ones if they are there, or else the others, moved by a word."""
    if (folder / TIMES).is_file():
        of_word: dict[Place, list[float]] = defaultdict(list)
        for row in _rows(folder / TIMES, "\t"):
            of_word[Place(int(row["item"]), int(row["zone"]))].append(float(row["RT"]))
        return {position: sum(values) / len(values) for position, values in of_word.items()}
    rows = _rows(folder / MEANS, "\t")
    return {Place(int(row["item"]), int(row["zone"]) + 1): float(row["meanItemRT"]) for row in rows}


def _rows(path: Path, delimiter: str) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter=delimiter)


def gpt3(folder: Path, corpus: Corpus) -> Values:
    """The surprisal of each word by GPT-3, in bits: of its own tokens, which may be parts of words; 0 of first ones.

    RAISES (ValueError): If the tokens make other words.
    """
    texts: dict[int, list[str]] = defaultdict(list)
    bits: dict[int, list[float]] = defaultdict(list)
    for row in _rows(folder / "probs" / "all_stories_gpt3.csv", ","):
        story = int(row["story"]) + 1
        if row["token"].startswith(" ") or story not in texts:
            texts[story].append("")
            bits[story].append(0.0)
        texts[story][-1] += row["token"].strip()
        bits[story][-1] -= float(row["logprob"] or 0) / np.log(2)
    if [text for story in sorted(texts) for text in texts[story]] != corpus.texts:
        raise ValueError("Expected the words of words.tsv in all_stories_gpt3.csv, got others.")
    return np.array([each for story in sorted(bits) for each in bits[story]])


# Predictors --------------------------------------------------------------------------------------


class Predictors(NamedTuple):
    """Predictors of reading times of each word by a model.

    bits (Values): Surprisal
    others (dict[str, Values]): Its parts, and entropies
    """

    bits: Values
    others: dict[str, Values]


class Watched(Prefixes):
    """Prefix probabilities that remember how likely each state of each tag was before each word."""

    def __init__(self, grammar: Grammar) -> None:
        super().__init__(grammar, FineGrammar(grammar), threshold=ChartSettings.prefix_threshold)
        self.seen: list[np.ndarray] = []
        self._tag = np.repeat(np.arange(grammar.n_preterminals), grammar.n_states[: grammar.n_preterminals])

    def _closed(self, siblings: np.ndarray) -> np.ndarray:
        closed = super()._closed(siblings)
        self.seen.append(np.bincount(self._tag, closed[: self._first], self._grammar.n_preterminals))
        return closed

    def read(self, tokens: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the surprisal of each token, its two parts, and entropies, in bits.

        inf or nan from where the grammar has no sentence that goes on so.
        """
        self.seen.clear()
        terminals, factors = self._grammar.lexicon.look_up(list(tokens))
        # one more token, whatever it is, for the entropy after the last one
        logs = self.log_probabilities(np.append(terminals, terminals[-1]), np.vstack([factors, factors[-1:]]))
        tags = np.full((len(tokens) + 1, len(self._grammar.symbols[: self._grammar.n_preterminals])), np.nan)
        tags[: len(self.seen)] = self.seen
        allowed = [self._allowed(*word) for word in zip(terminals.tolist(), factors, strict=True)]
        with np.errstate(divide="ignore", invalid="ignore"):
            bits = -np.diff(logs[: len(tokens) + 1]) / np.log(2)
            known = [min(weights[can].sum(), 1.0) for weights, can in zip(tags[:-1], allowed, strict=True)]
            syntactic = -np.log2(known)
            shares = tags / tags.sum(axis=1, keepdims=True)
            entropies = -np.sum(shares * np.log2(np.where(shares > 0, shares, 1.0)), axis=1)
        reduced = np.maximum(entropies[:-1] - entropies[1:], 0.0)
        parts = {"syntactic": syntactic, "lexical": bits - syntactic}
        return {"bits": bits, **parts, "entropy": entropies[:-1], "reduction": reduced}

    def _allowed(self, terminal: int, factors: np.ndarray) -> np.ndarray:
        """The tags that a word can have."""
        lexicon = self._grammar.lexicon
        symbols = lexicon.symbols[lexicon.offsets[terminal] : lexicon.offsets[terminal + 1]]
        return symbols[factors[self._grammar.tag_of[symbols]] > 0]


def by_words(corpus: Corpus, of_tokens: Callable[[list[str]], dict[str, np.ndarray]]) -> dict[str, Values]:
    """The sums of what is known of the tokens of each word, but for entropies, of which its first token's counts."""
    values_by_name: dict[str, Values] = {}
    for sentence in corpus.sentences:
        tokens = [token for i in sentence for token in corpus.tokens[i]]
        starts = np.cumsum([0, *(len(corpus.tokens[i]) for i in sentence[:-1])])
        for name, values in of_tokens(tokens).items():
            of_words = values[starts] if name == "entropy" else np.add.reduceat(values, starts)
            values_by_name.setdefault(name, np.full(len(corpus.texts), np.nan))[sentence] = of_words
    return values_by_name


def by_grammar(corpus: Corpus, grammar: Grammar) -> Predictors:
    predictors = by_words(corpus, Watched(grammar).read)
    checked = Parser(grammar).surprisal([token for i in corpus.sentences[0] for token in corpus.tokens[i]])
    assert np.isclose(checked[:-1].sum(), predictors["bits"][corpus.sentences[0]].sum())
    return Predictors(predictors.pop("bits"), predictors)


def by_network(corpus: Corpus, folder: Path) -> Predictors:
    parser = IncrementalParser(ISBNLearner().fit_networks(read_trees(folder / "train.mrg")))
    bits = by_words(corpus, lambda tokens: {"bits": parser.surprisal(tokens)[:-1]})["bits"]
    return Predictors(bits, {})


class Brown:
    """Models of the Brown corpus.

    sentences (list of list of str): The words of the corpus
    """

    def __init__(self, path: Path) -> None:
        self.sentences = [[token.rpartition("/")[0] for token in line] for line in read_sentences(path)]
        counts = Counter(word for sentence in self.sentences for word in sentence)
        self._unknown_bits = np.log2(sum(n == 1 for n in counts.values()))
        self._lower = Counter(word.lower() for sentence in self.sentences for word in sentence)

    def frequency(self, corpus: Corpus) -> Values:
        """log2 of how often a word occurs, and once more, whatever the case of its letters."""
        return np.log2([self._lower[word.lower()] + 1 for word in corpus.letters])

    def ngrams(self, corpus: Corpus) -> Predictors:
        vocabulary = TextVocabulary.of(self.sentences)
        model = KneserNey(*count_ngrams(vocabulary.ngrams(self.sentences, N_GRAM)), len(vocabulary), N_GRAM)
        return self._predictors(corpus, vocabulary, N_GRAM, model.probabilities)

    def language_model(self, corpus: Corpus) -> Predictors:
        model = LanguageModelLearner(kneser_ney=True, held_out=0.1).fit(self.sentences).model
        return self._predictors(corpus, model.vocabulary, 3, model.probabilities)

    def _predictors(
        self, corpus: Corpus, vocabulary: TextVocabulary, order: int, probabilities: Callable[[np.ndarray], np.ndarray]
    ) -> Predictors:
        def of_tokens(tokens: list[str]) -> dict[str, np.ndarray]:
            joined, of = _rejoined(tokens)
            bits = np.zeros(len(tokens))
            bits[of] = -np.log2(probabilities(vocabulary.ngrams([joined], order)[:-1]))
            bits[of] += self._unknown_bits * np.array([word not in vocabulary for word in joined])
            return {"bits": bits}

        return Predictors(by_words(corpus, of_tokens)["bits"], {})


def _rejoined(tokens: Sequence[str]) -> tuple[list[str], list[int]]:
    """Tokens as the Brown corpus has them, with "n't" and "'s" at the word before, and where each begins."""
    words: list[str] = []
    places: list[int] = []
    for i, token in enumerate(tokens):
        if words and re.fullmatch(r"n't|'(s|re|ve|ll|d|m)", token, re.IGNORECASE):
            words[-1] += token
        else:
            words.append(token)
            places.append(i)
    return words, places


# Regression --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Regression:
    """Reading times of the words that are foretold.

    times (float64, (n,)), stories (int, (n,)): Of each
    chosen (int, (n,)): Their positions in the corpus
    baseline (float64, (n, n_columns))
    """

    times: np.ndarray
    stories: np.ndarray
    chosen: np.ndarray
    baseline: np.ndarray

    def columns(self, values: Sequence[Values]) -> np.ndarray:
        """Predictors at each word and at the two before it, float64 (n, 3 * n_values)."""
        return np.stack([predictor[self.chosen - lag] for predictor in values for lag in LAGS], axis=1)

    def gains(self, values: Sequence[Values], given: Sequence[Values] = ()) -> dict[int, np.ndarray]:
        """By story, by how many nats the log-likelihood of each of its words rises."""
        less = np.hstack([self.baseline, self.columns(given)]) if given else self.baseline
        more = np.hstack([less, self.columns(values)])
        return {
            story: self._held_out(more, self.stories == story) - self._held_out(less, self.stories == story)
            for story in np.unique(self.stories).tolist()
        }

    def _held_out(self, columns: np.ndarray, held: np.ndarray) -> np.ndarray:
        """Log-likelihoods of held-out times under a normal distribution of the variance of the others."""
        weights = np.linalg.lstsq(columns[~held], self.times[~held], rcond=None)[0]
        variance = np.mean((self.times[~held] - columns[~held] @ weights) ** 2)
        squares = (self.times[held] - columns[held] @ weights) ** 2
        return -0.5 * (np.log(2 * np.pi * variance) + squares / variance)

    def effects(self, columns: np.ndarray) -> np.ndarray:
        """Return the weights of columns beside the baseline, all words fitted."""
        weights = np.linalg.lstsq(np.hstack([self.baseline, columns]), self.times, rcond=None)[0]
        return weights[-columns.shape[1] :]


def regression(corpus: Corpus, frequency: Values, predictors: dict[str, Values]) -> Regression:
    """Prepare the regression on the words for which all predictors of all models are finite."""
    at_ends = {i for sentence in corpus.sentences for i in (sentence[0], sentence[-1])}
    in_sentence = np.zeros(len(corpus.texts))
    for sentence in corpus.sentences:
        in_sentence[sentence] = np.arange(len(sentence))
    chosen = np.array([i for i, position in enumerate(corpus.places) if position.word > 2 and i not in at_ends])
    timed = chosen[~np.isnan(corpus.times[chosen])]
    is_finite = np.isfinite(np.stack([*predictors.values()])).all(axis=0)
    known = timed[np.all([is_finite[timed - lag] for lag in LAGS], axis=0)]
    measure.progress(f"{len(known)} of {len(corpus.texts)} words")
    lengths = np.array([len(text) for text in corpus.texts], dtype=np.float64)
    at_words = [predictor[known - lag] for predictor in (lengths, frequency) for lag in LAGS]
    in_story = np.array([corpus.places[i].word for i in known])
    baseline = np.stack([np.ones(len(known)), *at_words, in_story, in_sentence[known]], axis=1)
    return Regression(corpus.times[known], corpus.stories[known], known, baseline)


def interval(gains: dict[int, np.ndarray]) -> tuple[float, float, float]:
    """Nats for a thousand words: of all words, and the 2.5th and 97.5th of 100 bootstraps over stories."""
    sums, sizes = (np.array([f(value) for value in gains.values()], dtype=np.float64) for f in (np.sum, len))
    drawn = np.random.default_rng(0).integers(0, len(sums), (N_BOOTSTRAPS, len(sums)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return tuple(1000 * float(value) for value in (sums.sum() / sizes.sum(), low, high))


# Tables ------------------------------------------------------------------------------------------


def all_models(args: argparse.Namespace, corpus: Corpus, brown: Brown) -> dict[str, Predictors]:
    """By the names that the table has."""
    models = {N_GRAMS: brown.ngrams(corpus), "language model, Brown": brown.language_model(corpus)}
    for folder in args.treebanks:
        measure.progress(f"learning from {folder}")
        models[f"pivot, {folder.name}"] = by_grammar(corpus, Pivot().fit(read_trees(folder / "train.mrg")))
        models[f"belief network, {folder.name}"] = by_network(corpus, folder)
    models["GPT-3"] = Predictors(gpt3(args.stories, corpus), {})
    return models


def candidates(models: dict[str, Predictors]) -> dict[str, list[Values]]:
    """The predictors of each row."""
    found: dict[str, list[Values]] = {}
    for name, (bits, others) in models.items():
        found[name] = [bits]
        found |= {f"{name}: {part}": [values] for part, values in others.items()}
    found["all but 5-grams and GPT-3"] = [each.bits for name, each in models.items() if name not in (N_GRAMS, "GPT-3")]
    return found


def row(name: str, values: list[Values], fitted: Regression, given: Sequence[Values]) -> measure.Row:
    gain, low, high = interval(fitted.gains(values))
    beyond = (None, None, None) if name == N_GRAMS else interval(fitted.gains(values, given))
    weights = fitted.effects(fitted.columns(values)) if len(values) == 1 else [None] * 3
    names = ("ms a bit", "one word on", "two words on")
    return {
        "predictor": name,
        "bits a word": float(values[0][fitted.chosen].mean()) if len(values) == 1 else None,
        "nats": gain,
        "from": low,
        "to": high,
        "beyond 5-grams": beyond[0],
        "from ": beyond[1],
        "to ": beyond[2],
        **dict(zip(names, (None if each is None else float(each) for each in weights), strict=True)),
    }


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("stories", type=Path, metavar="STORIES")
    arguments.add_argument("--treebanks", type=Path, nargs="*", default=[], metavar="FOLDER")
    arguments.add_argument("--brown", type=Path, required=True, metavar="FILE")
    args = arguments.parse_args()
    corpus, brown = read_corpus(args.stories), Brown(args.brown)
    predictors = candidates(all_models(args, corpus, brown))
    single = {name: values[0] for name, values in predictors.items() if len(values) == 1}
    fitted = regression(corpus, brown.frequency(corpus), single)
    rows = [row(name, values, fitted, predictors[N_GRAMS]) for name, values in predictors.items()]
    measure.report({"Log-likelihood of held-out reading times, beyond the baseline": rows}, args.json)


if __name__ == "__main__":
    main()
