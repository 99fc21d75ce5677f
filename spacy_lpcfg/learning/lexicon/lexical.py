"""The terminals of a treebank, and the smoothed emissions of a grammar.

Emissions are smoothed twice, and stay distributions over terminals:

- A word gets some probability under tags that it was not seen with: under the tags of its signature.
- Every symbol of a tag ("NP|NNP") gets some probability of every word that the tag emits.

The emissions of signatures are then shared among rare words (`rare_words.py`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from spacy_lpcfg.arrays import offsets
from spacy_lpcfg.checks import SHARE, at_least, one_of
from spacy_lpcfg.grammar.lexicon import Lexicon, tag_ids, tag_terminal
from spacy_lpcfg.learning.lexicon.affixes import chosen_affixes
from spacy_lpcfg.learning.treebank.skeletons import NONE, Skeletons
from spacy_lpcfg.trees.transforms import split_chain
from spacy_lpcfg.words.signatures import UNKNOWN, affix_backoff, is_signature, signature_backoff

SIGNATURES = ("english", "learned")


@dataclass(frozen=True)
class LexicalSettings:
    """Settings of terminals and of the smoothing of emissions.

    rare (int): Words seen at most this often are emitted by their signature.
    signature_weight (float): Pseudo-tokens of each word, distributed over tags as its signature's tokens are. At 0
        a word has only the tags that it was seen with, and a rare word has all tags of its signature
        (`rare_words.py`).
    chain_weight (float): Pseudo-tokens of each symbol ("NP|NNP"), distributed over words as its tag's tokens are.
    min_posterior (float): Emissions with less than this P(symbol | terminal) are left out.
    signatures (str): Signatures of unknown words: "english", or "learned" in any language (`affixes.py`).
    RAISES (ValueError): If a number is below 0, min_posterior is above 1, or `signatures` has another value.
    """

    rare: int = 3
    signature_weight: float = 0.5
    chain_weight: float = 20.0
    min_posterior: float = 1e-4
    signatures: str = SIGNATURES[0]

    def __post_init__(self) -> None:
        at_least(0)(rare=self.rare, signature_weight=self.signature_weight, chain_weight=self.chain_weight)
        SHARE(min_posterior=self.min_posterior)
        one_of(*SIGNATURES)(signatures=self.signatures)


PLAIN_LEXICON = LexicalSettings(signature_weight=0.0, chain_weight=0.0, min_posterior=0.0)
"""Settings of the papers, which do not smooth across words. Rare words have signatures all the same, as the papers do
not say what emits a word that the treebank does not have."""


def signatures_of(lang: str) -> str:
    """Return the setting `signatures` that suits a language: "english" for "en", else "learned"."""
    return "english" if lang == "en" else "learned"


class TreebankVocabulary:
    """The terminals of a treebank: words seen more than `rare` times, and signatures of all other words.

    word_counts (Counter[tuple[str, bool]]): Tokens of each (word, whether it opens the sentence).
    rare (int): Words seen more than `rare` times are terminals of their own, and so are signatures of more than `rare`
        tokens.
    tags (Mapping[tuple[str, bool], Mapping[str, int]] or None): Counts of the tags of each (word, whether it opens the
        sentence), from which signatures are learned; None for the signatures of English.

    terminals (tuple[str, ...]): Names of the terminals, sorted.
    once (frozenset[str]): Words seen once.
    """

    def __init__(
        self,
        word_counts: Counter[tuple[str, bool]],
        rare: int,
        tags: Mapping[tuple[str, bool], Mapping[str, int]] | None = None,
    ) -> None:
        totals: Counter[str] = Counter()
        for (word, _), count in word_counts.items():
            totals[word] += count
        self.once = frozenset(word for word, count in totals.items() if count == 1)
        known = {word for word, count in totals.items() if count > rare}
        self._backoff = signature_backoff if tags is None else affix_backoff
        unknown = {key: names for key in word_counts if not known.intersection(names := self._backoff(*key))}
        affixes = None if tags is None else chosen_affixes({key: tags[key] for key in unknown if key in tags})
        of_unknown: Counter[str] = Counter()
        for key, names in unknown.items():
            for name in dict.fromkeys(names):
                if affixes is None or name in affixes:
                    of_unknown[name] += word_counts[key]
        known.update(name for name, count in of_unknown.items() if count > rare and is_signature(name))
        self.terminals = tuple(sorted(known | {UNKNOWN}))
        self._index = {name: i for i, name in enumerate(self.terminals)}

    def emitters(self, word: str, sentence_initial: bool) -> list[int]:
        """Return the ids of the terminals that stand for a word, from specific to general; the first one emits it."""
        return [self._index[name] for name in self._backoff(word, sentence_initial) if name in self._index]

    def signature(self, word: str) -> int:
        """Return the id of the terminal that would emit a known word if it were unknown."""
        return next(self._index[name] for name in self._backoff(word, False)[1:] if name in self._index)

    def of_leaves(self, nodes: Skeletons) -> np.ndarray:
        """Return the terminal of every leaf, -1 for inner nodes, int32 (n_nodes,)."""
        table = np.array([[self.emitters(word, initial)[0] for word in nodes.words] for initial in (False, True)])
        terminal = np.full(nodes.n_nodes, NONE, dtype=np.int32)
        leaves = nodes.leaves
        terminal[leaves] = table[(nodes.start[leaves] == 0).astype(int), nodes.word[leaves]]
        return terminal

    def more_general(self, nodes: Skeletons, terminal: np.ndarray) -> np.ndarray:
        """Return a pair for each rare word of the trees and each of its signatures, int64 (n, 2).

        A rare word is a leaf that a signature emits. If there is none, the pairs are for all leaves. A pair consists of
        an index in `nodes.leaves` and the id of a signature.

        nodes (Skeletons): The trees.
        terminal (int32, (n_nodes,)): The terminal of each leaf.
        """
        leaves = nodes.leaves
        are_signatures = np.array([is_signature(name) for name in self.terminals])
        by_signature = are_signatures[terminal[leaves]]
        pairs = [
            (leaf, emitter)
            for leaf in np.flatnonzero(by_signature if by_signature.any() else ~by_signature).tolist()
            for emitter in self.emitters(nodes.words[nodes.word[leaves[leaf]]], bool(nodes.start[leaves[leaf]] == 0))
            if are_signatures[emitter]
        ]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class EmissionEvents:
    """The emissions of a treebank, by pairs of symbol and terminal.

    Every leaf counts 1 for its own terminal. A leaf that a signature emits counts another `_BACKOFF_WEIGHT` (0.01) for
    that signature and for each more general one, so that general signatures have emissions too. If no word is rare, all
    leaves count for their signatures in this way.

    pairs (int, (n_pairs, 2)): Symbol and terminal of each pair, sorted.
    counts (float64, (n_pairs,)): Counts of the pairs, with the additional counts of signatures.
    of_leaf (int64, (n_leaves,)): Index of the pair of each leaf and its own terminal.
    own (csr_array, (n_pairs, n_leaves)): How much each leaf counts for its own pair: 1.
    all (csr_array, (n_pairs, n_leaves)): How much each leaf counts for each pair, with the pairs of its signatures.
    """

    pairs: np.ndarray
    counts: np.ndarray
    of_leaf: np.ndarray
    own: csr_array
    all: csr_array

    @classmethod
    def of(cls, nodes: Skeletons, terminal: np.ndarray, vocabulary: TreebankVocabulary) -> "EmissionEvents":
        """Count the emissions of a treebank.

        nodes (Skeletons): The trees.
        terminal (int32, (n_nodes,)): The terminal of each leaf.
        vocabulary (TreebankVocabulary): The terminals.
        """
        n, more = len(nodes.leaves), vocabulary.more_general(nodes, terminal)
        leaf = np.concatenate([np.arange(n), more[:, 0]])
        terminals = np.concatenate([terminal[nodes.leaves], more[:, 1]])
        weights = np.concatenate([np.ones(n), np.full(len(more), _BACKOFF_WEIGHT)])
        events = np.stack([nodes.symbol[nodes.leaves[leaf]], terminals], axis=1)
        pairs, pair_of = np.unique(events, axis=0, return_inverse=True)
        pair_of, shape = pair_of.reshape(-1), (len(pairs), n)
        return cls(
            pairs=pairs,
            counts=np.bincount(pair_of, weights=weights),
            of_leaf=pair_of[:n],
            own=csr_array((np.ones(n), (pair_of[:n], np.arange(n))), shape=shape),
            all=csr_array((weights, (pair_of, leaf)), shape=shape),
        )

    def means(self, values: np.ndarray) -> np.ndarray:
        """Average values of leaves over each pair, weighted as in `all`.

        values (float, (n_leaves, m)): A row for each leaf.
        RETURNS (float64, (n_pairs, m)): The weighted mean of the rows of each pair's leaves.
        """
        return self.all @ values / self.counts[:, None]


_BACKOFF_WEIGHT = 0.01


def count_tags(nodes: Skeletons) -> dict[tuple[str, bool], Counter[str]]:
    """Count the tags of each (word, whether it opens the sentence), as a dict from these keys to counters of tags."""
    counts: dict[tuple[str, bool], Counter[str]] = {}
    tags = [split_chain(name)[-1] for name in nodes.preterminals]
    leaves = nodes.leaves
    rows = np.stack([nodes.word[leaves], nodes.start[leaves] == 0, nodes.symbol[leaves]], axis=1)
    for (word, initial, symbol), n in zip(*np.unique(rows, axis=0, return_counts=True), strict=True):
        counts.setdefault((nodes.words[word], bool(initial)), Counter())[tags[symbol]] += int(n)
    return counts


def count_words(nodes: Skeletons) -> Counter[tuple[str, bool]]:
    """Count the tokens of each key (word, whether it opens the sentence)."""
    keys, counts = np.unique(
        2 * nodes.word[nodes.leaves].astype(np.int64) + (nodes.start[nodes.leaves] == 0),
        return_counts=True,
    )
    return Counter({(nodes.words[key // 2], bool(key % 2)): int(n) for key, n in zip(keys, counts, strict=True)})


@dataclass(frozen=True, eq=False)
class Emissions:
    """Estimates of the emissions a -> x: k seen pairs of symbol a and terminal x, sorted by symbol, then terminal.

    Z is the vector of a leaf's latent states: state probabilities relative to p(h | a), or the spectral projection.

    symbols, terminals (int32, (k,)): The symbol and the terminal of each pair.
    counts (float64, (k,)): Occurrences of each pair.
    vectors (float64, (k, m)): E[Z | a -> x], so that q(x | a, h) = count(a -> x) / count(a) * vectors[., h].
    means (float64, (n_preterminals, m)): E[Z | a], which replaces E[Z | a -> x] for unseen pairs.
    """

    symbols: np.ndarray
    terminals: np.ndarray
    counts: np.ndarray
    vectors: np.ndarray
    means: np.ndarray


def build_lexicon(
    emissions: Emissions,
    vocabulary: TreebankVocabulary,
    preterminals: Sequence[str],
    n_states: np.ndarray,
    settings: LexicalSettings,
) -> Lexicon:
    """Build the lexicon of a grammar: smoothed rows for all terminals, and a terminal `<tag TAG>` for every tag.

    emissions (Emissions): The estimated emissions.
    vocabulary (TreebankVocabulary): The terminals.
    preterminals (sequence of str, (n_preterminals,)): Names of the preterminals.
    n_states (int32, (n_preterminals,)): States of the preterminals.
    settings (LexicalSettings): Settings of the smoothing.
    """
    tags = tuple(sorted({split_chain(name)[-1] for name in preterminals}))
    tag_of = tag_ids(preterminals, tags)
    rows = _smoothed_rows(emissions, vocabulary, tag_of, len(tags), settings)
    rows += [
        _Row(
            len(vocabulary.terminals) + tag,
            symbol,
            GIVEN_TAG_WEIGHT,
            GIVEN_TAG_WEIGHT * emissions.means[symbol],
        )
        for symbol, tag in enumerate(tag_of)
    ]
    rows.sort(key=lambda row: (row.terminal, row.symbol))
    symbols = np.array([row.symbol for row in rows], dtype=np.int32)
    terminals = vocabulary.terminals + tuple(map(tag_terminal, tags))
    per_terminal = np.bincount([row.terminal for row in rows], minlength=len(terminals))
    return Lexicon(
        terminals=terminals,
        tags=tags,
        offsets=offsets(per_terminal).astype(np.int32),
        symbols=symbols,
        weights=np.array([row.weight for row in rows]),
        vector_offsets=offsets(n_states[symbols]),
        vectors=np.concatenate([row.vector[: n_states[row.symbol]] for row in rows]).astype(np.float32),
    )


GIVEN_TAG_WEIGHT = 1e-3
"""Emission, by each symbol of a given tag, of words that were never seen with it."""
_MIN_KEPT = 1e-3  # share of a state's probability in the kept rows, for these to be scaled up


class _Row(NamedTuple):
    terminal: int
    symbol: int
    weight: float
    vector: np.ndarray


def _smoothed_rows(
    emissions: Emissions,
    vocabulary: TreebankVocabulary,
    tag_of: np.ndarray,
    n_tags: int,
    settings: LexicalSettings,
) -> list[_Row]:
    """Return the rows of smoothed q(x | a) and q(x | a, h), except for rows that `min_posterior` leaves out.

    The remaining rows of a symbol are scaled up to the sum of all its rows; so are the rows of each state, if no
    parameter is negative. A state that keeps less than `_MIN_KEPT` of its probability gets the emissions of its symbol.
    The choice of rows depends on the treebank alone, so that grammars with different latent parameters share it.
    """
    n_symbols, n_terminals = len(tag_of), len(vocabulary.terminals)
    seen = coo_array(
        (emissions.counts, (emissions.symbols, emissions.terminals)), shape=(n_symbols, n_terminals)
    ).tocsr()
    to_tags = coo_array((np.ones(n_symbols), (tag_of, np.arange(n_symbols))), shape=(n_tags, n_symbols)).tocsr()
    by_tag = _tag_emissions((to_tags @ seen).toarray(), vocabulary, settings.signature_weight)
    totals = np.asarray(seen.sum(axis=1))
    order = np.argsort(emissions.symbols, kind="stable")
    first = offsets(np.bincount(emissions.symbols, minlength=n_symbols))
    weights = [
        (seen[[a]].toarray()[0] + settings.chain_weight * by_tag[tag_of[a]]) / (totals[a] + settings.chain_weight)
        for a in range(n_symbols)
    ]
    least = settings.min_posterior * sum(weight * total for weight, total in zip(weights, totals, strict=True))
    is_proper = emissions.vectors.min(initial=0.0) >= 0 and emissions.means.min(initial=0.0) >= 0
    rows: list[_Row] = []
    for a, weight in enumerate(weights):
        pairs = order[first[a] : first[a + 1]]
        share = emissions.counts[pairs] / (totals[a] + settings.chain_weight)
        vectors = weight[:, None] * emissions.means[a]
        vectors[emissions.terminals[pairs]] += share[:, None] * (emissions.vectors[pairs] - emissions.means[a])
        is_emitted = (weight > 0) & (weight * totals[a] >= least)
        is_emitted[weight.argmax()] = True
        if is_proper:
            sums = vectors.sum(axis=0)
            lost = vectors[is_emitted].sum(axis=0) < _MIN_KEPT * sums
            vectors[:, lost] = np.outer(weight / weight.sum(), sums[lost])
        scale = _scale(weight, is_emitted)
        vectors *= _scale(vectors, is_emitted) if is_proper else scale
        rows += [_Row(x, a, scale * weight[x], vectors[x]) for x in np.flatnonzero(is_emitted).tolist()]
    return rows


def _scale(values: np.ndarray, is_kept: np.ndarray) -> np.ndarray:
    """Return the factor that scales kept values up to the sum of all values, float (...).

    values (float, (n_terminals, ...)): All values.
    is_kept (bool, (n_terminals,)): Mask of the kept values.
    """
    kept_sum = values[is_kept].sum(axis=0)
    return values.sum(axis=0) / np.where(kept_sum > 0, kept_sum, 1.0)


def _tag_emissions(seen: np.ndarray, vocabulary: TreebankVocabulary, signature_weight: float) -> np.ndarray:
    """Return P(x | tag), (n_tags, n_terminals), smoothed by the tags of each word's signature.

    seen (float64, (n_tags, n_terminals)): Counts of terminals under tags.
    signature_weight (float): Pseudo-tokens of each word, distributed over tags as its signature's tokens are.
    """
    suggested = np.zeros_like(seen)
    for x, name in enumerate(vocabulary.terminals):
        if not is_signature(name):
            of_signature = seen[:, vocabulary.signature(name)]
            suggested[:, x] = signature_weight * of_signature / max(of_signature.sum(), 1.0)
    smoothed = seen + suggested
    return smoothed / smoothed.sum(axis=1, keepdims=True)
