"""The trainable component `spectral_bracketer`: unlabelled constituents, learned from tagged text without a treebank.

An unlabelled constituent is called a bracket. The model is learned in `initialize`, from a stream of Docs or of files;
`update` does nothing, so one epoch of `spacy train` is enough. Brackets are stored on a Doc as a parser's trees are
(see `doc/write.py`), under a key of their own and all with the label `BRACKET`, so that functions that read trees can
read them too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol, get_args, runtime_checkable

from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger

from spacy_lpcfg.bracketing.bracketer import BRACKET, MAX_WORDS, Bracketer, BracketerError, Brackets
from spacy_lpcfg.bracketing.tagged import TaggedSentence
from spacy_lpcfg.checks import COUNT, FUNCTION, SEED, TEXT, Check, instance_of, one_of, shown
from spacy_lpcfg.components.doc.sentences import find_sentences, sentence_bounds
from spacy_lpcfg.components.doc.tree_group import BRACKETS_KEY as KEY
from spacy_lpcfg.components.doc.write import EMPTY, set_brackets
from spacy_lpcfg.components.model_holder import ModelHolder
from spacy_lpcfg.components.model_pipe import ModelPipe, check_not_streamed
from spacy_lpcfg.components.sentence_rule import set_sentence_starts
from spacy_lpcfg.components.training.tagged_text import Attr, DocSentence, Untagged, doc_sentences
from spacy_lpcfg.parsing.result import PARSED, SEGMENTED

_NO_TAGS = (
    "{!r} found no tags to learn from: no word of a reference Doc has token.{}_. Give nlp.initialize get_examples, a "
    "function that returns Examples with tags, as the corpus reader spacy-lpcfg.TaggedText.v1 reads them; or set attr, "
    "'pos' or 'tag', to the tags that they have."
)
_KEPT = "{!r} learns nothing from Docs without tags, and keeps the bracketer that it has."

Sentences = Callable[[], Iterable[TaggedSentence]]


@runtime_checkable
class BracketLearner(Protocol):
    """Interface of learners of bracketers, with the method `fit`.

    `fit` learns from tagged text: `sentences` is a function that returns the tagged sentences, anew at each of several
    calls. `seed` is the random seed. `progress` is called with the name of each step, and the number of sentences or
    rounds done.
    """

    def fit(
        self, sentences: Sentences, *, seed: int = 0, progress: Callable[[str, int], None] | None = None
    ) -> Bracketer: ...


class DocBrackets(NamedTuple):
    """The brackets of a Doc, as `SpectralBracketerPipe.predict` returns them.

    sent_starts (list of bool, or None): Whether each token begins a sentence; None if the Doc had sentence boundaries.
    sentences (list of DocSentence): The sentences.
    brackets (list of Brackets): The brackets over the words of each sentence.
    status (list of str): "parsed", "segmented" if it was bracketed in pieces, or "empty", for each sentence.
    """

    sent_starts: list[bool] | None
    sentences: list[DocSentence]
    brackets: list[Brackets]
    status: list[str]


class Saved(dict[str, Any]):
    """The attribute `cfg`: the state that spaCy saves of the component besides its model, {"mapping": mapping of tags}.

    Loading calls `update`.
    """

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Replace the mapping of tags, after checking it; arguments are those of `dict.update`.

        RAISES (BracketerError): If the values are not a mapping of str to str under the key "mapping"; the state then
            stays as it was.
        """
        new = dict(*args, **kwargs)
        mapping = new.get("mapping", {})
        is_mapping = isinstance(mapping, dict) and all(type(text) is str for pair in mapping.items() for text in pair)
        if new.keys() - {"mapping"} or not is_mapping:
            raise BracketerError(f"Expected a mapping of tags to universal tags, got {new!r:.80}.")
        super().update(new)


class SpectralBracketerPipe(ModelPipe[Bracketer]):
    """The component `spectral_bracketer`, which finds the unlabelled constituents (brackets) of sentences with tags.

    Brackets and scores are written to `doc.spans[spans_key]`, see `doc/write.py`.

    nlp (Language): The pipeline.
    name (str): The name of the component in it.
    learner (BracketLearner): The learner of the bracketer.
    spans_key (str): Key of the brackets in `Doc.spans`.
    attr (str): "pos" for the tags `token.pos_`, "tag" for `token.tag_`.
    seed (int): Seed of all random choices in learning.
    max_words (int): Sentences of more words, not counting punctuation, are bracketed in pieces, see
        `Bracketer.bracket`; this bounds time and memory.
    scorer (callable or None): `examples -> scores`.
    """

    what = "bracketer"
    command = "bracketer TAGGED"
    learns_from = "tagged Docs"
    error = BracketerError
    checks: ClassVar[Mapping[str, Check]] = {
        "learner": instance_of("a learner of brackets, such as bracketer of spacy-lpcfg.Learner.v1", BracketLearner),
        "spans_key": TEXT,
        "attr": one_of(*get_args(Attr)),
        "seed": SEED,
        "max_words": COUNT,
        "scorer": FUNCTION.optional,
    }

    def __init__(
        self,
        nlp: Language,
        name: str,
        learner: BracketLearner,
        spans_key: str,
        attr: Attr,
        seed: int,
        max_words: int,
        scorer: Callable[..., dict[str, Any]] | None,
    ) -> None:
        super().__init__(nlp.vocab, ModelHolder("bracketer", Bracketer.from_bytes), name)
        self.learner = learner
        self.spans_key = spans_key
        self.attr = attr
        self.seed = seed
        self.max_words = max_words
        self.scorer = scorer
        self.cfg = Saved(mapping={})

    @property
    def mapping(self) -> dict[str, str]:
        """A mapping from tags to universal tags, for tags that `spacy_lpcfg.bracketing.tags.universal` does not know.

        It is saved with the component, since a config cannot hold tags such as "#" and "$,".
        """
        return self.cfg["mapping"]

    @mapping.setter
    def mapping(self, mapping: dict[str, str]) -> None:
        self.cfg.update(mapping=mapping)

    cfg = TrainablePipe.cfg

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of all brackets, as a tuple of one."""
        return (BRACKET,)

    # Learning

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
        mapping: dict[str, str] | None = None,
        sentences: Sentences | None = None,
    ) -> None:
        """Learn the bracketer from the words and tags of the reference Docs, or of a text.

        get_examples (callable): Returns the whole training corpus; called several times.
        nlp (Language or None): The pipeline, for its training settings.
        labels (list of str or None): The allowed labels, which must include `BRACKET`; None allows all.
        mapping (dict of str to str, or None): Universal tags for tags that are otherwise unknown, as in the attribute
            `mapping`; None keeps the mapping unchanged.
        sentences (callable or None): Returns the sentences of a tagged text to learn from instead of the examples;
            called several times.

        If the text has no words or no tags, an existing bracketer is kept.
        RAISES (ValueError): If there are neither words nor a bracketer, if `labels` lacks `BRACKET`, if the corpus is
            streamed, or if there is too little text.
        RAISES (Untagged): If the text has no tags, and there is no bracketer.
        """
        if labels is not None and BRACKET not in labels:
            raise ValueError(f"Expected {BRACKET!r} among the labels, which all brackets have, got {shown(labels)}.")
        if mapping is not None:
            self.mapping = mapping
        text = sentences or partial(self._text, get_examples)
        if self._has_words(text):
            if sentences is None:
                check_not_streamed(nlp, self.what)
            self.learn(text, progress=_StepLog(self.name))
        if self.learned is None:
            raise ValueError(
                f"{self.name!r} found no text to learn from: no reference Doc has a word. Read the corpus with "
                "spacy-lpcfg.TaggedText.v1."
            )

    def learn(self, sentences: Sentences, *, progress: Callable[[str, int], None] | None = None) -> None:
        """Learn the bracketer from a tagged text.

        sentences (callable): Returns the sentences of the text, from the start at every call.
        progress (callable or None): Called with the name of each step, and the number of sentences or rounds done.
        RAISES (ValueError): If there is too little text.
        """
        mapped = partial(_map_sentences, sentences, self.mapping) if self.mapping else sentences
        self.learned = self._learner().fit(mapped, seed=self.seed, progress=progress)
        logger.info("%s: learned a bracketer", self.name)

    def _learner(self) -> BracketLearner:
        """Return the learner, with the vocabulary's word vectors if its `embedding` is `VocabVectors`."""
        from spacy_lpcfg.bracketing.learner import SpectralBracketer  # with scipy.sparse, which bracketing does without
        from spacy_lpcfg.components.training.vocab_vectors import VocabVectors

        learner = self.learner
        if isinstance(learner, SpectralBracketer) and isinstance(learner.embedding, VocabVectors):
            return replace(learner, embedding=learner.embedding.of(self.vocab))
        return learner

    def _has_words(self, text: Sentences) -> bool:
        """Return whether a text has words; for untagged text, warn and return False if a bracketer exists.

        RAISES (Untagged): If the text has no tags, and there is no bracketer.
        """
        try:
            return any(sentence.words for sentence in text())
        except Untagged as error:
            if self.learned is None:
                raise Untagged(_NO_TAGS.format(self.name, self.attr)) from error
            self.warn_once(_KEPT)
            return False

    def _text(self, get_examples: Callable[[], Iterable[Example]]) -> Iterator[TaggedSentence]:
        for eg in get_examples():
            sentences = self._sentences(eg.reference, sentence_bounds(eg.reference))
            yield from (sentence.tagged for sentence in sentences if sentence.positions)

    # Bracketing

    def predict(self, docs: Iterable[Doc]) -> list[DocBrackets]:
        """Bracket Docs without changing them.

        docs (iterable of Doc): Tagged Docs, with or without sentence boundaries.
        RETURNS (list of DocBrackets): The brackets of each Doc.
        RAISES (ValueError): If nothing was learned yet. No text of a tagged Doc raises an error.
        RAISES (Untagged): If no word of a Doc has a tag.
        """
        bracketer, predictions = self._known(), []
        for doc in docs:
            read = find_sentences(doc, self.spans_key)
            sentences = self._sentences(doc, read.bounds)
            tagged = [_map_tags(sentence.tagged, self.mapping) for sentence in sentences]
            brackets = [bracketer.bracket(*each, max_words=self.max_words) for each in tagged]
            predictions.append(DocBrackets(read.starts, sentences, brackets, list(map(self._status, tagged))))
        return predictions

    def _status(self, tagged: TaggedSentence) -> str:
        if not tagged.words:
            return EMPTY
        return SEGMENTED if self._known().is_cut(*tagged, max_words=self.max_words) else PARSED

    def bracket(self, words: Sequence[str], tags: Sequence[str]) -> Brackets:
        """Return the brackets of a sentence outside of any Doc.

        words, tags (sequence of str): The words, punctuation included, and their tags, from the tag set of the text
            that the bracketer learned from.
        RETURNS (Brackets): The spans over the words, in pre-order, and a score from 0 to 1 for each; no spans for a
            sentence of fewer than two words without punctuation.
        RAISES (ValueError): If nothing was learned yet, or the numbers of words and tags differ.
        """
        bracketer = self._known()
        sentence = _map_tags(TaggedSentence(tuple(words), tuple(tags)), self.mapping)
        return bracketer.bracket(*sentence, max_words=self.max_words)

    def _sentences(self, doc: Doc, bounds: list[tuple[int, int]]) -> list[DocSentence]:
        try:
            return doc_sentences(doc, bounds, self.attr)
        except Untagged as error:
            raise Untagged(f"{self.name!r}: {error}") from error

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[DocBrackets]) -> None:
        """Write brackets to `doc.spans`, and sentence boundaries if the Doc had none."""
        for doc, prediction in zip(docs, scores, strict=True):
            if prediction.sent_starts is not None:
                set_sentence_starts(doc, prediction.sent_starts)
            tags = [sentence.tagged.tags for sentence in prediction.sentences]
            set_brackets(
                doc,
                [sentence.positions for sentence in prediction.sentences],
                prediction.brackets,
                prediction.status,
                label=BRACKET,
                key=self.spans_key,
                tags=None if self.attr == "tag" else tags,
            )

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score the predicted brackets with the component's scorer."""
        return super().score(examples, **{"spans_key": self.spans_key, **kwargs})


Language.factory(
    "spectral_bracketer",
    func=SpectralBracketerPipe,
    assigns=["doc.spans", "doc.sents", "token.is_sent_start"],
    default_config={
        "learner": {"@misc": "spacy-lpcfg.Learner.v1", "name": "bracketer"},
        "spans_key": KEY,
        "attr": "pos",
        "seed": 0,
        "max_words": MAX_WORDS,
        "scorer": {"@scorers": "spacy-lpcfg.bracket_scorer.v1"},
    },
    default_score_weights={
        "brackets_f": 1.0,
        "brackets_f_with_sentence": 0.0,
        "brackets_sentence_f": 0.0,
        "brackets_sentence_f_with_sentence": 0.0,
    },
)


class _StepLog:
    """A progress callback that logs the steps of learning as they begin."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._step = ""

    def __call__(self, step: str, n: int) -> None:
        if step != self._step:
            logger.info("%s: %s", self._name, step)
            self._step = step


def _map_tags(sentence: TaggedSentence, mapping: dict[str, str]) -> TaggedSentence:
    return sentence._replace(tags=tuple(mapping.get(tag, tag) for tag in sentence.tags)) if mapping else sentence


def _map_sentences(sentences: Sentences, mapping: dict[str, str]) -> Iterator[TaggedSentence]:
    return (_map_tags(TaggedSentence(*sentence), mapping) for sentence in sentences())
