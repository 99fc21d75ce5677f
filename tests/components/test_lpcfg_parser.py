"""The component `lpcfg_parser`: learning, parsing anything, saving, and the settings."""

import pickle

import pytest
import spacy
from pipelines import PCFG, STEPWISE, pipeline_of, treebank
from spacy.tokens import Doc
from spacy.training import Example
from texts import TEXTS

from spacy_lpcfg.chart import ChartSettings, Parser
from spacy_lpcfg.components.doc.read import rooted_trees, trees
from spacy_lpcfg.components.doc.tree_group import KEY
from spacy_lpcfg.components.training.corpus import tree_to_doc
from spacy_lpcfg.learning import EM, TreebankPCFG
from spacy_lpcfg.trees import parse_trees

PRUNING = {"@misc": "spacy-lpcfg.Pruning.v1"}


def pipeline(lang="en", **config):
    return pipeline_of("lpcfg_parser", lang, **{**PCFG, **config})


@pytest.fixture(scope="module")
def nlp():
    nlp = pipeline()
    nlp.initialize(lambda: treebank(150)(nlp))
    return nlp


def test_parser_parses_as_the_library_does_with_what_it_learned(nlp):
    examples = list(treebank(150)(nlp))
    golds = [tree for eg in examples for tree in rooted_trees(eg.reference)]
    parser = Parser(TreebankPCFG().fit(golds))
    for doc, gold in zip(nlp.pipe([eg.predicted for eg in examples[:20]]), golds, strict=False):
        wanted = parser.parse(gold.words)
        assert trees(doc) == [wanted.tree]
        assert doc.spans[KEY].attrs["scores"].tolist() == wanted.span_scores.tolist()
        assert doc.spans[KEY].attrs["tag_scores"].tolist() == wanted.tag_scores.tolist()
        assert doc._.constituency[0].probability == pytest.approx(wanted.probability)


def test_parser_leaves_the_steps_of_em_in_the_meta_of_the_pipeline(tmp_path):
    nlp = spacy.blank("xx")
    learner = {"@misc": "spacy-lpcfg.Learner.v1", "name": "em", "settings": {"n_states": 2, "n_iterations": 3}}
    nlp.add_pipe("lpcfg_parser", config={"learner": learner})
    nlp.initialize(lambda: treebank(150)(nlp))
    nlp.to_disk(tmp_path)
    steps = spacy.load(tmp_path).meta["fit"]
    assert [step["iteration"] for step in steps] == [1, 2, 3]
    assert steps[0]["log_likelihood"] < steps[2]["log_likelihood"] < 0
    assert steps[0]["f1"] is None


@pytest.fixture(scope="module")
def stepwise():
    """A pipeline that has begun stepwise EM, and its examples."""
    nlp = pipeline(**STEPWISE)
    examples = list(treebank(60)(nlp))
    nlp.initialize(lambda: examples)
    return nlp, examples


def test_parser_learns_by_steps(stepwise):
    """A batch of all trees is an iteration of EM; what is parsed between changes nothing."""
    nlp, examples = stepwise
    losses = [nlp.update(examples[::order])["lpcfg_parser"] for order in (1, -1)]
    nlp(TEXTS[0])
    losses.append(nlp.update(examples)["lpcfg_parser"])
    history = []
    gold = [tree for eg in examples for tree in rooted_trees(eg.reference, KEY)]
    wanted = EM(n_states=2, n_iterations=3).fit(gold, on_step=history.append)
    assert nlp.get_pipe("lpcfg_parser").learned.to_bytes() == wanted.to_bytes()
    n_words = sum(map(len, gold))
    assert losses == pytest.approx([-step.log_likelihood / n_words for step in history])
    assert pickle.loads(pickle.dumps(nlp)).get_pipe("lpcfg_parser").learned.to_bytes() == wanted.to_bytes()


def test_parser_adds_up_losses_of_batches(stepwise):
    nlp, examples = stepwise
    losses: dict[str, float] = {}
    found = [nlp.update(examples[at : at + 20], losses=losses)["lpcfg_parser"] for at in (0, 20)]
    assert 0 < found[0] < found[1] == losses["lpcfg_parser"]
    with pytest.raises(ValueError, match="derives from EMLearner as start"):
        pipeline(learner={**STEPWISE["learner"], "start": {"@misc": "spacy-lpcfg.Learner.v1", "name": "spectral"}})


def test_parser_trained_before_learns_nothing_more_and_says_so(stepwise):
    nlp, examples = stepwise
    loaded = pipeline(**STEPWISE).from_bytes(nlp.to_bytes())
    loaded.resume_training()
    with pytest.warns(UserWarning, match="learns nothing more"):
        assert loaded.update(examples)["lpcfg_parser"] == 0
    assert loaded.get_pipe("lpcfg_parser").learned.to_bytes() == nlp.get_pipe("lpcfg_parser").learned.to_bytes()


def test_parser_spells_brackets_and_quotes_as_its_treebank():
    text = """(X (`` ``) (-LRB- -LRB-) (UH Yes) (-RRB- -RRB-) ('' ''))"""
    nlp = pipeline()
    gold = tree_to_doc(nlp.vocab, list(parse_trees(text * 8)))
    nlp.initialize(lambda: [Example(gold.copy(), gold)])
    doc = Doc(nlp.vocab, words=["“", "(", "Yes", ")", '"'], sent_starts=[1, 0, 0, 0, 0])
    assert str(trees(nlp.get_pipe("lpcfg_parser")(doc))[0]) == text


def test_parser_prunes_as_told(nlp, with_settings, tmp_path):
    told = {"edge_threshold": 0.2, "beam": 0.5}
    other = with_settings(pruning=told, limits={"max_words": 8})
    assert other.get_pipe("lpcfg_parser").parser.parser.settings == ChartSettings(**told)
    words = ["The", "cat", "that", "saw", "the", "dog", "ran", "."]
    wanted = Parser(nlp.get_pipe("lpcfg_parser").learned, settings=ChartSettings(**told)).parse(words)
    found, usual = (each(Doc(each.vocab, words)).spans[KEY].attrs["scores"].tolist() for each in (other, nlp))
    assert found == wanted.span_scores.tolist() != usual
    other.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert loaded.get_pipe("lpcfg_parser").pruning == ChartSettings(**told)
    assert loaded.config["components"]["lpcfg_parser"]["pruning"].items() >= {**PRUNING, **told}.items()


def test_parser_may_use_any_memory(with_settings):
    assert trees(with_settings(limits={"max_memory": 1e300})(TEXTS[0])) == trees(with_settings()(TEXTS[0]))
