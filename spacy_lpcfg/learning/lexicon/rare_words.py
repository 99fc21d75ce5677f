"""Tag-specific emissions of rare words, which have the latent states of their signature but tags of their own.

A signature f emits the unknown words and the rare words that look like it. The probability of f under a tag t is shared
in proportion to

- count(w, t) + kappa P(t | f), for each rare word w;
- n(t) + kappa P(t | f), for all unknown words together, where n(t) counts the words of f seen once (Good 1953).

The latent states of a rare word are those of its signature.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from spacy_lpcfg.grammar.lexicon import Lexicon
from spacy_lpcfg.learning.lexicon.lexical import TreebankVocabulary
from spacy_lpcfg.learning.treebank.skeletons import Skeletons
from spacy_lpcfg.words.signatures import is_signature


def with_rare_words(
    lexicon: Lexicon,
    vocabulary: TreebankVocabulary,
    nodes: Skeletons,
    terminal: np.ndarray,
    tag_of: np.ndarray,
    signature_weight: float,
) -> Lexicon:
    """Return a lexicon in which the emissions of each signature are divided among its words, separately for each tag.

    lexicon (Lexicon): The lexicon without rare words.
    vocabulary (TreebankVocabulary): The vocabulary of the treebank; its words seen once are needed.
    nodes (Skeletons): The trees of the treebank.
    terminal (int32, (n_nodes,)): The terminal of each leaf.
    tag_of (int, (n_preterminals,)): Tag id of each preterminal.
    signature_weight (float): kappa in the module docstring; 0 returns `lexicon` unchanged.
    """
    if signature_weight == 0:
        return lexicon
    counts, names, terminals = _rare_counts(lexicon, vocabulary, nodes, terminal, tag_of)
    of_signature = _tags_of_terminals(lexicon, nodes, tag_of)[terminals]
    counts = csr_array(counts.multiply(of_signature > 0))
    counts.eliminate_zeros()  # tags without a row of the signature
    seen = counts.tocoo()
    factors = 1 + seen.data / (signature_weight * of_signature[seen.row, seen.col])
    rare = replace(
        lexicon,
        rare_words=names,
        rare_terminals=terminals,
        rare_offsets=counts.indptr.astype(np.int32),
        rare_tags=seen.col.astype(np.int32),
        rare_factors=factors.astype(np.float32),
    )
    return rare.shared_out(tag_of)


def _rare_counts(
    lexicon: Lexicon, vocabulary: TreebankVocabulary, nodes: Skeletons, terminal: np.ndarray, tag_of: np.ndarray
) -> tuple[csr_array, tuple[str, ...], np.ndarray]:
    """Count the tags of each rare word, and for each signature the tags of its words that were seen once.

    RETURNS (tuple[csr_array, tuple[str, ...], ndarray]): Counts (n_rare, n_tags), the sorted names of the words and
        signatures, and the signature that emits each, int32 (n_rare,).
    """
    are_signatures = np.array([is_signature(name) for name in lexicon.terminals])
    leaves = nodes.leaves[are_signatures[terminal[nodes.leaves]]]
    words, first, word_of = np.unique(nodes.word[leaves], return_index=True, return_inverse=True)
    terminals_of_leaves = terminal[leaves[first]]
    signatures, of_signature = np.unique(terminals_of_leaves, return_inverse=True)
    names = np.array([*(nodes.words[word] for word in words), *(lexicon.terminals[x] for x in signatures)])
    once = np.array([nodes.words[word] in vocabulary.once for word in words], dtype=bool)[word_of]
    entries = np.concatenate([word_of, len(words) + of_signature[word_of[once]]])
    tags = tag_of[nodes.symbol[np.concatenate([leaves, leaves[once]])]]
    counts = csr_array((np.ones(len(tags)), (entries, tags)), shape=(len(names), len(lexicon.tags)))
    counts.sum_duplicates()
    order = np.argsort(names)
    return (
        counts[order],
        tuple(names[order].tolist()),
        np.concatenate([terminals_of_leaves, signatures])[order].astype(np.int32),
    )


def _tags_of_terminals(lexicon: Lexicon, nodes: Skeletons, tag_of: np.ndarray) -> np.ndarray:
    """Return P(tag | terminal), float64 (n_terminals, n_tags)."""
    counts = np.bincount(nodes.symbol[nodes.leaves], minlength=len(tag_of))
    table = lexicon.tag_weights(counts, tag_of)
    return table / table.sum(axis=1, keepdims=True)
