"""Rules that a treebank lacks: their weights, and the sentences that only they have a tree for."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from grammars import INTERMINALS, WORDS, grammar_of, random_grammar
from hypothesis import given
from hypothesis import strategies as st
from oracles.enumeration import Model, all_trees, brackets, marginals, model_of, pcfg_of, total
from paths import SAMPLE

from spacy_lpcfg.chart import EXHAUSTIVE, Parser
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.grammar.backoff import GLUE, MASS, SHARE, with_backoff
from spacy_lpcfg.grammar.checking import check
from spacy_lpcfg.learning import Spectral, TreebankPCFG
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.trees import Tree, read_trees

SEEDS = pytest.mark.parametrize("seed", range(3))
MARKOV = ("@NP->_VP", "@S->_NP", "@S->_VP", "NP", "S", "S|VP", "VP")


def family_of(symbol: str) -> str:
    return symbol[1:].split("->")[0] if symbol.startswith("@") else symbol


def reference(grammar: Grammar) -> dict[tuple[str, str, str], float]:
    """Weights of the rules that a grammar lacks, by the definition, a rule at a time."""
    names, n = grammar.symbols, grammar.n_preterminals
    known = {tuple(names[a] for a in rule) for rule in grammar.rules}
    share = dict(zip(names, grammar.symbol_weights, strict=True))
    top = max(names[n:], key=dict(zip(names, grammar.root_weights, strict=True)).get)
    below = {family_of(a): Counter() for a in names[n:]}
    for (a, b, c), weight in zip(grammar.rules, grammar.rule_weights, strict=True):
        for child in (b, c):
            if not names[child].startswith("@"):
                below[family_of(names[a])][names[child]] += weight * share[names[a]]
    weights = {}
    for a in names[n:]:
        counts = below[family_of(a)]
        u = {c: counts[c] / sum(counts.values()) for c in counts}
        for c in (c for c in names if not c.startswith("@")):
            for b in names:
                if b.startswith("@") and family_of(b) == family_of(a):
                    weights[a, b, c] = MASS * max(u.get(c, 0), GLUE * share[c] * (family_of(a) == top))
                elif not b.startswith("@") and u.get(b, 0) * u.get(c, 0) >= SHARE:
                    weights[a, b, c] = MASS * u[b] * u[c]
    return {rule: weight for rule, weight in weights.items() if weight > 0 and rule not in known}


@pytest.mark.parametrize("interminals", [INTERMINALS, MARKOV], ids=["markov 0", "markov 1"])
@SEEDS
def test_weights_are_those_of_the_definition(seed, interminals):
    grammar = random_grammar(seed, interminals=interminals)
    shares = np.random.default_rng(seed).dirichlet(np.ones(grammar.n_symbols))
    grammar = replace(grammar, symbol_weights=shares)
    more, missing = with_backoff(grammar), reference(grammar)
    check(more)
    assert len(missing) > 5
    assert more.n_rules == grammar.n_rules + len(missing)
    weights = {rule: weight.item() for rule, weight in pcfg_of(more).binary.items()}
    known = {rule: weight.item() for rule, weight in pcfg_of(grammar).binary.items()}
    assert weights == pytest.approx({**missing, **known})


@SEEDS
def test_states_of_new_rules_are_independent_and_equally_likely(seed):
    grammar = random_grammar(seed)
    old, new = model_of(grammar), model_of(with_backoff(grammar))
    for rule, weight in reference(grammar).items():
        tensor = new.binary.pop(rule)
        np.testing.assert_allclose(tensor.sum(axis=(1, 2)), weight, rtol=1e-3)
        np.testing.assert_allclose(tensor, tensor.mean(), rtol=1e-6)
    for old_part, new_part in zip(
        (old.roots, old.binary, old.lexical), (new.roots, new.binary, new.lexical), strict=True
    ):
        np.testing.assert_equal(new_part, old_part)


@pytest.mark.slow
def test_sentences_without_a_tree_get_one_of_the_larger_grammar():
    """Scores of its brackets are posteriors under that grammar; there is no log-probability."""
    rng, n_tested = np.random.default_rng(0), 0
    for seed in range(20):
        grammar = random_grammar(seed)
        model, larger, parser = model_of(grammar), model_of(with_backoff(grammar)), Parser(grammar, settings=EXHAUSTIVE)
        for words in (rng.choice(WORDS, n).tolist() for n in (2, 3, 4) * 4):
            if all_trees(model, words) or not all_trees(larger, words):
                continue
            parse = parser.parse(words)
            assert (parse.status, parse.is_parsed) == ("backed-off", False)
            assert np.isnan(parse.log_probability)
            expected = marginals(larger, words, brackets)
            for (i, j, label), score in zip(parse.spans, parse.span_scores, strict=True):
                assert score == pytest.approx(expected[label, i, j] / total(larger, words), abs=1e-4)
            n_tested += 1
    assert n_tested > 10


def flat_grammar() -> Grammar:
    """Sentences (Sss D N V), and (Ppp X Y), in words of the tags' letters."""
    one = np.ones((1, 1, 1))
    rules = [("Sss", "@Sss", "V"), ("@Sss", "D", "N"), ("Ppp", "X", "Y")]
    model = Model({"Sss": np.full(1, 0.9), "Ppp": np.full(1, 0.1)}, dict.fromkeys(rules, one), {})
    model.lexical.update({(tag, tag.lower()): np.ones(1) for tag in "DNVXY"})
    return grammar_of(model, model, is_proper=True)


@pytest.mark.parametrize(
    ("words", "tree"),
    [
        ("d n v", "(Sss (D d) (N n) (V v))"),
        ("d n n v", "(Sss (D d) (N n) (N n) (V v))"),
        ("v d", "(Sss (V v) (D d))"),
        ("d n x y v", "(Sss (D d) (N n) (Ppp (X x) (Y y)) (V v))"),
        ("d n y", "(Sss (D d) (N n) (Y y))"),
    ],
    ids=["treebank", "two of a kind", "another order", "constituent of another place", "word of another place"],
)
def test_children_of_a_label_stand_in_any_order(words, tree):
    parse = Parser(flat_grammar()).parse(words.split())
    assert str(parse.tree) == tree
    assert parse.status == ("parsed" if words == "d n v" else "backed-off")


def test_parts_that_no_rule_begins_with_are_glued_flat():
    parse = Parser(flat_grammar()).parse(["y", "d", "n", "v"])
    assert (parse.status, str(parse.tree)) == ("glued", "(Sss (Sss (Y y)) (Sss (D d) (N n) (V v)))")


def test_a_treebank_of_single_words_has_no_rules_to_add():
    grammar = TreebankPCFG().fit([Tree("NP", (Tree("NN", word="word"),)), Tree("VB", word="go")])
    assert with_backoff(grammar).n_rules == 0
    assert Parser(grammar).parse(["go", "word"]).status == "glued"


@pytest.fixture(scope="module", params=[TreebankPCFG(), Spectral(n_states=4)], ids=["pcfg", "spectral"])
def poor_parser(request) -> Parser:
    """By a treebank of ten trees, so that most sentences have no tree of its grammar."""
    return Parser(request.param.fit(list(read_trees([SAMPLE / "train.mrg"]))[:10]))


@given(data=st.data())
def test_any_tags_get_a_tree(poor_parser, data):
    tags = data.draw(st.lists(st.sampled_from(poor_parser.grammar.tags), min_size=2, max_size=10))
    words = data.draw(st.lists(st.text(min_size=1, max_size=5), min_size=len(tags), max_size=len(tags)))
    parse = poor_parser.parse(Query(words, tags))
    assert (parse.tree.words, parse.tree.tags) == (words, tags)
    assert parse.status in ("parsed", "backed-off", "glued")
    assert np.isfinite(parse.span_scores).all()
    assert np.isfinite(parse.log_probability) == (parse.status == "parsed" and poor_parser.grammar.is_proper)
