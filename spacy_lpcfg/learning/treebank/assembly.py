"""The indexed treebank from which all grammars are learned, and the assembly of a Grammar from parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csc_array, csr_array

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.grammar.classifier import Classifier
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.lexicon import tag_ids
from spacy_lpcfg.grammar.tensors import Tensors
from spacy_lpcfg.learning.lexicon.classifier import fit_classifier, read_words
from spacy_lpcfg.learning.lexicon.lexical import (
    SIGNATURES,
    EmissionEvents,
    Emissions,
    LexicalSettings,
    TreebankVocabulary,
    build_lexicon,
    count_tags,
    count_words,
)
from spacy_lpcfg.learning.lexicon.rare_words import with_rare_words
from spacy_lpcfg.learning.limits import check_n_symbols
from spacy_lpcfg.learning.treebank.counts import Counts, boundary_tags, count, smoothed_roots
from spacy_lpcfg.learning.treebank.settings import TreebankSettings
from spacy_lpcfg.learning.treebank.shards import read_skeletons
from spacy_lpcfg.learning.treebank.skeletons import Reading, Skeletons
from spacy_lpcfg.trees.tree import Tree

PART_SIZE = 2_000  # trees, at least
MAX_PARTS = 64  # each of which is sent to a worker with all parameters
ROOT_SHARE = 1e-4  # of the root probability, spread over all symbols but "@" ones, see `smoothed_roots`


@dataclass(frozen=True, eq=False)
class Part:
    """Consecutive trees of a treebank, with the treebank's ids of symbols, rules and terminals, for a parallel worker.

    nodes (Skeletons): The trees; nodes are numbered from 0, and the text of words is left out.
    terminal (int32, (n_nodes,)): The terminal of each leaf; -1 for inner nodes.
    rule (int32, (n_nodes,)): The rule of each inner node; -1 for leaves.
    pair (int64, (n_leaves,)): The emission of each leaf: its entry of `EmissionEvents.of_leaf`.
    forms (csr_array, (n_pairs, n_leaves)): The columns of `EmissionEvents.all` for the leaves.
    """

    nodes: Skeletons
    terminal: np.ndarray
    rule: np.ndarray
    pair: np.ndarray
    forms: csr_array


@dataclass(frozen=True, eq=False)
class IndexedTreebank:
    """A treebank as arrays, from which every learner learns: its nodes, their counts, and the terminals of its words.

    nodes (Skeletons): The nodes of all trees.
    counts (Counts): Counts of symbols, roots and rules.
    vocabulary (TreebankVocabulary): The terminals.
    terminal (int32, (n_nodes,)): The terminal of each leaf; -1 for inner nodes.
    lexical (LexicalSettings): Settings of the terminals, and of the smoothing of emissions.
    exact_tensors (bool): Whether learned grammars store the tensors of rules exactly, instead of approximately.
    """

    nodes: Skeletons
    counts: Counts
    vocabulary: TreebankVocabulary
    terminal: np.ndarray
    lexical: LexicalSettings
    exact_tensors: bool = False

    @classmethod
    def of(cls, nodes: Skeletons, lexical: LexicalSettings) -> IndexedTreebank:
        """Count the symbols, rules and words of skeletal trees, and choose the terminals.

        nodes (Skeletons): The trees.
        lexical (LexicalSettings): Settings of the terminals.
        RAISES (ValueError): If there are no trees.
        """
        if len(nodes.roots) == 0:
            raise ValueError(
                "Expected at least one tree to learn from, got none (trees of nothing but empty elements do not "
                "count). Check the path and the format of the treebank."
            )
        tags = None if lexical.signatures == SIGNATURES[0] else count_tags(nodes)
        vocabulary = TreebankVocabulary(count_words(nodes), lexical.rare, tags)
        terminal = vocabulary.of_leaves(nodes)
        return cls(nodes, count(nodes), vocabulary, terminal, lexical)

    @classmethod
    def read(
        cls, trees: Iterable[Tree] | IndexedTreebank, settings: TreebankSettings = TreebankSettings()
    ) -> IndexedTreebank:
        """Index trees; an indexed treebank is returned as it is, with `exact_tensors` as in the settings.

        trees (Iterable[Tree] or IndexedTreebank): Trees are read once; raw or normalised.
        settings (TreebankSettings): Settings of reading.
        RAISES (ValueError): If there are no trees, or too many symbols, or an indexed treebank has other settings of
            the lexicon.
        """
        exact_tensors, lexical = settings.rules.exact_tensors, settings.lexical
        if not isinstance(trees, IndexedTreebank):
            reading = Reading(settings.lang, settings.rules.markov, settings.functions)
            nodes = read_skeletons(trees, reading, n_jobs=settings.n_jobs)
            check_n_symbols(len(nodes.preterminals) + len(nodes.interminals))
            return replace(cls.of(nodes, lexical), exact_tensors=exact_tensors)
        if trees.lexical != lexical:
            raise ValueError(
                f"Expected a treebank read with {lexical}, got one read with {trees.lexical}: give all "
                "learners of one treebank the same settings of the lexicon."
            )
        return trees if trees.exact_tensors == exact_tensors else replace(trees, exact_tensors=exact_tensors)

    def parts(self) -> Iterator[Part]:
        """Yield the trees in parts for parallel workers; where they are cut depends on the number of trees alone."""
        n_trees = len(self.nodes.roots)
        size = max(PART_SIZE, -(-n_trees // MAX_PARTS))
        forms = csc_array(self.events.all)
        node = leaf = 0
        for first in range(0, n_trees, size):
            nodes = replace(self.nodes.between(first, first + size), words=())
            rows, leaves = slice(node, node + nodes.n_nodes), slice(leaf, leaf + len(nodes.leaves))
            pair = self.events.of_leaf[leaves]
            yield Part(nodes, self.terminal[rows], self.counts.rule_of[rows], pair, forms[:, leaves].tocsr())
            node, leaf = rows.stop, leaves.stop

    @property
    def symbol_weights(self) -> np.ndarray:
        """Share of each symbol among the nodes, float64 (n_symbols,)."""
        return self.counts.symbols / self.counts.symbols.sum()

    @cached_property
    def events(self) -> EmissionEvents:
        """The emissions at the leaves: pairs of symbol and terminal, with their counts."""
        return EmissionEvents.of(self.nodes, self.terminal, self.vocabulary)

    @property
    def emissions(self) -> Emissions:
        """The emissions of the treebank PCFG, with one state for each symbol."""
        pairs = self.events.pairs
        return Emissions(
            symbols=pairs[:, 0],
            terminals=pairs[:, 1],
            counts=self.events.counts,
            vectors=np.ones((len(pairs), 1)),
            means=np.ones((len(self.nodes.preterminals), 1)),
        )

    @cached_property
    def classifier(self) -> Classifier:
        """The classifier of words in context; all grammars that are learned from the treebank share it."""
        names = self.nodes.preterminals
        one_state = np.ones(len(names), dtype=np.int32)
        lexicon = build_lexicon(self.emissions, self.vocabulary, names, one_state, self.lexical)
        words = read_words(self.nodes, self.terminal, lexicon, self.symbol_weights)
        return fit_classifier(words, lexicon, len(names))


@dataclass(frozen=True, eq=False)
class Parameters:
    """The latent parameters of a grammar, as a learner estimates them.

    n_states (int32, (n_symbols,)): States of each symbol.
    root_vectors (float64, (n_symbols, m)): pi(h | a) or its spectral counterpart E[Y | a at the root]; rows are padded.
    tensors (float64, (sum of m_a * m_b * m_c,)): The tensors of the rules, one after the other, times t(a -> b c | a).
    emissions (Emissions): Emissions of the words.
    means (float64, (n_symbols, m)): p(h | a) or E[Y | a]; also the states of the root weight that `ROOT_SHARE` adds.
    is_proper (bool): Whether all parameters are probabilities.
    """

    n_states: np.ndarray
    root_vectors: np.ndarray
    tensors: np.ndarray
    emissions: Emissions
    means: np.ndarray
    is_proper: bool


def _stored(parameters: Parameters, shapes: np.ndarray, *, is_exact: bool) -> Tensors:
    """Return the tensors of the rules in their storage format: exact, sparse (for probabilities), or else factored."""
    if is_exact:
        return Tensors.from_dense(parameters.tensors, shapes)
    return (Tensors.sparsify if parameters.is_proper else Tensors.factorize)(parameters.tensors, shapes)


def build_grammar(treebank: IndexedTreebank, parameters: Parameters) -> Grammar:
    """Build a grammar from a treebank and the latent parameters that were learned from it."""
    nodes, counts, n_states = treebank.nodes, treebank.counts, parameters.n_states
    n_preterminals = len(nodes.preterminals)
    lexicon = build_lexicon(
        parameters.emissions,
        treebank.vocabulary,
        nodes.preterminals,
        n_states[:n_preterminals],
        treebank.lexical,
    )
    seen = (1 - ROOT_SHARE) * counts.roots / counts.roots.sum()
    root_weights = smoothed_roots(counts, nodes.symbols, ROOT_SHARE)
    roots = seen[:, None] * parameters.root_vectors + (root_weights - seen)[:, None] * parameters.means
    tag_of = tag_ids(nodes.preterminals, lexicon.tags)
    lexicon = with_rare_words(
        lexicon, treebank.vocabulary, nodes, treebank.terminal, tag_of, treebank.lexical.signature_weight
    )
    before, after = boundary_tags(nodes, tag_of, len(lexicon.tags))
    return Grammar(
        symbols=nodes.symbols,
        n_preterminals=n_preterminals,
        n_states=n_states,
        symbol_weights=treebank.symbol_weights,
        root_weights=root_weights,
        root_vectors=np.concatenate([row[:m] for row, m in zip(roots, n_states, strict=True)]).astype(np.float32),
        rules=counts.rules,
        rule_weights=counts.rule_weights,
        tensors=_stored(parameters, n_states[counts.rules], is_exact=treebank.exact_tensors),
        lexicon=lexicon,
        root_label=nodes.root_label,
        is_proper=parameters.is_proper,
        classifier=treebank.classifier,
        tags_before=before,
        tags_after=after,
    )
