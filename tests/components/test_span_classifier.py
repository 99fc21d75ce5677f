"""A span classifier that an `lpcfg_parser` trains with the tok2vec that it listens to."""

import pickle
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
import spacy
from bracketed import tree_of
from commands import run
from paths import ROOT, SAMPLE
from pipelines import STEPWISE, TEXT
from spacy.cli.train import train
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed
from stored_models import model

from spacy_lpcfg.components.cli.shared.pipelines import queries_of
from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.doc.write import set_trees
from spacy_lpcfg.components.serve.corrected_trees import CorrectedTrees
from spacy_lpcfg.components.serve.corrections import Corrections
from spacy_lpcfg.components.training.corpus import Treebank
from spacy_lpcfg.components.training.span_classifier import golds_of
from spacy_lpcfg.evidence.adaptation import adapt
from spacy_lpcfg.evidence.pipeline import PipelineEvidence
from spacy_lpcfg.parsing.model import ModelError

WIDTH = 16
TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2", "width": WIDTH, "depth": 1, "embed_size": 100, "window_size": 1,
    "maxout_pieces": 2, "subword_features": True, "pretrained_vectors": None,
}  # fmt: skip
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH, "upstream": "*"}
TEXTS = [TEXT, "She saw  it. They left the ship!", ""]


def examples(nlp, limit: int = 60):
    return [*Treebank(SAMPLE / "train.mrg", limit=limit)(nlp)]


def blank(*before: str, tok2vec=LISTENER, **config):
    """A pipeline whose parser has learned nothing yet."""
    nlp = spacy.blank("xx")
    for name in before:
        nlp.add_pipe(name, config={"model": TOK2VEC} if name == "tok2vec" else {"model": {"tok2vec": LISTENER}})
    model = {"@architectures": "spacy-lpcfg.SpanClassifier.v1", "hidden": 8, "tok2vec": tok2vec}
    return nlp, nlp.add_pipe("lpcfg_parser", config={"learner": "pcfg", "model": model} | config)


def learned(*before: str, n_epochs: int = 2, **settings):
    """A pipeline that has learned, and the losses of each epoch."""
    nlp, _ = blank(*before, **settings)
    fix_random_seed(0)
    golds = examples(nlp)
    optimizer = nlp.initialize(lambda: golds)
    losses = [{} for _ in range(n_epochs)]
    for each in losses:
        for at in range(0, len(golds), 20):
            nlp.update(golds[at : at + 20], sgd=optimizer, losses=each)
    return nlp, losses


@pytest.fixture(scope="module")
def nlp():
    return learned("tok2vec")[0]


def described(docs) -> list[object]:
    return [[str(tree) for tree in trees(doc)] for doc in docs]


def posteriors(nlp, text: str = TEXT) -> list[object]:
    """The brackets of a text with their probabilities, which tell a change of any weight."""
    (posterior,) = nlp.get_pipe("lpcfg_parser").posteriors(nlp(text))
    return posterior.brackets


@pytest.mark.parametrize(
    ("before", "tok2vec"), [(["tok2vec"], LISTENER), (["tok2vec", "tagger"], LISTENER), ([], TOK2VEC)]
)
def test_loss_falls_and_the_tok2vec_learns(before, tok2vec):
    nlp, losses = learned(*before, tok2vec=tok2vec, n_epochs=4)
    assert losses[0]["lpcfg_parser"] > losses[1]["lpcfg_parser"] > losses[3]["lpcfg_parser"]
    layer = nlp.get_pipe("tok2vec").model if before else nlp.get_pipe("lpcfg_parser").model.tok2vec
    assert not before or losses[0]["tok2vec"] > 0
    start = learned(*before, tok2vec=tok2vec, n_epochs=0)[0]
    other = start.get_pipe("tok2vec").model if before else start.get_pipe("lpcfg_parser").model.tok2vec
    assert layer.to_bytes() != other.to_bytes()


def test_gradients_reach_each_token_and_no_white_space():
    """Each component after a tok2vec has to hand on gradients of all Docs of a batch."""
    nlp, parser = blank("tok2vec")
    golds = [*examples(nlp, 3), Example(Doc(nlp.vocab), Doc(nlp.vocab))]
    without_tree = nlp.make_doc("no tree")
    golds.append(Example(without_tree, without_tree.copy()))
    tree = tree_of("(S (NP (PRP It)) (VP (VBZ rains)))")
    spaced, reference = Doc(nlp.vocab, words=["It", "\n", "rains"]), Doc(nlp.vocab, words=["It", "\n", "rains"])
    set_trees(reference, [tree])
    golds.append(Example(spaced, reference))
    nlp.initialize(lambda: golds)
    given = []
    listener, docs = parser.model.tok2vec, [eg.predicted for eg in golds]
    rows = [np.ones((len(doc), WIDTH), np.float32) for doc in docs]
    listener.receive(listener.get_batch_id(docs), rows, given.extend)
    parser.update(golds)
    assert [gradient.shape for gradient in given] == [(len(doc), WIDTH) for doc in docs]
    assert [[bool(row.any()) for row in gradient] for gradient in given] == [
        *([True] * len(doc) for doc in docs[:3]), [], [False] * 2, [True, False, True]
    ]  # fmt: skip


def test_words_are_aligned_with_tokens_of_another_tokenizer(nlp):
    reference = Doc(nlp.vocab, words=["It", "is", "n't", "so", "."])
    set_trees(reference, [tree_of("(S (NP (PRP It)) (VP (VBZ is) (RB n't) (ADVP (RB so))) (. .))")])
    predicted = Doc(nlp.vocab, words=["It", "isn't", "s", "o", "."])
    (gold,) = golds_of(Example(predicted, reference), "constituents", functions=False)
    assert gold.positions == [0, 1, 1, 3, 4]


def test_pipeline_is_saved_copied_and_parses_in_batches(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert posteriors(loaded) == posteriors(nlp) == posteriors(pickle.loads(pickle.dumps(loaded)))
    assert described(loaded.pipe(TEXTS, n_process=2)) == described(map(nlp, TEXTS)) == described(nlp.pipe(TEXTS))
    assert loaded.get_pipe("lpcfg_parser").learned.summary.endswith("evidence of the pipeline's vectors")
    other = learned("tok2vec")[0]
    assert [pipe.model.to_bytes() for _, pipe in other.pipeline] == [pipe.model.to_bytes() for _, pipe in nlp.pipeline]


def test_averages_are_used_while_they_are_set_and_training_goes_on(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    other = spacy.load(tmp_path)
    before, layer = posteriors(other), other.get_pipe("lpcfg_parser").model
    with other.use_params({(layer.id, "span_output_bias"): 9 + layer.get_param("span_output_bias")}):
        assert posteriors(other) != before
    assert posteriors(other) == before
    other.update(examples(other, 5), sgd=other.resume_training())
    assert posteriors(other) != before


def test_listener_is_replaced_by_a_tok2vec_of_its_own(nlp, tmp_path):
    nlp.to_disk(tmp_path / "a")
    other = spacy.load(tmp_path / "a")
    other.replace_listeners("tok2vec", "lpcfg_parser", ["model.tok2vec"])
    other.remove_pipe("tok2vec")
    other.to_disk(tmp_path / "b")
    assert posteriors(spacy.load(tmp_path / "b")) == posteriors(other) == posteriors(nlp)
    (query,) = queries_of(other, other.get_pipe("lpcfg_parser"), [["It", "rains"]])
    assert query.evidence is not None


def test_frozen_tok2vec_stays_and_the_classifier_learns(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    other = spacy.load(tmp_path)
    tok2vec, parser = other.get_pipe("tok2vec"), other.get_pipe("lpcfg_parser")
    before = tok2vec.to_bytes(), parser.model.to_bytes()
    frozen = {"exclude": ["tok2vec"], "annotates": ["tok2vec"]}
    other.update(examples(other, 5), sgd=other.resume_training(), **frozen)
    assert tok2vec.to_bytes() == before[0]
    assert parser.model.to_bytes() != before[1]


def test_vectors_that_are_missing_are_refused(nlp):
    parser = nlp.get_pipe("lpcfg_parser")
    doc = Doc(nlp.vocab, words=["It", "rains"])
    with pytest.raises(ValueError, match=rf"vector of {WIDTH} numbers for each of 2 tokens, got zeros: put the"):
        parser(doc)
    doc.tensor = np.ones((2, WIDTH + 1), np.float32)
    with pytest.raises(ValueError, match=rf"got an array of shape \(2, {WIDTH + 1}\)"):
        parser(doc)
    with pytest.raises(ModelError, match="got words alone: parse texts"):
        parser.parse(["It", "rains"])
    parser.evidence = False
    with nlp.select_pipes(disable="tok2vec"):
        assert trees(nlp("It rains"))
    parser.evidence = True


def test_commands_that_parse_words_run_what_the_parser_listens_to(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    gold = "(S (NP (DT The) (NN ship)) (VP (VBD was) (VP (VBN lost))) (. .))"
    (tmp_path / "gold.mrg").write_text(gold)
    words = tree_of(gold).words
    (posterior,) = nlp.get_pipe("lpcfg_parser").posteriors(nlp(Doc(nlp.vocab, words=words)))
    (query,) = queries_of(nlp, nlp.get_pipe("lpcfg_parser"), [words])
    assert nlp.get_pipe("lpcfg_parser").ready_parser().posteriors(query).brackets == posterior.brackets
    assert run("parse", tmp_path / "model", tmp_path / "gold.mrg", "--input", "trees").stdout.startswith("(")
    for command in ("evaluate", "calibrate"):
        assert run(command, tmp_path / "model", tmp_path / "gold.mrg").stdout


def test_sentences_are_corrected_with_the_evidence_of_the_pipeline(nlp, tmp_path):
    doc = nlp("The ship was lost .")
    with closing(CorrectedTrees(tmp_path / "trees.mrg")) as saved:
        shown = Corrections(nlp.get_pipe("lpcfg_parser"), [doc], saved).opened(0)
    (posterior,) = nlp.get_pipe("lpcfg_parser").posteriors(doc)
    assert shown["brackets"]
    for *span, probability in shown["brackets"]:
        assert probability == pytest.approx(posterior.brackets[tuple(span)])


def test_long_sentences_are_bounded(nlp):
    """A tree of 1,000 words is left out of learning, and such a sentence is parsed in pieces."""
    other, parser = blank("tok2vec", limits={"@misc": "spacy-lpcfg.Limits.v1", "max_words": 40})
    long = tree_of(f"(S {'(NN word) ' * 1_000})")
    reference = Doc(other.vocab, words=["word"] * 1_000)
    set_trees(reference, [long])
    golds = [*examples(other, 5), Example(Doc(other.vocab, words=["word"] * 1_000), reference)]
    optimizer = other.initialize(lambda: golds)
    assert [len(of_doc) for of_doc in parser._classifier_training._golds(golds)] == [1] * 5 + [0]
    assert other.update(golds[5:], sgd=optimizer)["lpcfg_parser"] == 0
    assert len(trees(other("word " * 1_000))[0]) == 1_000


def test_trees_with_other_labels_are_left_out_with_a_warning(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    other = spacy.load(tmp_path)
    doc = Doc(other.vocab, words=["It", "rains"])
    reference = doc.copy()
    set_trees(reference, [tree_of("(ODD (NP (PRP It)) (VP (VBZ rains)))")])
    with pytest.warns(UserWarning, match="'lpcfg_parser' leaves out trees with labels or tags that"):
        assert other.update([Example(doc, reference)])["lpcfg_parser"] == 0


def test_settings_that_do_not_go_together_are_refused(nlp):
    with pytest.raises(ValueError, match="no pretrained model beside a `model`"):
        blank(pretrained="en")
    with pytest.raises(ValueError, match=r"made by spacy-lpcfg\.SpanClassifier\.v1"):
        spacy.blank("xx").add_pipe("lpcfg_parser", config={"model": TOK2VEC})
    other, _ = blank("tok2vec")
    with pytest.raises(ValueError, match=r"learner of a grammar.* learned a ISBN"):
        other.get_pipe("lpcfg_parser").initialize(lambda: examples(other, 5), model=lambda: model("isbn"))
    with pytest.raises(ValueError, match="got the online learner StepwiseEM"):
        blank("tok2vec", **STEPWISE)[1].initialize(lambda: examples(other, 5))
    with pytest.raises(ValueError, match="the pipeline's vectors: train its pipeline further"):
        adapt(nlp.get_pipe("lpcfg_parser").learned, [])


def test_damaged_weights_are_refused(nlp):
    parser = nlp.get_pipe("lpcfg_parser")
    data, before = parser.to_bytes(), posteriors(nlp)
    tags = parser.learned.evidence.tags
    parser.learned = replace(parser.learned, evidence=PipelineEvidence(parser.learned.evidence.chains, tags[:-1]))
    other = parser.to_bytes()
    parser.from_bytes(data)
    with pytest.raises(ModelError, match=r"weights tag_outputs of the shape \(8, \d+\), got"):
        parser.from_bytes(other)
    assert posteriors(nlp) == before


def test_weights_stay_when_the_words_beside_others_are_damaged(nlp, tmp_path):
    parser, before = nlp.get_pipe("lpcfg_parser"), posteriors(nlp)
    other, _ = learned("tok2vec", n_epochs=1)
    other.get_pipe("lpcfg_parser").to_disk(tmp_path / "parser")
    (tmp_path / "parser" / "words.txt").write_bytes(b"\xff")
    with pytest.raises(ModelError, match="cannot parse by what was loaded"):
        parser.from_disk(tmp_path / "parser")
    assert posteriors(nlp) == before


def test_spacy_train_shares_a_tok2vec_with_a_tagger(tmp_path):
    few = {"corpora.train.limit": 30, "corpora.dev.limit": 3, "training.max_steps": 2, "training.eval_frequency": 1}
    small = {"components.tok2vec.model.width": WIDTH, "components.lpcfg_parser.model.hidden": 8, "nlp.lang": "xx"}
    paths = {"paths.train": str(SAMPLE / "train.mrg"), "paths.dev": str(SAMPLE / "dev.mrg")}
    train(ROOT / "configs" / "tok2vec.cfg", tmp_path, overrides={"vars.learner": "pcfg", **paths, **few, **small})
    best = spacy.load(tmp_path / "model-best")
    assert best.meta["performance"]["lpcfg_parser_loss"] > 0
    assert best.get_pipe("tok2vec").listening_components == ["tagger", "lpcfg_parser"]
    assert trees(best(TEXT))[0]
