"""Pipelines of one component, what they learn from, and what they write."""

import pickle

import spacy
from paths import SAMPLE
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from stored_models import model

from spacy_lpcfg.components.lpcfg_parser import LPCFGParser
from spacy_lpcfg.components.training.corpus import Treebank
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.isbn import ISBN

PCFG = {"learner": "pcfg"}
_START = {"@misc": "spacy-lpcfg.Learner.v1", "name": "em", "settings": {"n_states": 2, "n_iterations": 0}}
TINY_ISBN = {"@misc": "spacy-lpcfg.Learner.v1", "name": "isbn", "settings": {"n_states": 4, "n_epochs": 2}}
STEPWISE = {"learner": {"@misc": "spacy-lpcfg.StepwiseEM.v1", "start": _START}}
"""Settings of an `lpcfg_parser` that learns quickly: all at once, or a batch after the other."""

TEXT = "The zebra that they missed was the last ship ."
PIPES = ("lpcfg_parser", "isbn_parser", "spectral_bracketer", "language_model")
"""The components that learn."""


def pipeline_of(name: str, lang: str = "en", **config: object) -> Language:
    """A pipeline that splits sentences and has a component with these settings."""
    nlp = spacy.blank(lang)
    nlp.add_pipe("lpcfg_sentencizer")
    nlp.add_pipe(name, config=config)
    return nlp


def pipeline_by(grammar: Grammar, lang: str = "en", **config: object) -> tuple[Language, LPCFGParser]:
    """Return a pipeline that parses by a grammar, and its parser."""
    nlp = pipeline_of("lpcfg_parser", lang, **config)
    parser = nlp.get_pipe("lpcfg_parser")
    parser.learned = grammar
    return nlp, parser


def untrained(name: str, **config: object) -> Language:
    """Return a pipeline of a language without a pretrained model, with a component that has learned nothing."""
    return pipeline_of(name, "xx", **config)


def one_network() -> ISBN:
    """Return the first network of the small model of networks."""
    isbn = model("isbn")
    return ISBN(isbn.vocabulary, isbn.relations, isbn.networks[:1], isbn.meta)


def give_model(nlp: Language, name: str) -> Language:
    """Give a component of `untrained` a small model, as if it had learned it; return the pipeline."""
    pipe = nlp.get_pipe(name)
    if name == "lpcfg_parser":
        pipe.learned = model("grammar")
    elif name == "isbn_parser":
        pipe.learned = one_network()
    elif name == "language_model":
        pipe.learned = model("language model")
    else:
        pipe.learned = model("bracketer")
        pipe.mapping = {"#": "SYM"}
    return nlp


def tagged(nlp: Language, text: str = TEXT) -> Doc:
    """Return a text with a tag on each token, which bracketers need."""
    doc = nlp.make_doc(text)
    for token in doc:
        token.tag_ = "NN"
        token.pos_ = "NOUN"
    return doc


def treebank(limit: int = 60) -> Treebank:
    """The first trees of the sample."""
    return Treebank(SAMPLE / "train.mrg", limit=limit)


def copies(doc: Doc) -> list[Doc]:
    """Return a Doc through all that spaCy keeps and copies Docs by."""
    bins = [DocBin(docs=[doc], store_user_data=store).to_bytes() for store in (False, True)]
    binned = [next(DocBin().from_bytes(data).get_docs(doc.vocab)) for data in bins]
    return [Doc(doc.vocab).from_bytes(doc.to_bytes()), *binned, pickle.loads(pickle.dumps(doc)), doc.copy()]


def answer(nlp: Language, name: str) -> Doc:
    """Return what the component of `untrained` makes of `tagged`."""
    return nlp.get_pipe(name)(nlp.get_pipe("lpcfg_sentencizer")(tagged(nlp)))


WRITTEN = ("scores", "tag_scores", "log_probabilities", "tree_probabilities", "status", "surprisal", "end_surprisal")


def annotations(doc: Doc) -> list:
    """All that a component wrote to a Doc that has been through no other; numbers as text, so that nan equals nan."""
    ((key, group),) = doc.spans.items()
    spans = [(span.start, span.end, span.label_) for span in group]
    bits = [str(token._.surprisal) for token in doc] if key == "language_model" else []
    return [spans, [str(group.attrs.get(name)) for name in WRITTEN], bits, [token.tag_ for token in doc]]
