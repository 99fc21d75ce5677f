"""New trees beside a grammar: the symbols, rules and emissions of both, under common ids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from spacy_lpcfg.arrays import offsets, ranges
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.latent.expectations import Shard
from spacy_lpcfg.learning.treebank.assembly import Part
from spacy_lpcfg.learning.treebank.counts import Counts, count
from spacy_lpcfg.learning.treebank.shards import read_skeletons
from spacy_lpcfg.learning.treebank.skeletons import Reading, Skeletons
from spacy_lpcfg.trees.transforms import NEW_NODE, split_chain
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.words.signatures import UNKNOWN, backoff_of, is_signature

_BACKOFF_WEIGHT = 0.1
"""Pseudo-tokens of each signature of a word under a new symbol, by which the symbol emits unknown words too."""


@dataclass(frozen=True, eq=False)
class NewTrees:
    """New trees and a grammar, whose symbols keep their order; new symbols have one state.

    grammar (Grammar): The grammar.
    nodes (Skeletons): The new trees, with the symbols of both.
    counts (Counts): The counts of the new trees, with the rules of both.
    symbols (int64, (n_old_symbols,)): The symbol of each symbol of the grammar.
    rules (int64, (n_old_rules,)): The rule of each rule of the grammar.
    n_states (int32, (n_symbols,)): States of each symbol.
    tags (tuple[str, ...]): The tags of the grammar, then new ones.
    terminal (int64, (n_leaves,)): The terminal of each leaf.
    pairs (int64, (n_pairs, 2)): Symbol and terminal of each emission, sorted by symbol, then terminal.
    of_leaf (int64, (n_leaves,)): The pair of each leaf.
    of_row (int64, (n_kept_rows,)): The pair of each row of the grammar's lexicon in `kept_rows`.
    kept_rows (int64, (n_kept_rows,)): The rows of the lexicon but those of given tags.
    backoff (float64, (n_pairs,)): Pseudo-tokens of emissions of new symbols.
    """

    grammar: Grammar
    nodes: Skeletons
    counts: Counts
    symbols: np.ndarray
    rules: np.ndarray
    n_states: np.ndarray
    tags: tuple[str, ...]
    terminal: np.ndarray
    pairs: np.ndarray
    of_leaf: np.ndarray
    of_row: np.ndarray
    kept_rows: np.ndarray
    backoff: np.ndarray

    @classmethod
    def read(cls, grammar: Grammar, trees: Iterable[Tree]) -> NewTrees:
        """Read trees, raw or normalised, as the trees of the grammar were read.

        RAISES (ValueError): If there are no trees.
        """
        read = read_skeletons(trees, reading_of(grammar))
        if not len(read.roots):
            raise ValueError("Expected at least one tree to go on from a grammar with, got none.")
        nodes, symbols = _with_symbols(grammar, read)
        counts, rules = _with_rules(grammar, nodes, symbols)
        n_states = np.ones(len(nodes.symbols), dtype=np.int32)
        n_states[symbols] = grammar.n_states
        new_tags = {split_chain(name)[-1] for name in nodes.preterminals} - {*grammar.tags}
        tags = (*grammar.tags, *sorted(new_tags))
        return cls(grammar, nodes, counts, symbols, rules, n_states, tags, *_emissions(grammar, nodes))

    @property
    def tag_of(self) -> np.ndarray:
        """The tag of each preterminal, int64 (n_preterminals,)."""
        return np.array([self.tags.index(split_chain(name)[-1]) for name in self.nodes.preterminals])

    @property
    def shapes(self) -> np.ndarray:
        """The shapes of the rules' tensors, int64 (n_rules, 3)."""
        return self.n_states[self.counts.rules].astype(np.int64)

    @property
    def starts(self) -> np.ndarray:
        """The offset of each rule's tensor, int64 (n_rules + 1,)."""
        return offsets(self.shapes.prod(axis=1))

    @property
    def old_entries(self) -> np.ndarray:
        """The places of the entries of the grammar's tensors among those of all rules, int64 (n_old_entries,)."""
        return ranges(self.starts[self.rules], self.grammar.tensors.sizes)

    def shard(self) -> Shard:
        """Return the trees as the E step needs them."""
        n_leaves = len(self.of_leaf)
        terminal = np.full(self.nodes.n_nodes, -1, dtype=np.int32)
        terminal[self.nodes.leaves] = self.terminal
        ones = np.ones(n_leaves), (self.of_leaf, np.arange(n_leaves))
        forms = csr_array(ones, shape=(len(self.pairs), n_leaves))
        return Shard.of(Part(self.nodes, terminal, self.counts.rule_of, self.of_leaf, forms))

    def of_symbols(self, values: np.ndarray) -> np.ndarray:
        """Return rows of old symbols, (n_old_symbols, ...), as rows of all symbols, with zeros for new ones."""
        rows = np.zeros((len(self.nodes.symbols), *values.shape[1:]))
        rows[self.symbols] = values
        return rows


def reading_of(grammar: Grammar) -> Reading:
    """Return how the trees of a grammar were read, as its symbols tell."""
    contexts = [name.partition("->")[2] for name in grammar.symbols if name.startswith(NEW_NODE)]
    has_functions = any("-" in label[1:-1] for label in grammar.labels)
    return Reading(markov=max((context.count("_") for context in contexts), default=0), functions=has_functions)


def _with_symbols(grammar: Grammar, nodes: Skeletons) -> tuple[Skeletons, np.ndarray]:
    """Return trees whose symbols are those of a grammar, then new ones, and the symbol of each of the grammar's."""
    n_pre = grammar.n_preterminals
    old_pre, old_inter = grammar.symbols[:n_pre], grammar.symbols[n_pre:]
    preterminals = (*old_pre, *sorted({*nodes.preterminals}.difference(old_pre)))
    interminals = (*old_inter, *sorted({*nodes.interminals}.difference(old_inter)))
    pre = {name: i for i, name in enumerate(preterminals)}
    inter = {name: i for i, name in enumerate(interminals, start=len(preterminals))}
    ids = np.array([*map(pre.__getitem__, nodes.preterminals), *map(inter.__getitem__, nodes.interminals)], np.int32)
    known = np.arange(grammar.n_symbols)
    known[n_pre:] += len(preterminals) - n_pre
    return replace(nodes, preterminals=preterminals, interminals=interminals, symbol=ids[nodes.symbol]), known


def _with_rules(grammar: Grammar, nodes: Skeletons, symbols: np.ndarray) -> tuple[Counts, np.ndarray]:
    """Count the rules of trees, those of the grammar included, and return the rule of each of the grammar's."""
    counts, n = count(nodes), len(nodes.symbols)
    keys = [np.ravel_multi_index(rules.T, (n, n, n)) for rules in (counts.rules, symbols[grammar.rules])]
    union, place = np.unique(np.concatenate(keys), return_inverse=True)
    of_trees, of_grammar = np.split(place.reshape(-1), [len(keys[0])])
    rule_counts = np.zeros(len(union))
    rule_counts[of_trees] = counts.rule_counts
    rule_of = np.where(counts.rule_of < 0, -1, np.append(of_trees, 0)[counts.rule_of]).astype(np.int32)
    rules = np.stack(np.unravel_index(union, (n, n, n)), axis=1).astype(np.int32)
    return replace(counts, rules=rules, rule_counts=rule_counts, rule_of=rule_of), of_grammar


def _emissions(grammar: Grammar, nodes: Skeletons) -> tuple[np.ndarray, ...]:
    """Return the fields of `NewTrees` on emissions, in their order."""
    lexicon, leaves = grammar.lexicon, nodes.leaves
    words = [nodes.words[word] for word in nodes.word[leaves]]
    initial = (nodes.start[leaves] == 0).tolist()
    emitters = [lexicon.emitter(*each)[0] for each in zip(words, initial, strict=True)]
    terminal = np.array(emitters, dtype=np.int64)
    is_new = nodes.symbol[leaves] >= grammar.n_preterminals
    more = _signatures(grammar, [(words[i], initial[i], int(nodes.symbol[leaves[i]])) for i in np.flatnonzero(is_new)])
    kept_rows = np.flatnonzero(~np.isin(lexicon.row_terminals, lexicon.tag_terminals))
    rows = np.column_stack([lexicon.symbols[kept_rows], lexicon.row_terminals[kept_rows]])
    keyed = np.concatenate([np.column_stack([nodes.symbol[leaves], terminal]), rows, more])
    pairs, place = np.unique(keyed, axis=0, return_inverse=True)
    of_leaf, of_row, of_more = np.split(place.reshape(-1), [len(leaves), len(leaves) + len(rows)])
    backoff = np.bincount(of_more, minlength=len(pairs)) * _BACKOFF_WEIGHT
    return terminal, pairs, of_leaf, of_row, kept_rows, backoff


def _signatures(grammar: Grammar, words: list[tuple[str, bool, int]]) -> np.ndarray:
    """Return the symbol of each word with each of its signatures that the grammar knows, int64 (n, 2).

    words (list of (str, bool, int)): Words, whether each opens its sentence, and their symbols.
    """
    lexicon = grammar.lexicon
    backoff = backoff_of(lexicon.terminals)
    ids = {name: i for i, name in enumerate(lexicon.terminals) if is_signature(name) or name == UNKNOWN}
    found = [(symbol, ids[name]) for word, first, symbol in words for name in backoff(word, first) if name in ids]
    return np.array(found, dtype=np.int64).reshape(-1, 2)
