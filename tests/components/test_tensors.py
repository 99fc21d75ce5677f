"""Evidence by `doc.tensor`: learned in a pipeline with a tok2vec, saved, and read from Docs."""

from dataclasses import replace

import numpy as np
import pytest
import spacy
from paths import ROOT, SAMPLE
from pipelines import TEXT
from spacy.cli.train import train
from spacy.tokens import Doc
from spacy.util import fix_random_seed

from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.training.corpus import Treebank
from spacy_lpcfg.evidence.adaptation import adapt
from spacy_lpcfg.evidence.learning import ClassifierSettings, learn_classifier
from spacy_lpcfg.evidence.tensors import TensorEvidence
from spacy_lpcfg.parsing.model import ModelError, ParsingModel
from spacy_lpcfg.storage.container import StorageError

WIDTH = 16
TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2", "width": WIDTH, "depth": 1, "embed_size": 100, "window_size": 1,
    "maxout_pieces": 2, "subword_features": True, "pretrained_vectors": None,
}  # fmt: skip
LEARNER = {"@misc": "spacy-lpcfg.Learner.v1", "name": "pcfg", "encoder": "doc.tensor"}
SMALL = ClassifierSettings(hidden=8, n_epochs=2, least_steps=1)
TEXTS = [TEXT, "She saw  it. They left the ship!", ""]


def examples(nlp):
    return [*Treebank(SAMPLE / "train.mrg", limit=60)(nlp)]


def held_out(nlp):
    return Treebank(SAMPLE / "dev.mrg", limit=10)(nlp)


def blank(*before: str, width: int = WIDTH):
    """A pipeline whose parser has learned nothing yet."""
    nlp = spacy.blank("xx")
    for name in before:
        nlp.add_pipe(name, config={"model": {**TOK2VEC, "width": width}})
    parser = nlp.add_pipe("lpcfg_parser", config={"learner": LEARNER})
    parser.learner = replace(parser.learner, classifier=SMALL)
    return nlp, parser


def learned():
    nlp, _ = blank("tok2vec")
    fix_random_seed(0)
    nlp.initialize(lambda: examples(nlp))
    return nlp


@pytest.fixture(scope="module")
def nlp():
    return learned()


def described(docs) -> list[object]:
    return [[str(tree) for tree in trees(doc)] for doc in docs]


def test_pipeline_learns_from_tensors_the_same_twice_and_is_saved(nlp, tmp_path):
    parser = nlp.get_pipe("lpcfg_parser")
    assert parser.learned.summary.endswith("evidence of doc.tensor by 'tok2vec'")
    assert learned().to_bytes() == nlp.to_bytes()
    nlp.to_disk(tmp_path)
    parses = described(map(nlp, TEXTS))
    assert described(spacy.load(tmp_path).pipe(TEXTS)) == parses == described(nlp.pipe(TEXTS, n_process=2))


def test_held_out_trees_fit_tau():
    nlp, parser = blank("tok2vec")
    nlp.get_pipe("tok2vec").initialize(lambda: examples(nlp), nlp=nlp)
    parser.initialize(lambda: examples(nlp), nlp=nlp, held_out=held_out)
    assert parser.learned.weights.tau != 0.5


def test_words_have_the_vectors_of_their_tokens(nlp):
    """White space has vectors that no word reads, and a sentence has its own part of the Doc's."""
    parser = nlp.get_pipe("lpcfg_parser")
    rows = np.random.default_rng(0).normal(0, 9, (8, WIDTH)).astype(np.float32)

    def posteriors(words, vectors, starts):
        doc = Doc(nlp.vocab, words=words, sent_starts=starts)
        doc.tensor = vectors
        return [each.brackets for each in parser.posteriors(doc)]

    plain = posteriors(["She", "saw", "it", "They", "left"], rows[:5], [1, 0, 0, 1, 0])
    spaced = posteriors(
        ["She", " ", "saw", "it", "They", "\n", "left"], rows[[0, 7, 1, 2, 3, 6, 4]], [1, 0, 0, 0, 1, 0, 0]
    )
    assert spaced == plain != posteriors(["She", "saw", "it", "They", "left"], rows[3:], [1, 0, 0, 1, 0])
    assert posteriors(["She", "saw", "it"], rows[:3], [1, 0, 0]) == plain[:1]


def test_long_sentences_are_parsed_in_pieces(nlp):
    parser = nlp.get_pipe("lpcfg_parser")
    limits = parser.limits
    parser.limits = replace(limits, max_words=4)
    assert len(trees(nlp(TEXT))[0]) == len(TEXT.split())
    parser.limits = limits


def test_docs_without_the_vectors_are_refused(nlp):
    parser = nlp.get_pipe("lpcfg_parser")
    with pytest.raises(
        ValueError, match=r"a vector for each of 2 tokens, got .* \(0,\)\. Put 'tok2vec'.* before 'lpcfg_"
    ):
        parser(Doc(nlp.vocab, words=["It", "rains"]))
    doc = Doc(nlp.vocab, words=["It", "rains"])
    doc.tensor = np.zeros((2, WIDTH + 1), np.float32)
    with pytest.raises(ModelError, match=rf"2 vectors of {WIDTH} numbers, .* 'tok2vec', got .* \(2, {WIDTH + 1}\)"):
        parser(doc)
    with pytest.raises(ModelError, match="got words alone: parse Docs"):
        parser.parse(["It", "rains"])
    parser.evidence = False
    assert trees(parser(Doc(nlp.vocab, words=["It", "rains"])))
    parser.evidence = True


def test_learning_without_vectors_is_refused(nlp):
    golds = [tree for eg in examples(nlp) for tree in trees(eg.reference)]
    with pytest.raises(ValueError, match=r"as a component of a pipeline, .* got trees alone"):
        nlp.get_pipe("lpcfg_parser").learner.fit(golds)
    with pytest.raises(ValueError, match=r"evidence of doc\.tensor by 'tok2vec': learn it anew"):
        adapt(nlp.get_pipe("lpcfg_parser").learned, golds)
    other, parser = blank()
    with pytest.raises(ValueError, match="give nlp=nlp"):
        parser.initialize(lambda: examples(other))
    other.add_pipe("lpcfg_sentencizer", first=True)
    with pytest.raises(ValueError, match="such as a trained 'tok2vec', got lpcfg_sentencizer"):
        parser.initialize(lambda: examples(other), nlp=other)
    with pytest.raises(ValueError, match="found no trees"):
        parser.initialize(list, nlp=other)


def test_vectors_that_training_would_change_are_refused(nlp):
    with pytest.raises(ValueError, match=r"'tok2vec', which training would change\. Name 'tok2vec' in"):
        nlp.get_pipe("lpcfg_parser").update(examples(nlp))


def test_evidence_refuses_other_values(nlp):
    model = nlp.get_pipe("lpcfg_parser").learned
    values = model.evidence.to_values()
    with pytest.raises(ModelError, match="name of a component, got 3"):
        TensorEvidence.from_values({**values, "component": 3})
    with pytest.raises(StorageError, match="does not know"):
        TensorEvidence.from_values({**values, "encoder": 1})
    assert isinstance(type(model).from_bytes(model.to_bytes()), ParsingModel)


def test_spacy_train_learns_from_a_frozen_tok2vec_of_another_pipeline(nlp, tmp_path, monkeypatch):
    def quickly(*args, settings, **others):
        return learn_classifier(*args, settings=SMALL, **others)

    monkeypatch.setattr("spacy_lpcfg.evidence.learner.learn_classifier", quickly)
    nlp.to_disk(tmp_path / "from")
    few = {"corpora.train.limit": 3, "corpora.dev.limit": 2}
    paths = {"paths.train": str(SAMPLE / "train.mrg"), "paths.dev": str(SAMPLE / "dev.mrg")}
    given = {"paths.pipeline": str(tmp_path / "from"), "vars.learner": "pcfg", "nlp.lang": "xx", **paths, **few}
    train(ROOT / "configs" / "tensors.cfg", tmp_path / "to", overrides=given)
    best = spacy.load(tmp_path / "to" / "model-best")
    assert np.array_equal(best(TEXT).tensor, nlp(TEXT).tensor)
    assert best.get_pipe("lpcfg_parser").learned.evidence.component == "tok2vec"
    assert trees(best(TEXT))[0]
