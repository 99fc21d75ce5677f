"""Latent parameters as the models that enumeration takes, and random ones."""

import numpy as np
from oracles.enumeration import Model

from spacy_lpcfg.learning import LexicalSettings, StateSmoothing
from spacy_lpcfg.learning.em import EMFit, random_start
from spacy_lpcfg.learning.latent.statistics import UNSMOOTHED, Latent, Split
from spacy_lpcfg.learning.spectral import SpectralEstimate
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank
from spacy_lpcfg.learning.treebank.skeletons import join, skeletons
from spacy_lpcfg.trees import Tree

PLAIN = LexicalSettings(rare=0, signature_weight=0.0, chain_weight=0.0, min_posterior=0.0)


def split_of(trees: list[Tree], n_states: int, lexical: LexicalSettings = PLAIN) -> Split:
    return Split.of(IndexedTreebank.of(join([skeletons(trees)]), lexical), n_states, tokens_per_state=1)


def model_of_latent(split: Split, latent: Latent) -> Model:
    """Parameters of EM by their names."""
    names, terminals = split.treebank.nodes.symbols, split.treebank.vocabulary.terminals
    rules = zip(split.treebank.counts.rules, split.starts[:-1], split.starts[1:], split.shapes, strict=True)
    return Model(
        {name: latent.roots[a, : split.n_states[a]] for a, name in enumerate(names)},
        {tuple(names[a] for a in rule): latent.tensors[i:j].reshape(shape) for rule, i, j, shape in rules},
        {
            (names[a], terminals[x]): vector[: split.n_states[a]]
            for (a, x), vector in zip(split.events.pairs, latent.emissions, strict=True)
        },
    )


def skeletal_trees(split: Split) -> list[Tree]:
    """The trees of a treebank, their words terminals."""
    nodes, terminal = split.treebank.nodes, split.treebank.terminal
    trees: list[Tree] = []
    for node, symbol in enumerate(nodes.symbol):
        label, left = nodes.symbols[symbol], nodes.left[node]
        if left < 0:
            trees.append(Tree(label, word=split.treebank.vocabulary.terminals[terminal[node]]))
        else:
            trees.append(Tree(label, (trees[left], trees[nodes.right[node]])))
    return [trees[root] for root in nodes.roots]


def random_latent(split: Split, noise: float, seed: int) -> Latent:
    return split.maximize(random_start(split, noise, seed), UNSMOOTHED)


def random_fit(split: Split, smoothing: StateSmoothing, noise: float = 1.0, seed: int = 0) -> EMFit:
    return EMFit(split, random_start(split, noise, seed), smoothing)


def projections_of(estimate: SpectralEstimate) -> tuple[np.ndarray, np.ndarray]:
    """Y and Z of all nodes of a treebank, each (n_nodes, m)."""
    parts = [estimate.bases.project(part.nodes, part.terminal) for part in estimate.treebank.parts()]
    y, z = (np.concatenate(side) for side in zip(*parts, strict=True))
    return y, z
