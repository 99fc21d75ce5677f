"""Limits of time and memory: sentences of any length get a tree and a flag from every component."""

from itertools import cycle, islice, pairwise

import numpy as np
import pytest
import stored_models
from pipelines import SAMPLE, give_model, pipeline_by, untrained
from spacy.tokens import Doc

from spacy_lpcfg.bracketing.tags import universal
from spacy_lpcfg.chart import Parser
from spacy_lpcfg.components.doc.view import doc_constituency
from spacy_lpcfg.isbn import IncrementalParser
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.constraints import Constraints
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.segmentation import Limits, SegmentingParser, cut_points
from spacy_lpcfg.trees import read_trees

COMPONENTS = pytest.mark.parametrize("name", ["lpcfg_parser", "isbn_parser", "spectral_bracketer"])
LONG = 2000


@pytest.fixture(scope="module")
def core(sample_grammar):
    return Parser(sample_grammar)


def long_sentence(n_words):
    """Words and tags of as many sample sentences as it takes, without their final punctuation."""
    leaves = [leaf for tree in read_trees(SAMPLE / "dev.mrg") for leaf in zip(tree.words[:-1], tree.tags, strict=False)]
    return map(list, zip(*islice(cycle(leaves), n_words), strict=True))


def long_doc(nlp, n_words):
    words, tags = long_sentence(n_words)
    starts = [True] + [False] * (n_words - 1)
    return Doc(nlp.vocab, words=words, tags=tags, pos=list(map(universal, tags)), sent_starts=starts)


def component(name, **config):
    """A pipeline with a small model."""
    return give_model(untrained(name, **config), name)


@pytest.mark.slow
@COMPONENTS
def test_two_thousand_words_get_one_tree_that_says_it_was_cut(name):
    nlp = component(name)
    (doc,) = nlp.pipe([long_doc(nlp, LONG)])
    (root,) = doc_constituency(doc)
    assert (root.start, root.end) == (0, LONG)
    assert all(token.tag_ for token in doc)
    (group,) = doc.spans.values()
    assert group.attrs["status"] == ["segmented"]
    assert len(group) > 100


@COMPONENTS
def test_max_words_is_a_setting(name):
    nlp = component(name, **({"max_words": 7} if name == "spectral_bracketer" else {"limits": {"max_words": 7}}))
    docs = [nlp(long_doc(nlp, n)) for n in (3, 50)]
    assert [status for doc in docs for group in doc.spans.values() for status in group.attrs["status"]] == [
        "parsed",
        "segmented",
    ]
    root = doc_constituency(docs[1])[0]
    if name != "spectral_bracketer":  # whose pieces hang on each other
        assert max(child.end - child.start for child in root.children) <= 7


def test_bounds_below_nothing_are_refused(core):
    for bounds in ({"max_words": 0}, {"max_words": 1, "max_seconds": -1.0}):
        with pytest.raises(ValueError, match=r"Expected max_(words|seconds) to be a .*, got (0|-1.0)"):
            Limits(**bounds)


def test_cut_sentence_has_the_trees_of_its_pieces_side_by_side(core):
    words, tags = long_sentence(60)
    parse = SegmentingParser(core, Limits(25)).parse(Query(words, tags, tag_weight=0.5))
    bounds = [0, *cut_points(words, 25), 60]
    pieces = [core.parse(Query(words[i:j], tags[i:j], tag_weight=0.5)) for i, j in pairwise(bounds)]
    assert parse.spans[0][:2] == (0, 60)
    shifted = [(i + a, i + b, label) for i, piece in zip(bounds, pieces, strict=False) for a, b, label in piece.spans]
    assert parse.spans[1:] == shifted
    assert parse.tags == [tag for piece in pieces for tag in piece.tags]
    assert parse.span_scores.tolist() == [0, *(score for piece in pieces for score in piece.span_scores)]
    assert parse.status == "segmented"
    assert parse.tree.words == words


def test_cut_sentence_is_told_once_before_it_is_parsed(core, caplog):
    words, _ = long_sentence(60)
    parser = SegmentingParser(core, Limits(20))
    for _ in range(2):
        parser.parse(words)
    (told,) = caplog.messages
    n_pieces = 1 + len(cut_points(words, 20))
    assert told.startswith(f"A sentence of 60 words is split into {n_pieces} pieces of at most 20 words")


def test_sentence_within_its_bounds_is_the_parsers_own(core):
    words, _ = long_sentence(12)
    bounded = SegmentingParser(core, Limits(12, 0))
    assert bounded.parse(words).spans == core.parse(words).spans
    assert bounded.parse(words).status == "parsed"
    assert bounded.posteriors(words).brackets == core.posteriors(words).brackets
    assert bounded.surprisal(words).tolist() == core.surprisal(words).tolist()
    assert bounded.log_probability(words) == core.log_probability(words)
    assert [each.tree for each in bounded.n_best(words, n=3)] == [each.tree for each in core.n_best(words, n=3)]
    assert bounded.distribution(words).entropy() == core.distribution(words).entropy()


def test_words_for_which_there_is_no_time_get_tags_only(core):
    words, _ = long_sentence(60)
    parse = SegmentingParser(core, Limits(20, 0)).parse(words)
    first = cut_points(words, 20)[0]
    assert parse.status == "out-of-time"
    assert parse.spans[1:] == core.parse(words[:first]).spans
    assert parse.tags[first:] == core.likely_tags(words[first:])
    assert parse.tag_scores[first:].tolist() == [0] * (60 - first)
    assert len(parse.tag_scores) == 60
    ample = SegmentingParser(core, Limits(20, 1e6)).parse(words)
    assert ample.spans == SegmentingParser(core, Limits(20)).parse(words).spans


@pytest.mark.parametrize("kind", ["grammar", "isbn", "evidence"])
def test_words_for_which_there_is_no_time_are_not_parsed(kind):
    model = stored_models.model(kind)
    parser, asked = IncrementalParser(model) if kind == "isbn" else make_parser(model), []

    class Recorder:
        def parse(self, query):
            asked.append(query)
            return parser.parse(query)

        def __getattr__(self, name):
            return getattr(parser, name)

    words = ["the", "😀", *(f"xq{i}zv" for i in range(1_000))]
    parse = SegmentingParser(Recorder(), Limits(10, 0)).parse(words)
    assert len(asked) == 1
    assert parse.status == "out-of-time"
    assert len(parse.tags) == len(words)
    assert set(parse.tags) <= set(getattr(model, "tags", parse.tags))


def test_likely_tags_are_those_of_the_lexicon(core):
    found = core.likely_tags(["the", "of", "qwxyz"])
    assert found[:2] == ["DT", "IN"]
    assert found[2] == core.likely_tags(["<form>"])[0]
    isbn = stored_models.model("isbn")
    known = isbn.vocabulary.known.outcomes
    words = sorted(known)
    assert IncrementalParser(isbn).likely_tags(words) == [isbn.tags[min(known[word])] for word in words]


def test_words_for_which_there_is_no_time_keep_given_tags(core):
    words, _ = long_sentence(40)
    late = slice(cut_points(words, 20)[0], None)
    bounded = SegmentingParser(core, Limits(20, 0))
    given = ["FW"] * 39 + [None]
    for weight in (0.0, 0.03):
        assert bounded.parse(Query(words, given, tag_weight=weight)).tags[late] == [
            *given[late][:-1],
            *core.likely_tags(words[-1:]),
        ]
    assert bounded.parse(Query(words, given, tag_weight=1.0)).tags[late] == core.likely_tags(words[late])


def test_constraints_of_a_doc_are_asked_for_once():
    nlp = component("lpcfg_parser", limits={"max_words": 5, "max_seconds": 0.0})
    pipe = nlp.get_pipe("lpcfg_parser")
    calls = []

    def entities(doc):
        calls.append(doc)
        return Constraints(whole=tuple((i, i + 1) for i in range(len(doc))))

    pipe.constraints = entities
    n = 100
    doc = Doc(nlp.vocab, words=["ship", "."] * n, sent_starts=[True, False] * n)
    (found,) = pipe.predict([doc])
    assert len(calls) == 1
    assert len(found.parses) == n


def test_pieces_have_the_brackets_that_they_have_alone():
    bracketer = stored_models.model("bracketer")
    words, tags = long_sentence(60)
    found = bracketer.bracket(words, tags, max_words=15)
    pieces = [span for span in found.spans if 1 < span[1] - span[0] <= 20]
    outer = [a for a in pieces if not any(b[0] <= a[0] and a[1] <= b[1] and a != b for b in pieces)]
    assert len(outer) > 3
    for start, end in outer:
        alone = bracketer.bracket(words[start:end], tags[start:end])
        inner = [(i - start, j - start) for i, j in found.spans if start <= i and j <= end]
        assert list(alone.spans) == inner


def test_cut_sentence_has_no_other_answers_than_its_tree(core):
    words, _ = long_sentence(30)
    bounded = SegmentingParser(core, Limits(12))
    parse = bounded.parse(words)
    assert list(bounded.posteriors(words).brackets) == parse.spans
    assert bounded.n_best(words, n=2) == bounded.states(words) == bounded.distribution(words).n_best(2) == []
    with pytest.raises(ValueError, match="n to be"):
        bounded.n_best(words, 0)
    assert np.isnan(bounded.surprisal(words)).all()
    assert len(bounded.surprisal(words)) == 31
    assert np.isnan(bounded.log_probability(words))
    assert bounded.tree_log_probability(parse.tree) == core.tree_log_probability(parse.tree)


def test_cut_sentence_says_whether_it_satisfies_constraints(core):
    words, _ = long_sentence(30)
    bounded = SegmentingParser(core, Limits(12))
    kept = bounded.parse(words).spans[1]
    assert bounded.parse(Query(words, constraints=Constraints(required=(kept,)))).status == "segmented"
    assert bounded.parse(Query(words, constraints=Constraints(forbidden=(kept,)))).status == "unconstrained"
    with pytest.raises(ValueError, match="within the 30 words"):
        bounded.parse(Query(words, constraints=Constraints(whole=((0, 31),))))


def test_max_memory_bounds_the_chart_and_max_seconds_the_time(sample_grammar):
    nlp, _ = pipeline_by(sample_grammar, limits={"max_memory": 1e-4, "max_words": 60, "max_seconds": 0.0})
    short, long = (nlp(long_doc(nlp, n)).spans["constituents"].attrs["status"] for n in (20, 70))
    assert (short, long) == (["segmented"], ["out-of-time"])


def test_sentence_that_is_cut_for_memory_has_surprisals(sample_grammar):
    nlp, parser = pipeline_by(sample_grammar, limits={"max_memory": 1e-4})
    doc = long_doc(nlp, 20)
    assert nlp(doc).spans["constituents"].attrs["status"] == ["segmented"]
    assert parser.n_best(doc, 2) == parser.states(doc) == [[]]
    assert np.isfinite(parser.surprisals(doc)[0]).all()
    assert np.isfinite(parser.log_probabilities(doc)).all()


def test_surprisal_of_a_long_sentence_is_unknown(sample_grammar):
    nlp, _ = pipeline_by(sample_grammar, limits={"max_words": 10}, output={"surprisal": True})
    short, long = (nlp(long_doc(nlp, n)) for n in (9, 11))
    assert np.isfinite(short.spans["constituents"].attrs["surprisal"]).all()
    assert np.isnan(long.spans["constituents"].attrs["surprisal"]).all()
