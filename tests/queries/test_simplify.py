"""Sentences with gold trees, split into clauses by the package's rules, and by a user's."""

import numpy as np
import pytest

from spacy_lpcfg.queries import RuleError, parse_rules, split_clauses
from spacy_lpcfg.trees import Tree, parse_trees

HOUSE = (
    "(S (NP (NP (DT The) (NN house)) (, ,) (SBAR (WHNP (WDT which)) (S (VP (VBD was) (VP (VBN built) (PP (IN in) "
    "(NP (CD 1911))))))) (, ,)) (VP (VBZ is) (ADJP (JJ empty))) (. .))"
)
SPLIT = [
    (  # verb phrases
        "(S (NP (NNP Matt)) (VP (VP (VBD made) (NP (NNS eggs))) (CC and) (VP (VBD had) (NP (NN tea)))) (. .))",
        ["main: Matt made eggs .", "and: Matt had tea ."],
    ),
    (  # orders, in a list
        "(S (VP (VP (VB Boil) (NP (NNS eggs))) (, ,) (VP (VB peel) (NP (PRP them))) (CC and) (VP (VB eat))) (. .))",
        ["main: Boil eggs .", "and: Peel them .", "and: Eat ."],
    ),
    (  # a shared auxiliary, below a subject that no quantifier denies
        "(S (NP (PRP It)) (VP (VBD was) (VP (VP (VBN cut)) (CC and) (VP (VBN sold)))) (. .))",
        ["main: It was cut .", "and: It was sold ."],
    ),
    (
        "(S (NP (NN Nobody)) (VP (VP (VBD came)) (CC and) (VP (VBD left))) (. .))",
        ["main: Nobody came and left ."],
    ),
    (  # clauses, of which one has a reason
        "(S (S (NP (PRP We)) (VP (VBD left) (SBAR (IN because) (S (NP (PRP it)) (VP (VBD rained)))))) (, ,) (CC but) "
        "(S (NP (NNP Ann)) (VP (VBD stayed))) (. .))",
        ["main: We left .", "because: It rained .", "but: Ann stayed ."],
    ),
    (  # a condition
        "(S (SBAR (IN If) (S (NP (PRP it)) (VP (VBZ rains)))) (, ,) (VP (VP (VB close) (NP (PRP it))) (CC and) (VP "
        "(VB leave))) (. .))",
        ["main: If it rains , close it and leave ."],
    ),
    (HOUSE, ["main: The house is empty .", "relative: The house was built in 1911 ."]),
    (  # the object
        "(S (NP (NP (DT The) (NN book)) (SBAR (WHNP (WDT that)) (S (NP (PRP I)) (VP (VBD read))))) (VP (VBD was) "
        "(ADJP (JJ long))) (. .))",
        ["main: The book was long .", "relative: I read the book ."],
    ),
    (  # whose, inside a question
        "(SQ (VBD Did) (NP (PRP you)) (VP (VB see) (NP (NP (DT the) (NNS boys)) (, ,) (SBAR (WHNP (WP$ whose) (NN dad))"
        " (S (VP (VBZ sings)))))) (. ?))",
        ["main: Did you see the boys ?", "relative: The boys ' dad sings ."],
    ),
    (  # those who: known by the relative clause alone
        "(S (NP (NP (DT Those)) (SBAR (WHNP (WP who)) (S (VP (VBP sing))))) (VP (VBP stay)) (. .))",
        ["main: Those who sing stay ."],
    ),
    (  # everyone who: the same
        "(S (NP (NP (NN Everyone)) (SBAR (WHNP (WP who)) (S (VP (VBD sang))))) (VP (VBD stayed)) (. .))",
        ["main: Everyone who sang stayed ."],
    ),
    (  # what did not happen to one of many
        "(S (NP (PRP She)) (VP (VBD got) (NP (NP (DT a) (NN book)) (SBAR (WHNP (WDT that)) (S (NP (PRP she)) (ADVP (RB "
        "never)) (VP (VBD read)))))) (. .))",
        ["main: She got a book that she never read ."],
    ),
    (  # a participle in front, an apposition
        "(S (S (VP (VBN Tired) (PP (IN of) (NP (NN rain))))) (, ,) (NP (NP (NNP Ann)) (, ,) (NP (DT a) (NN nurse)) "
        "(, ,)) (VP (VBZ sleeps)) (. .))",
        ["participle: Ann is tired of rain .", "main: Ann sleeps .", "apposition: Ann is a nurse ."],
    ),
    (  # what is known by now, and an amount
        "(S (NP (DT A) (NN dog)) (VP (VP (VBD hit) (NP (NP (DT a) (NN wall)) (, ,) (SBAR (WHNP (WDT which)) (S (VP "
        "(VBD fell)))))) (CC and) (VP (VBD ran))) (. .))",
        ["main: A dog hit a wall .", "relative: The wall fell .", "and: The dog ran ."],
    ),
    (
        "(S (NP (NP (DT A) (NN lot)) (PP (IN of) (NP (NNS men)))) (VP (VP (VBD came)) (CC and) (VP (VBD sat))) (. .))",
        ["main: A lot of men came .", "and: A lot of men sat ."],
    ),
    (  # a quotation
        "(S (S (`` ``) (NP (PRP I)) (VP (VP (VBD came)) (CC and) (VP (VBD saw))) ('' '')) (, ,) (NP (NNP Ann)) (VP "
        "(VBD said)) (. .))",
        ['main: " I came and saw " , Ann said .'],
    ),
]  # fmt: skip


def texts(trees: list[Tree], **options: object) -> list[str]:
    split = split_clauses(trees, **options)
    return [f"{each.relation}: {' '.join(w.text for w in each.words)}" for clauses in split for each in clauses]


@pytest.mark.parametrize(("tree", "expected"), SPLIT)
def test_simplify_splits_sentences(tree, expected):
    assert texts([*parse_trees(tree)]) == expected


def test_simplify_tells_words_copies_and_probabilities():
    first, second = parse_trees(SPLIT[0][0] + HOUSE)
    labels = [span[2] for span in second.spans()]
    scores = np.array([0.9 if label == "S" else 0.8 if label == "SBAR" else 1.0 for label in labels])
    (_, (main, relative)) = split_clauses([first, second], scores=[(None, None), (scores, None)])
    assert [word.position for word in main.words] == [7, 8, 16, 17, 18]
    assert [tuple(word) for word in relative.words] == [
        ("The", 7, True), ("house", 8, True), ("was", 11, False), ("built", 12, False), ("in", 13, False),
        ("1911", 14, False), (".", None, False),
    ]  # fmt: skip
    assert main.probability == relative.probability == 0.8
    assert split_clauses([first])[0][0].probability is None


def test_simplify_follows_rules_of_a_user():
    trees = [*parse_trees(HOUSE)]
    said = "@PP=pp > @VP >> (__=top > ROOT)\n\nrelabel pp S-place\n\nS-place=pp >> (__=top > ROOT)\n\nmove pp $- top\n"
    rule, mover = parse_rules(said)
    assert texts(trees, rules=[rule, mover])[1] == "place: In 1911 ."
    assert texts(trees, rules=parse_rules("ROOT=root\n\ndelete root\n")) == []
    cycle = "".join(f"{old}=x >> ROOT\n\nrelabel x {new}\n\n" for old, new in ("CA", "BC", "AB"))
    with pytest.raises(ValueError, match="Expected rules that stop"):
        texts([*parse_trees("(S (A (NN It)) (VP (VBZ works)))")], rules=parse_rules(cycle))
    with pytest.raises(RuleError, match="the rule changes nothing"):
        texts(trees, rules=parse_rules("ADJP=x >> ROOT\n\nrelabel x ADJP\n"))
