"""Models that learn from the trees of others."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from paths import SAMPLE

from spacy_lpcfg.combination import Combination, Distillation, MirroredLearner, distillation
from spacy_lpcfg.combination.distillation import TAUGHT, as_learned
from spacy_lpcfg.combination.parsed_text import ScoredTree, most_certain, parse_text
from spacy_lpcfg.combination.parser import CombinedParser
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.learning import Clusters, Ensembles, LexicalSettings, TreebankPCFG
from spacy_lpcfg.learning.moments.projections import Features
from spacy_lpcfg.learning.treebank.rules import RuleSettings
from spacy_lpcfg.learning.treebank.skeletons import skeletons
from spacy_lpcfg.stacking import StackedLearner
from spacy_lpcfg.trees import Tree, parse_trees, read_trees
from spacy_lpcfg.trees.transforms import escape_tokens, mirror

pytestmark = pytest.mark.slow

NETWORK = ISBNLearner(n_states=8, n_epochs=2)


@pytest.fixture(scope="module")
def text() -> list[list[str]]:
    return [tree.words for tree in islice(read_trees([SAMPLE / "dev.mrg"]), 12)]


@pytest.fixture(scope="module")
def parsed(sample, text) -> list[ScoredTree]:
    """The text as the sample's PCFG parses it."""
    return list(parse_text(TreebankPCFG().fit(sample), text, 40))


def test_the_student_learns_from_trees_and_text(sample, text):
    """By hand: from the treebank `weight` times, and the teacher's trees of the text."""
    teacher, student = Ensembles.diverse(2, n_states=2), Clusters(n_states=2, lexical=LexicalSettings(rare=0))
    learned = Distillation(teacher, student, text, weight=3).fit(sample)
    parsed = [tree for tree, _ in parse_text(teacher.fit(sample), text, 40)]
    assert 0 < len(parsed) <= len(text)
    by_hand = student.fit([*sample * 3, *parsed])
    assert learned.local_trees.as_dict == student.fit(sample).local_trees.as_dict
    of_golds = replace(by_hand, temperature=TAUGHT, classifier=learned.classifier, local_trees=learned.local_trees)
    assert learned.to_bytes() == of_golds.to_bytes()


def test_trees_have_weights_for_teacher_and_student(sample, text):
    pcfg, weights = TreebankPCFG(), [4.0, 2.0] * (len(sample) // 2)
    learned = Distillation(pcfg, pcfg, text, weight=3).fit(sample, weights=weights)
    parsed = [tree for tree, _ in parse_text(pcfg.fit(sample, weights=weights), text, 40)]
    by_hand = pcfg.fit([*sample, *parsed], weights=[3.0, 1.5] * (len(sample) // 2) + [1 - 1e-9] * len(parsed))
    assert learned.to_bytes() == replace(by_hand, temperature=TAUGHT).to_bytes()
    with pytest.raises(ValueError, match="Expected a weight for each of"):
        Distillation(pcfg, pcfg, text).fit(sample, weights=[1.0])


def test_the_treebank_is_a_third_of_all_words(sample, text):
    """Unless a weight is given; where the text is short, each tree counts once."""
    pcfg, n_golds = TreebankPCFG(), sum(map(len, sample[:20]))
    for repeats in (1, 20):
        parsed = [tree for tree, _ in parse_text(pcfg.fit(sample[:20]), text * repeats, 40)]
        weight = max(1, round(sum(map(len, parsed)) / 2 / n_golds))
        assert (weight > 1) == (repeats > 1)
        by_hand = Distillation(pcfg, pcfg, text * repeats, weight=weight).fit(sample[:20])
        assert Distillation(pcfg, pcfg, text * repeats).fit(sample[:20]).to_bytes() == by_hand.to_bytes()


def test_networks_and_combinations_may_be_students(sample, text, parsed):
    """Each member of a combination learns as it does alone; a network from the treebank as often as without text."""
    pcfg = TreebankPCFG()
    network, grammar, both = (
        Distillation(pcfg, student, text, weight=2).fit(sample)
        for student in (NETWORK, pcfg, Combination((pcfg, NETWORK)))
    )
    assert replace(both.members[0], temperature=TAUGHT).to_bytes() == grammar.to_bytes()
    assert both.members[1].to_bytes() == network.members[0].to_bytes()
    assert both.weights == Combination((pcfg, NETWORK)).fit(sample).weights
    by_hand = NETWORK.fit([*sample, *(tree for tree, _ in parsed)], weights=[2.0] * len(sample) + [1.0] * len(parsed))
    assert len(by_hand.meta["history"]) == 1
    assert network.members[0].to_bytes() == by_hand.to_bytes()
    assert network.weights == (1.0,)
    assert by_hand.meta["n_trees"] == 2 * len(sample) + len(parsed)


def test_mirror_images_may_be_students(sample, text, parsed):
    """From mirrored trees of both kinds."""
    pcfg = TreebankPCFG()
    found = Distillation(pcfg, MirroredLearner(pcfg), text, weight=2).fit(sample)
    mirrored = [mirror(tree) for tree in sample], [mirror(tree) for tree, _ in parsed]
    by_hand = Distillation(pcfg, pcfg, text, weight=2).learn(*mirrored)
    assert replace(found.members[0].model, temperature=TAUGHT).to_bytes() == by_hand.to_bytes()
    network = Distillation(pcfg, MirroredLearner(NETWORK), text).fit(sample).members[0].model
    assert network.vocabulary.sentence_initial == -1


@pytest.fixture(scope="module")
def combined(sample):
    return Combination((TreebankPCFG(), NETWORK), (0.8, 0.2)).fit(sample)


def test_combinations_teach_by_trees_of_their_grammar(sample, text, combined):
    """As likely brackets as those of the combination, nearly; but no rule that the treebank lacks."""
    taught = {tuple(tree.words): (tree, certainty) for tree, certainty in parse_text(combined, text, 40)}
    known = set(rules(sample))
    assert set(rules([tree for tree, _ in taught.values()])) <= known
    parser = CombinedParser(combined)
    n_right = n_brackets = 0
    for words in (escape_tokens(sentence, known=combined.words) for sentence in text):
        if tuple(words) in taught:
            tree, certainty = taught[tuple(words)]
            assert 0 < certainty <= 1
            own = parser.parse(words).spans
            n_right, n_brackets = n_right + len({*own} & {*tree.children[0].spans()}), n_brackets + len(own)
    assert n_right > 0.5 * n_brackets > 10


def rules(trees):
    nodes = skeletons(trees)
    for node in nodes.inner:
        yield tuple(nodes.symbols[nodes.symbol[each]] for each in (node, nodes.left[node], nodes.right[node]))


def test_networks_may_teach(sample, text):
    taught = parse_text(as_learned(NETWORK.fit(sample)), text, 40)
    assert {tree.label for tree, _ in taught} == {"ROOT"}


def test_text_is_parsed_by_any_number_of_threads(text, combined):
    assert list(parse_text(combined, text, 40, n_jobs=2)) == list(parse_text(combined, text, 40))


def test_the_most_certain_trees_are_kept_in_order():
    trees = [ScoredTree(Tree("N", word=str(i)), certainty) for i, certainty in enumerate([0.5, 0.9, 0.7, 0.9, 0.1])]
    assert [tree.word for tree, _ in most_certain(trees, 0.6)] == ["1", "2", "3"]
    assert [tree.word for tree, _ in most_certain(trees, 0.01)] == ["1"]
    assert most_certain(trees, 1.0) == trees


def test_a_share_of_the_text_is_learned_from(sample, text, parsed):
    pcfg = TreebankPCFG()
    learner = Distillation(pcfg, pcfg, text, weight=1, share=0.5)
    by_hand = learner.learn(sample, [tree for tree, _ in most_certain(parsed, 0.5)])
    assert learner.fit(sample).to_bytes() == by_hand.to_bytes() != replace(learner, share=1.0).fit(sample).to_bytes()


def test_a_large_treebank_may_have_another_student(sample, text, monkeypatch):
    pcfg, other = TreebankPCFG(), TreebankPCFG(rules=RuleSettings(markov=1))
    learner = Distillation(pcfg, pcfg, text, student_of_many=other)
    few, many = (replace(learner, student=each, student_of_many=None).fit(sample).to_bytes() for each in (pcfg, other))
    assert learner.fit(sample).to_bytes() == few != many
    monkeypatch.setattr(distillation, "MANY_TREES", len(sample) - 1)
    assert learner.fit(sample).to_bytes() == many


def test_weight_makes_no_rare_word_frequent(sample, text):
    """A word that the treebank has three times stays rare, however often the treebank counts."""
    learned = Distillation(TreebankPCFG(), TreebankPCFG(), text, weight=4).fit(sample)
    counts: dict[str, int] = {}
    for words in (*(tree.words for tree in sample), *text):
        for word in words:
            counts[word] = counts.get(word, 0) + 1
    known = {name for name in learned.lexicon.terminals if not name.startswith("<")}
    assert known <= {word for word, n in counts.items() if n > LexicalSettings.rare}
    assert len(learned.lexicon.rare_words) > 50


def test_the_classifier_learns_from_the_treebank_alone(sample, text):
    """Its features are those of the treebank, however often it counts, and whatever the text has."""
    alone = TreebankPCFG().fit(sample)
    for weight in (1, 3):
        learned = Distillation(TreebankPCFG(), TreebankPCFG(), text * 20, weight=weight).fit(sample)
        features = np.intersect1d(learned.classifier.features, alone.classifier.features)
        assert len(features) > 0.95 * len(learned.classifier.features)


def test_words_of_the_text_become_known():
    golds = list(parse_trees(["(S (DT the) (NN dog))", "(S (DT a) (NN cat))"] * 4))
    text = [["the", "emu"]] * 5
    learned = Distillation(TreebankPCFG(), TreebankPCFG(), text, weight=1).fit(golds)
    assert "emu" in learned.lexicon.terminals
    assert learned.parser().parse(["a", "emu"]).tags == ["DT", "NN"]


def test_trees_of_text_have_the_root_of_the_treebank(text, parsed):
    trees = [tree for tree, _ in parsed]
    assert {tree.label for tree in trees} == {"ROOT"}
    assert [tree.words for tree in trees] == [words for words in text if words in [tree.words for tree in trees]]


def test_sentences_of_odd_lengths_are_left_out(sample):
    grammar = TreebankPCFG().fit(sample)
    assert list(parse_text(grammar, [[], ["the"], ["the"] * 41], 40)) == []


def test_what_is_taught_has_a_temperature(sample, text):
    """It is that of grammars, or of a combination's learner; or the one that is given."""
    pcfg = TreebankPCFG()
    both = Combination((pcfg, MirroredLearner(pcfg)), temperature=0.8)
    for student, own in ((pcfg, TAUGHT), (Ensembles.diverse(2, n_states=2), TAUGHT), (both, 0.8)):
        learner = Distillation(pcfg, student, text)
        assert learner.fit(sample[:20]).temperature == own
        assert replace(learner, temperature=1.2).fit(sample[:20]).temperature == 1.2


def test_bad_settings_and_text_are_refused(sample):
    pcfg = TreebankPCFG()
    with pytest.raises(ValueError, match="of at least 1"):
        Distillation(pcfg, pcfg, [], weight=0)
    for share in (0, 1.1):
        with pytest.raises(ValueError, match="share above 0"):
            Distillation(pcfg, pcfg, [], share=share)
    with pytest.raises(ValueError, match="temperature above 0"):
        Distillation(pcfg, pcfg, [], temperature=0)
    with pytest.raises(ValueError, match="none that the teacher can parse"):
        Distillation(pcfg, pcfg, []).fit(sample)
    with pytest.raises(ValueError, match="at least one tree"):
        Distillation(pcfg, pcfg, []).fit([])


def test_ensembles_learn_each_learner_with_each_seed(sample):
    learner = Ensembles(
        (Clusters(n_states=2, seed=5, features=Features(dropout=0.2)), Clusters(n_states=3)), n_seeds=2, combine="sum"
    )
    ensemble = learner.fit(sample)
    assert ensemble.combine == "sum"
    wanted = [Clusters(n_states=2, seed=seed, features=Features(dropout=0.2)) for seed in (5, 6)]
    wanted += [Clusters(n_states=3, seed=seed) for seed in (0, 1)]
    for grammar, alone in zip(ensemble.grammars, wanted, strict=True):
        assert grammar.to_bytes() == alone.fit(sample).to_bytes()


def test_ensembles_of_learners_that_read_differently_are_refused():
    with pytest.raises(ValueError, match="same settings of the lexicon"):
        Ensembles((Clusters(), Clusters(rules=RuleSettings(markov=1))))
    with pytest.raises(ValueError, match="learners of grammars with a seed"):
        Ensembles((Clusters(), TreebankPCFG()))
    with pytest.raises(ValueError, match="at least one learner"):
        Ensembles(())
    with pytest.raises(ValueError, match="combine to be one of"):
        Ensembles((Clusters(),), combine="vote")
    with pytest.raises(ValueError, match="even number"):
        Ensembles.diverse(3)


def test_diverse_ensembles_differ(sample):
    grammars = Ensembles.diverse(4, n_states=3, tokens_per_state=5.0).fit(sample).grammars
    vectors = [grammar.root_vectors for grammar in grammars]
    assert not any(np.array_equal(one, other) for i, one in enumerate(vectors) for other in vectors[:i])


def test_small_treebanks_get_more_grammars(sample, monkeypatch):
    learner = Ensembles.diverse(None, n_states=2)
    assert len(learner.fit(sample).grammars) == 4
    monkeypatch.setattr("spacy_lpcfg.learning.ensemble.MANY_TREES", len(sample) - 1)
    assert len(learner.fit(sample).grammars) == 2


def test_distilled_students_have_a_span_layer_of_the_treebank(sample):
    """The grammar below it has learned from the text, and the layer is the treebank's own."""
    trees, text = sample[:20], [["We", "left", "."]]
    plain = TreebankPCFG()
    stacked = StackedLearner(plain, n_folds=2)
    found, alone = Distillation(plain, stacked, text).fit(trees), stacked.fit(trees)
    assert found.model.to_bytes() == Distillation(plain, plain, text).fit(trees).to_bytes()
    assert found.temperature == alone.temperature
    assert np.array_equal(found.layer.keys, alone.layer.keys)
    assert np.array_equal(found.layer.weights, alone.layer.weights)
