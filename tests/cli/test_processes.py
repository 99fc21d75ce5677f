"""Worker processes of the commands: what they share with the process that starts them, and what sending Docs costs."""

from __future__ import annotations

import os

import catalogue
import pytest
import spacy
from pipelines import pipeline_of, treebank
from spacy.language import Language
from spacy.tokens import Doc
from srsly.msgpack import msgpack_decoders, msgpack_encoders

from spacy_lpcfg.components.cli.shared.processes import pipe

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")

WORDS = ["The", "ferry", "was", "late", "."]


@pytest.fixture(scope="module")
def nlp():
    nlp = pipeline_of("lpcfg_parser", learner="pcfg")
    examples = list(treebank(60)(nlp))
    nlp.initialize(lambda: examples)
    return nlp


def parsed(nlp, n_docs: int, n_process: int) -> list[Doc]:
    docs = (Doc(nlp.vocab, words=WORDS[i % 3 :]) for i in range(n_docs))
    return [doc for doc, _ in pipe(nlp, ((doc, None) for doc in docs), n_process=n_process)]


def dies(doc: Doc) -> Doc:
    os._exit(1)


def test_worker_that_dies_is_an_error():
    nlp = spacy.blank("en")
    Language.component("dies", func=dies)
    nlp.add_pipe("dies")
    with pytest.raises(ValueError, match="a worker process died"):
        parsed(nlp, 3, 2)


def test_codecs_are_looked_up_once_for_all_docs(nlp, monkeypatch):
    for registry in (msgpack_encoders, msgpack_decoders):
        vars(registry).pop("get_all", None)
    calls = []
    get_all = catalogue.Registry.get_all
    monkeypatch.setattr(catalogue.Registry, "get_all", lambda self: calls.append(self) or get_all(self))
    assert len(parsed(nlp, 40, 2)) == 40
    assert calls == [msgpack_encoders, msgpack_decoders]
    assert {**msgpack_encoders.get_all()} == get_all(msgpack_encoders)
