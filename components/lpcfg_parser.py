"""The trainable component `lpcfg_parser`: constituency trees by a grammar learned from a treebank.

In a blank pipeline it has the grammar that comes with the package, if one does for the language.
Most learners learn in `initialize`, and `update` has nothing to do: one epoch of `spacy train` is
enough. An online learner makes its start there, and learns from the trees of every batch in `update`.
The grammar lies in a thinc Model, which spaCy saves, copies and averages as it does others.
"""

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from threading import RLock
from types import MappingProxyType
from typing import Any, Literal, Optional, cast

from spacy.language import Language
from spacy.training import Example, validate_examples
from spacy.util import logger
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_lpcfg.chart import Settings
from spacy_lpcfg.combination import Learned, check_decoding, known_words, learned_from_bytes, parser_of
from spacy_lpcfg.components.constituents import KEY, register_extensions
from spacy_lpcfg.components.constraints import ConstraintsOf
from spacy_lpcfg.components.learned import LearnedShim, check_numbers, holder, refuse_sample
from spacy_lpcfg.components.learners import OnlineFit, OnlineLearner
from spacy_lpcfg.components.parsing_pipe import ParsingPipe, TextParser
from spacy_lpcfg.grammar import GrammarError
from spacy_lpcfg.learning.base import Learner, Step
from spacy_lpcfg.models import bundled_grammar, has_bundled
from spacy_lpcfg.trees import Tree

register_extensions()

TagUse = Literal["model", "given", "prior"]
Decoding = Literal["brackets", "tree", "reranking"]
_SETTINGS = Settings()
_BYTES = 48  # of a rule application in a chart, at the moment when the room for them is doubled
_MEMORY = _SETTINGS.most_applications * _BYTES / 1e6
_TAG_WEIGHTS = {"model": 1.0, "given": 0.0, "prior": 0.03}
"""`tag_weight` of `Parser.parse`; the prior doubts one tag in thirty, as one may doubt a good tagger."""
_NO_START = (
    "{!r} learns nothing more: its learner begins in `initialize`, and a trained component has its "
    "grammar, but not the counts to go on from. Freeze it, or learn it anew."
)
_NO_TREES = (
    "{!r} found no trees to learn from, and keeps the grammar that it has. Read the corpus with "
    "spacy-lpcfg.Treebank.v1 to have it learn."
)


@Language.factory(
    "lpcfg_parser",
    assigns=["doc.spans", "token.tag"],
    default_config={
        "learner": {"@misc": "spacy-lpcfg.Spectral.v1"},
        "spans_key": KEY,
        "set_tags": True,
        "tags": "model",
        "surprisal": False,
        "threshold": 0.0,
        "temperature": None,
        "decoding": "brackets",
        "constraints": None,
        "pruning": None,
        "max_words": _SETTINGS.max_words,
        "max_seconds": None,
        "max_memory": _MEMORY,
        "scorer": {"@scorers": "spacy-lpcfg.constituency_scorer.v1"},
    },
    default_score_weights={
        "evalb_f": 1.0,
        "evalb_p": 0.0,
        "evalb_r": 0.0,
        "complete_match": 0.0,
    },
)
def make_lpcfg_parser(
    nlp: Language,
    name: str,
    learner: Learner | OnlineLearner,
    spans_key: str,
    set_tags: bool,
    tags: TagUse,
    surprisal: bool,
    threshold: float,
    temperature: float | None,
    decoding: Decoding,
    scorer: Callable[..., dict[str, Any]] | None,
    constraints: ConstraintsOf | None,
    pruning: Settings | None,
    max_words: int,
    max_seconds: float | None,
    max_memory: float,
) -> "LPCFGParser":
    """The factory `lpcfg_parser`; settings as for `LPCFGParser`.

    The component begins with the grammar that comes with the package for the language, if one does.
    """
    lang = nlp.lang or ""
    return LPCFGParser(
        nlp.vocab,
        grammar_model(partial(bundled_grammar, lang) if has_bundled(lang) else None),
        name,
        learner=learner,
        spans_key=spans_key,
        set_tags=set_tags,
        tags=tags,
        surprisal=surprisal,
        threshold=threshold,
        temperature=temperature,
        decoding=decoding,
        scorer=scorer,
        constraints=constraints,
        pruning=pruning,
        max_words=max_words,
        max_seconds=max_seconds,
        max_memory=max_memory,
    )


_MAKING = RLock()  # of threads that share a component, one makes what all need


class GrammarShim(LearnedShim):
    """A Grammar, or what makes one when it is first needed, and the parser by it.

    is_unread (bool): whether the grammar is one that comes with the package, and was not needed yet
    """

    is_unread = False
    _make: Callable[[], Learned] | None = None
    _parsers: Mapping[Hashable, "TextParser"] = MappingProxyType({})

    @staticmethod
    def read(data: bytes) -> Learned:
        return learned_from_bytes(data)

    @property
    def learned(self) -> Learned | None:
        with _MAKING:
            if self._make is not None:
                self.learned = self._make()
            return self._model

    @learned.setter
    def learned(self, grammar: Learned | None) -> None:
        self._model, self._make, self._parsers, self.is_unread = grammar, None, {}, False

    def grammar_of(self, make: Callable[[], Learned]) -> None:
        """Take the grammar that `make` gives, when one is first needed."""
        self._make, self._parsers, self.is_unread = make, {}, False

    def parser(self, decoding: Decoding, settings: Settings) -> Optional["TextParser"]:
        """The parser by the grammar that chooses trees so, made when it is first needed."""
        with _MAKING:
            grammar, key = self.learned, (decoding, settings)
            if key not in self._parsers and grammar is not None:
                made = TextParser(parser_of(grammar, decoding=decoding, settings=settings), known_words(grammar))
                self._parsers = {**self._parsers, key: made}
            return self._parsers.get(key)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_model": self.learned, "_make": None, "_parsers": {}, "is_unread": False}


def grammar_model(make: Callable[[], Learned] | None = None) -> Model:
    """A thinc Model that holds a grammar, for spaCy to save; it computes nothing.

    make (callable): gives the grammar, when one is first needed; None for none yet
    """
    shim = GrammarShim(None)
    if make is not None:
        shim.grammar_of(make)
        shim.is_unread = True
    return holder("lpcfg", shim)


class LPCFGParser(ParsingPipe):
    """Parses each sentence of a Doc; see `constituents.py` for what it writes.

    vocab (Vocab): of the pipeline
    model (Model): as made by `grammar_model`
    name (str): of the component
    learner (Learner or OnlineLearner): makes the grammar of the trees of the training corpus
    spans_key (str): where the trees go in `Doc.spans`, and where they are learned from
    set_tags (bool): write the tags of the trees to `token.tag_`
    tags (str): "model": the parser tags for itself; "given": it takes `token.tag_` where there is
        one; "prior": it may overrule them
    surprisal (bool): write the surprisal of each token too, instead of when `token._.surprisal` is first asked for; by
        one proper grammar only
    threshold (float): posterior probability below which a span is left out; 0 keeps all
    temperature (float or None): as of `ParsingPipe`; None for that of the grammar
    decoding (str): "brackets": the tree of least expected loss, for the most brackets right; "tree": the most probable
        one, or of several models the one that most of them have, for the most trees right; "reranking": of a
        combination with a proper grammar, alone or in an ensemble, the most probable to all of its models of those that
        the grammar finds. Initializing and loading raise an error where that cannot be
    scorer (callable): `examples -> scores`
    constraints (callable or None): `doc -> Constraints` on the trees of a Doc, such as `spacy-lpcfg.entities.v1`
    pruning (Settings or None): what a chart may leave out for speed, such as `spacy-lpcfg.Pruning.v1`; None for the
        library's own; `decoding`, `max_words` and `max_memory` go before it
    max_words (int), max_seconds (float or None): as of `ParsingPipe`; the time of a piece grows with the square to the
        cube of its words
    max_memory (float): MB that the chart of a piece may take; a piece with a larger one is cut in two
    """

    error = GrammarError
    what = "grammar"
    command = "lpcfg"

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "lpcfg_parser",
        *,
        learner: Learner | OnlineLearner,
        spans_key: str = KEY,
        set_tags: bool = True,
        tags: TagUse = "model",
        surprisal: bool = False,
        threshold: float = 0.0,
        temperature: float | None = None,
        decoding: Decoding = "brackets",
        scorer: Callable[..., dict[str, Any]] | None = None,
        constraints: ConstraintsOf | None = None,
        pruning: Settings | None = None,
        max_words: int = _SETTINGS.max_words,
        max_seconds: float | None = None,
        max_memory: float = _MEMORY,
    ) -> None:
        super().__init__(
            vocab,
            model,
            name,
            spans_key=spans_key,
            gold_key=spans_key,
            set_tags=set_tags,
            tags=tags,
            surprisal=surprisal,
            threshold=threshold,
            temperature=temperature,
            scorer=scorer,
            constraints=constraints,
            max_words=max_words,
            max_seconds=max_seconds,
        )
        self.learner = learner
        check_numbers(max_memory=max_memory)
        if not max_memory > 0:
            raise ValueError(f"Expected max_memory above 0 MB, got {max_memory}.")
        self.max_memory = max_memory
        if not isinstance(pruning, Settings | None):
            raise ValueError(f"Expected pruning to be made by spacy-lpcfg.Pruning.v1, got {pruning!r}.")
        self.pruning = _SETTINGS if pruning is None else pruning
        self.decoding = decoding
        self._fit: OnlineFit | None = None

    @property
    def decoding(self) -> Decoding:
        """How trees are chosen."""
        return self._decoding

    @decoding.setter
    def decoding(self, decoding: Decoding) -> None:
        check_decoding(decoding)
        self._decoding = decoding

    # The grammar

    @property
    def grammar(self) -> Learned | None:
        """The grammar; None before training."""
        return self.model.shims[0].learned

    @grammar.setter
    def grammar(self, grammar: Learned | None) -> None:
        self.model.shims[0].learned = grammar

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories of the grammar; none before one that comes with the package is first needed.

        spaCy asks for them before it loads the grammar that a pipeline was saved with.
        """
        if self.model.shims[0].is_unread or self.grammar is None:
            return ()
        return self.grammar.labels

    @property
    def root_label(self) -> str:
        """The artificial root of the treebank's trees."""
        return self.grammar.root_label if self.grammar else ""

    @property
    def learned_temperature(self) -> float:
        """That of the grammar."""
        return self.grammar.temperature if self.grammar else 1.0

    @property
    def parser(self) -> TextParser | None:
        """The parser by the grammar; None before training."""
        budget = int(min(self.max_memory * 1e6 / _BYTES, sys.maxsize))
        settings = replace(self.pruning, max_words=self.max_words, most_applications=budget)
        return self.model.shims[0].parser(self.decoding, settings)

    # Learning

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
        grammar: Callable[[], Learned] | None = None,
    ) -> None:
        """Learn the grammar from the reference trees, or begin to, or take a ready one.

        get_examples (callable): gives the whole training corpus
        nlp (Language): the pipeline, for its training settings; its meta gets the steps of EM as "fit"
        labels (list of str): categories that the grammar may have; None allows all
        grammar (callable): gives a ready grammar; the examples are not used

        Without trees in the examples a grammar that is already there stays, with a warning, and so
        does the one that comes with the package. Raises ValueError if there is neither, if the corpus
        is streamed, or if the treebank has other categories.
        """
        self._fit = None
        if grammar is not None:
            self.grammar = grammar()
        else:
            self._learn(self.gold_trees(get_examples()), nlp)
        self.check_learned(labels)
        check_decoding(self.decoding, self.grammar)

    def _learn(self, treebank: Iterator[Tree], nlp: Language | None) -> None:
        first = next(treebank, None)
        if first is None:
            if self.grammar is not None:
                self.warn_once(_NO_TREES)
            return
        refuse_sample(nlp, "grammar")
        if isinstance(self.learner, OnlineLearner):
            self._fit = self.learner.online(chain([first], treebank))
            self.model.shims[0].grammar_of(self._fit.grammar)
        else:
            steps: list[Step] = []
            self.grammar = cast(Learned, self.learner.fit(chain([first], treebank), on_step=steps.append))
            logger.info("%s: learned a grammar of %d categories", self.name, len(self.labels))
            if nlp is not None and steps:
                nlp.meta["fit"] = [step.to_values() for step in steps]

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from the trees of a batch, if the learner is an online one; else do nothing.

        losses (dict): gets the negative log-likelihood of the batch per word added, in nats, or 0

        An online learner begins in `initialize`, which spaCy leaves out for a component that comes
        from a trained pipeline: such a one keeps its grammar, with a warning. Raises ValueError for
        trees that `initialize` did not get.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "LPCFGParser.update")
        trees = list(self.gold_trees(examples))
        if self._fit is not None and trees:
            losses[self.name] -= self._fit.step(trees) / sum(map(len, trees))
            self.model.shims[0].grammar_of(self._fit.grammar)
        elif isinstance(self.learner, OnlineLearner) and trees:
            self.warn_once(_NO_START)
        return losses

    # Storage

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "LPCFGParser":
        with self._decodable():
            super().from_bytes(bytes_data, exclude=exclude)
        return self

    def from_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> "LPCFGParser":
        with self._decodable():
            super().from_disk(path, exclude=exclude)
        return self

    @contextmanager
    def _decodable(self) -> Iterator[None]:
        """Within, a grammar is loaded; if it cannot be decoded as is set, that before it comes back."""
        shim = self.model.shims[0]
        before = vars(shim).copy()
        yield
        try:
            if not shim.is_unread:
                check_decoding(self.decoding, self.grammar)
        except ValueError as error:
            vars(shim).update(before)
            raise GrammarError(f"{self.name!r} cannot parse by what was loaded: {error}") from error

    # Parsing

    @property
    def parse_settings(self) -> dict[str, Any]:
        """`tags` of the component says how far given tags are believed."""
        return {"tag_weight": _TAG_WEIGHTS[self.tags]}
