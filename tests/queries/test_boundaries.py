"""Boundaries between words: the numbers and examples of the papers, and what the definitions say."""

from functools import partial
from itertools import pairwise, permutations

import pytest
from bracketed import tree_of
from hypothesis import given, settings
from oracles.strategies import trees as random_trees

from spacy_lpcfg.queries.boundaries import SENTENCE_END, Boundary, boundaries
from spacy_lpcfg.queries.chunks import ClauseTree, is_mark
from spacy_lpcfg.queries.prosody import PhonologicalPhrase, saliences
from spacy_lpcfg.trees import Tree, clean
from spacy_lpcfg.trees.heads import ENGLISH


def marked_trees(text: str) -> list[tuple[str, str]]:
    """Read trees, each below its words with marks of the boundaries between them."""
    pairs: list[tuple[str, str]] = []
    for line in text.strip().splitlines():
        if line.startswith("("):
            brackets, words = pairs.pop()
            pairs.append((f"{brackets} {line}".strip(), words))
        else:
            pairs.append(("", line))
    return pairs


STRENGTHS = {"!": 1, "|": 2, "||": 3}
GROSJEAN_1979 = marked_trees("""
When the new lawyer ! called up Reynolds || the plan ! was discussed | thoroughly
(S (SBAR (WHADVP (WRB When)) (S (NP (DT the) (JJ new) (NN lawyer)) (VP (VBD called) (PRT (RP up)) (NP (NNP Reynolds)))))
(NP (DT the) (NN plan)) (VP (VBD was) (VP (VBN discussed) (ADVP (RB thoroughly)))))
In addition ! to his files || the lawyer brought | the office 's ! best ! adding machine
(S (PP (IN In) (NP (NP (NN addition)) (PP (TO to) (NP (PRP$ his) (NNS files))))) (NP (DT the) (NN lawyer)) (VP
(VBD brought) (NP (NP (DT the) (NN office) (POS 's)) (JJS best) (VBG adding) (NN machine))))
By making ! his plan known || he brought out | the objections ! of everyone
(S (PP (IN By) (S (VP (VBG making) (S (NP (PRP$ his) (NN plan)) (VP (VBN known)))))) (NP (PRP he)) (VP (VBD brought)
(PRT (RP out)) (NP (NP (DT the) (NNS objections)) (PP (IN of) (NP (NN everyone))))))
That a solution ! could n't be found || seemed ! quite clear | to them
(S (SBAR (IN That) (S (NP (DT a) (NN solution)) (VP (MD could) (RB n't) (VP (VB be) (VP (VBN found)))))) (VP
(VBD seemed) (ADJP (RB quite) (JJ clear) (PP (TO to) (NP (PRP them))))))
Not quite ! all | of the recent ! files || were examined ! that day
(S (NP (NP (RB Not) (RB quite) (DT all)) (PP (IN of) (NP (DT the) (JJ recent) (NNS files)))) (VP (VBD were) (VP
(VBN examined) (NP (DT that) (NN day)))))
That ! the matter ! was dealt with | so fast || was a shock ! to him
(S (SBAR (IN That) (S (NP (DT the) (NN matter)) (VP (VBD was) (VP (VBN dealt) (PP (IN with)) (ADVP (RB so)
(RB fast)))))) (VP (VBD was) (NP (NP (DT a) (NN shock)) (PP (TO to) (NP (PRP him))))))
John ! asked ! the strange young man || to be quick | on the task
(S (NP (NNP John)) (VP (VBD asked) (NP (DT the) (JJ strange) (JJ young) (NN man)) (S (VP (TO to) (VP (VB be) (ADJP
(JJ quick) (PP (IN on) (NP (DT the) (NN task)))))))))
Closing his client 's book || the young expert | wondered about ! this ! extraordinary story
(S (S (VP (VBG Closing) (NP (NP (PRP$ his) (NN client) (POS 's)) (NN book)))) (NP (DT the) (JJ young) (NN expert)) (VP
(VBD wondered) (PP (IN about) (NP (DT this) (JJ extraordinary) (NN story)))))
The expert | who could n't see ! what to criticize || sat back ! in despair
(S (NP (NP (DT The) (NN expert)) (SBAR (WHNP (WP who)) (S (VP (MD could) (RB n't) (VP (VB see) (SBAR (WHNP (WP what)) (S
(VP (TO to) (VP (VB criticize)))))))))) (VP (VBD sat) (ADVP (RB back)) (PP (IN in) (NP (NN despair)))))
After the cold winter | of that year || most people ! were totally ! fed-up
(S (PP (IN After) (NP (NP (DT the) (JJ cold) (NN winter)) (PP (IN of) (NP (DT that) (NN year))))) (NP (JJS most)
(NNS people)) (VP (VBD were) (ADJP (RB totally) (JJ fed-up))))
The agent ! consulted ! the agency 's book || in which ! they offered numerous tours
(S (NP (DT The) (NN agent)) (VP (VBD consulted) (NP (NP (NP (DT the) (NN agency) (POS 's)) (NN book)) (SBAR (WHPP
(IN in) (WHNP (WDT which))) (S (NP (PRP they)) (VP (VBD offered) (NP (JJ numerous) (NNS tours))))))))
She discussed ! the pros and cons || to get over her surprisingly | apprehensive ! feelings
(S (NP (PRP She)) (VP (VBD discussed) (NP (DT the) (NNS pros) (CC and) (NNS cons)) (S (VP (TO to) (VP (VB get) (PP
(IN over) (NP (PRP$ her) (ADJP (RB surprisingly) (JJ apprehensive)) (NNS feelings))))))))
Our disappointed woman | lost her ! optimism || since the prospects ! were too limited
(S (NP (PRP$ Our) (JJ disappointed) (NN woman)) (VP (VBD lost) (NP (PRP$ her) (NN optimism)) (SBAR (IN since) (S (NP
(DT the) (NNS prospects)) (VP (VBD were) (ADJP (RB too) (JJ limited)))))))
Since ! she was | indecisive | that day || her friend ! asked her to wait
(S (SBAR (IN Since) (S (NP (PRP she)) (VP (VBD was) (ADJP (JJ indecisive)) (NP (DT that) (NN day))))) (NP (PRP$ her)
(NN friend)) (VP (VBD asked) (NP (PRP her)) (S (VP (TO to) (VP (VB wait))))))
""")
"""The sentences of Grosjean, Grosjean and Lane (1979) with pauses in three classes, by Bachenko and Fitzpatrick (1990),
appendix B; the trees are by hand."""
THEIR_PHRASINGS = {
    0: "When the new lawyer | called up ! Reynolds || the plan ! was discussed ! thoroughly",
    1: "In addition ! to his files || the lawyer ! brought | the office 's best adding machine",
    2: "By making ! his plan | known || he brought out | the objections ! of everyone",
    4: "Not quite all ! of the recent files || were examined | that ! day",
    6: "John ! asked | the strange ! young ! man || to be ! quick || on the task",
    7: "Closing ! his client 's ! book || the young expert | wondered ! about this ! extraordinary story",
    8: "The expert | who could n't see ! what to criticize || sat back ! in despair",
    9: "After the cold winter ! of that year || most people | were ! totally fed-up",
    10: "The agent | consulted ! the agency 's book || in which they offered ! numerous tours",
    12: "Our disappointed woman | lost ! her optimism || since the prospects ! were too limited",
    13: "Since she was ! indecisive ! that day || her friend | asked her to wait",
}
"""What the system of Bachenko and Fitzpatrick made of those that its parser read, by appendix B."""
VERBS = marked_trees("""
This little incident || gives ! a new zest || to our investigation
(S (NP (DT This) (JJ little) (NN incident)) (VP (VBZ gives) (NP (DT a) (JJ new) (NN zest)) (PP (TO to) (NP (PRP$ our)
(NN investigation)))))
Chickens ! were eating || the remaining green vegetables
(S (NP (NNS Chickens)) (VP (VBD were) (VP (VBG eating) (NP (DT the) (VBG remaining) (JJ green) (NNS vegetables)))))
and his eyes ! were fixed || in a dreadful rigid stare
(S (CC and) (NP (PRP$ his) (NNS eyes)) (VP (VBD were) (VP (VBN fixed) (PP (IN in) (NP (DT a) (JJ dreadful) (JJ rigid)
(NN stare))))))
A British expedition || launched ! the first serious attempt
(S (NP (DT A) (JJ British) (NN expedition)) (VP (VBD launched) (NP (DT the) (JJ first) (JJ serious) (NN attempt))))
a crack || opened ! in the snow
(S (NP (DT a) (NN crack)) (VP (VBD opened) (PP (IN in) (NP (DT the) (NN snow)))))
A terrible change || began ! to come | over our stepfather
(S (NP (DT A) (JJ terrible) (NN change)) (VP (VBD began) (S (VP (TO to) (VP (VB come) (PP (IN over) (NP (PRP$ our)
(NN stepfather))))))))
Mrs. Welles | wrote ! a weekly sports column || for the Christian Science Monitor
(S (NP (NNP Mrs.) (NNP Welles)) (VP (VBD wrote) (NP (DT a) (JJ weekly) (NNS sports) (NN column)) (PP (IN for) (NP
(DT the) (NNP Christian) (NNP Science) (NNP Monitor)))))
The light ! among the trees | was extinguished || and all | was ! dark
(S (S (NP (NP (DT The) (NN light)) (PP (IN among) (NP (DT the) (NNS trees)))) (VP (VBD was) (VP (VBN extinguished))))
(CC and) (S (NP (DT all)) (VP (VBD was) (ADJP (JJ dark)))))
""")
"""Bachenko and Fitzpatrick (1990), examples 25, 27b, 27c, 28a, 29b, 30c, 35b, 38."""


def tree(text: str) -> Tree:
    return clean(tree_of(text))


def strengths(marked: str) -> list[int]:
    """The strength of the boundary after each word but the last."""
    found: list[int] = []
    for word in marked.split():
        if word in STRENGTHS:
            found[-1] = STRENGTHS[word]
        else:
            found.append(0)
    return found[:-1]


def is_locally_above(values: list[int], one: int, other: int) -> bool:
    """Abney (1992), section 4: more prominent than another, which is more prominent than all between."""
    between = values[min(one, other) + 1 : max(one, other)]
    return values[one] > values[other] and all(value < values[other] for value in between)


def inversions(model: list[int], data: list[int]) -> tuple[int, int]:
    """How often the data have a pair of boundaries the other way round, and how often they could."""
    pairs = [pair for pair in permutations(range(len(model)), 2) if is_locally_above(model, *pair)]
    return sum(is_locally_above(data, other, one) for one, other in pairs), len(pairs)


def total(field: str, data: dict[int, str]) -> tuple[int, int]:
    counts = [
        inversions(
            [getattr(boundary, field) for boundary in boundaries(tree(GROSJEAN_1979[i][0]))[:-1]], strengths(marks)
        )
        for i, marks in data.items()
    ]
    n_inverted, n_pairs = map(sum, zip(*counts, strict=True))
    return n_inverted, n_pairs


PAUSES = {i: marks for i, (_, marks) in enumerate(GROSJEAN_1979)}


def test_boundaries_abney_has_few_inversions_and_complexity_has_more():
    """He has 3 of 55, 5%, against 42 of 102: here equal pauses are in one class, and boundaries in chunks count too."""
    assert total("level", PAUSES) == (4, 128)
    assert total("nodes", PAUSES) == (15, 161)


def test_boundaries_salience_is_as_bachenko_and_fitzpatrick_print_it():
    """Their own marks have 3 of 111 inversions against the pauses of the sentences that their parser read."""
    assert total("salience", THEIR_PHRASINGS) == (1, 115)
    assert total("salience", PAUSES) == (7, 145)


@pytest.mark.parametrize(("text", "marked"), GROSJEAN_1979)
def test_boundaries_the_longest_pause_is_at_the_most_salient_boundary(text, marked):
    salience = [boundary.salience for boundary in boundaries(tree(text))[:-1]]
    assert salience.index(max(salience)) == strengths(marked).index(3)


@pytest.mark.parametrize(("text", "marked"), VERBS)
def test_boundaries_verbs_go_with_the_shorter_side(text, marked):
    salience = [boundary.salience for boundary in boundaries(tree(text))[:-1]]
    by_strength = [{s for s, m in zip(salience, strengths(marked), strict=True) if m == level} for level in range(4)]
    assert by_strength[0] <= {0}
    levels = [values for values in by_strength[1:] if values]
    assert all(max(weak) < min(strong) for weak, strong in pairwise(levels))


def test_boundaries_salience_of_the_worked_example():
    """Figures 8 to 11: 11, and 8 if what is at the end were one word."""
    text = (
        "(S (NP (PRP He)) (VP (VBD told) (NP (PRP me)) (NP (JJ last) (NN night)) (SBAR (S (NP (PRP he)) (VP (VBD "
        "was) (VP (VBG coming) (PP (TO to) (NP (NNP London))) (PP (IN for) (NP (JJ several) (NNS days)))))))))"
    )
    found = boundaries(tree(text))
    assert [boundary.salience for boundary in found] == [0, 0, 4, 0, 8, 0, 0, 3, 0, 11, 0, 0, 11]
    assert [boundary.level for boundary in found] == [0, 0, 1, 0, 3, 0, 0, 1, 0, 2, 0, 0, 4]
    short = boundaries(tree(text.replace("(JJ several) ", "")))
    assert [boundary.salience for boundary in short if boundary.salience] == [4, 8, 3, 8, 8]


MARTIN = (
    "(S (NP (NP (NNS Children)) (SBAR (WHNP (WP who)) (S (VP (VBP attend) (ADVP (RB regularly)))))) (VP (VBP "
    "appreciate) (NP (NNS lessons)) (ADVP (RB greatly))))"
)


def test_boundaries_levels_of_abneys_example():
    """His figures in section 3, of a sentence of Martin (1970)."""
    assert [boundary.level for boundary in boundaries(tree(MARTIN))] == [2, 0, 1, 3, 1, 2, SENTENCE_END]


def test_boundaries_complexity_of_abneys_example():
    """By the binary tree that he draws."""
    text = (
        "(S (NP (NNS Children) (SBAR (WP who) (VP (VBP attend) (RB regularly)))) (VP (VP (VBP appreciate) (NNS "
        "lessons)) (RB greatly)))"
    )
    assert [boundary.nodes for boundary in boundaries(tree(text))] == [3, 2, 1, 6, 1, 2, 6]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(S (NP (PRP She)) (VP (VBD gave) (PRT (RP up)) (NP (NN tea))))", [0, 0, 1]),  # She, particle
        ("(S (NP (PRP She)) (VP (VBD gave) (NP (PRP it)) (PRT (RP up))))", [0, 0, 0]),
        ("(SQ (VBD Did) (NP (NN rain)) (VP (VB fall)))", [0, 1]),  # an inverted auxiliary
        ("(SBARQ (WHNP (WP What)) (SQ (VBD did) (NP (PRP he)) (VP (VB say))))", [0, 0, 0]),
        ("(S (NP (PRP He)) (VP (VBD said) (SBAR (IN that) (S (NP (NN rain)) (VP (VBD fell))))))", [0, 1, 0, 1]),
        ("(S (NP (NN Rain)) (VP (VP (VBD fell)) (CC and) (VP (VBD froze))))", [1, 1, 0]),
        ("(S (S (NP (NN Rain)) (VP (VBD fell))) (CC and) (S (NP (NN ice)) (VP (VBD came))))", [1, 3, 0, 1]),
        ("(S (NP (NN Rain)) (ADVP (RB then)) (VP (VBD fell)))", [1, 0]),
        ("(NP (NP (NN Bread)) (CC and) (NP (NN tea)))", [2, 0]),
        ("(NP (NN Bread) (CC and) (NN tea))", [0, 0]),
        ("(NP (NP (NN chapter) (CD seven)) (PP (IN in) (NP (NN prose))))", [0, 2, 0]),
        ("(NP (NP (DT the) (NN end)) (, ,) (SBAR (WHNP (WDT which)) (S (VP (VBD came)))))", [0, 0, 3, 0]),
        ("(NP (JJ big) (, ,) (JJ red) (NNS cars))", [0, 2, 0]),
    ],
)
def test_boundaries_levels_by_chunks_and_dependencies(text, expected):
    assert [boundary.level for boundary in boundaries(tree(text))[:-1]] == expected


def test_boundaries_stand_after_marks_and_before_opening_ones():
    text = (
        "(S (`` ``) (S (NP (PRP He)) (VP (VBD left))) (, ,) ('' '') (NP (PRP she)) (VP (VBD said) (-LRB- -LRB-) "
        "(ADVP (RB twice)) (-RRB- -RRB-)) (. .))"
    )
    read = tree(text)
    found = dict(zip(range(len(read)), boundaries(read), strict=True))
    ends = {i: read.words[i] for i, boundary in found.items() if boundary != Boundary() and boundary.level}
    assert ends == {4: "''", 6: "said", 10: "."}
    assert found[4].level == 3
    assert boundaries(tree("(FRAG (: --) (. .))")) == [Boundary()] * 2


@given(random_trees(max_leaves=12))
@settings(max_examples=60)
def test_boundaries_counts_are_those_of_the_brackets(read):
    """Without marks: how many brackets end and begin at a gap, and how many branching ones the smallest has."""
    found = boundaries(read)
    assert len(found) == len(read)
    words = [i for i, leaf in enumerate(read.leaves()) if not is_mark(leaf)]
    if not words:
        return
    position = {word: i for i, word in enumerate(words)}
    kept = [[position[i] for i in range(start, end) if i in position] for start, end, _ in read.spans()]
    spans = [(inside[0], inside[-1] + 1) for inside in kept if inside]
    branching = {(start, end) for start, end in spans if end - start > 1}
    assert [boundary for boundary in found if boundary.level == SENTENCE_END] == [found[-1]] or len(words) < len(read)
    for i, boundary in enumerate(boundary for boundary in found if boundary.nodes or boundary.level):
        around = [(s, e) for s, e in branching if s <= i and (i + 2 <= e or i == len(words) - 1)]
        if around:
            start, end = min(around, key=lambda span: span[1] - span[0]) if i < len(words) - 1 else (0, len(words))
            assert boundary.nodes == sum(start <= s and e <= end for s, e in branching)
        assert boundary.closing == sum(end == i + 1 for _, end in spans)
        assert boundary.opening == sum(start == i + 1 for start, _ in spans)
        assert (boundary.salience > 0) == (boundary.level > 0)


def test_chunks_hold_their_words_together():
    sentence = ClauseTree.of(tree(GROSJEAN_1979[9][0]), ENGLISH)
    chunks = list(dict.fromkeys(sentence.chunks))
    texts = " | ".join(" ".join(sentence.words[chunk.start : chunk.end]) for chunk in chunks)
    assert texts == "After the cold winter | of that year | most people | were | totally fed-up"
    assert [chunk.governor for chunk in chunks] == [None, 3, None, None, 9]
    assert [chunk.is_verbal for chunk in chunks] == [False, False, False, True, False]


def test_prosody_rules_stop_at_pauses():
    phrase = partial(PhonologicalPhrase, is_after_clause=False)
    noun, verb = phrase(1, is_verbal=False, is_first=False), phrase(1, is_verbal=True, is_first=False)
    first = noun._replace(is_first=True)
    assert saliences([first, verb, noun, noun], []) == [5, 3, 5, 5]
    assert saliences([first, verb, first, noun], []) == [3, 7, 3, 7]
    assert saliences([first, noun, verb], [(0, 2)]) == [3, 5, 5]
    assert saliences([first, noun, verb], [(0, 3)]) == [5, 3, 5]
