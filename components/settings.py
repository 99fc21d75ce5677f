"""Groups of settings of the parsing components, as registered objects that are checked when created."""

from dataclasses import dataclass
from typing import Literal

from spacy_lpcfg.chart.settings import ChartSettings
from spacy_lpcfg.checks import FLAG, POSITIVE, SHARE, Check
from spacy_lpcfg.isbn.settings import BeamSettings
from spacy_lpcfg.parsing.segmentation import Limits

SetTags = bool | Literal["missing"]
_SET_TAGS = Check(
    "'missing', true or false", lambda value: isinstance(value, bool) or (isinstance(value, str) and value == "missing")
)


@dataclass(frozen=True)
class Output:
    """The setting `output` of parsing components: which results they write; `spacy-lpcfg.Output.v1` in a config.

    set_tags ("missing" or bool): Which tags of the trees are also written to `token.tag_`: "missing" for tokens without
        a tag; True for all tokens, replacing the tags of other components, but not their `pos_` and `lemma_`; False for
        none.
    surprisal (bool): Whether to write the surprisal of each token when parsing; otherwise it is computed at the
        first access to `token._.surprisal`.
    threshold (float): Spans with a posterior probability below it are left out, and go to
        `doc.spans[spans_key + "_left_out"]`; 0 keeps all.
    tau (float or None): Calibration: the exponent applied to the probabilities of a sentence's trees, which are then
        renormalised (`spacy-lpcfg calibrate` estimates it). Less than 1 makes them less confident. All answers about
        trees use it; None for the uncalibrated model. The trees chosen by mbr and max-rule do not depend on it.
    RAISES (ValueError): If a setting is of another type or out of range.
    """

    set_tags: SetTags = "missing"
    surprisal: bool = False
    threshold: float = 0.0
    tau: float | None = None

    def __post_init__(self) -> None:
        _SET_TAGS(set_tags=self.set_tags)
        FLAG(surprisal=self.surprisal)
        SHARE(threshold=self.threshold)
        POSITIVE.optional(tau=self.tau)


def make_limits(max_words: int, max_seconds: float | None = None, max_memory: float | None = None) -> Limits:
    """Create `spacy-lpcfg.Limits.v1`, the setting `limits` of parsing components; see `Limits`.

    max_words (int): Sentences of more words are parsed in pieces.
    max_seconds (float or None): CPU seconds after which the rest of a sentence gets no brackets; None for no limit.
    max_memory (float or None): MB that a chart may take; None for the limit of `ChartSettings`.
    RAISES (ValueError): If a limit is no number, or too small.
    """
    return Limits(max_words, max_seconds, max_memory)


def make_pruning(
    beam: float = ChartSettings.beam, edge_threshold: float = ChartSettings.edge_threshold
) -> ChartSettings:
    """Create `spacy-lpcfg.Pruning.v1`, the setting `pruning` of `lpcfg_parser`; see `spacy_lpcfg.chart.ChartSettings`.

    beam (float): Items below this share of the best score in their cell are pruned; 0 for no pruning.
    edge_threshold (float): Minimum marginal of an edge (a rule applied to two spans); 0 for no pruning.
    RAISES (ValueError): If a setting is of another type or out of range.
    """
    return ChartSettings(beam=beam, edge_threshold=edge_threshold)


def make_beam(beam: int = BeamSettings.beam, branching: int = BeamSettings.branching) -> BeamSettings:
    """Create `spacy-lpcfg.Beam.v1`, the setting `pruning` of `isbn_parser`; see `spacy_lpcfg.isbn.BeamSettings`.

    beam (int): Number of hypotheses (partial derivations) that are kept after each word.
    branching (int): Number of most probable actions with which a hypothesis is extended, in addition to Shift.
    RAISES (ValueError): If a number is not whole, or not from 1 to 100,000,000.
    """
    return BeamSettings(beam=beam, branching=branching)
