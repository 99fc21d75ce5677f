"""Well-formed trees against enumeration: all trees over a few brackets, each scored by the formula."""

from collections import Counter
from itertools import pairwise, permutations, product
from math import log, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.nested_sets import cross

from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.parsing.constraints import Constraints
from spacy_lpcfg.parsing.local_tree_scores import DISCOUNT, PRIOR
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import Posteriors
from spacy_lpcfg.parsing.well_formed import WEIGHT, WellFormedDecoder
from spacy_lpcfg.trees import Tree, parse_trees
from spacy_lpcfg.trees.local_trees import LocalTrees, local_trees

N_WORDS, COST = 4, 0.4
LABELS, TAGS, WORDS = "XYZ", "abc", "stuv"
PUNCTUATION = ("p",)
spans = st.tuples(st.integers(0, N_WORDS - 1), st.integers(1, N_WORDS), st.sampled_from(LABELS)).filter(
    lambda span: span[0] < span[1]
)
rules = st.tuples(st.sampled_from(LABELS), st.lists(st.sampled_from(LABELS + TAGS), min_size=1, max_size=3)).map(
    lambda rule: (rule[0], *rule[1])
)


def all_trees(brackets, tags):
    """Yield every tree over some brackets, at most three over the same words in any order, one of them over all."""
    of_span = {}
    for start, end, label in brackets:
        of_span.setdefault((start, end), []).append(label)
    choices = [
        [(bounds, chain) for n in range(min(3, len(labels)) + 1) for chain in permutations(labels, n)]
        for bounds, labels in of_span.items()
    ]
    for choice in product(*choices):
        chains = {bounds: chain for bounds, chain in choice if chain}
        if (0, N_WORDS) in chains and not any(cross(one, other) for one in chains for other in chains):
            order = sorted(chains, key=lambda bounds: (bounds[0], -bounds[1]))
            yield Tree.from_spans(WORDS, tags, [(*bounds, label) for bounds in order for label in chains[bounds]])


def probability(rule, counts):
    """The formula of `local_tree_scores`, by brute force."""

    def smoothed(events, event, below):
        """An event by its count among others, and by the probability that less context gives it."""
        lost = sum(min(n, DISCOUNT) for n in events.values())
        return (max(events.get(event, 0) - DISCOUNT, 0) + (lost + 1) * below) / (sum(events.values()) + 1)

    label, edge = rule[0], "edge"
    rows = {other: n for other, n in counts.items() if other[0] == label}
    pairs = [(pair, n) for row, n in rows.items() for pair in pairwise((edge, *row[1:], edge))]
    children = Counter()
    for (_, child), n in pairs:
        children[child] += n
    n_outcomes = len({symbol for other in counts for symbol in other}) + 2
    by_pairs = []
    for before, child in pairwise((edge, *rule[1:], edge)):
        after = Counter()
        for pair, n in pairs:
            if pair[0] == before:
                after[pair[1]] += n
        by_child = (children[child] + PRIOR) / (children.total() + PRIOR * n_outcomes)
        by_pairs.append(smoothed(after, child, by_child))
    return smoothed(rows, rule, prod(by_pairs))


def value_of(tree, posteriors, counts):
    """The formula of the module's docstring."""
    rules = local_trees(tree, PUNCTUATION)
    of_brackets = sum(posteriors.brackets[span] - COST for span in tree.spans())
    of_tags = sum(p[tag] - max(p.values()) for tag, p in zip(tree.tags, posteriors.tags, strict=True))
    return of_brackets + of_tags + WEIGHT * sum(log(probability(rule, counts)) for rule in rules)


tags_of_word = st.one_of(
    st.sampled_from(TAGS + "p").map(lambda tag: {tag: 1.0}),
    st.tuples(st.floats(0.1, 0.9), st.permutations(TAGS + "p")).map(
        lambda drawn: {drawn[1][0]: drawn[0], drawn[1][1]: 1 - drawn[0]}
    ),
)


@given(
    st.dictionaries(spans, st.floats(0.05, 1), max_size=6),
    st.dictionaries(rules, st.integers(1, 9), min_size=1, max_size=12),
    st.lists(tags_of_word, min_size=N_WORDS, max_size=N_WORDS),
)
def test_well_formed_tree_is_the_best_of_all_trees(brackets, counts, tags):
    brackets.setdefault((0, N_WORDS, "X"), 0.2)
    counts.setdefault(("X", "a"), 1)
    posteriors = Posteriors(brackets, tags)
    decoder = WellFormedDecoder(LocalTrees.of(counts, PUNCTUATION), cost=COST)
    chosen, best_tags = decoder.tree(WORDS, posteriors)
    tree = Tree.from_spans(WORDS, best_tags, chosen)
    assert tree.spans() == chosen
    best = max(value_of(each, posteriors, counts) for choice in product(*tags) for each in all_trees(brackets, choice))
    assert value_of(tree, posteriors, counts) == pytest.approx(best)


TREEBANK = """
(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT the) (NN cat)) (PP (IN with) (NP (DT the) (NN eye)))) (. .))
(S (NP (NN cat)) (VP (VBD had) (VP (VBN seen) (NP (NP (DT the) (NN dog)) (PP (IN with) (NP (DT the) (NN cat)))))) (. .))
(S (NP (DT the) (NN cat)) (VP (VBD saw)) (. .))"""
SENTENCE = ["the", "dog", "saw", "the", "cat", "with", "the", "eye", "."]


def test_well_formed_skeletons_are_filled_in():
    local = LocalTrees.of_trees(parse_trees(TREEBANK))
    assert local.punctuation == (".",)
    brackets = {(0, 4, "S"): 1.0, (0, 1, "NP"): 0.9, (1, 3, "VP"): 0.38, (2, 3, "NP"): 0.38}
    posteriors = Posteriors(brackets, [{"NN": 1.0}, {"VBD": 0.6, "NN": 0.4}, {"NN": 1.0}, {".": 1.0}])
    (skeleton,) = parse_trees("(S (NP (NN cat)) (VBD saw) (NN dog) (. .))")
    assert skeleton.spans() == [span for span, p in brackets.items() if p > COST]
    (full,) = parse_trees("(S (NP (NN cat)) (VP (VBD saw) (NP (NN dog))) (. .))")
    assert local.unseen(full) == [("VP", "VBD", "NP")]  # whose neighbours the treebank has: VBD NP PP
    assert WellFormedDecoder(local, cost=COST).tree(full.words, posteriors) == (full.spans(), full.tags)


def test_well_formed_verb_phrases_stand_below_auxiliaries():
    had = "(S (NP (PRP she)) (VP (VBD had) (VP (VBN left) (NP (PRP it)))))"
    left = "(S (NP (PRP she)) (VP (VBD left) (NP (PRP it))))"
    local = LocalTrees.of_trees(parse_trees(20 * had + 20 * left))
    brackets = {(0, 4, "S"): 1.0, (0, 1, "NP"): 1.0, (1, 4, "VP"): 1.0, (2, 4, "VP"): 0.44, (3, 4, "NP"): 1.0}
    posteriors = Posteriors(brackets, [{"PRP": 1.0}, {"VBD": 1.0}, {"VBN": 1.0}, {"PRP": 1.0}])
    decoder = WellFormedDecoder(local, cost=0.6)
    assert (2, 4, "VP") in decoder.tree(["she", "Had", "left", "it"], posteriors)[0]
    assert (2, 4, "VP") not in decoder.tree(["she", "left", "left", "it"], posteriors)[0]


def test_well_formed_trees_have_tags_that_suit_their_phrases():
    local = LocalTrees.of_trees(parse_trees(TREEBANK))
    brackets = {(0, 3, "S"): 1.0, (0, 2, "NP"): 1.0, (2, 3, "VP"): 0.9}
    posteriors = Posteriors(brackets, [{"DT": 1.0}, {"NN": 1.0}, {"NN": 0.52, "VBD": 0.48}])
    spans, tags = WellFormedDecoder(local, cost=COST).tree(["the", "cat", "saw"], posteriors)
    assert (spans, tags) == (list(brackets), ["DT", "NN", "VBD"])


@pytest.fixture(scope="module")
def grammar():
    return TreebankPCFG().fit(parse_trees(TREEBANK))


def test_well_formed_parser_leaves_other_answers_to_the_model(grammar):
    parser, backing = grammar.parser(decoding="well-formed"), grammar.parser()
    parse = parser.parse(SENTENCE)
    assert parse.status == "parsed"
    assert parse.log_probability == backing.parse(SENTENCE).log_probability
    posteriors = backing.posteriors(SENTENCE)
    assert parse.span_scores.tolist() == pytest.approx([posteriors.brackets.get(span, 0.0) for span in parse.spans])
    assert parser.n_best(SENTENCE, 2) == backing.n_best(SENTENCE, 2)
    assert parser.answers == backing.answers
    assert parser.kind == backing.kind
    assert parser.likely_tags(SENTENCE) == backing.likely_tags(SENTENCE)
    glued = parser.parse(["."] * 12)
    assert glued.status == backing.parse(["."] * 12).status
    assert len(glued.tree) == 12


@pytest.mark.parametrize("span", [(3, 8, "NP"), (2, 5, "VP"), (0, 5, ""), (5, 8, "PP"), (0, 9, "S")])
def test_well_formed_trees_keep_constraints(grammar, span):
    query = Query(SENTENCE, constraints=Constraints(required=(span,)))
    parse, other = (grammar.parser(decoding=name).parse(query) for name in ("well-formed", "mbr"))
    assert query.constraints.allow(parse.spans) == query.constraints.allow(other.spans)
    assert parse.status == other.status
    without = Query(SENTENCE, constraints=Constraints(forbidden=((5, 8, "PP"),)))
    assert (5, 8, "PP") not in grammar.parser(decoding="well-formed").parse(without).spans


def test_well_formed_tags_are_those_given(grammar):
    tags = ["DT", "NN", "VBD", "DT", "NN", "IN", "DT", "NN", "."]
    assert grammar.parser(decoding="well-formed").parse(Query(SENTENCE, tags)).tags == tags
