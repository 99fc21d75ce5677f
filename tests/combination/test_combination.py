from dataclasses import replace

import numpy as np
import pytest
from stored_models import model

from spacy_lpcfg.chart import Parser
from spacy_lpcfg.chart.settings import ChartSettings
from spacy_lpcfg.combination import Combination, Combined
from spacy_lpcfg.combination.members import Mirrored
from spacy_lpcfg.combination.parser import CombinedParser
from spacy_lpcfg.combination.presets import PRESETS, preset
from spacy_lpcfg.combination.reranking import Reranker
from spacy_lpcfg.grammar import Ensemble
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.parser import IncrementalParser
from spacy_lpcfg.isbn.settings import BeamSettings
from spacy_lpcfg.learning import EM, TreebankPCFG
from spacy_lpcfg.learning.base import ModelLearned
from spacy_lpcfg.parsing.constraints import ANY, Constraints
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import PARSED, SEGMENTED, UNCONSTRAINED, Posteriors, mirrored_spans
from spacy_lpcfg.stacking import StackedLearner
from spacy_lpcfg.trees.transforms import mirror

SENTENCE = ["The", "ferry", "was", "the", "last", "one", "."]


@pytest.fixture(scope="module")
def combined(members):
    return Combined(members, (0.25, 0.75))


def test_combination_is_the_mean_of_its_members(members, combined):
    found = CombinedParser(combined).posteriors(SENTENCE)
    chart, beam = Parser(members[0]).posteriors(SENTENCE), IncrementalParser(members[1]).posteriors(SENTENCE)
    assert set(found.brackets) == {*chart.brackets, *beam.brackets}
    for bracket, p in found.brackets.items():
        assert p == pytest.approx(0.25 * chart.brackets.get(bracket, 0) + 0.75 * beam.brackets.get(bracket, 0))
    for i, of_word in enumerate(found.tags):
        for tag, p in of_word.items():
            assert p == pytest.approx(0.25 * chart.tags[i].get(tag, 0) + 0.75 * beam.tags[i].get(tag, 0))


def test_a_proper_grammar_of_a_combination_answers_what_needs_a_distribution(members, combined, trees, mirrored):
    grammar, network = members
    own, tree = Parser(grammar), trees[0]
    for models in (combined, Combined((network, mirrored, grammar), (0.3, 0.3, 0.4))):
        parser = models.parser()
        assert parser.answers == own.answers
        assert parser.n_best(SENTENCE, 3) == own.n_best(SENTENCE, 3)
        assert parser.log_probability(SENTENCE) == own.log_probability(SENTENCE)
        assert parser.parse(SENTENCE).log_probability == own.parse(SENTENCE).log_probability
        assert parser.tree_log_probability(tree) == own.tree_log_probability(tree)
        assert parser.tree_log_probabilities([tree]).tolist() == own.tree_log_probabilities([tree]).tolist()
        assert parser.surprisal(SENTENCE).tolist() == own.surprisal(SENTENCE).tolist()
        assert len(parser.states(SENTENCE)) == len(own.states(SENTENCE))
        best = models.parser(decoding="most-probable").parse(SENTENCE)
        assert str(best.tree) == str(own.n_best(SENTENCE, 1)[0].tree)


def test_a_combination_asks_a_grammar_of_its_ensemble(trees):
    grammars = tuple(EM(n_states=2, n_iterations=2, seed=seed).fit(trees) for seed in (0, 1))
    parser = Combined((Ensemble(grammars),), (1.0,)).parser()
    assert parser.surprisal(SENTENCE).tolist() == Parser(grammars[0]).surprisal(SENTENCE).tolist()


def test_a_combination_without_a_proper_grammar_refuses_what_needs_one(members, mirrored, trees):
    parser = Combined((members[1], mirrored), (0.5, 0.5)).parser()
    assert not parser.answers
    for ask in (parser.distribution, parser.states, parser.surprisal, parser.log_probability):
        with pytest.raises(ValueError, match=r"from several models together, none of which is a proper grammar"):
            ask(SENTENCE)
    with pytest.raises(ValueError, match="log-probabilities of trees"):
        parser.tree_log_probability(trees[0])
    assert np.isnan(parser.parse(SENTENCE).log_probability)


def test_combination_parses_any_text(combined):
    parser = CombinedParser(combined)
    for words in (SENTENCE, ["\ud800"], ["?"] * 200, ["xyzzy", ",", "(", ""]):
        parse = parser.parse(words)
        assert parse.tree.words == words
        assert ((parse.span_scores >= 0) & (parse.span_scores <= 1)).all()
    assert parser.parse(SENTENCE).status == PARSED
    assert parser.parse(Query(SENTENCE, ["XX", *[None] * 6])).tags[0] == "XX"
    with pytest.raises(ValueError, match="at least one word"):
        parser.parse([])


def test_combination_takes_given_tags(combined, trees):
    parse = CombinedParser(combined).parse(Query(trees[0].words, trees[0].tags))
    assert parse.tags == trees[0].tags
    weighed = CombinedParser(combined).parse(Query(trees[0].words, trees[0].tags, tag_weight=1.0))
    assert weighed.tags == CombinedParser(combined).parse(trees[0].words).tags


def test_combination_searches_by_its_beam(combined, trees):
    sentences = [tree.words for tree in trees]
    for beam in (1, 30):
        expected = CombinedParser(combined, search=BeamSettings(beam=beam))
        told = replace(combined, beam=beam)
        assert Combined.from_bytes(told.to_bytes()).beam == beam
        parser = CombinedParser(told)
        assert all(parser.posteriors(each).brackets == expected.posteriors(each).brackets for each in sentences)
    narrow = CombinedParser(replace(combined, beam=1))
    assert any(narrow.posteriors(each).brackets != parser.posteriors(each).brackets for each in sentences)
    for beam in (0, 10**9):
        with pytest.raises(ValueError, match="beam of 1 to 10,000"):
            replace(combined, beam=beam)


@pytest.mark.parametrize("weights", [(), (1.0,), (0.5, 0.6), (-0.5, 1.5)])
def test_combination_refuses_weights(members, weights):
    with pytest.raises(ValueError, match="share for each of 2"):
        Combined(members, weights)


def test_combination_learns_its_members(trees, members, combined):
    learners = TreebankPCFG(), ISBNLearner(n_states=8, n_epochs=3)
    learner, told = Combination(learners, (0.25, 0.75), lattice=None), []
    assert learner.fit(iter(trees), on_step=told.append).to_bytes() == combined.to_bytes()
    assert told == [ModelLearned(1, 2), ModelLearned(2, 2)]
    assert replace(learner, n_jobs=2).fit(trees).to_bytes() == combined.to_bytes()
    assert Combination(learners, temperature=0.9).fit(trees).temperature == 0.9
    with pytest.raises(ValueError, match="temperature above 0"):
        Combination(learners, temperature=0)
    assert Combination(learners).fit(trees).weights == pytest.approx((0.4, 0.6))
    assert Combination(learners[1:]).fit(trees).weights == (1.0,)
    assert Combination(learners[:1]).fit(trees).weights == (1.0,)


def test_mirrored_spans_are_those_of_the_mirrored_tree(trees):
    for tree in trees:
        n_words = len(tree)
        assert mirror(mirror(tree)) == tree
        assert mirror(tree).words == tree.words[::-1]
        assert mirrored_spans(tree.spans(), n_words) == mirror(tree).spans()


def test_mirrored_network_reads_from_right_to_left(mirrored, trees):
    found = CombinedParser(Combined((mirrored,), (1.0,))).posteriors(SENTENCE)
    backward = IncrementalParser(mirrored.model).posteriors(SENTENCE[::-1])
    n = len(SENTENCE)
    assert found.brackets == {(n - end, n - start, label): p for (start, end, label), p in backward.brackets.items()}
    assert found.tags == backward.tags[::-1]
    backward_log = IncrementalParser(mirrored.model).tree_log_probability(mirror(trees[0]))
    assert mirrored.parser().tree_log_probability(trees[0]) == backward_log
    assert mirrored.labels == mirrored.model.labels
    assert Combined((mirrored,), (1.0,)).words >= {"The", "ferry"}


def test_votes_are_of_the_models_own_trees(members, mirrored):
    models = Combined((*members, mirrored), (0.2, 0.4, 0.4))
    parser = CombinedParser(models, decoding="vote")
    forward, backward = (model.parser(decoding="most-probable") for model in (members[1], mirrored.model))
    own = [
        Parser(members[0], settings=ChartSettings(decoding="max-rule")).parse(SENTENCE).spans,
        forward.parse(SENTENCE).spans,
        mirrored_spans(backward.parse(SENTENCE[::-1]).spans, len(SENTENCE)),
    ]
    elected = {span for spans in own for span in spans if sum(span in spans for spans in own) >= 2}
    parse = parser.parse(SENTENCE)
    assert {*parse.spans[1:]} == elected - {parse.spans[0]}
    posteriors = CombinedParser(models).posteriors(SENTENCE).brackets
    assert parse.span_scores == pytest.approx([posteriors.get(span, 0) for span in parse.spans], abs=1e-6)


@pytest.mark.parametrize("decoding", ["mbr", "vote"])
def test_combination_obeys_constraints(members, mirrored, decoding):
    parser = CombinedParser(Combined((*members, mirrored), (0.4, 0.3, 0.3)), decoding=decoding)
    free, possible = parser.parse(SENTENCE), Constraints(required=((0, 2, "NP"),))
    impossible = Constraints(required=((0, 2, "NO SUCH LABEL"),))
    for constraints in (
        possible,
        impossible,
        Constraints(required=((0, 2, "NP"), (3, 6, ANY))),
        Constraints(forbidden=tuple(free.spans[1:])),
        Constraints(whole=((1, 3),)),
    ):
        parse = parser.parse(Query(SENTENCE, constraints=constraints))
        assert parse.status == (PARSED if constraints.allow(parse.spans) else UNCONSTRAINED)
        assert parse.tree.words == SENTENCE
        assert constraints is not possible or parse.status == PARSED


def test_reranking_finds_the_tree_that_is_best_for_all(members, mirrored):
    combined = Combined((*members, mirrored), (0.5, 0.3, 0.2))
    listed = [analysis.tree for analysis in Parser(members[0]).n_best(SENTENCE, n=30)]
    scores = [
        0.5 * Parser(members[0]).tree_log_probability(tree)
        + 0.3 * IncrementalParser(members[1]).tree_log_probability(tree)
        + 0.2 * IncrementalParser(mirrored.model).tree_log_probability(mirror(tree))
        for tree in listed
    ]
    assert Reranker(combined.members, combined.weights).scores(listed) == pytest.approx(scores, abs=1e-3)
    parse = CombinedParser(combined, decoding="rerank").parse(SENTENCE)
    assert parse.spans == listed[int(np.argmax(scores))].spans()
    assert CombinedParser(combined, decoding="rerank").parse(["?"] * 200).tree.words == ["?"] * 200


def test_reranking_takes_the_trees_of_a_grammar_in_an_ensemble(trees, members, mirrored):
    """The grammars have equal parts of its weight; those that read from right to left judge, but list no trees."""
    grammars = tuple(EM(n_states=2, n_iterations=1, tokens_per_state=1, seed=seed).fit(trees) for seed in range(2))
    ensemble, network = Ensemble(grammars), members[1]
    models = Combined((Mirrored(grammars[0]), network, ensemble), (0.1, 0.3, 0.6))
    listed = [analysis.tree for analysis in Parser(grammars[0]).n_best(SENTENCE, n=30)]
    assert len(listed) > 1
    scores = [
        0.3 * sum(Parser(grammar).tree_log_probability(tree) for grammar in grammars)
        + 0.3 * IncrementalParser(network).tree_log_probability(tree)
        + 0.1 * Parser(grammars[0]).tree_log_probability(mirror(tree))
        for tree in listed
    ]
    assert Reranker(models.members, models.weights).scores(listed) == pytest.approx(scores, abs=1e-3)
    parse = models.parser(decoding="rerank").parse(SENTENCE)
    assert parse.spans == listed[int(np.argmax(scores))].spans()
    unheard = Reranker((*members, Mirrored(grammars[0])), (0.5, 0.5, 0.0)).scores([*listed, mirror(listed[0])])
    assert not np.isnan(unheard).any()


def test_models_without_a_proper_grammar_cannot_be_reranked(members):
    combined = Combined((model("factored"), members[1]), (0.5, 0.5))
    for decoding in combined.decodings:
        combined.parser(decoding=decoding)
    with pytest.raises(ValueError, match=r"for this model.*'rerank'\. Reranking needs a combination"):
        combined.parser(decoding="rerank")


def test_two_votes_are_settled_by_posteriors(members):
    same = CombinedParser(Combined((members[1], members[1]), (0.5, 0.5)), decoding="vote")
    alone = IncrementalParser(members[1], settings=BeamSettings(decoding="most-probable")).parse(SENTENCE)
    assert same.parse(SENTENCE).spans == alone.spans
    two = CombinedParser(Combined(members, (0.5, 0.5)), decoding="vote").parse(SENTENCE)
    posteriors = CombinedParser(Combined(members, (0.5, 0.5))).posteriors(SENTENCE).brackets
    both = {*Parser(members[0], settings=ChartSettings(decoding="max-rule")).parse(SENTENCE).spans} & {*alone.spans}
    assert {*two.spans} >= both
    assert all(posteriors[span] > 0.5 for span in {*two.spans[1:]} - both)


@pytest.mark.slow
def test_the_first_grammar_prunes_for_the_others(members, trees):
    """Its posteriors leave them a part of their charts, but for sentences that it has no tree for."""
    pcfg = TreebankPCFG()
    both = Combination.both_ways(pcfg).fit(trees)
    pruned, free = (CombinedParser(both, chart=ChartSettings(cascade=cascade)) for cascade in (1e-4, 0.0))
    first, second = Parser(both.members[0]), Parser(both.members[1].model)
    for gold in trees[:20]:
        likely = first.posteriors(gold.words)
        kept = second.read(gold.words[::-1], guide=likely.mirrored()).posteriors
        whole = second.posteriors(gold.words[::-1])
        for parser, posteriors in ((pruned, kept), (free, whole)):
            expected = Posteriors.mean([likely, posteriors.mirrored()], (0.5, 0.5))
            assert parser.posteriors(gold.words).brackets == expected.brackets
    too_long = ["was"] * 200
    assert first.posteriors(too_long).is_of_one
    assert pruned.posteriors(too_long).brackets == free.posteriors(too_long).brackets


def test_nearest_tree_is_one_of_the_grammars(members, mirrored, trees):
    """The one with the most brackets and tags to be hoped for; its own best tree has no more of them."""
    pcfg, network = members
    parser = CombinedParser(Combined((network, mirrored, pcfg), (0.3, 0.3, 0.4)))
    n_better = 0
    for gold in trees[:20]:
        posteriors = parser.posteriors(gold.words)

        def gain(parse, posteriors=posteriors):
            of_brackets = sum(posteriors.brackets.get(span, 0.0) for span in parse.spans)
            of_tags = sum(of_word.get(tag, 0.0) for of_word, tag in zip(posteriors.tags, parse.tags, strict=True))
            return of_brackets - parser.combined.bracket_cost * len(parse.spans) + of_tags

        found, own = parser.forest_mbr(gold.words), Parser(pcfg).parse(gold.words)
        assert Parser(pcfg).tree_log_probability(found.tree) > -np.inf
        assert found.span_scores == pytest.approx([posteriors.brackets.get(span, 0.0) for span in found.spans])
        assert gain(found) >= gain(own) - 1e-6
        n_better += gain(found) > gain(own) + 1e-6
    assert n_better > 2
    assert parser.forest_mbr(["was"] * 200).status == SEGMENTED
    networks = CombinedParser(Combined((network, mirrored), (0.5, 0.5)))
    assert networks.forest_mbr(SENTENCE).spans == networks.parse(SENTENCE).spans


def test_presets():
    balanced = preset("balanced", span_layer=False).learners
    assert [type(learner).__name__ for learner in balanced] == ["Pivot", "ISBNLearner"] + 2 * ["MirroredLearner"]
    assert [each.learner for each in balanced[2:]] == [*balanced[:2]]
    stacked, *networks = preset("balanced").learners
    assert (stacked, networks) == (StackedLearner(balanced[0], n_folds=3), [balanced[1], balanced[3]])
    accurate = preset("accurate", seed=1).learners
    assert [learner.seed for learner in accurate[1:3]] == [2, 3]
    assert [each.learner for each in accurate[3:]] == [*accurate[:3]]
    text = [["No", "."]]
    stacked, fast = (preset("fast", text=text, seed=1, span_layer=layer) for layer in (True, False))
    assert (stacked.student.learner, stacked.student.jackknifed) == (fast.student, None)
    of_many = stacked.student_of_many
    assert (of_many.learner, of_many.jackknifed) == (fast.student_of_many, fast.student)
    assert [type(each).__name__ for each in fast.teacher.learners] == ["Ensembles", "MirroredLearner"]
    assert fast.text is text
    for layer in (True, False):
        fast = preset("fast", text=text, span_layer=layer)
        assert preset("balanced", text=text, span_layer=layer).learners == (fast, *preset("balanced").learners[1:])
    taught = preset("accurate", text=text)
    assert taught.teacher.learners == taught.student.learners == preset("accurate").learners
    assert taught.student.lattice == preset("accurate").lattice != preset("balanced").lattice is not None
    for name, kind in PRESETS.items():
        settings = {} if name == "accurate" else {"span_layer": False}
        assert preset(name, text=text, **settings).temperature == (kind.temperature if name == "balanced" else None)
        assert name == "fast" or preset(name).temperature == kind.temperature
    with pytest.raises(ValueError, match="fast, balanced, accurate"):
        preset("best")
    with pytest.raises(ValueError, match="Expected a text"):
        preset("fast")
    with pytest.raises(ValueError, match="at least one"):
        Combination(())
