"""The trainable component `isbn_parser`: left-to-right constituency parsing by incremental sigmoid belief networks.

`initialize` takes the vocabulary of labels, tags and words of the whole training corpus, and draws random parameters;
`update` learns them from the trees of every batch by their gradients, with the optimizer of `spacy train`. A trained
component goes on learning from where it is, with the vocabulary that it has.

This is not one class with `lpcfg_parser`: here the networks' parameters are those of the thinc Model in the config, by
which spaCy's optimizer learns, averages and resumes, whereas there a learner in the config makes a whole model in
`initialize`, and its thinc Model has no parameters. One class would have settings that are dead in either use.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, cast, get_args

from spacy.language import Language
from spacy.training import Example
from spacy.util import logger
from thinc.api import Model, set_dropout_rate

from spacy_lpcfg.checks import TEXT, Check, instance_of, one_of
from spacy_lpcfg.components.doc.constraints import ConstraintsOf
from spacy_lpcfg.components.doc.pipe_registry import register_pipe
from spacy_lpcfg.components.doc.tree_group import ISBN_KEY, KEY
from spacy_lpcfg.components.isbn_model import ISBNModel, isbn_of, set_isbn
from spacy_lpcfg.components.model_pipe import check_not_streamed
from spacy_lpcfg.components.parsing_pipe import ASSIGNS, SCORE_WEIGHTS, ParsingPipe
from spacy_lpcfg.components.settings import Output
from spacy_lpcfg.isbn import ISBN
from spacy_lpcfg.isbn.events import DecisionEvents, events_of
from spacy_lpcfg.isbn.learning import count_words
from spacy_lpcfg.isbn.settings import BeamSettings
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.decodings import MBR, decodings_of
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.parsing.segmentation import Limits, SegmentingParser
from spacy_lpcfg.trees import Tree, normalize

TagUse = Literal["model", "given"]
_UNKNOWN = (
    "{!r} leaves out trees with labels or tags that it did not find in the corpus that it was initialized with: to "
    "learn these, train it anew."
)
_NETWORKS: Any = ISBN  # all of which have the same decodings
_DECODING = Check(
    f"one of {', '.join(map(repr, decodings_of(_NETWORKS)))}",
    lambda value: value in decodings_of(_NETWORKS),  # those that were added since count too
)


class Derived(NamedTuple):
    """The derivations of a Doc's trees, the number of their words, and the number of trees without a derivation."""

    events: DecisionEvents
    n_words: int
    n_left_out: int


def _bounded_parser(
    isbn: ISBN, decoding: str, search: BeamSettings, limits: Limits, tau: float | None
) -> SegmentingParser:
    """Return the parser by networks, within limits; the arguments are settings of `ISBNParser`."""
    return SegmentingParser(make_parser(isbn, decoding=decoding, search=search, tau=tau), limits)


class ISBNParser(ParsingPipe[ISBN]):
    """The component `isbn_parser`: it parses each sentence of a Doc by networks; see `doc/write.py`.

    The scores of spans and tags are shares of the probability of all trees that the beam holds at the end of a
    sentence, and the log-probability of the sentence is the logarithm of its sum: a lower bound, which rises with the
    beam.

    nlp (Language): The pipeline.
    name (str): The name of the component in it.
    model (Model): The networks, made by `spacy-lpcfg.ISBN.v1`.
    gold_key (str): Key of the trees in `Doc.spans` that are learned from.
    decoding (str): How one tree is chosen, as `spacy_lpcfg.parsing.decodings.DECODINGS` says: "mbr", "most-probable",
        or another one that networks have.
    tags (str): "model" or "given"; tags that the network does not know count as none.
    constraints (callable or None): Trees in the beam at the end of a sentence that do not satisfy them are left out.
    pruning (BeamSettings): Made by `spacy-lpcfg.Beam.v1`; `decoding` goes before it.
    limits (Limits): Time and memory are proportional to the words of a piece and to the beam, and so there is no
        `max_memory`, which has to be None.

    The other settings are those of `ParsingPipe`.
    """

    decoding: str
    error = ModelError
    what = "network"
    command = "isbn"
    checks: ClassVar[Mapping[str, Check]] = {
        **ParsingPipe.checks,
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
        model: Model,
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
        super().__init__(nlp.vocab, cast(ISBNModel, model), name)
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

    # The networks

    @property
    def isbn(self) -> ISBN | None:
        """A copy of the networks in the model, with their vocabulary; None before training."""
        return isbn_of(self.model)

    @isbn.setter
    def isbn(self, isbn: ISBN | None) -> None:
        set_isbn(self.model, isbn)

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories that trees may have."""
        return self.learned.labels if self.learned else ()

    @property
    def parser(self) -> SegmentingParser | None:
        """The parser by the networks, within the limits of the component; None before training."""
        settings = self.decoding, self.pruning, self.limits, self.output.tau
        return self.model.made(settings, lambda outline: _bounded_parser(isbn_of(self.model) or outline, *settings))

    # Learning

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
    ) -> None:
        """Collect the vocabulary of the reference trees and draw random parameters.

        get_examples (callable): Returns the whole training corpus.
        nlp (Language): The pipeline, for its training settings.
        labels (list of str): Categories that trees may have; None allows all.

        Without trees in the examples the networks that are already there stay.
        RAISES (ValueError): If there are neither trees nor networks, if the corpus is streamed, or if the treebank has
            other categories.
        """
        self._start(self.gold_trees(get_examples()), nlp)
        self.check_learned(labels)

    def _start(self, treebank: Iterable[Tree], nlp: Language | None) -> None:
        treebank = iter(treebank)
        first = next(treebank, None)
        if first is None:
            return
        check_not_streamed(nlp, "vocabulary")
        self.model.initialize(X=[first, *treebank])
        logger.info("%s: %d categories", self.name, len(self.labels))

    @property
    def is_trainable(self) -> bool:
        """Whether `update` learns: always."""
        return True

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from the trees of a batch: add up the gradients of their mean negative log-likelihood.

        drop (float): Share of the means of earlier latent units that are left out.
        sgd (Optimizer): Optimizer that takes a step with the gradients, unless it is None or False.
        losses (dict): The batch's negative log-likelihood per word, in nats, mean over the networks, is added under the
            component's name.

        The derivations of a reference Doc are kept as long as the Doc lives. Trees with labels or tags that were not
        in the corpus of `initialize` are left out, with a warning.
        RAISES (ValueError): Before `initialize`.
        """
        examples = list(examples)
        losses = super().update(examples, losses=losses)
        if not examples:
            return losses
        events, n_words = self._gold_events(examples)
        if n_words:
            set_dropout_rate(self.model, drop)
            log_likelihoods, backprop = self.model.begin_update(events)
            backprop(-1 / events.n_sequences)
            losses[self.name] -= float(log_likelihoods.sum(axis=1).mean()) / n_words
        if sgd not in (None, False):
            self.finish_update(sgd)
        return losses

    def _gold_events(self, examples: Sequence[Example]) -> tuple[DecisionEvents, int]:
        """Return the derivations of the reference trees, and the number of their words."""
        self.check_learned(None)
        derived = [self.model.derived(eg.reference, partial(self._derive, eg)) for eg in examples]
        if any(of_doc.n_left_out for of_doc in derived):
            self.warn_once(_UNKNOWN)
        return DecisionEvents.join([of_doc.events for of_doc in derived]), sum(of_doc.n_words for of_doc in derived)

    def _derive(self, eg: Example) -> Derived:
        outline = self.model.outline()
        normalized = partial(normalize, functions=self.model.attrs["functions"])
        trees = [tree for tree in map(normalized, self.gold_trees([eg])) if tree]
        events = events_of(trees, outline.vocabulary, outline.relations)
        return Derived(events, count_words(events, outline.vocabulary), len(trees) - events.n_sequences)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score the predicted trees with the component's scorer."""
        return super().score(examples, **{"gold_key": self.gold_key, **kwargs})


Language.factory(
    "isbn_parser",
    func=ISBNParser,
    assigns=ASSIGNS,
    default_config={
        "model": {"@architectures": "spacy-lpcfg.ISBN.v1"},
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
