"""The trainable component `lpcfg_parser`: constituency trees by a model learned from a treebank, such as a grammar.

In a blank pipeline it uses the pretrained model of the package, if there is one for the language. Most learners learn
everything in `initialize`, and `update` does nothing: one epoch of `spacy train` is enough. An online learner, and a
span classifier on the vectors of the pipeline, start in `initialize` and learn from each batch in `update`. A thinc
Model holds the learned model, so that spaCy saves, copies and averages it like the models of other components.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from spacy_lpcfg.chart.settings import APPLICATION_BYTES, ChartSettings
from spacy_lpcfg.checks import FLAG, Check, check_one_of, instance_of, one_of, shown
from spacy_lpcfg.components.classifier_holder import ClassifierHolder
from spacy_lpcfg.components.doc.constraints import ConstraintsOf
from spacy_lpcfg.components.doc.pipe_registry import register_pipe
from spacy_lpcfg.components.doc.tree_group import KEY
from spacy_lpcfg.components.model_holder import ModelHolder
from spacy_lpcfg.components.parsing_pipe import ASSIGNS, SCORE_WEIGHTS, EvidenceOf, ParsingPipe
from spacy_lpcfg.components.settings import Output
from spacy_lpcfg.learning.base import Learner, OnlineFit, OnlineLearner
from spacy_lpcfg.models import FAST, has_pretrained, pretrained_names
from spacy_lpcfg.models.kinds import make_parser, model_from_bytes, model_from_disk, usable_settings
from spacy_lpcfg.models.loading import pretrained_model
from spacy_lpcfg.parsing.decodings import check_decoding
from spacy_lpcfg.parsing.model import ModelError, ParsingModel
from spacy_lpcfg.parsing.segmentation import Limits, SegmentingParser
from spacy_lpcfg.storage.container import read_file
from spacy_lpcfg.storage.files import write_atomically
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.words.tag_dictionary import TagDictionary

if TYPE_CHECKING:
    from spacy_lpcfg.components.training.span_classifier import ClassifierTraining

TagUse = Literal["model", "given", "prior"]
_LIMITS = Limits(max_words=150, max_memory=ChartSettings.max_applications * APPLICATION_BYTES / 1e6)
_TAG_WEIGHTS = {"model": 1.0, "given": 0.0, "prior": 0.03}
"""`Query.tag_weight` for each use of given tags. A prior assumes that a tagger is wrong about one word in thirty."""
_CLASSIFIER = instance_of("made by spacy-lpcfg.SpanClassifier.v1", ClassifierHolder).optional
_WORDS = "words.txt"  # the file in the component's folder, in the format of the setting `words`
_NO_START = (
    "{!r} learns nothing more: its learner begins in `initialize`, and a trained component has its "
    "model, but not the counts to go on from. Freeze it, or learn it anew."
)
_OTHER_LABELS = "{!r} leaves out trees with labels or tags that `initialize` did not get: learn anew from all trees."


def read_model(path: Path) -> Callable[[], ParsingModel]:
    """Create the reader `spacy-lpcfg.read_model.v1`, which loads a trained parsing model.

    path (Path): A file written by `to_disk` of a Grammar, or of another model of an `lpcfg_parser`.
    RETURNS (callable): A function without arguments that reads and returns the model. It raises ModelError for any
        other file, and OSError if there is none.
    """
    return partial(model_from_disk, path)


def _bounded_parser(
    model: ParsingModel,
    decoding: str | None,
    pruning: ChartSettings,
    limits: Limits,
    evidence: bool,
    tau: float | None,
    words: TagDictionary | None,
) -> SegmentingParser:
    """Return a parser that uses a model, and parses sentences beyond the limits in pieces.

    The arguments are settings of `LPCFGParser`; `tau` is `output.tau`. `evidence` is whether the model may use
    evidence.
    """
    used = model if evidence else model.without_evidence
    settings = usable_settings(used, chart=_within(pruning, limits), tau=tau)
    if words is not None:
        settings["words"] = words  # which is refused if the model has no use for them
    return SegmentingParser(make_parser(used, decoding=decoding, **settings), limits)


def _within(pruning: ChartSettings, limits: Limits) -> ChartSettings:
    """Return chart settings that respect the memory limit, if there is one."""
    if limits.max_memory is None:
        return pruning
    return replace(pruning, max_applications=int(min(limits.max_memory * 1e6 / APPLICATION_BYTES, sys.maxsize)))


class LPCFGParser(ParsingPipe[ParsingModel]):
    """The component `lpcfg_parser`, which parses each sentence of a Doc with a learned model, such as a grammar.

    Trees and scores are written to `doc.spans[spans_key]`, see `doc/write.py`. Evidence means scores of labelled
    spans and of tags that a classifier computes from vectors of words in context; a chart combines them with the
    grammar.

    nlp (Language): The pipeline.
    name (str): The name of the component in it.
    model (ClassifierHolder or None): A span classifier, made by `spacy-lpcfg.SpanClassifier.v1`: it learns in
        `update` from the vectors of a tok2vec, and replaces the evidence of the learner. None for no classifier.
    pretrained (str or None): The model that the component begins with, one of `models.pretrained_names()`; None for
        the model of the pipeline's language, if there is one. It is loaded when it is first needed. With a `model`,
        there is no pretrained model.
    learner (Learner, OnlineLearner or str): The learner of the model, or its name. It learns from the trees under
        `spans_key`.
    decoding (str or None): How one tree is chosen, as `spacy_lpcfg.parsing.decodings.DECODINGS` says; None for the
        first decoding that the model has. Assigning a decoding that the model lacks raises ValueError, and so does
        learning or loading a model that lacks it.
    evidence (bool): Whether to use the evidence of a model that has it. The grammar alone is faster and less
        accurate, and needs no onnxruntime.
    words (TagDictionary, str, Path or None): Tags that words may have: a tag dictionary, or the name of a file with
        a word and its tags on each line, such as `Book VB NN`. The file is read when it is first needed. Other tags
        of a listed word become a thousand times less likely. Only grammars can use it; it is saved with the
        component.
    tags (str): How the tags on the Doc (`token.tag_`) are used. "model": not at all, the parser chooses all tags.
        "given": they are fixed. "prior": they are preferred, but the parser may overrule them. Tags that the model
        does not know are ignored.
    pruning (ChartSettings): Settings of the chart, made by `spacy-lpcfg.Pruning.v1`; `limits.max_memory` replaces
        its limit on memory.
    limits (Limits): Limits on each sentence; a longer sentence is parsed in pieces. The time of a piece of n words
        grows between n^2 and n^3. `max_memory` is for the chart of a piece: a piece with a larger chart is cut in
        two.
    RAISES (ValueError): If a setting has a wrong type, if no model of the name `pretrained` comes with the package
        or it is for another language, or if both `model` and `pretrained` are given.

    The settings `spans_key`, `constraints`, `output` and `scorer` are as in `ParsingPipe`. Only a proper grammar
    (whose rules have probabilities; not a spectral one) has surprisals.
    """

    error = ModelError
    _words: TagDictionary | str | Path | None
    what = "model"
    command = "parser TREES"
    checks: ClassVar[Mapping[str, Check]] = {
        **ParsingPipe.checks,
        "learner": instance_of("a learner, such as spacy-lpcfg.Learner.v1, or its name", Learner, OnlineLearner, str),
        "evidence": FLAG,
        "words": instance_of("a TagDictionary, or the name of a file of words", TagDictionary, str, Path).optional,
        "tags": one_of(*_TAG_WEIGHTS),
        "pruning": instance_of("made by spacy-lpcfg.Pruning.v1", ChartSettings),
    }

    def __init__(
        self,
        nlp: Language,
        name: str,
        model: Any,
        pretrained: str | None,
        learner: Learner | OnlineLearner | str,
        spans_key: str,
        decoding: str | None,
        evidence: bool,
        words: TagDictionary | str | Path | None,
        tags: TagUse,
        constraints: ConstraintsOf | None,
        pruning: ChartSettings,
        limits: Limits,
        output: Output,
        scorer: Callable[..., dict[str, Any]] | None,
    ) -> None:
        self._lang = nlp.lang or ""
        _CLASSIFIER(model=model)
        super().__init__(nlp.vocab, model or ModelHolder("lpcfg", model_from_bytes), name)
        self._fit: OnlineFit | None = None
        if not self._trains_classifier:
            self._start_with(pretrained)
        elif pretrained is not None:
            raise ValueError(
                f"Expected no pretrained model beside a `model` to train, got {pretrained!r}: leave one out."
            )
        self.learner = learner
        self.spans_key = spans_key
        self.evidence = evidence
        self.decoding = decoding
        self.words = words
        self.tags = tags
        self.constraints = constraints
        self.pruning = pruning
        self.limits = limits
        self.output = output
        self.scorer = scorer
        register_pipe(self)

    @property
    def is_trainable(self) -> bool:
        """Whether `update` learns: true with an online learner or a span classifier."""
        return self._trains_classifier or isinstance(self._learner, OnlineLearner)

    @property
    def _trains_classifier(self) -> bool:
        return isinstance(self.model, ClassifierHolder)

    @property
    def decoding(self) -> str | None:
        """How one tree is chosen; None for the model's first decoding.

        Assigning a decoding that the model lacks raises ValueError.
        """
        return self._decoding

    @decoding.setter
    def decoding(self, decoding: str | None) -> None:
        self._check_decoding(decoding)
        self._decoding = decoding

    def _check_decoding(self, decoding: str | None) -> None:
        """Raise ValueError if the model lacks a decoding; if the model is not loaded yet, only if no model has it."""
        if decoding is None:
            return
        model = self._read_model
        if model is None:
            check_decoding(decoding)
        else:
            (model if self.evidence else model.without_evidence).check_decoding(decoding)

    @property
    def words(self) -> TagDictionary | None:
        """The tags that words may have; None for no tag dictionary. A file is read at the first access.

        RAISES (ValueError): If the file is not UTF-8, or a word in it has no tags.
        RAISES (OSError): If the file cannot be opened.
        """
        if isinstance(self._words, (str, Path)):
            self._words = TagDictionary.read(self._words)
        return self._words

    @words.setter
    def words(self, words: TagDictionary | str | Path | None) -> None:
        if words is not None and self._read_model is not None:
            words = words if isinstance(words, TagDictionary) else TagDictionary.read(words)
            words.check(self._read_model.tags)
        self._words = words

    @property
    def gold_key(self) -> str:  # type: ignore[override]
        """Key of the trees to learn from, which is the key that the parser writes to."""
        return self.spans_key

    # The model

    def _start_with(self, pretrained: str | None) -> None:
        """Set a lazily loaded pretrained model: the named one, or else the model of the pipeline's language, if any.

        RAISES (ValueError): If no such model comes with the package, or it is for another language.
        """
        if pretrained is not None:
            check_one_of("pretrained to be the name of a model of the package", pretrained, pretrained_names())
            self._check_language(pretrained)
        name = pretrained or (self._lang if has_pretrained(self._lang) else None)
        if name is not None:
            self.model.read_by(partial(pretrained_model, name))

    def _check_language(self, pretrained: str) -> None:
        """Raise ValueError if a pretrained model is for another language than the pipeline."""
        language = pretrained.removesuffix(FAST)
        if self._lang not in ("", "xx", language):
            raise ValueError(
                f"Expected a model of the pipeline's language, {self._lang!r}, got the model {pretrained!r} of "
                f"{language!r}: begin with spacy.blank({language!r}), or train a parser of {self._lang!r}."
            )

    @property
    def _not_learned(self) -> str:
        if has_pretrained(self._lang):
            hint = f"To parse by the model {self._lang!r} of the package, add an lpcfg_parser without `model`."
        else:
            languages = ", ".join(sorted({name.removesuffix(FAST) for name in pretrained_names()}))
            hint = f"Models that come with the package are of {languages}, and this pipeline is of {self._lang!r}."
        return f"{super()._not_learned} {hint}"

    @property
    def learned(self) -> ParsingModel | None:
        """The model; None before training. Assigning a model ends online learning."""
        return self.model.learned

    @learned.setter
    def learned(self, model: ParsingModel | None) -> None:
        self._fit = None
        self.model.learned = model
        self._is_loaded = False

    @property
    def _read_model(self) -> ParsingModel | None:
        """The model if it is in memory, without loading a pretrained one: None before training or before loading."""
        return None if self._fit is None and not self.model.is_read else self.learned

    @property
    def model_name(self) -> str:
        reader = self.model.held[0]
        if isinstance(reader, partial) and reader.func is pretrained_model:
            return f"{reader.args[0]!r}{'' if self.model.is_read else ', read when it is first needed'}"
        return super().model_name

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of constituents that trees may have; () before training, and before a pretrained model is loaded.

        spaCy asks for labels before it loads the model that a pipeline was saved with.
        """
        return () if self._read_model is None else self._read_model.labels

    @property
    def parser(self) -> SegmentingParser | None:
        settings = self.decoding, self.pruning, self.limits, self.evidence, self.output.tau, self.words
        return self.model.made(settings, lambda model: _bounded_parser(model, *settings))

    # Learning

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
        model: Callable[[], ParsingModel] | None = None,
        held_out: Callable[[Language], Iterable[Example]] | None = None,
    ) -> None:
        """Learn the model as `ParsingPipe.initialize` does; an online learner only starts here.

        Arguments and errors are those of `ParsingPipe.initialize`; an online learner ignores `held_out`. A span
        classifier starts with random weights, after the grammar has been learned.
        """
        self._fit = None
        super().initialize(get_examples, nlp=nlp, labels=labels, model=model, held_out=held_out)
        if training := self._classifier_training:
            training.begin(list(get_examples()))
        self._check_decoding(self.decoding)

    @property
    def _classifier_training(self) -> "ClassifierTraining | None":
        """The training of a span classifier; None if there is none to train."""
        if not self._trains_classifier:
            return None
        from spacy_lpcfg.components.training.span_classifier import ClassifierTraining  # which parsing does without

        return ClassifierTraining(self.model, self.learner, self.gold_key)

    @property
    def _model_learner(self) -> Any:
        """The learner that `initialize` uses: only the learner of the grammar if a span classifier is trained too."""
        training = self._classifier_training
        return self.learner if training is None else training.grammar_learner

    def _learn(self, treebank: Iterator[Tree], nlp: Language | None, held_out: list[Tree] | None) -> None:
        if not isinstance(self.learner, OnlineLearner):
            super()._learn(treebank, nlp, held_out)
            return
        if self._trains_classifier:
            raise ValueError(
                "Expected a learner that learns all in `initialize`, beside a `model` that learns in `update`; got the "
                f"online learner {shown(self.learner)}."
            )
        self._fit = self.learner.online(treebank)
        self.model.read_by(self._fit.grammar)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Train the span classifier, or the online learner, on the trees of a batch; otherwise do nothing.

        examples (iterable of Example): The batch; the reference Docs have the gold trees.
        drop (float): The dropout rate, for a span classifier.
        sgd (Optimizer or None): The optimizer of a span classifier; None only accumulates gradients.
        losses (dict or None): Losses by component name, to which the loss of this batch is added: the loss of the
            classifier, or for an online learner the negative log-likelihood per word in nats, or else 0. None for a new
            dict.
        RETURNS (dict): The losses.
        RAISES (ValueError): If an online learner gets trees that it did not get in `initialize`.

        An online learner starts in `initialize`, which spaCy does not call for a component from a trained pipeline:
        such a component keeps its model, with a warning. Trees with labels that a span classifier lacks are skipped,
        with a warning.
        """
        examples = list(examples)
        losses = super().update(examples, losses=losses)
        if training := self._classifier_training:
            loss, n_unknown = training.add_batch(examples, drop)
            losses[self.name] += loss
            if n_unknown:
                self.warn_once(_OTHER_LABELS)
            if sgd is not None:
                self.finish_update(sgd)
            return losses
        trees = list(self.gold_trees(examples))
        if self._fit is not None and trees:
            losses[self.name] -= self._fit.step(trees) / sum(map(len, trees))
            self.model.read_by(self._fit.grammar)
        elif isinstance(self.learner, OnlineLearner) and trees:
            self.warn_once(_NO_START)
        return losses

    # Storage

    def __reduce__(self) -> Any:
        """Support pickling: first read the file of `words`, which another process may not have."""
        _ = self.words
        return super().__reduce__()

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        data: bytes = super().to_bytes(exclude=exclude)
        if self.words is None or _WORDS in exclude:
            return data
        return srsly.msgpack_dumps({**srsly.msgpack_loads(data), _WORDS: str(self.words)})

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "LPCFGParser":
        with self._decodable():
            super().from_bytes(bytes_data, exclude=exclude)
            if _WORDS not in exclude:
                lines = srsly.msgpack_loads(bytes_data).get(_WORDS)
                self._words = TagDictionary.of_lines(lines.split("\n"), _WORDS) if isinstance(lines, str) else None
        return self

    def to_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> None:
        super().to_disk(path, exclude=exclude)
        if _WORDS in exclude:
            return
        if self.words is not None:
            write_atomically(Path(path) / _WORDS, str(self.words).encode("utf-8"))
        else:
            (Path(path) / _WORDS).unlink(missing_ok=True)  # of what was saved there before

    def from_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> "LPCFGParser":
        with self._decodable():
            super().from_disk(path, exclude=exclude)
            if _WORDS not in exclude:
                self._words = None
                words = Path(path) / _WORDS
                if words.exists():
                    lines = read_file(words).decode("utf-8")  # refused if it is larger than a model may be
                    self._words = TagDictionary.of_lines(lines.split("\n"), str(words))
        return self

    @contextmanager
    def _decodable(self) -> Iterator[None]:
        """Restore the old model, words and weights if what is loaded in the block does not fit the settings.

        RAISES (ModelError): If it does not fit.
        """
        before, weights, words = self.model.held, Model.to_bytes(self.model), self._words
        try:
            yield
            self._check_decoding(self.decoding)
        except ValueError as error:
            Model.from_bytes(self.model, weights)
            self.model.held, self._words = before, words
            if isinstance(error, ModelError):
                raise
            raise ModelError(f"{self.name!r} cannot parse by what was loaded: {error}") from error
        if self.model.held is not before:
            self._fit = None

    # Parsing

    @property
    def tag_weight(self) -> float:
        return _TAG_WEIGHTS[self.tags]

    def evidence_of(self, docs: Sequence[Doc]) -> list[EvidenceOf | None]:
        if self.evidence and self._trains_classifier:
            of_docs: list[EvidenceOf | None] = self.model.evidence_of(docs)
            return of_docs
        return super().evidence_of(docs)


Language.factory(
    "lpcfg_parser",
    func=LPCFGParser,
    assigns=ASSIGNS,
    default_config={
        "model": None,
        "pretrained": None,
        "learner": "pivot",
        "spans_key": KEY,
        "decoding": None,
        "evidence": True,
        "words": None,
        "tags": "prior",
        "constraints": None,
        "pruning": {"@misc": "spacy-lpcfg.Pruning.v1"},
        "limits": {"@misc": "spacy-lpcfg.Limits.v1", **asdict(_LIMITS)},
        "output": {"@misc": "spacy-lpcfg.Output.v1"},
        "scorer": {"@scorers": "spacy-lpcfg.constituency_scorer.v1"},
    },
    default_score_weights=SCORE_WEIGHTS,
)
