"""`TreeMatcher`: patterns asked of Docs."""

import pickle

import pytest
import spacy
from pipelines import pipeline_by
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.doc.tree_matcher import TreeMatcher
from spacy_lpcfg.components.doc.view import NonConstituentError
from spacy_lpcfg.components.training.corpus import tree_to_doc
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.queries import PatternError, TreeIndex
from spacy_lpcfg.trees import HeadRules, Tree, parse_trees
from spacy_lpcfg.trees.heads import ENGLISH

TREES = list(
    parse_trees(
        "(S (NP (NP (NNS Sales)) (PP (IN of) (NP (NN tea)))) (VP (VBD rose)))\n"
        "(S (NP (PRP They)) (VP (VBD -LRB-fell-RRB-)))"
    )
)


@pytest.fixture
def doc():
    return tree_to_doc(Vocab(), TREES)


def texts(matches) -> list[tuple[str, str, str]]:
    return [(match.key, match.span.label_, match.span.text) for match in matches]


def test_tree_matcher_finds_what_an_index_finds(doc):
    matcher = TreeMatcher(doc.vocab)
    patterns = ["NP < (PP=pp <# IN)", "VP . NP=next", "VBD|NN", "/^-LRB-/", "_ROOT_"]
    for pattern in patterns:
        matcher.add(pattern, [pattern])
    assert texts(matcher(doc)) == [
        ("NP < (PP=pp <# IN)", "NP", "Sales of tea"),
        ("VBD|NN", "NN", "tea"),
        ("VBD|NN", "VBD", "rose"),
        ("VBD|NN", "VBD", "(fell)"),
        ("/^-LRB-/", "-LRB-fell-RRB-", "(fell)"),
        ("_ROOT_", "S", "Sales of tea rose"),
        ("_ROOT_", "S", "They (fell)"),
    ]
    (first, *_) = matcher(doc)
    assert {name: (span.text, span.label_) for name, span in first.names.items()} == {"pp": ("of tea", "PP")}
    assert first.probability is None
    index = TreeIndex.from_trees(trees(doc))
    assert len(matcher(doc)) == sum(len(list(index.search(pattern))) for pattern in patterns)


def test_tree_matcher_has_the_root_that_a_treebank_had():
    doc = tree_to_doc(Vocab(), [*parse_trees("(TOP (S (NP (PRP It)) (VP (VBZ works))))")])
    matcher = TreeMatcher(doc.vocab)
    matcher.add("top", ["TOP <: S=s"])
    (match,) = matcher(doc)
    assert (match.span.label_, match.names["s"].label_, match.span.text) == ("TOP", "S", "It works")
    assert matcher(doc[:]) == [match]


def test_tree_matcher_has_a_root_for_patterns_that_mention_it(doc):
    """As CoreNLP's trees have; other patterns see trees as they are."""
    matcher = TreeMatcher(doc.vocab)
    for pattern in ("S > ROOT", "VBD >> ROOT", "ROOT < S", "_ROOT_"):
        matcher.add(pattern, [pattern])
    matches = texts(matcher(doc))
    assert matches == [
        ("S > ROOT", "S", "Sales of tea rose"),
        ("S > ROOT", "S", "They (fell)"),
        ("VBD >> ROOT", "VBD", "rose"),
        ("VBD >> ROOT", "VBD", "(fell)"),
        ("ROOT < S", "ROOT", "Sales of tea rose"),
        ("ROOT < S", "ROOT", "They (fell)"),
        ("_ROOT_", "S", "Sales of tea rose"),
        ("_ROOT_", "S", "They (fell)"),
    ]
    of_treebank = tree_to_doc(Vocab(), [Tree("TOP", [TREES[1]])])
    assert texts(matcher(of_treebank))[0] == ("S > ROOT", "S", "They (fell)")


def test_tree_matcher_takes_sentences_and_other_constituents(doc):
    matcher = TreeMatcher(doc.vocab)
    matcher.add("np", ["NP !> NP"])
    assert [match.span.text for match in matcher(doc)] == ["Sales of tea", "tea", "They"]
    assert [match.span.text for match in matcher(list(doc.sents)[1])] == ["They"]
    assert [match.span.text for match in matcher(doc[1:3])] == ["tea"]
    with pytest.raises(NonConstituentError):
        matcher(doc[2:4])


def test_tree_matcher_passes_over_whitespace_and_docs_without_words():
    nlp, _ = pipeline_by(TreebankPCFG().fit(parse_trees("(S (NP (PRP They)) (VP (VBD fell)))")))
    matcher = TreeMatcher(nlp.vocab)
    matcher.add("np", ["NP $+ VP", "__ . __"])
    assert matcher(nlp("")) == matcher(nlp(" \n ")) == []
    assert matcher(nlp("  They \n fell"))[0].span.text == "They"


def test_tree_matcher_has_the_least_probability_of_the_nodes(sample_grammar):
    nlp, _ = pipeline_by(sample_grammar)
    doc = nlp("The owner of the old ferry sold it.")
    matcher = TreeMatcher(nlp.vocab)
    matcher.add("s", ["S < (VP=vp <, VBD=tag)"])
    (match,) = matcher(doc)
    (root,) = doc._.constituency
    vp = next(node for node in root.nodes() if node.labels == ("VP",))
    tag = vp.children[0]
    assert match.probability == pytest.approx(min(node.label_probability for node in (root, vp, tag)))
    assert 0 < match.probability < 1
    assert list(TreeMatcher(nlp.vocab)(doc)) == []


def test_tree_matcher_calls_back(doc):
    seen = []
    matcher = TreeMatcher(doc.vocab)
    matcher.add("vp", ["VP"], on_match=lambda *args: seen.append(args))
    matcher.add("np", ["NP"])
    matches = matcher(doc)
    assert seen == [(matcher, doc, 0, matches), (matcher, doc, 1, matches)]


def test_tree_matcher_keeps_keys(doc):
    matcher = TreeMatcher(doc.vocab)
    matcher.add("a", ["NP"])
    matcher.add("a", ["VP"], on_match=print)
    matcher.add("b", ["S"])
    assert (len(matcher), "a" in matcher, "c" in matcher) == (2, True, False)
    assert matcher.get("a") == (print, ["NP", "VP"])
    assert matcher.get("c") is None
    matcher.remove("a")
    assert {match.key for match in matcher(doc)} == {"b"}
    with pytest.raises(ValueError, match=r"one of \['b'\], got 'a'"):
        matcher.remove("a")


def test_tree_matcher_checks_patterns_when_they_are_added(doc):
    matcher = TreeMatcher(doc.vocab)
    with pytest.raises(PatternError, match="at column 5"):
        matcher.add("a", ["NP", "NP <"])
    assert "a" not in matcher
    for wrong in ("NP", []):
        with pytest.raises(ValueError, match="Expected a list of patterns"):
            matcher.add("a", wrong)
    with pytest.raises(ValueError, match="This Doc has no constituents"):
        matcher(Doc(doc.vocab, words=["x"]))


def test_tree_matcher_can_be_saved(doc):
    matcher = TreeMatcher(doc.vocab, rules=HeadRules(side="right"))
    matcher.add("a", ["NP=x < PP", "VP"], on_match=print)
    again = TreeMatcher(doc.vocab).from_bytes(matcher.to_bytes())
    assert (again.get("a"), again.to_bytes()) == ((None, ["NP=x < PP", "VP"]), matcher.to_bytes())
    pickled = pickle.loads(pickle.dumps(matcher))
    assert pickled.get("a") == (print, ["NP=x < PP", "VP"])
    assert pickled.rules == matcher.rules
    for damaged in (b"", b"\x81\xa8patterns\x01", matcher.to_bytes().replace(b"NP=x", b"NP=(")):
        with pytest.raises(ValueError, match=r"Expected what .* made, but it is damaged"):
            again.from_bytes(damaged)
    assert again.get("a") == (None, ["NP=x < PP", "VP"])


def test_tree_matcher_takes_head_rules_of_the_language(doc):
    """English and the general table have the verb at the head of a sentence; without rules it is the first word."""

    def heads(matcher: TreeMatcher) -> list[str]:
        matcher.add("head", ["__ !< __ >># S"])
        return [match.span.text for match in matcher(doc)]

    assert heads(TreeMatcher(doc.vocab, rules=HeadRules())) == ["Sales", "They"]
    assert heads(TreeMatcher(doc.vocab)) == ["rose", "(fell)"]
    assert heads(TreeMatcher(doc.vocab, rules=ENGLISH)) == ["rose", "(fell)"]
    english = DocBin(docs=[doc], store_user_data=True).to_bytes()
    nlp = spacy.blank("en")
    (doc,) = DocBin().from_bytes(english).get_docs(nlp.vocab)
    assert heads(TreeMatcher(nlp.vocab)) == ["rose", "(fell)"]
