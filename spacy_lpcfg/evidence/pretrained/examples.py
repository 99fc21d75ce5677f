"""Training data of a span classifier: sentences as word pieces, batches, and the best tree by span scores."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.batches import padded_batches
from spacy_lpcfg.evaluation.evalb import evaluate
from spacy_lpcfg.evidence.classifier import Chain, SpanClassifier
from spacy_lpcfg.evidence.learning import WordEncoder
from spacy_lpcfg.evidence.pieces import Pieces
from spacy_lpcfg.parsing.evidence import span_bounds
from spacy_lpcfg.parsing.mbr import mbr_brackets
from spacy_lpcfg.trees.transforms import join_chain, split_chain
from spacy_lpcfg.trees.tree import Tree


class Sentence(NamedTuple):
    """A sentence as word pieces, with the special pieces at both ends.

    pieces (int64, (n_pieces,)): The ids of the pieces.
    last (int64, (n_words,)): The index in `pieces` of each word's last piece.
    """

    pieces: np.ndarray
    last: np.ndarray

    @property
    def n_pieces(self) -> int:
        return len(self.pieces)

    @classmethod
    def of(cls, words: Sequence[str], pieces: Pieces) -> Sentence:
        """Divide the words of a sentence into pieces, and add the special pieces.

        words (sequence of str): The words in treebank spelling.
        pieces (Pieces): The tokenizer.
        """
        ids, last = pieces.divide(words)
        return cls(np.array([pieces.first, *ids, pieces.last]), last + 1)


def batches(lengths: Sequence[int], size: int, rng: random.Random) -> list[list[int]]:
    """Divide sentences into batches of similar lengths, in random order.

    lengths (sequence of int): The number of word pieces of each sentence.
    size (int): The maximum number of word pieces of a batch, padding included; a longer sentence is a batch by itself.
    rng (random.Random): Shuffles sentences of similar lengths, and the batches.
    RETURNS (list of list of int): Indices of the sentences of each batch.
    """
    order = sorted(range(len(lengths)), key=lambda i: lengths[i] + 2 * rng.random())
    parts = [*padded_batches(order, lengths.__getitem__, size)]
    rng.shuffle(parts)
    return parts


def best_spans(log_odds: np.ndarray, chains: Sequence[Chain]) -> list[tuple[int, int, str]]:
    """Return the brackets, in pre-order, of the tree whose chains have the largest sum of log-odds.

    log_odds (float32, (n_spans, n_chains)): As in `Evidence.spans`.
    chains (sequence of tuple of str): The unary chains of the columns, outermost label first.
    RETURNS (list of (start, end, label)): The brackets; there is always one over the whole sentence.
    """
    n = int((2 * len(log_odds)) ** 0.5)
    best = *span_bounds(n), log_odds.argmax(1), log_odds.max(1)
    spans = zip(*(values.tolist() for values in best), strict=True)
    scores = {(i, j, join_chain(chains[chain])): score for i, j, chain, score in spans}
    brackets = mbr_brackets(scores, n, cost=0)
    return [(i, j, label) for i, j, chain in brackets for label in split_chain(chain)]


def classifier_f1(encoder: WordEncoder, classifier: SpanClassifier, golds: Sequence[Tree]) -> float:
    """Return the EVALB F1, in percent, of the trees that `best_spans` finds from a classifier alone, without a grammar.

    encoder (WordEncoder): The encoder on whose vectors the classifier was trained.
    classifier (SpanClassifier): The classifier.
    golds (sequence of Tree): Normalized gold trees.
    """
    tests = []
    for gold, vectors in zip(golds, encoder.vectors([gold.words for gold in golds]), strict=True):
        evidence = classifier.evidence_of(vectors, gold.words)
        tags = [classifier.tags[tag] for tag in evidence.tags.argmax(1)]
        tests.append(Tree.from_spans(gold.words, tags, best_spans(evidence.spans, classifier.chains)))
    return evaluate(golds, tests).scores()["evalb_f"]
