"""Common ids for the symbols, rules and emissions of a grammar and of the new trees to which it is adapted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from spacy_lpcfg.arrays import offsets
from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.lexicon import tag_ids
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
class Layout:
    """The symbols, rules and emissions of a grammar and of new trees together; ids are positions in these arrays.

    n_states (int32, (n_symbols,)): States of each symbol; new symbols have one.
    rules (int32, (n_rules, 3)): The symbols of each rule, sorted.
    pairs (int64, (n_pairs, 2)): Symbol and terminal of each emission, sorted.
    """

    n_states: np.ndarray
    rules: np.ndarray
    pairs: np.ndarray

    @cached_property
    def width(self) -> int:
        """m, the maximum number of states of a symbol."""
        return int(self.n_states.max())

    @cached_property
    def shapes(self) -> np.ndarray:
        """The shapes of the rules' tensors, int64 (n_rules, 3)."""
        return self.n_states[self.rules].astype(np.int64)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each rule's tensor begins among all entries; last, the number of entries; int64 (n_rules + 1,)."""
        return offsets(self.shapes.prod(axis=1))


class Inherited(NamedTuple):
    """Ids in a `Layout` of the symbols, rules and emissions of the old grammar.

    symbols (int64, (n_old_symbols,)): The new id of each symbol of the grammar.
    rules (int64, (n_old_rules,)): The new id of each rule of the grammar.
    rows (int64, (n_rows,)): The rows of the grammar's lexicon, except for rows of `<tag TAG>` terminals.
    pairs (int64, (n_rows,)): The index in `Layout.pairs` of each row's emission.
    """

    symbols: np.ndarray
    rules: np.ndarray
    rows: np.ndarray
    pairs: np.ndarray


class Emitted(NamedTuple):
    """The emissions of the words of new trees.

    terminals (int64, (n_leaves,)): The terminal of each leaf.
    pairs (int64, (n_leaves,)): The index of each leaf's emission in `Layout.pairs`.
    backoff (float64, (n_pairs,)): Pseudo-tokens with which new symbols emit signatures, so that they can emit unknown
        words.
    """

    terminals: np.ndarray
    pairs: np.ndarray
    backoff: np.ndarray


@dataclass(frozen=True, eq=False)
class NewTrees:
    """New trees and the grammar that is adapted to them, under common ids of symbols, rules and emissions.

    grammar (Grammar): The old grammar, whose symbols keep their order.
    nodes (Skeletons): The new trees, with the symbols of the grammar and of the trees.
    counts (Counts): The counts of the new trees, over the rules of the grammar and of the trees.
    tags (tuple[str, ...]): The tags of the grammar, then the tags that only the trees have.
    layout (Layout): The symbols, rules and emissions of the grammar and of the trees.
    inherited (Inherited): The ids of the grammar's symbols, rules and emissions in `layout`.
    emitted (Emitted): The emissions of the new trees.
    """

    grammar: Grammar
    nodes: Skeletons
    counts: Counts
    tags: tuple[str, ...]
    layout: Layout
    inherited: Inherited
    emitted: Emitted

    @classmethod
    def read(cls, grammar: Grammar, trees: Iterable[Tree]) -> NewTrees:
        """Index new trees, read with the Markov order and the function labels (NP-SBJ, or NP) that the grammar has.

        grammar (Grammar): The grammar to adapt.
        trees (Iterable[Tree]): Read once; raw or normalised.
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
        rows = np.flatnonzero(~np.isin(grammar.lexicon.row_terminals, grammar.lexicon.tag_terminals))
        pairs, old_pairs, emitted = _emissions(grammar, nodes, rows)
        return cls(
            grammar,
            nodes,
            counts,
            (*grammar.tags, *sorted(new_tags)),
            Layout(n_states, counts.rules, pairs),
            Inherited(symbols, rules, rows, old_pairs),
            emitted,
        )

    @property
    def tag_of(self) -> np.ndarray:
        """The tag of each preterminal, as an index into `tags`, int32 (n_preterminals,)."""
        return tag_ids(self.nodes.preterminals, self.tags)

    @cached_property
    def is_new_rule(self) -> np.ndarray:
        """Whether the grammar lacks each rule, bool (n_rules,)."""
        return ~np.isin(np.arange(len(self.layout.rules)), self.inherited.rules)

    @cached_property
    def is_new_pair(self) -> np.ndarray:
        """Whether the grammar lacks each emission, bool (n_pairs,)."""
        return ~np.isin(np.arange(len(self.layout.pairs)), self.inherited.pairs)

    @cached_property
    def tokens(self) -> np.ndarray:
        """Number of tokens of each emission in the new trees, 0 where only the grammar has it, int64 (n_pairs,)."""
        return np.bincount(self.emitted.pairs, minlength=len(self.layout.pairs))

    def shard(self) -> Shard:
        """Return the new trees as the `Shard` that the E step reads."""
        pairs, n_leaves = self.emitted.pairs, len(self.nodes.leaves)
        terminal = np.full(self.nodes.n_nodes, -1, dtype=np.int32)
        terminal[self.nodes.leaves] = self.emitted.terminals
        ones = np.ones(n_leaves), (pairs, np.arange(n_leaves))
        forms = csr_array(ones, shape=(len(self.layout.pairs), n_leaves))
        return Shard.of(Part(self.nodes, terminal, self.counts.rule_of, pairs, forms))

    def of_symbols(self, values: np.ndarray) -> np.ndarray:
        """Extend an array over the old symbols to all symbols, with zeros for the new ones.

        values (float, (n_old_symbols, ...)): A row for each symbol of the grammar.
        RETURNS (float64, (n_symbols, ...)): A row for each symbol of the grammar and of the trees.
        """
        rows = np.zeros((len(self.nodes.symbols), *values.shape[1:]))
        rows[self.inherited.symbols] = values
        return rows


def reading_of(grammar: Grammar) -> Reading:
    """Infer from a grammar's symbols how its trees were read: Markov order, and whether labels have function labels.

    The language of the head rules cannot be inferred: it is English, the default.
    """
    contexts = [name.partition("->")[2] for name in grammar.symbols if name.startswith(NEW_NODE)]
    labels = "|".join(re.escape(name) for name in grammar.symbols if not name.startswith(NEW_NODE))
    # labels may contain "_": the order is the least one at which each context is a sequence of known labels
    orders = range(1 + max((context.count("_") for context in contexts), default=0))
    fits = (all(re.fullmatch(f"(_({labels})){{0,{order}}}", context) for context in contexts) for order in orders)
    return Reading(markov=next((order for order, fit in enumerate(fits) if fit), 0), functions=grammar.has_functions)


def _with_symbols(grammar: Grammar, nodes: Skeletons) -> tuple[Skeletons, np.ndarray]:
    """Renumber the symbols of trees so that the grammar's symbols come first within preterminals and interminals.

    RETURNS (Skeletons, int64 (n_old_symbols,)): The renumbered trees, and the new id of each symbol of the grammar.
    """
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
    """Count the symbols, roots and rules of trees; rules that only the grammar has get the count 0.

    nodes (Skeletons): The trees, with the symbols of the grammar and of the trees.
    symbols (int64, (n_old_symbols,)): The new id of each symbol of the grammar.
    RETURNS (Counts, int64 (n_old_rules,)): The counts, and the new id of each rule of the grammar.
    """
    counts, n = count(nodes), len(nodes.symbols)
    keys = [np.ravel_multi_index(rules.T, (n, n, n)) for rules in (counts.rules, symbols[grammar.rules])]
    union, places = np.unique(np.concatenate(keys), return_inverse=True)
    of_trees, of_grammar = np.split(places.reshape(-1), [len(keys[0])])
    rule_counts = np.zeros(len(union))
    rule_counts[of_trees] = counts.rule_counts
    rule_of = np.where(counts.rule_of < 0, -1, np.append(of_trees, 0)[counts.rule_of]).astype(np.int32)
    rules = np.stack(np.unravel_index(union, (n, n, n)), axis=1).astype(np.int32)
    return replace(counts, rules=rules, rule_counts=rule_counts, rule_of=rule_of), of_grammar


def _emissions(grammar: Grammar, nodes: Skeletons, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, Emitted]:
    """Collect the emissions of the grammar and of the trees.

    rows (int64, (n_rows,)): The rows of the grammar's lexicon to include.
    RETURNS (int64 (n_pairs, 2), int64 (n_rows,), Emitted): `Layout.pairs`, the index in it of each row's emission, and
        the emissions of the trees.
    """
    lexicon, leaves = grammar.lexicon, nodes.leaves
    words = [nodes.words[word] for word in nodes.word[leaves]]
    initial = (nodes.start[leaves] == 0).tolist()
    terminals = np.array([lexicon.terminal(*each) for each in zip(words, initial, strict=True)], dtype=np.int64)
    is_new = np.flatnonzero(nodes.symbol[leaves] >= grammar.n_preterminals)
    more = _signatures(grammar, [(words[i], initial[i], int(nodes.symbol[leaves[i]])) for i in is_new])
    of_leaves = np.column_stack([nodes.symbol[leaves], terminals])
    of_rows = np.column_stack([lexicon.symbols[rows], lexicon.row_terminals[rows]])
    pairs, places = np.unique(np.concatenate([of_leaves, of_rows, more]), axis=0, return_inverse=True)
    leaf_pairs, row_pairs, more_pairs = np.split(places.reshape(-1), [len(leaves), len(leaves) + len(rows)])
    backoff = np.bincount(more_pairs, minlength=len(pairs)) * _BACKOFF_WEIGHT
    return pairs, row_pairs, Emitted(terminals, leaf_pairs, backoff)


def _signatures(grammar: Grammar, words: list[tuple[str, bool, int]]) -> np.ndarray:
    """Return (symbol, signature id) for each word and each of its signatures that the grammar knows, int64 (n, 2).

    words (list of (str, bool, int)): For each word the text, whether it opens its sentence, and the id of its symbol.
    """
    lexicon = grammar.lexicon
    backoff = backoff_of(lexicon.terminals)
    ids = {name: i for i, name in enumerate(lexicon.terminals) if is_signature(name) or name == UNKNOWN}
    pairs = [(symbol, ids[name]) for word, first, symbol in words for name in backoff(word, first) if name in ids]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
