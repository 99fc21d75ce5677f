"""The labels and tags of a grammar's symbols as arrays for kernels."""

from __future__ import annotations

import numpy as np

from spacy_lpcfg.arrays import offsets
from spacy_lpcfg.chart._forest import LabelTable
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.lexicon import NO_TAG


def label_table(grammar: Grammar) -> LabelTable:
    """Return the table of the labels and the tag of each symbol, with which kernels turn items into brackets."""
    chains = grammar.label_chains
    ids = {label: i for i, label in enumerate(grammar.labels)}
    tag_of = np.full(grammar.n_symbols, NO_TAG, dtype=np.int32)
    tag_of[: grammar.n_preterminals] = grammar.tag_of
    return LabelTable(
        offsets(np.array([len(chain) for chain in chains])).astype(np.int32),
        np.array([ids[label] for chain in chains for label in chain], dtype=np.int32),
        np.array([label in chain[:i] for chain in chains for i, label in enumerate(chain)], dtype=np.int8),
        tag_of,
        grammar.labels,
        grammar.tags,
    )
