"""The parser: scores of brackets, tags, fall-backs, any text, threads."""

from collections import defaultdict
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from grammars import WORDS, grammar_of, one_state, random_grammar, sentences
from hypothesis import given
from hypothesis import strategies as st
from oracles.enumeration import Model, all_trees, brackets, cancellation, items, marginals, model_of, total
from oracles.posteriors import posteriors_of
from paths import SAMPLE

from spacy_lpcfg.chart import EXHAUSTIVE, ChartSettings, Parser
from spacy_lpcfg.chart._coarse import build_forest
from spacy_lpcfg.chart._forest import posteriors
from spacy_lpcfg.learning import Pivot, Spectral, TreebankPCFG
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.constraints import Constraints
from spacy_lpcfg.parsing.decodings import DECODINGS, MinimumRisk
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import Posteriors
from spacy_lpcfg.parsing.segmentation import Limits, SegmentingParser
from spacy_lpcfg.trees import normalize, parse_trees, read_trees
from spacy_lpcfg.trees.transforms import split_chain

SEEDS = pytest.mark.parametrize("seed", range(3))
ODD_TEXTS = [
    " ", "\x00", "\x1b[0m", "\u202eabc", "שלום", "👩‍🔬", "\ud800", "e\u0301", "<form>", "<tag NN>", "-LRB-",
    "a" * 5000,
]  # fmt: skip


@pytest.fixture(scope="module", params=["pcfg", "spectral"])
def parser(request, sample_grammar) -> Parser:
    if request.param == "pcfg":
        return Parser(sample_grammar)
    return Parser(Spectral(n_states=8).fit(islice(read_trees(SAMPLE / "train.mrg"), 250)))


@pytest.fixture(scope="module")
def golds():
    return [normalize(tree) for tree in list(read_trees([SAMPLE / "dev.mrg"]))[:40]]


def tiny_parser(rules, **settings):
    """A parser with the rules "a b c" and the words "a x", of weight 1 and one state, under roots of three letters."""
    model = Model({}, {}, {})
    for rule in rules:
        a, *rhs = rule.split()
        if len(rhs) == 2:
            model.binary[a, rhs[0], rhs[1]] = np.ones((1, 1, 1))
        else:
            model.lexical[a, rhs[0]] = np.ones(1)
        if len(a) == 3:
            model.roots[a] = np.ones(1)
    return Parser(grammar_of(model, model, is_proper=True), settings=ChartSettings(**settings))


# ----------------------------------------------------------------------------------------------- scores


@SEEDS
def test_posteriors_and_scores_are_those_of_all_brackets_and_tags(seed):
    """Posteriors leave out what is less likely than a thousandth; scores of chosen brackets do not."""
    grammar = random_grammar(seed)
    model, parser = model_of(grammar), Parser(grammar, settings=EXHAUSTIVE)
    for words in sentences(grammar, seed):
        found, parse, whole = parser.posteriors(words), parser.parse(words), total(model, words)
        expected = {(i, j, label): p / whole for (label, i, j), p in marginals(model, words, brackets).items()}
        assert parse.span_scores == pytest.approx([expected[span] for span in parse.spans], abs=1e-5)
        assert {span: found.brackets.get(span, 0.0) for span in expected} == pytest.approx(expected, abs=2e-3)
        assert set(found.brackets) <= set(expected)
        for (i, tag), p in marginals(model, words, tags).items():
            assert found.tags[i].get(tag, 0.0) == pytest.approx(p / whole, abs=2e-3)


@SEEDS
def test_posteriors_of_a_chart_are_plain_sums_in_pre_order(seed):
    """Labels of the same words stand in the order that most trees have them in."""
    grammar, rng = random_grammar(seed), np.random.default_rng(seed)
    parser = Parser(grammar, settings=EXHAUSTIVE)
    for words in sentences(grammar, seed):
        forest = parser.forest(words)
        p = rng.random(forest.n_items) * rng.choice([1e-6, 1e-3, 0.3], forest.n_items)
        found = Posteriors(*posteriors(forest, parser._labels, p, 1e-3))
        expected = posteriors_of(forest.item_table(), p, grammar, 1e-3)
        assert list(found.brackets) == list(expected.brackets)
        assert found.brackets == pytest.approx(expected.brackets)
        for own, other in zip(found.tags, expected.tags, strict=True):
            assert own == pytest.approx(other)


def test_posteriors_of_a_sentence_without_a_tree_are_those_of_its_parse(parser):
    words = ["the"] * 50
    found, parse = parser.posteriors(words), parser.parse(words)
    assert list(found.brackets) == list(dict.fromkeys(parse.spans))
    assert [max(tags, key=tags.get) for tags in found.tags] == parse.tags


@pytest.mark.parametrize("absolute", [True, False])
@SEEDS
def test_scores_of_signed_weights_are_sums_of_item_marginals(seed, absolute):
    grammar = random_grammar(seed, proper=False)
    model, parser = model_of(grammar), Parser(grammar, settings=replace(EXHAUSTIVE, absolute=absolute))
    for words in sentences(grammar, seed):
        parse, weight = parser.parse(words), total(model, words)
        spans, tags = defaultdict(float), defaultdict(float)
        for (a, i, j), value in marginals(model, words, items).items():
            chain = [] if a.startswith("@") else split_chain(a)
            score = abs(value / weight) if absolute else value / weight
            if j - i == 1:
                tags[i, chain.pop()] += score
            for label in chain:
                spans[i, j, label] += score
        tolerance = 1e-5 / cancellation(model, words)
        for part, score in zip(parse.spans, parse.span_scores, strict=True):
            assert score == pytest.approx(np.clip(spans[part], 0, 1), abs=tolerance)
        for part, score in zip(enumerate(parse.tags), parse.tag_scores, strict=True):
            assert score == pytest.approx(np.clip(tags[part], 0, 1), abs=tolerance)


@pytest.mark.parametrize("cost", [0.0, 0.45, 0.9])
@SEEDS
def test_brackets_are_those_of_least_expected_loss(seed, cost):
    """Against all trees: the largest sum of posteriors of brackets, each less the cost, and of tags."""
    grammar = random_grammar(seed)
    model, parser = model_of(grammar), Parser(grammar, settings=EXHAUSTIVE, decoding=MinimumRisk(cost))
    for words in sentences(grammar, seed):
        bracket, tag, whole = marginals(model, words, brackets), marginals(model, words, tags), total(model, words)

        def score(found, tagged, bracket=bracket, tag=tag, whole=whole):
            return sum(bracket[part] / whole - cost for part in found) + sum(tag[part] / whole for part in tagged)

        parse = parser.parse(words)
        found = score([(label, i, j) for i, j, label in parse.spans], enumerate(parse.tags))
        best = max(score(brackets(tree), tags(tree)) for tree in all_trees(model, words))
        assert found == pytest.approx(best, abs=1e-5)


def tags(tree):
    """The places and tags of a skeletal tree's leaves."""
    return {(i, split_chain(a)[-1]) for a, i, j in items(tree) if j - i == 1}


@pytest.mark.parametrize("name", ["threshold", "edge_threshold", "beam", "tag_threshold", "retry_beam"])
def test_shares_that_cannot_be_are_refused(name):
    for value in (-0.1, 1.1, float("nan"), "0.1", *[None] * (name != "retry_beam")):
        with pytest.raises(ValueError, match=f"Expected {name} to be a number from 0 to 1"):
            ChartSettings(**{name: value})


def test_span_score_counts_a_symbol_once_that_holds_a_label_twice():
    """With (NP (VP (NP (N ant)))) and (N ant) equally likely, the bracket NP has probability a half."""
    model = Model({"NP|VP|NP|N": np.ones(1), "N": np.full(1, 0.9)}, {}, {})
    model.lexical.update({("NP|VP|NP|N", "ant"): np.full(1, 0.5), ("N", "ant"): np.full(1, 0.5)})
    model.binary["S", "N", "N"] = np.ones((1, 1, 1))
    parse = Parser(grammar_of(model, model, is_proper=False), settings=EXHAUSTIVE).parse(["ant"])
    assert [label for _, _, label in parse.spans] == ["NP", "VP", "NP"]
    np.testing.assert_allclose(parse.span_scores, 1 / 1.9, rtol=1e-6)
    np.testing.assert_allclose(parse.tag_scores, 1.0, rtol=1e-6)


@pytest.mark.parametrize("settings", [ChartSettings(), EXHAUSTIVE], ids=["pruned", "exhaustive"])
def test_parse_is_consistent(parser, golds, settings):
    parser = Parser(parser.grammar, settings=settings)
    for gold in golds[:15]:
        parse = parser.parse(gold.words)
        assert parse.is_parsed
        assert parse.tree.words == gold.words
        assert (parse.tree.tags, parse.tree.spans()) == (parse.tags, parse.spans)
        for scores, n in ((parse.span_scores, len(parse.spans)), (parse.tag_scores, len(gold))):
            assert (scores.dtype, scores.shape) == (np.float32, (n,))
            assert scores.min() >= 0
            assert scores.max() <= 1
        assert np.isfinite(parse.log_probability) == parser.grammar.is_proper
        again = parser.parse(gold.words)
        assert (again.spans, again.tags) == (parse.spans, parse.tags)
        np.testing.assert_equal(again.log_probability, parse.log_probability)


def test_pruning_takes_a_little_of_the_probability(parser, golds):
    if parser.grammar.is_proper:
        full = Parser(parser.grammar, settings=EXHAUSTIVE)
        pruned, exact = (np.array([p.parse(g.words).log_probability for g in golds[:15]]) for p in (parser, full))
        assert (pruned <= exact + 1e-5).all()
        assert np.median(exact - pruned) < 0.5


# ------------------------------------------------------------------------------------------------- tags


@pytest.mark.parametrize("tag_weight", [0.0, 0.25, 1.0])
@SEEDS
def test_tag_weight_scales_emissions_under_other_tags(seed, tag_weight):
    """0 takes tags as given, 1 ignores them; a tag the word never had comes with its own emission, unless ignored."""
    grammar = random_grammar(seed)
    model, parser = model_of(grammar), Parser(grammar, settings=EXHAUSTIVE)
    rng, n_tested = np.random.default_rng(seed), 0
    for _ in range(20):
        words = rng.permutation(WORDS).tolist()
        tags = rng.choice(["D", "N", "V", None, "XX"], 4).tolist()
        expected = total(_tagged(model, words, tags, tag_weight), words)
        if expected > 0:
            parse = parser.parse(Query(words, tags, tag_weight=tag_weight))
            assert parse.log_probability == pytest.approx(np.log(expected), abs=1e-5)
            n_tested += 1
    assert n_tested > 2


def _tagged(model, words, tags, tag_weight):
    """The model for one sentence of different words with given tags."""
    lexical = {}
    for x, tag in zip(words, tags, strict=True):
        rows = {a: vector for (a, y), vector in model.lexical.items() if y == x}
        is_known = tag in ("D", "N", "V")
        if is_known and tag_weight < 1 and not any(split_chain(a)[-1] == tag for a in rows):
            rows.update({a: vector for (a, y), vector in model.lexical.items() if y == f"<tag {tag}>"})
        for a, vector in rows.items():
            kept = 1.0 if not is_known or split_chain(a)[-1] == tag else tag_weight
            if kept > 0:
                lexical[a, x] = kept * vector
    return Model(model.roots, model.binary, lexical)


def test_tag_prior_can_be_overruled(parser):
    """An absurd tag stands as given, and gives way to the words as a prior."""
    words, tags = ["the", "old", "ferry", "was", "sold", "."], ["DT", "JJ", "UH", "VBD", "VBN", "."]
    assert parser.parse(Query(words, tags)).tags == tags
    assert parser.parse(Query(words, tags, tag_weight=0.5)).tags == ["DT", "JJ", "NN", "VBD", "VBN", "."]


# -------------------------------------------------------------------------------------------- fall-backs


def test_a_sentence_that_pruning_leaves_no_tree_is_tried_again(parser, golds):
    """With a beam of 1 many charts have no tree; what is tried again has the beam and the thresholds of the retry."""
    narrow = {"beam": 1.0, "tag_threshold": 0.5, "boundary_threshold": 0.5}
    once, again = (Parser(parser.grammar, settings=ChartSettings(**narrow, retry_beam=share)) for share in (None, 1e-5))
    wide = Parser(parser.grammar, settings=ChartSettings(beam=1e-5, tag_threshold=0.0, boundary_threshold=0.0))
    failed = [gold for gold in golds if once.forest(gold.words).n_items == 0]
    assert len(failed) > 5
    for gold in failed:
        np.testing.assert_array_equal(again.forest(gold.words).edge_table(), wide.forest(gold.words).edge_table())
        assert once.parse(gold.words).status in ("backed-off", "glued")
        assert again.parse(gold.words).status != "glued"


def test_parts_without_a_tree_are_glued():
    parser = tiny_parser(["Sss D N", "D ant", "N bee"])
    parse = parser.parse(["ant", "bee"] * 3)
    assert (parse.status, parse.is_parsed) == ("glued", False)
    assert str(parse.tree) == "(Sss (Sss (D ant) (N bee)) (Sss (D ant) (N bee)) (Sss (D ant) (N bee)))"
    assert np.isnan(parse.log_probability)
    assert parse.span_scores.tolist() == [0.0, 1.0, 1.0, 1.0]


def test_word_that_is_no_sentence_gets_the_top_label():
    parser = tiny_parser(["Sss D N", "D ant", "N bee"])
    for words, tags, tag in ((["ant"], None, "D"), (["ant"], ["N"], "N"), (["ant"], ["XX"], "XX")):
        parse = parser.parse(Query(words, tags))
        assert (parse.status, str(parse.tree)) == ("glued", f"(Sss ({tag} ant))")
    assert parser.parse(Query(["ant"], ["N"], tag_weight=1.0)).tags == ["D"]
    assert parser.parse(Query(["ant"], ["N"], tag_weight=0.5)).tags == ["D"]


@pytest.mark.parametrize("n_words", [6, 7, 23, 400])
def test_long_sentences_are_cut_into_segments(parser, n_words):
    words = [("," if i % 7 == 4 else "dog") for i in range(n_words)]
    parse = SegmentingParser(Parser(parser.grammar), Limits(5)).parse(words)
    assert parse.status == "segmented"
    assert parse.tree.words == words
    assert parse.span_scores[0] == 0
    pieces = [len(child) for child in parse.tree.children]
    assert max(pieces) <= 5
    cuts = np.cumsum(pieces)[:-1]
    assert all(words[cut - 1] == "," or "," not in words[max(cut - 3, 0) : cut] for cut in cuts)


@pytest.mark.parametrize("max_applications", [0, 10, 300])
def test_charts_over_the_budget_are_cut_into_segments(parser, golds, max_applications):
    small = Parser(parser.grammar, settings=ChartSettings(max_applications=max_applications))
    for gold in golds[:10]:
        parse = small.parse(gold.words)
        assert parse.tree.words == gold.words
        assert parse.status in ("parsed", "segmented", "backed-off", "glued")
        assert parse.status == "segmented" or max_applications > 0


def test_charts_with_too_many_cells_are_not_allocated(parser, golds, monkeypatch):
    """However long a sentence is, which 32 bits may not number the cells of."""
    monkeypatch.setattr("spacy_lpcfg.chart.parser.MOST_CELL_BYTES", 50_000)
    words = [word for gold in golds[:10] for word in gold.words]
    lengths = []

    def build(coarse, context, mask, *arguments, **settings):
        lengths.append(len(mask.cells) - 1)
        return build_forest(coarse, context, mask, *arguments, **settings)

    monkeypatch.setattr("spacy_lpcfg.chart.parser.build_forest", build)
    parse = parser.parse(words)
    assert (parse.tree.words, parse.status) == (words, "segmented")
    assert 10 < max(lengths) <= 50 < len(words)
    constrained = parser.parse(Query(words, constraints=Constraints(required=((0, 2, "NP"),))))
    assert constrained.tree.words == words


def test_weights_that_cancel_out_leave_the_coarse_tree():
    model = Model({"S": np.array([1.0, -1.0])}, {("S", "D", "N"): np.ones((2, 1, 1))}, {})
    model.lexical.update({("D", "ant"): np.ones(1), ("N", "bee"): np.ones(1)})
    parse = Parser(grammar_of(model, one_state(model, 0), is_proper=False)).parse(["ant", "bee"])
    assert (parse.status, parse.is_parsed, str(parse.tree)) == ("coarse", True, "(S (D ant) (N bee))")
    assert parse.span_scores.tolist() == [1.0]


@pytest.mark.parametrize(
    "pruning",
    [{"threshold": 0.6}, {"edge_threshold": 0.6}, {"beam": 1.0}, {"tag_threshold": 0.9}, {"boundary_threshold": 0.9}],
)
def test_any_pruning_leaves_a_tree(parser, golds, pruning):
    strict = Parser(parser.grammar, settings=ChartSettings(**pruning))
    for gold in golds[:20]:
        assert strict.parse(gold.words).tree.words == gold.words


# --------------------------------------------------------------------------------------------- any input


@given(data=st.data())
def test_any_text_and_any_tags_get_a_tree(parser, data):
    words = data.draw(
        st.lists(st.text(min_size=1, max_size=8) | st.sampled_from([*ODD_TEXTS, "dog", "the"]), min_size=1, max_size=12)
    )
    some = st.none() | st.text(max_size=3) | st.sampled_from(parser.grammar.tags)
    tags = data.draw(st.none() | st.lists(some, min_size=len(words), max_size=len(words)))
    tag_weight = data.draw(st.sampled_from([0.0, 0.01, 1.0]))
    parse = parser.parse(Query(words, tags, tag_weight=tag_weight))
    assert parse.tree.words == words
    assert parse.status in ("parsed", "backed-off", "glued")
    assert np.isfinite(parse.span_scores).all()
    if tags is None:
        assert set(parse.tags) <= set(parser.grammar.tags)
    elif tag_weight == 0:
        assert all(mine == tag for mine, tag in zip(parse.tags, tags, strict=True) if tag)


@pytest.mark.parametrize(("words", "tags"), [([], None), ([], []), (["a"], []), (["a"], ["DT", "NN"])])
def test_parse_needs_words_and_a_tag_for_each(parser, words, tags):
    with pytest.raises(ValueError, match="at least one word, and a tag or None for each"):
        parser.parse(Query(words, tags))


# ----------------------------------------------------------------------------------------------- threads


def test_most_probable_tree_is_the_first_of_n_best(golds):
    grammar = Pivot(n_states=4, n_iterations=1).fit(golds[:20])
    parser = make_parser(grammar, decoding="most-probable")
    n_other = 0
    for gold in golds[:20]:
        parse, best = parser.parse(gold.words), parser.n_best(gold.words, 1)
        assert (parse.tree, parse.status) == (best[0].tree, "parsed")
        assert parse.log_probability >= best[0].log_probability
        posteriors = parser.posteriors(gold.words).brackets
        assert parse.span_scores == pytest.approx([posteriors.get(span, 0.0) for span in parse.spans], abs=1e-6)
        n_other += Parser(grammar).parse(gold.words).tree != parse.tree
        assert {(state.start, state.end) for state in parser.states(gold.words)} >= {span[:2] for span in parse.spans}
    assert n_other > 0
    tiny = make_parser(tiny_parser(["Sss D N", "D ant", "N bee"]).grammar, decoding="most-probable")
    assert tiny.parse(["ant", "bee"]).status == "parsed"
    assert tiny.parse(["bee", "ant", "bee"]).status in ("backed-off", "glued")  # no tree that could be probable


def test_most_probable_tree_needs_one_proper_grammar(golds):
    spectral = Spectral(n_states=2).fit(golds)
    tempered = replace(spectral, tau=0.5)
    for grammar, tau in ((spectral, None), (tempered, 1.0)):
        with pytest.raises(ValueError, match=r"got 'most-probable'. The most probable tree needs a proper grammar"):
            make_parser(grammar, decoding="most-probable", tau=tau)
    for grammar, tau in ((spectral, 0.5), (tempered, None)):
        parser = make_parser(grammar, decoding="most-probable", tau=tau)
        assert parser.parse(golds[0].words).tree == parser.n_best(golds[0].words, 1)[0].tree


@pytest.mark.parametrize("decoding", DECODINGS)
def test_given_tag_that_the_grammar_lacks_keeps_the_score_of_its_own_tag(golds, sample_grammar, decoding):
    parser = make_parser(sample_grammar, decoding=decoding)
    words = golds[0].words
    given, plain = parser.parse(Query(words, ["FOO", *[None] * (len(words) - 1)])), parser.parse(words)
    assert given.tags == ["FOO", *plain.tags[1:]]
    assert given.tag_scores == pytest.approx(plain.tag_scores)


def test_parser_reads_capitals_as_if_each_word_opened_the_sentence():
    """All words of a sentence in capitals are unknown, and those of a headline look like names."""
    lines = [
        *["(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT the) (NN cat))))"] * 5,
        *["(S (NP (DT the) (NN cat)) (VP (VBD ran)))"] * 5,
        *[f"(S (NP (NNP {name}) (NNP {name})) (VP (VBD ran)))" for name in ("Ann", "Bob", "Eve", "IBM", "NATO")],
    ]
    parser = Parser(TreebankPCFG().fit(parse_trees("\n".join(lines))))
    plain = parser.parse(["the", "dog", "saw", "the", "cat"]).tree
    for words in ("THE DOG SAW THE CAT", "The Dog Saw the Cat"):
        tree = parser.parse(words.split()).tree
        assert (tree.words, tree.tags, tree.spans()) == (words.split(), plain.tags, plain.spans())
        assert parser.tree_log_probability(tree) <= parser.log_probability(tree.words)
    assert parser.parse(["the", "dog", "saw", "Eve", "Eve"]).tree.tags == ["DT", "NN", "VBD", "NNP", "NNP"]


class SmallProducts(np.ndarray):
    """An array of whose matrix products each is so small that BLAS computes it in one thread."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        inputs = tuple(np.asarray(each) for each in inputs)
        if ufunc is np.matmul:
            assert inputs[0].shape[-2] * inputs[1].size <= 2**18
        return getattr(ufunc, method)(*inputs, **options)


def test_parsing_starts_no_threads_of_blas():
    parser = tiny_parser(["Sss A B", "A ant", "B bee"])
    context = parser._context
    context._before, context._after = context._before.view(SmallProducts), context._after.view(SmallProducts)
    assert str(parser.parse(["ant", "bee"]).tree) == "(Sss (A ant) (B bee))"
