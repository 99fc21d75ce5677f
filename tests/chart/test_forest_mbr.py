"""The tree of a grammar that is nearest to posteriors from elsewhere, against all trees of the grammar."""

import numpy as np
import pytest
from grammars import WORDS, random_grammar
from oracles.enumeration import all_trees, model_of

from spacy_lpcfg.chart import EXHAUSTIVE, Parser
from spacy_lpcfg.chart.forest_mbr import forest_mbr, label_table
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.parsing.result import Posteriors
from spacy_lpcfg.trees import parse_trees
from spacy_lpcfg.trees.transforms import expand_unaries, unbinarize


def random_posteriors(rng, n_words):
    """Draw posteriors of any brackets and tags that some tree may have, not only the grammar's trees."""
    spans = [(i, j, label) for i in range(n_words) for j in range(i + 1, n_words + 1) for label in ("NP", "S", "VP")]
    kept = [span for span in spans if rng.random() < 0.7]
    return Posteriors(
        {span: float(rng.random()) for span in kept},
        [{tag: float(rng.random()) for tag in ("D", "N", "V") if rng.random() < 0.8} for _ in range(n_words)],
    )


@pytest.mark.parametrize("cost", [0.0, 0.45, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_nearest_is_best_of_all_trees(seed, cost):
    grammar = random_grammar(seed)
    model, parser, rng = model_of(grammar), Parser(grammar, settings=EXHAUSTIVE), np.random.default_rng(seed)
    n_parsed = 0
    for n_words in (1, 2, 3, 4, 5, 5):
        words, posteriors = rng.choice(WORDS, n_words).tolist(), random_posteriors(rng, n_words)

        def score(spans, tags, posteriors=posteriors):
            of_tags = sum(likely.get(tag, 0.0) for likely, tag in zip(posteriors.tags, tags, strict=True))
            return sum(posteriors.brackets.get(span, 0.0) - cost for span in spans) + of_tags

        trees = [expand_unaries(unbinarize(tree)) for tree in all_trees(model, words)]
        forest = parser.forest(words)
        assert (forest.n_items > 0) == bool(trees)
        if not trees:
            continue
        found = forest_mbr(forest, grammar, label_table(grammar), words, posteriors, bracket_cost=cost)
        n_parsed += 1
        assert score(found.spans, found.tags) == pytest.approx(max(score(tree.spans(), tree.tags) for tree in trees))
        assert (found.spans, found.tags) in [(tree.spans(), tree.tags) for tree in trees]
        assert found.span_scores == pytest.approx([posteriors.brackets.get(span, 0.0) for span in found.spans])
        assert found.tag_scores == pytest.approx(
            [p.get(t, 0.0) for p, t in zip(posteriors.tags, found.tags, strict=True)]
        )
    assert n_parsed > 2


def test_nearest_to_a_trees_own_brackets_is_that_tree():
    grammar = random_grammar(1)
    parser, model = Parser(grammar, settings=EXHAUSTIVE), model_of(grammar)
    words = next(
        w for w in ([a, b, c, d] for a in WORDS for b in WORDS for c in WORDS for d in WORDS) if all_trees(model, w)
    )
    forest = parser.forest(words)
    for tree in map(expand_unaries, map(unbinarize, all_trees(model, words))):
        certain = Posteriors(dict.fromkeys(tree.spans(), 1.0), [{tag: 1.0} for tag in tree.tags])
        found = forest_mbr(forest, grammar, label_table(grammar), words, certain, bracket_cost=0.5)
        assert set(found.spans) == set(tree.spans())
        assert found.tags == tree.tags


def test_nearest_is_found_where_no_tree_has_brackets():
    """A sentence of one word that is a tag alone in the treebank."""
    grammar = TreebankPCFG().fit(parse_trees("(ROOT (UH Yes)) (ROOT (S (NP (PRP We)) (VP (VBD left))))"))
    reading = Parser(grammar).read(["Yes"])
    found = reading.forest_mbr(reading.posteriors, bracket_cost=0.45)
    assert (found.spans, found.tags) == ([], ["UH"])
