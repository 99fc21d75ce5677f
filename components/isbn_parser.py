"""The trainable component `isbn_parser`: left-to-right constituency parsing by incremental sigmoid belief networks.

The model is learned in `initialize`, with the same learner as in the shell and in Python; `update` does nothing, so one
epoch of `spacy train` is enough.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, get_args

from spacy.language import Language

from spacy_lpcfg.checks import TEXT, Check, instance_of, one_of
from spacy_lpcfg.components.doc.constraints import ConstraintsOf
from spacy_lpcfg.components.doc.pipe_registry import register_pipe
from spacy_lpcfg.components.doc.tree_group import ISBN_KEY, KEY
from spacy_lpcfg.components.model_holder import ModelHolder
from spacy_lpcfg.components.parsing_pipe import ASSIGNS, SCORE_WEIGHTS, ParsingPipe
from spacy_lpcfg.components.settings import Output
from spacy_lpcfg.isbn import ISBN
from spacy_lpcfg.isbn.settings import BeamSettings
from spacy_lpcfg.learning.base import Learner
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.decodings import MBR, decodings_of
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.parsing.segmentation import Limits, SegmentingParser

TagUse = Literal["model", "given"]
_LEARNER = "isbn"
_NETWORKS: Any = ISBN  # all of which have the same decodings
_DECODING = Check(
    f"one of {', '.join(map(repr, decodings_of(_NETWORKS)))}",
    lambda value: value in decodings_of(_NETWORKS),  # those that were added since count too
)


def _learns_networks(value: Any) -> bool:
    from spacy_lpcfg.isbn.learning import ISBNLearner  # which parsing does without

    return isinstance(value, ISBNLearner)


def _bounded_parser(
    isbn: ISBN, decoding: str, search: BeamSettings, limits: Limits, tau: float | None
) -> SegmentingParser:
    """Return a beam-search parser for an ISBN that parses long sentences in pieces.

    The arguments are settings of `ISBNParser`: `decoding`, `pruning` (here `search`), `limits` and `output.tau`.
    """
    return SegmentingParser(make_parser(isbn, decoding=decoding, search=search, tau=tau), limits)


class ISBNParser(ParsingPipe[ISBN]):
    """The component `isbn_parser`, which parses each sentence of a Doc from left to right with a belief network (ISBN).

    Trees and scores are written to `doc.spans[spans_key]`, see `doc/write.py`. All probabilities are computed over the
    trees in the beam at the end of the sentence: the score of a span or tag is the probability of the trees that
    contain it, divided by the probability of all trees in the beam. The logarithm of this total is the log-probability
    of the sentence: a lower bound of ln P(words) that rises with the size of the beam.

    nlp (Language): The pipeline.
    name (str): The name of the component in it.
    learner (ISBNLearner or str): The learner of the networks, or "isbn" for the learner with default settings.
    gold_key (str): Key of the gold trees in `Doc.spans` from which `initialize` learns.
    decoding (str): How one tree is chosen: "mbr" (the tree whose brackets have the largest sum of posteriors) or
        "most-probable"; see `spacy_lpcfg.parsing.decodings.DECODINGS`.
    tags (str): "model" or "given", see `ParsingPipe`; given tags that the network does not know are ignored.
    constraints (callable or None): A function `doc -> Constraints`. Trees in the beam at the end of a sentence that do
        not satisfy the constraints are left out.
    pruning (BeamSettings): Settings of the beam search, made by `spacy-lpcfg.Beam.v1`.
    limits (Limits): Limits on each sentence; a longer sentence is parsed in pieces. `max_memory` must be None. Time and
        memory are proportional to the words of a piece and to the beam.

    The settings `spans_key`, `output` and `scorer` are as in `ParsingPipe`.
    """

    decoding: str
    error = ModelError
    what = "network"
    command = "parser TREES --method isbn"
    checks: ClassVar[Mapping[str, Check]] = {
        **ParsingPipe.checks,
        "learner": Check(
            "a learner of networks, such as isbn of spacy-lpcfg.Learner.v1, or its name",
            lambda value: value == _LEARNER or _learns_networks(value),
        ),
        "learned": instance_of("networks, such as ISBNLearner.fit returns", ISBN).optional,
        "gold_key": TEXT,
        "decoding": _DECODING,
        "tags": one_of(*get_args(TagUse)),
        "pruning": instance_of("made by spacy-lpcfg.Beam.v1", BeamSettings),
        "limits": Check(
            "made by spacy-lpcfg.Limits.v1 with max_memory = None (a beam search has no chart; a smaller max_words or "
            "beam saves memory)",
            lambda value: isinstance(value, Limits) and value.max_memory is None,
        ),
    }

    def __init__(
        self,
        nlp: Language,
        name: str,
        learner: Learner | str,
        spans_key: str,
        gold_key: str,
        decoding: str,
        tags: TagUse,
        constraints: ConstraintsOf | None,
        pruning: BeamSettings,
        limits: Limits,
        output: Output,
        scorer: Callable[..., dict[str, Any]] | None,
    ) -> None:
        super().__init__(nlp.vocab, ModelHolder(_LEARNER, ISBN.from_bytes), name)
        self.learner = learner
        self.spans_key = spans_key
        self.gold_key = gold_key
        self.decoding = decoding
        self.tags = tags
        self.constraints = constraints
        self.pruning = pruning
        self.limits = limits
        self.output = output
        self.scorer = scorer
        register_pipe(self)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.learned.labels if self.learned else ()

    @property
    def parser(self) -> SegmentingParser | None:
        settings = self.decoding, self.pruning, self.limits, self.output.tau
        return self.model.made(settings, lambda isbn: _bounded_parser(isbn, *settings))


Language.factory(
    "isbn_parser",
    func=ISBNParser,
    assigns=ASSIGNS,
    default_config={
        "learner": _LEARNER,
        "spans_key": ISBN_KEY,
        "gold_key": KEY,
        "decoding": MBR.name,
        "tags": "model",
        "constraints": None,
        "pruning": {"@misc": "spacy-lpcfg.Beam.v1"},
        "limits": {"@misc": "spacy-lpcfg.Limits.v1", "max_words": 400},
        "output": {"@misc": "spacy-lpcfg.Output.v1"},
        "scorer": {"@scorers": "spacy-lpcfg.constituency_scorer.v1"},
    },
    default_score_weights=SCORE_WEIGHTS,
)
