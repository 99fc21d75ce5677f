"""The trainable component `language_model`: surprisal of tokens under a language model learned from text alone.

The model is learned in `initialize` from the words of the training corpus; `update` does nothing, so one epoch of
`spacy train` is enough. In a pipeline with this component `token._.surprisal` is the language model's, not the
parser's; each is stored under its component's key, in `doc.spans[key].attrs["surprisal"]`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger

from spacy_lpcfg.checks import TEXT, Check, instance_of
from spacy_lpcfg.components.doc.extensions import register_surprisal
from spacy_lpcfg.components.doc.sentences import find_sentences, sentence_bounds, texts_of, words_of
from spacy_lpcfg.components.doc.surprisal import surprisal_of_words
from spacy_lpcfg.components.doc.tree_group import LANGUAGE_MODEL_KEY as KEY
from spacy_lpcfg.components.doc.tree_group import set_group
from spacy_lpcfg.components.model_holder import ModelHolder
from spacy_lpcfg.components.model_pipe import ModelPipe, check_not_streamed
from spacy_lpcfg.components.sentence_rule import set_sentence_starts
from spacy_lpcfg.language_model import LanguageModel, LanguageModelError
from spacy_lpcfg.trees.transforms import escape_tokens

if TYPE_CHECKING:
    from spacy_lpcfg.language_model.learning import LanguageModelFit

register_surprisal()

MODEL_FILE = Path("language_model") / "model"
"""Where a saved pipeline has the file of the model, if the component has the name of its factory."""


@runtime_checkable
class SentenceLearner(Protocol):
    """Interface of learners of language models, with the method `fit`.

    `fit` learns from sentences, each a sequence of words. `held_out` are further sentences, on which the learner
    chooses the best iteration; None for no held-out text. The result is a `LanguageModelFit`: the model, and the
    training log.
    """

    def fit(
        self, sentences: Sequence[Sequence[str]], *, held_out: Sequence[Sequence[str]] | None = None
    ) -> "LanguageModelFit": ...


def read_language_model(path: Path) -> Callable[[], LanguageModel]:
    """Create the reader `spacy-lpcfg.read_language_model.v1`, which loads a language model.

    path (Path): A file written by `LanguageModel.to_disk`, or a folder that `spacy-lpcfg learn lm` saved.
    RETURNS (callable): A function without arguments that reads and returns the language model. It raises
        LanguageModelError if the file is not a language model, and OSError if there is no file.
    """
    path = Path(path)
    return lambda: LanguageModel.from_disk(path / MODEL_FILE if path.is_dir() else path)


class DocSurprisal(NamedTuple):
    """The surprisals of a Doc, as `LanguageModelPipe.predict` returns them.

    starts (list of bool, or None): Whether each token begins a sentence; None if the Doc had sentence boundaries.
    tokens (float64, (n_tokens,)): Surprisal of each token in bits; nan for white space and unknown words.
    ends (float64, (n_sentences,)): Surprisal of the end of each sentence in bits; nan for a sentence without words.
    """

    starts: list[bool] | None
    tokens: np.ndarray
    ends: np.ndarray


class LanguageModelPipe(ModelPipe[LanguageModel]):
    """The component `language_model`, which writes the surprisal of tokens and sentence ends to `doc.spans[key].attrs`.

    nlp (Language): The pipeline.
    name (str): The name of the component in it.
    learner (SentenceLearner): The learner of the language model.
    spans_key (str): Key of the group in `Doc.spans` whose `attrs` hold the surprisals: "surprisal", float64
        (n_tokens,), and "end_surprisal", float64 (n_sentences,), in bits. The group has no spans.

    Words are looked up in the spelling of the text that the model was learned from, such as -LRB- for a parenthesis.
    The surprisal of unknown words is nan.
    """

    what = "language model"
    command = "lm TEXT"
    learns_from = "text"
    error = LanguageModelError
    checks: ClassVar[Mapping[str, Check]] = {
        "learner": instance_of("a learner of language models, such as lm of spacy-lpcfg.Learner.v1", SentenceLearner),
        "spans_key": TEXT,
    }

    def __init__(self, nlp: Language, name: str, learner: SentenceLearner, spans_key: str) -> None:
        super().__init__(nlp.vocab, ModelHolder("language_model", LanguageModel.from_bytes), name)
        self.learner = learner
        self.spans_key = spans_key

    # Learning

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        language_model: Callable[[], LanguageModel] | None = None,
        held_out: Callable[[Language], Iterable[Example]] | None = None,
    ) -> None:
        """Learn a language model from the words of the reference Docs, or set a ready model.

        get_examples (callable): Returns the whole training corpus.
        nlp (Language): The pipeline, for its training settings.
        language_model (callable or None): Returns a ready language model, which is used instead of learning one.
        held_out (callable or None): Returns held-out examples, given `nlp`: a corpus reader such as
            spacy-lpcfg.TaggedText.v1. The learner chooses the best iteration on them. None, or no `nlp`, for no
            held-out text.

        If the examples have no words, an existing language model is kept.
        RAISES (ValueError): If there are neither words nor a model, or if the corpus is streamed.
        """
        if language_model is not None:
            self.learned = language_model()
            return
        sentences = _texts(get_examples())
        if sentences:
            check_not_streamed(nlp, self.what)
            held_out_sentences = None if held_out is None or nlp is None else _texts(held_out(nlp))
            self.learned = self.learner.fit(sentences, held_out=held_out_sentences).model
            logger.info("%s: learned a model of %d words", self.name, len(self.learned.vocabulary))
        if self.learned is None:
            raise ValueError(
                f"{self.name!r} found no text to learn from: no reference Doc has a word. Check the corpus, or give a "
                "ready model in [initialize.components] by spacy-lpcfg.read_language_model.v1."
            )

    # Surprisal

    def surprisal(self, words: Sequence[str]) -> np.ndarray:
        """Return the surprisal in bits of each word of a sentence, and of its end.

        words (sequence of str): The words as in the text.
        RETURNS (float64, (n_words + 1,)): The surprisals; nan for words that the model does not know.
        RAISES (ValueError): If nothing was learned yet.
        """
        model = self._known()
        return model.surprisal(escape_tokens(words, known=model.vocabulary))

    def surprisals(self, doc: Doc) -> list[np.ndarray | None]:
        """Return the surprisal in bits of the words of each sentence of a Doc, and of its end; the Doc is not changed.

        RETURNS (list of (float64 array (n_words + 1,), or None)): An item for each sentence; None for one without
            words.
        RAISES (ValueError): If nothing was learned yet.
        """
        self._known()
        return [self.surprisal(texts) if texts else None for texts in find_sentences(doc, self.spans_key).texts]

    def predict(self, docs: Iterable[Doc]) -> list[DocSurprisal]:
        """Compute the surprisal of the tokens of Docs without changing them.

        docs (iterable of Doc): Docs with or without sentence boundaries.
        RETURNS (list of DocSurprisal): The surprisals of each Doc.
        RAISES (ValueError): If nothing was learned yet. No text of a Doc raises an error.
        """
        self._known()
        predictions = []
        for doc in docs:
            sentences = find_sentences(doc, self.spans_key)
            bits = surprisal_of_words(len(doc), sentences.positions, sentences.texts, self)
            predictions.append(DocSurprisal(sentences.starts, *bits))
        return predictions

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[DocSurprisal]) -> None:
        """Write surprisals, and sentence boundaries if the Doc had none."""
        for doc, (starts, tokens, ends) in zip(docs, scores, strict=True):
            if starts is not None:
                set_sentence_starts(doc, starts)
            set_group(doc, self.spans_key, [], surprisal=tokens, end_surprisal=ends)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Compute the perplexity of the language model on the reference Docs.

        Means are over words that the model knows and the ends of sentences; unknown words are left out.

        RETURNS (dict): Two scores, both None for Docs without words.
            perplexity: Two to the power of the mean surprisal in bits.
            token_probability: The inverse of the perplexity, as a score that is better if it is higher.
        """
        sentences = _texts(examples)
        bits = np.concatenate([np.zeros(0), *map(self.surprisal, sentences)])
        known = bits[~np.isnan(bits)]
        if len(known) == 0:
            return {"perplexity": None, "token_probability": None}
        mean = float(known.mean())
        return {"perplexity": 2**mean, "token_probability": 2**-mean}


Language.factory(
    "language_model",
    func=LanguageModelPipe,
    assigns=["doc.spans", "doc.sents", "token.is_sent_start", "token._.surprisal"],
    default_config={"learner": {"@misc": "spacy-lpcfg.Learner.v1", "name": "lm"}, "spans_key": KEY},
    default_score_weights={"token_probability": 1.0, "perplexity": None},
)


def _texts(examples: Iterable[Example]) -> list[list[str]]:
    """Return the words of all sentences of the reference Docs."""
    return [words for eg in examples for words in _sentences(eg.reference)]


def _sentences(doc: Doc) -> Iterator[list[str]]:
    """Yield the words of the non-empty sentences of a Doc."""
    for start, end in sentence_bounds(doc):
        words = words_of(doc, start, end)
        if words:
            yield texts_of(doc, words)
