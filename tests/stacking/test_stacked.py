"""A grammar with a span layer: which answers are whose, constraints, storage, and learning by folds."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from stored_models import SENTENCE, TAGS, model, trees

from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.learning import EM, TreebankPCFG
from spacy_lpcfg.parsing.constraints import Constraints
from spacy_lpcfg.parsing.model import ModelError, model_from_bytes
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import BACKED_OFF, PARSED, SEGMENTED, Posteriors
from spacy_lpcfg.stacking import LayerSettings, Stacked, StackedLearner
from spacy_lpcfg.stacking.fitting import ReadSentence, fit_layer
from spacy_lpcfg.stacking.layer import SpanLayer
from spacy_lpcfg.stacking.learner import read_fold
from spacy_lpcfg.storage.container import pack

LEARNER = EM(n_states=3, n_iterations=2, tokens_per_state=10)


@pytest.fixture(scope="module")
def stacked() -> Stacked:
    return model("stacked")


def assert_same_parse(found, expected):
    assert (found.spans, found.tags, found.status) == (expected.spans, expected.tags, expected.status)
    assert found.span_scores == pytest.approx(expected.span_scores, abs=2e-4)  # what is certain is capped
    assert found.log_probability == pytest.approx(expected.log_probability, nan_ok=True)


def test_layer_without_features_changes_nothing():
    posteriors = Posteriors({(0, 2, "S"): 0.999, (0, 1, "NP"): 0.25, (0, 2, "NP"): 0.001}, [{"DT": 1.0}, {"NN": 1.0}])
    found = SpanLayer.blank().rescore(["a", "b"], posteriors)
    assert list(found.brackets) == list(posteriors.brackets)
    assert found.brackets == posteriors.brackets
    assert found.tags == posteriors.tags


def test_layer_of_one_grammar_without_features_gives_its_trees(stacked):
    own, blank = (model.parser(decoding="mbr") for model in (stacked.model, Stacked(stacked.model, SpanLayer.blank())))
    for tree in trees(10):
        assert_same_parse(blank.parse(tree.words), own.parse(tree.words))


def test_layer_learns_which_brackets_are_right():
    """A grammar that is sure of all that begins with "bad" words, and should not be."""
    sentences = []
    for i in range(40):
        word = ("good", "bad")[i % 2]
        posteriors = Posteriors({(0, 2, "S"): 0.9, (0, 1, "NP"): 0.9}, [{"JJ": 1.0}, {"NN": 1.0}])
        sentences.append(ReadSentence([word, "end"], posteriors, np.array([1, word == "good"], dtype=np.uint8)))
    layer = fit_layer(sentences, LayerSettings(n_epochs=30, penalty=0.1))
    of_good, of_bad = (layer.rescore([word, "end"], sentences[0].posteriors).brackets for word in ("good", "bad"))
    assert of_good[0, 1, "NP"] > 0.9 > 0.3 > of_bad[0, 1, "NP"]
    assert of_bad[0, 2, "S"] > 0.9


def test_layer_gives_the_mean_of_the_grammar_and_both_scores(stacked):
    layer, own = stacked.layer, stacked.model.parser().posteriors(SENTENCE)
    alone, nested = layer.probabilities(layer.candidates(SENTENCE, own)).T
    found = layer.rescore(SENTENCE, own).brackets
    assert list(found.values()) == pytest.approx(0.2 * np.array([*own.brackets.values()]) + 0.4 * (alone + nested))
    assert np.abs(alone - nested).max() > 0.01


@pytest.mark.parametrize("shares", [(0.5, 0.4, 0.4), (1.5, -0.25, -0.25), (np.nan, 0.5, 0.5)])
def test_layer_refuses_shares_of_no_mean(stacked, shares):
    with pytest.raises(ModelError, match="inconsistent in its shares"):
        SpanLayer.from_values({**stacked.layer.to_values(), "shares": np.array(shares)})


def test_layer_leaves_out_what_is_rare():
    sentences = [
        ReadSentence([f"w{i}", "end"], Posteriors({(0, 2, "S"): 0.5}, [{"X": 1.0}] * 2), np.ones(1, dtype=np.uint8))
        for i in range(8)
    ]
    assert fit_layer(sentences, LayerSettings()).words == ("end",)
    assert len(fit_layer(sentences, LayerSettings(min_count=9)).keys) == 0
    assert len(fit_layer(sentences, LayerSettings(min_count=8)).keys) > 10


@pytest.mark.parametrize("setting", ["n_epochs", "rate", "start", "min_count", "min_words"])
def test_layer_settings_refuse_what_is_out_of_range(setting):
    with pytest.raises(ValueError, match=setting):
        LayerSettings(**{setting: 0})


def test_stacked_has_the_posteriors_of_the_layer(stacked):
    own, parser = stacked.model.parser().posteriors(SENTENCE), stacked.parser()
    found = parser.posteriors(SENTENCE)
    assert found.brackets == stacked.layer.rescore(SENTENCE, own).brackets != own.brackets
    assert found.tags == own.tags
    parse = parser.parse(SENTENCE)
    assert parse.span_scores == pytest.approx([found.brackets[span] for span in parse.spans])
    assert parse.log_probability == stacked.model.parser().parse(SENTENCE).log_probability
    assert parse.status == PARSED


def test_stacked_gives_the_likeliest_brackets_that_the_grammar_allows(stacked):
    """No tree of the grammar's n best has a larger sum of posteriors, each less the cost."""
    cost, parser = stacked.bracket_cost, stacked.parser(decoding="mbr")

    def gain(spans, tags, found):
        of_tags = sum(p.get(tag, 0.0) for p, tag in zip(found.tags, tags, strict=True))
        return sum(found.brackets.get(span, 0.0) - cost for span in spans) + of_tags

    n_other = 0
    for tree in trees(10):
        found, parse = parser.posteriors(tree.words), parser.parse(tree.words)
        others = [each.tree for each in parser.n_best(tree.words, 20)]
        assert gain(parse.spans, parse.tags, found) >= max(gain(t.spans(), t.tags, found) for t in others) - 1e-6
        n_other += parse.spans != stacked.model.parser().parse(tree.words).spans
    assert n_other > 2


def test_stacked_asks_the_grammar_for_all_else(stacked):
    own, parser = stacked.model.parser(), stacked.parser()
    assert parser.answers == own.answers
    assert parser.n_best(SENTENCE, 3) == own.n_best(SENTENCE, 3)
    assert parser.distribution(SENTENCE).samples(3, seed=1) == own.distribution(SENTENCE).samples(3, seed=1)
    assert parser.log_probability(SENTENCE) == own.log_probability(SENTENCE)
    assert (parser.surprisal(SENTENCE) == own.surprisal(SENTENCE)).all()
    tree = own.parse(SENTENCE).tree
    assert parser.tree_log_probability(tree) == own.tree_log_probability(tree)
    assert [each.symbol for each in parser.states(SENTENCE)] == [each.symbol for each in own.states(SENTENCE)]
    assert parser.likely_tags(SENTENCE) == own.likely_tags(SENTENCE)
    for name in ("labels", "words", "root_label", "tags"):
        assert getattr(stacked, name) == getattr(stacked.model, name)
    assert {*stacked.decodings} == {*stacked.model.decodings}
    assert stacked.single_models() == (stacked.model,)
    assert stacked.parser_bytes > stacked.model.parser_bytes


@pytest.mark.parametrize("decoding", ["max-rule", "most-probable"])
def test_stacked_leaves_other_decodings_to_the_grammar(stacked, decoding):
    own = stacked.model.parser(decoding=decoding)
    assert_same_parse(stacked.parser(decoding=decoding).parse(SENTENCE), own.parse(SENTENCE))


def test_stacked_leaves_sentences_without_a_tree_to_the_grammar(stacked):
    for words, status in ((["."] * 6, BACKED_OFF), (["was"] * 200, SEGMENTED)):
        own = stacked.model.parser().parse(words)
        assert_same_parse(stacked.parser().parse(words), own)
        assert own.status == status


def test_stacked_takes_tags(stacked):
    parse = stacked.parser().parse(Query(SENTENCE, [*TAGS[:-1], "ODD"]))
    assert parse.tags == [*TAGS[:-1], "ODD"]


def test_stacked_keeps_constraints(stacked):
    """Whatever the layer thinks of them."""
    nothing = np.array([[0.0, 8.0, 0.0]] * 2)
    sure = replace(stacked.layer, dense=nothing, shares=np.array([0.0, 0.5, 0.5]))  # that nothing is a bracket
    for layer in (stacked.layer, sure):
        parser = Stacked(stacked.model, layer).parser()
        free = parser.parse(SENTENCE)
        inner = next(span for span in free.spans if span[1] - span[0] < len(SENTENCE))
        without = Query(SENTENCE, constraints=Constraints(forbidden=(inner,)))
        assert parser.posteriors(without).brackets.get(inner, 0.0) == 0.0
        assert inner not in parser.parse(without).spans
        for label in ("NP", ""):
            required = (3, 6, label)
            asked = Query(SENTENCE, constraints=Constraints(required=(required,)))
            found, parse = parser.posteriors(asked), parser.parse(asked)
            assert asked.constraints.allow(parse.spans)
            assert max(p for span, p in found.brackets.items() if span[:2] == (3, 6)) == 1.0
            assert parse.status == PARSED


def test_stacked_is_the_same_when_loaded(stacked):
    stacked = replace(stacked, temperature=1.25)
    found = model_from_bytes(stacked.to_bytes())
    assert (found.temperature, found.layer.words) == (1.25, stacked.layer.words)
    assert found.to_bytes() == pickle.loads(pickle.dumps(stacked)).to_bytes() == stacked.to_bytes()


@pytest.mark.parametrize("part", ["words", "keys", "weights", "dense", "shares", "templates"])
def test_layer_refuses_parts_that_do_not_fit(stacked, part):
    values = stacked.layer.to_values()
    bad = {"words": ("a", "a"), "templates": ("first.word somewhere",)}.get(part, np.zeros(7))
    with pytest.raises(ModelError, match=rf"This span layer is inconsistent in its {part}: [^\n]*$"):
        SpanLayer.from_values({**values, part: bad})
    stored = {name: value for name, value in stacked.to_values().items() if name != f"layer.{part}"}
    with pytest.raises(ModelError, match=f"This stacked model lacks '{part}'"):
        Stacked.from_bytes(pack(Stacked.kind, Stacked.version, stored))


def test_learner_of_stacked_keeps_folds_apart():
    """No grammar reads a tree that it has learned from."""
    golds, read = trees(20), []

    class Recorder(TreebankPCFG):
        def fit(self, some, **settings):
            some = list(some)
            read.append(some)
            return super().fit(some, **settings)

    StackedLearner(TreebankPCFG(), jackknifed=Recorder(), n_folds=4).fit(golds)
    assert [len(some) for some in read] == [15] * 4
    left_out = [[tree for tree in golds if tree not in some] for some in read]
    assert [tree for fold in left_out for tree in fold] == golds


def test_learner_of_stacked_reads_words_alone():
    (sentence, *_) = read_fold(LEARNER, trees(40), (0, 5))
    golds = set(trees(1)[0].spans())
    assert sentence.words == trees(1)[0].words
    expected = LEARNER.fit(trees(40)[5:]).parser().posteriors(sentence.words)
    assert sentence.posteriors.brackets == expected.brackets
    assert sentence.is_gold.tolist() == [bracket in golds for bracket in expected.brackets]


def test_learner_of_stacked_gives_the_same_by_any_number_of_jobs(stacked):
    again = StackedLearner(LEARNER, n_folds=2, n_jobs=2).fit(trees(60))
    assert again.to_bytes() == stacked.to_bytes()


def test_learner_of_stacked_takes_one_tree():
    found = StackedLearner(TreebankPCFG()).fit(trees(1))
    assert len(found.layer.keys) == 0
    assert found.temperature == 1.0
    assert_same_parse(found.parser().parse(trees(1)[0].words), found.model.parser().parse(trees(1)[0].words))


def test_learner_of_stacked_tells_the_steps_of_its_model():
    steps = []
    StackedLearner(LEARNER, n_folds=2).fit(trees(30), on_step=steps.append)
    assert [step.iteration for step in steps] == [1, 2]


def test_learner_of_stacked_takes_as_many_steps_in_folds_as_held_out_trees_chose():
    golds, steps = trees(30), []
    learner = EM(n_states=2, n_iterations=4, check_every=1)
    found = StackedLearner(learner, n_folds=2).fit(golds, held_out=trees(60)[30:], on_step=steps.append)
    best = max(steps, key=lambda step: step.f1).iteration
    assert best < 4
    again = StackedLearner(replace(learner, n_iterations=best), n_folds=2).fit(golds)
    assert again.to_bytes() == found.to_bytes()


def test_learner_of_stacked_warns_once(caplog):
    StackedLearner(EM(n_states=16, n_iterations=1), n_folds=3).fit(trees(30))
    assert [record.levelname for record in caplog.records].count("WARNING") == 1


def test_learner_of_stacked_refuses_others():
    with pytest.raises(ValueError, match="Expected a learner of a grammar below a span layer"):
        StackedLearner(ISBNLearner(n_states=4, n_epochs=1)).fit(trees(5))
    with pytest.raises(ValueError, match="n_folds"):
        StackedLearner(LEARNER, n_folds=1)
    with pytest.raises(ValueError, match="tree"):
        StackedLearner(LEARNER).fit([])


def test_stacked_refuses_a_model_that_is_none(stacked):
    values = stacked.to_values()
    for other, expected in ((3, "the bytes of a saved model"), (model("isbn").to_bytes(), "a saved grammar")):
        with pytest.raises(ModelError, match=f"Expected {expected}.*, got"):
            Stacked.from_bytes(pack(Stacked.kind, Stacked.version, {**values, "model": other}))
