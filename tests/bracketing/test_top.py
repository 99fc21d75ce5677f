"""The top bracket: the paper's rule, the learned one, and that of the tree."""

import pytest

from benchmarks.papers.baselines import oracle_split
from spacy_lpcfg.bracketing.extensions.learned_top import learn_top
from spacy_lpcfg.bracketing.extensions.symbols import Symbols
from spacy_lpcfg.bracketing.paper.top import heuristic_split
from spacy_lpcfg.bracketing.sentences import plain


def tagged(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    words, tags = zip(*(token.rsplit("/", 1) for token in text.split()), strict=True)
    return words, tags


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("The/DT old/JJ dog/NN sleeps/VBZ ./.", 3),
        ("Tired/VBN dogs/NNS slept/VBD ./.", 2),  # a participle is passed over
        ("Run/VB home/RB !/.", 1),  # a verb that leaves nothing before it
        ("A/DT fine/JJ day/NN", 1),  # no verb
        ("He/PRP left/VBD ,/, and/CC dogs/NNS barked/VBD", 2),
        ("He/PRP left/VBD ,/, dogs/NNS barked/VBD ;/: cats/NNS purred/VBD", 4),  # the last one that fits
        ("He/PRP left/VBD ,/, tired/JJ", 1),  # nothing but an adjective after the comma
        ("Today/NN ,/, dogs/NNS barked/VBD", 2),  # no verb before the comma
        ("He/PRP left/VBD ,/, barked/VBD dogs/NNS", 1),  # no verb after the noun
        ("dogs/NOUN bark/VERB", 1),
        ("dogs/NOUN have/AUX barked/VERB", 1),
    ],
)
def test_top_of_the_paper(text, split):
    assert heuristic_split(plain(*tagged(text))) == split


@pytest.mark.parametrize("text", ["./.", "Dog/NN ./."])
def test_top_needs_two_words(text):
    assert heuristic_split(plain(*tagged(text))) == 0


SIMPLE = ["dogs/NNS bark/VBP", "the/DT cat/NN sleeps/VBZ", "they/PRP run/VBP home/RB"]
RELATIVE = ["dogs/NNS that/WDT bark/VBP run/VBP", "a/DT cat/NN that/WDT sleeps/VBZ purrs/VBZ"]
TEXT = [tagged(text) for text in 10 * (SIMPLE + RELATIVE)]
SYMBOLS = Symbols.learn(TEXT, 5)


def encoded(words, tags):
    sentence = plain(words, tags)
    return sentence, SYMBOLS.encode(words, sentence)


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("the/DT boy/NN that/WDT sings/VBZ laughs/VBZ", 4),  # the first verb is that of a relative clause
        ("boys/NNS think/VBP girls/NNS laugh/VBP", 1),  # the first of equal ones
        ("boys/NNS and/CC girls/NNS", 0),  # left to the scores of spans
        ("dogs/NNS bark/VBP ,/, they/PRP run/VBP", 2),  # a pronoun is a subject, too
        ("dogs/NNS bark/VBP ,/, cats/NNS sleep/VBP ,/, they/PRP run/VBP", 4),
        ("dogs/NNS bark/VBP ,/, cats/NNS that/WDT sleep/VBP", 1),
        ("dogs/NNS bark/VBP ,/, happily/RB", 1),
        ("today/NN ,/, dogs/NNS bark/VBP", 2),  # no verb before the comma
    ],
)
def test_top_learned_knows_verbs_that_are_never_alone(text, split):
    assert learn_top([encoded(*each) for each in TEXT]).split(*encoded(*tagged(text))) == split


def test_top_learned_keeps_to_the_first_verb_if_told():
    rule = learn_top([encoded(*each) for each in TEXT], first=100.0)
    assert rule.split(*encoded(*tagged("the/DT boy/NN that/WDT sings/VBZ laughs/VBZ"))) == 3


def test_top_learned_of_nothing_is_the_first_verb():
    assert learn_top([]).split(*encoded(*tagged("dogs/NNS that/WDT bark/VBP run/VBP"))) == 2


@pytest.mark.parametrize(
    ("n", "gold", "split"),
    [
        (5, [(0, 5), (0, 2), (2, 5), (3, 5)], 2),
        (5, [(0, 5), (1, 5), (3, 5)], 1),
        (6, [(0, 6), (0, 3), (1, 3), (4, 6)], 3),  # of those that cut nothing, one with a half that is a span
        (4, [(0, 4), (0, 3), (1, 4)], 1),  # crossing spans: as few as can be are cut
        (2, [(0, 2)], 1),
        (1, [], 0),
        (0, [], 0),
    ],
)
def test_top_of_the_tree(n, gold, split):
    assert oracle_split(n, gold) == split
