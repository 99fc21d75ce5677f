"""What a chart may leave out for speed, and how it chooses a tree."""

from __future__ import annotations

from dataclasses import dataclass

from spacy_lpcfg.checks import SHARE, one_of

DECODINGS = ("mbr", "max-rule", "most-probable")
"""The decodings that a chart carries out by itself."""
APPLICATION_BYTES = 48
"""Memory of a rule application in a chart, at the moment when the room for them is doubled."""
_SHARES = (
    "threshold",
    "edge_threshold",
    "beam",
    "tag_threshold",
    "boundary_threshold",
    "cascade",
    "prefix_threshold",
)


@dataclass(frozen=True)
class ChartSettings:
    """What a parser may leave out for speed, and how it decodes.

    threshold (float): least marginal of an item (a, i, j) under the treebank PCFG.
    edge_threshold (float): least marginal of an edge (a -> b c, i, k, j) under it.
    beam (float): items of a coarse cell below this share of its best are dropped; 0 keeps all.
    tag_threshold (float): symbols over a word, its tag with the labels that span it alone, less likely than this by
        the words around are ruled out; 0 keeps all.
    boundary_threshold (float): where the beginning of a span of several words, or the end of a constituent of several
        words, is less likely than this by the words around, there is none; 0 allows all.
    boundary_merit (bool): compare items for the beam by how well they fit between the words around, too (Caraballo
        and Charniak 1998); else by their inside and prior probabilities alone.
    retry_beam (float or None): where pruning left no tree, the chart is made again with this share of the beam, and
        without thresholds on tags and boundaries; None goes on to the rules of the back-off grammar at once.
    cascade (float): least marginal of an edge under the first grammar of an ensemble, for the others to look at it;
        unless it is 0, posteriors of brackets from elsewhere prune too, as those of a combination's first grammar do.
    prefix_threshold (float): least posterior, given the words up to its end, of a constituent in the sums of
        `Parser.surprisal`.
    decoding (str): "mbr" chooses the tree of the grammar with the largest sum of its brackets' posteriors, each less
        `bracket_cost`, and of its tags' (minimum Bayes risk); "max-rule" that with the largest sum of its rules'
        marginals (Goodman 1996), as the spectral papers do; "most-probable" that of `n_best(1)`, for proper grammars.
    bracket_cost (float): a bracket less likely than this is better left out; more of it for precision, less for recall.
    absolute (bool): decode absolute marginals (section 3.3 of Cohen et al. 2013); else signed ones.
    max_applications (int): a sentence is cut in two if its coarse chart would hold more rule applications, or if its
        forest would have larger vectors of states; this bounds the memory of each, at `APPLICATION_BYTES` an
        application.
    RAISES (ValueError): On another way of decoding, or if a share or a probability is not from 0 to 1.
    """

    threshold: float = 5e-5
    edge_threshold: float = 2e-5
    beam: float = 1e-3
    tag_threshold: float = 0.01
    boundary_threshold: float = 0.01
    boundary_merit: bool = True
    retry_beam: float | None = 1e-4
    cascade: float = 1e-4
    prefix_threshold: float = 1e-6
    decoding: str = "mbr"
    bracket_cost: float = 0.45
    absolute: bool = True
    max_applications: int = 4_000_000

    def __post_init__(self) -> None:
        one_of(*DECODINGS)(decoding=self.decoding)
        SHARE(**{name: getattr(self, name) for name in _SHARES})
        SHARE.optional(retry_beam=self.retry_beam)


EXHAUSTIVE = ChartSettings(
    threshold=0.0,
    edge_threshold=0.0,
    beam=0.0,
    tag_threshold=0.0,
    boundary_threshold=0.0,
    cascade=0.0,
    prefix_threshold=0.0,
)
