"""Self-training of a span model: alternately estimates span scores from trees, and the best trees from the scores.

This is hard EM on the model of Klein and Manning (2002), in which the yield (words) and the context of a span depend on
whether it is a bracket. It starts from spectral trees; from right-branching or random trees the result is several
points of F1 lower. The top split is kept fixed, since otherwise every round makes the trees worse. Differs from Klein
and Manning: (1) the best trees instead of expectations; (2) yields of more than five words are represented by their
ends and their length; (3) punctuation is part of yields and contexts; (4) the most frequent words are symbols.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.bracketing._spans import best_trees, span_keys
from spacy_lpcfg.checks import COUNT, POSITIVE, whole

MAX_SENTENCES = 30_000  # of the sample that is trained on
_IN_TREES = 0.5  # pseudo-count of every yield and context in brackets


@dataclass(frozen=True)
class SelfTraining:
    """Settings of self-training.

    n_rounds (int): Number of rounds, each of which estimates scores and then trees.
    max_length (int): Maximum number of words, without punctuation, of training sentences.
    n_words (int): Number of frequent words that have their own symbols.
    elsewhere (float): Pseudo-count of every yield and context outside of brackets; in brackets it is 0.5.
    first_verb (float or None): Bonus of the first verb in the learned rule for the top split (division of the sentence
        in two), see `TopScores`; None for the paper's rule.
    is_flat (bool): Whether brackets that treebanks do not annotate are removed, see `SpanModel`.
    RAISES (ValueError): If n_rounds is below 1, n_words below 0, max_length below 3, or elsewhere not above 0.
    """

    n_rounds: int = 8
    max_length: int = 25
    n_words: int = 30
    elsewhere: float = 2.0
    first_verb: float | None = 2.0
    is_flat: bool = True

    def __post_init__(self) -> None:
        COUNT(n_rounds=self.n_rounds)
        whole(0)(n_words=self.n_words)
        whole(3)(max_length=self.max_length)
        POSITIVE(elsewhere=self.elsewhere)


class Text(NamedTuple):
    """Training sentences of three or more words, concatenated.

    lengths (int32, (n_sentences,)): Numbers of words in the sentences.
    symbols (uint8, (n,)): Symbols of the words, from `Symbols.encode`.
    segments (int32, (n,)): Segments of the words, as in `Plain`.
    splits (int32, (n_sentences,)): Top split of each sentence: the position of the first word after it.
    """

    lengths: np.ndarray
    symbols: np.ndarray
    segments: np.ndarray
    splits: np.ndarray


class SpanTable(NamedTuple):
    """Log-odds of yields (words) and contexts (neighbours) of spans by their keys, with fields as in `SpanModel`."""

    keys: np.ndarray
    values: np.ndarray
    unseen: np.ndarray


def tree_mask(lengths: np.ndarray, trees: Sequence[np.ndarray]) -> np.ndarray:
    """Return a mask of the spans that are in the trees, uint8 (n_spans,); `_spans.pyx` defines the order of the spans.

    lengths (int32, (n_sentences,)): Numbers of words in the sentences.
    trees (sequence of int, (n, 2)): Spans of each tree; the whole sentence is always included.
    """
    counts = lengths.astype(np.int64) * (lengths - 1) // 2
    mask = np.zeros(counts.sum(), np.uint8)
    start = 0
    for n, spans, count in zip(lengths.tolist(), trees, counts.tolist(), strict=True):
        i, j = spans[:, 0].astype(np.int64), spans[:, 1]
        mask[start + i * (n - 1) - i * (i - 1) // 2 + j - i - 2] = 1
        mask[start + n - 2] = 1
        start += count
    return mask


def train(
    text: Text, in_tree: np.ndarray, settings: SelfTraining, on_round: Callable[[int], None] | None = None
) -> SpanTable:
    """Train the scores of yields and contexts by self-training.

    text (Text): The training sentences.
    in_tree (uint8, (n_spans,)): Mask of the spans of the initial trees, from `tree_mask`.
    settings (SelfTraining): The settings.
    on_round (callable or None): Called after each round with the number of rounds done so far.
    RETURNS (SpanTable): The scores; keys that are never in brackets and at most once elsewhere are left out.
    """
    views = [_View.of(keys) for keys in span_keys(text.lengths, text.symbols, text.segments)]
    is_whole = tree_mask(text.lengths, [np.zeros((0, 2), np.int64)] * len(text.lengths)).astype(bool)
    scores: list[np.ndarray] = []
    for done in range(1, settings.n_rounds + 1):
        scores = [view.log_odds(in_tree, is_whole, settings) for view in views]
        in_tree = best_trees(text.lengths, sum(s[v.ids] for s, v in zip(scores, views, strict=True)), text.splits)
        if on_round is not None:
            on_round(done)
    counts = [view.counts(in_tree, is_whole) for view in views]
    is_frequent = [(in_trees > 0) | (elsewhere > 1) for in_trees, elsewhere in counts]
    keys = np.concatenate([view.keys[k] for view, k in zip(views, is_frequent, strict=True)])
    values = np.concatenate([s[:-1][k] for s, k in zip(scores, is_frequent, strict=True)])
    return SpanTable(keys, values.astype(np.float32), np.array([s[-1] for s in scores]))


class _View(NamedTuple):
    """The keys of all spans, either of their yields or of their contexts.

    keys (int64, (n_keys,)): Sorted distinct keys.
    ids (int32, (n_spans,)): Index of each span's key in `keys`.
    """

    keys: np.ndarray
    ids: np.ndarray

    @classmethod
    def of(cls, keys: np.ndarray) -> "_View":
        unique, ids = np.unique(keys, return_inverse=True)
        return cls(unique, ids.reshape(-1).astype(np.int32))

    def counts(self, in_tree: np.ndarray, is_whole: np.ndarray) -> np.ndarray:
        """Count each key in brackets and in other spans, float64 (2, n_keys); whole sentences do not count."""
        positions = [np.flatnonzero((in_tree == value) & ~is_whole) for value in (1, 0)]
        return np.stack([np.bincount(self.ids[p], minlength=len(self.keys)).astype(np.float64) for p in positions])

    def log_odds(self, in_tree: np.ndarray, is_whole: np.ndarray, settings: SelfTraining) -> np.ndarray:
        """Return the log-odds of each key: log P(key | bracket) - log P(key | other span), in nats.

        RETURNS (float64, (n_keys + 1,)): The log-odds; the last entry is for unseen keys.
        """
        logs = []
        for counts, pseudo in zip(self.counts(in_tree, is_whole), (_IN_TREES, settings.elsewhere), strict=True):
            smoothed = np.append(counts, 0.0) + pseudo
            logs.append(np.log(smoothed / smoothed.sum()))
        return logs[0] - logs[1]
