"""Clusters of projections as latent states (Narayan and Cohen 2015, "Diversity in spectral learning").

The nodes of every symbol are clustered by k-means on their spectral projections. With a cluster as the state of each
node, parameters are relative frequencies, and a good start for EM. Differs from the paper: (1) inside and outside
projections are scaled to mean square 1 and by how well they agree; (2) a symbol gets no more states than its count
supports; (3) the probabilities are smoothed as those of EM are; (4) noise for diverse models is on features, not on
their occurrences.

This is spectral learning as a start of EM. Spectral parameters themselves cannot be one: they may be negative, and are
known only up to an invertible linear map of the states (Cohen and Collins 2014, section 1). Clusters of the nodes are
known states, from whose counts EM can start. Absolute values of the products of inside and outside projections, as
posteriors of the states, are a worse start, and need four times the iterations.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spacy_lpcfg.blocks import UNSET, Block, make_blocks
from spacy_lpcfg.checks import check_at_least, check_whole
from spacy_lpcfg.learning.em import EMFit, EMLearner
from spacy_lpcfg.learning.latent.state_numbers import log_fewer_states
from spacy_lpcfg.learning.latent.statistics import Split, StateSmoothing
from spacy_lpcfg.learning.lexicon.lexical import LexicalSettings
from spacy_lpcfg.learning.moments.estimation import Projections, groups_of
from spacy_lpcfg.learning.moments.projections import Features, Projector
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank
from spacy_lpcfg.learning.treebank.rules import RuleSettings
from spacy_lpcfg.parallel import in_order
from spacy_lpcfg.trees.tree import Tree


@dataclass(frozen=True)
class Clusters(EMLearner):
    """Learner of a proper L-PCFG by clusters of spectral projections, and some iterations of EM.

    n_states (int): The maximum number of latent states of a symbol (m).
    n_iterations (int): Iterations of EM, 0 for none; the maximum with held-out trees.
    seed (int): Seed of the decompositions, the clusters and the noise.
    n_jobs (int or None): Processes that read the trees, project and cluster them, and threads of the E step; None for
        those of `joblib.parallel_config`, or 1.
    smoothing (StateSmoothing): Smoothing of the states of a symbol towards each other.
    lexical (LexicalSettings): Terminals and smoothing of the emissions.
    features (Features): The features that are projected, their scaling and their noise.
    tokens_per_state (float): A symbol seen n times gets at most n / tokens_per_state states; 0 for no limit.
    agreement (float): Each dimension weighs as the correlation of its inside and outside projections, to this power.
    lang (str): Language, table or file of the head rules, see `head_rules`.
    rules (RuleSettings): How rules are made and stored.
    functions (bool): Whether categories keep their functions, as in NP-SBJ.
    RAISES (ValueError): If a setting is out of range.
    """

    n_states: int = 16
    n_iterations: int = 5
    seed: int = 0
    n_jobs: int | None = None
    functions: bool = False
    smoothing: Block[StateSmoothing] = UNSET
    lexical: Block[LexicalSettings] = UNSET
    features: Block[Features] = UNSET
    tokens_per_state: float = 20.0
    agreement: float = 0.5
    lang: str = "en"
    rules: Block[RuleSettings] = UNSET

    def __post_init__(self) -> None:
        make_blocks(
            self, smoothing=StateSmoothing(), lexical=LexicalSettings(), rules=RuleSettings(), features=Features()
        )
        check_whole(0, n_iterations=self.n_iterations)
        check_at_least(0, agreement=self.agreement)
        self._projector()  # checks its settings

    def start(self, trees: Iterable[Tree] | IndexedTreebank, weights: Sequence[float] | None = None) -> EMFit:
        """Start EM at the clusters; `trees` and `weights` as for `fit`."""
        from threadpoolctl import threadpool_limits

        treebank = IndexedTreebank.read(trees, self, weights)
        with threadpool_limits(limits=1):  # threads cost more than they save on small matrices
            projections = self._projector().bases(treebank, self.n_jobs).project_all(treebank)
            states = cluster(treebank, projections, self.agreement, self.seed, self.n_jobs)
        n_states = np.zeros(len(treebank.nodes.symbols), dtype=np.int32)
        np.maximum.at(n_states, treebank.nodes.symbol, states + 1)
        log_fewer_states(treebank, n_states, self.n_states, self.tokens_per_state)
        split = Split(treebank, n_states)
        return EMFit(split, split.expect_states(states), self.smoothing, self.n_jobs)

    def _projector(self) -> Projector:
        return Projector(self.n_states, self.tokens_per_state, self.seed, self.features)


def cluster(
    treebank: IndexedTreebank, projections: Projections, agreement: float, seed: int, n_jobs: int | None = None
) -> np.ndarray:
    """Return the cluster of each node among those of its symbol, from 0 without gaps, int32 (n_nodes,).

    A symbol has as many clusters as its projections have dimensions, or fewer where its nodes are too much alike.

    agreement (float), seed (int): As in `Clusters`.
    n_jobs (int or None): See `in_order`; the result is the same for any number.
    """
    states = np.zeros(treebank.nodes.n_nodes, dtype=np.int32)
    groups = zip(groups_of(treebank.nodes.symbol, len(treebank.nodes.symbols)), projections.n_states, strict=True)
    several = [(group, m) for group, m in groups if m > 1]
    calls = ((projections.inside[group, :m], projections.outside[group, :m], agreement, seed) for group, m in several)
    for (group, _), clusters in zip(several, in_order(_clusters_of_symbol, calls, n_jobs=n_jobs), strict=True):
        states[group] = clusters
    return states


def _clusters_of_symbol(y: np.ndarray, z: np.ndarray, agreement: float, seed: int) -> np.ndarray:
    """Cluster the nodes of a symbol by their projections, in one thread, as sums by several differ from run to run."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        return _k_means(representation(y, z, agreement), y.shape[1], seed)


def representation(y: np.ndarray, z: np.ndarray, agreement: float) -> np.ndarray:
    """Return the inside and outside projections side by side, scaled, (n, 2 m).

    Each dimension gets mean square 1 and is multiplied by its correlation, raised to `agreement`; the correlation is
    the product of both scales, as E[Y Z] is 1 by construction.
    """
    scale_y, scale_z = (1 / np.sqrt(np.maximum(np.mean(side**2, axis=0), 1e-30)) for side in (y, z))
    weight = (scale_y * scale_z) ** agreement
    return np.concatenate([y * scale_y * weight, z * scale_z * weight], axis=1)


def _k_means(points: np.ndarray, k: int, seed: int) -> np.ndarray:
    from sklearn.cluster import KMeans  # slow to import, and needed for learning alone
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct points than clusters
        labels = KMeans(k, n_init=1, random_state=seed).fit_predict(points)
    return np.unique(labels, return_inverse=True)[1]
