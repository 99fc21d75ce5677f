"""The examples of benepar's README, line by line, on our Docs.

The grammar is learned from the trees of that README, so that it finds them again.
"""

import pytest
from pipelines import pipeline_by

from spacy_lpcfg.components.doc.view import NonConstituentError
from spacy_lpcfg.learning import TreebankPCFG
from spacy_lpcfg.trees import parse_trees, to_nltk

TIME = "(S (NP (NP (DT The) (NN time)) (PP (IN for) (NP (NN action)))) (VP (VBZ is) (ADVP (RB now))) (. .))"
LATE = (
    "(S (NP (PRP It)) (VP (VBZ 's) (ADVP (RB never)) (ADJP (RB too) (JJ late) (S (VP (TO to) (VP (VB do) "
    "(NP (NN something))))))) (. .))"
)
FLY = "(S (`` ``) (VP (VB Fly) (ADVP (RB safely))) (. .) ('' ''))"


@pytest.fixture(scope="module")
def nlp():
    return pipeline_by(TreebankPCFG().fit(parse_trees(f"{TIME}\n{LATE}\n{FLY}")))[0]


@pytest.fixture(scope="module")
def doc(nlp):
    return nlp("The time for action is now. It's never too late to do something.")


def texts(spans) -> list[str]:
    return [span.text for span in spans]


def test_benepar_example_of_a_sentence(doc):
    sent = list(doc.sents)[0]  # noqa: RUF015
    assert sent._.parse_string == TIME
    assert sent._.labels == ("S",)
    assert list(sent._.children)[0].text == "The time for action"  # noqa: RUF015
    assert list(doc.sents)[1]._.parse_string == LATE
    assert doc[0:4]._.parse_string == "(NP (NP (DT The) (NN time)) (PP (IN for) (NP (NN action))))"
    assert doc[2:4]._.parent.text == "The time for action"
    assert sent._.parent is None


def test_benepar_labels_are_a_tuple_of_all_in_a_unary_chain(doc):
    (span,) = (span for span in list(doc.sents)[1]._.constituents if span.text == "to do something")
    assert span._.labels == ("S", "VP")
    assert doc[0:2]._.labels == ("NP",)


def test_benepar_constituents_and_children_are_iterators_in_preorder(doc):
    constituents, children = doc[0:4]._.constituents, next(doc.sents)._.children
    assert (iter(constituents), iter(children)) == (constituents, children)
    assert texts(constituents) == ["The time for action", "The time", "The", "time", "for action", "for", "action"]
    assert texts(children) == ["The time for action", "is now", "."]
    assert list(doc[0:1]._.children) == []


def test_benepar_tokens_are_as_spans_of_one(doc):
    for token in doc:
        span = doc[token.i : token.i + 1]
        for name in ("labels", "parse_string", "parent"):
            assert getattr(token._, name) == getattr(span._, name)
    assert (doc[3]._.labels, doc[3]._.parse_string, doc[3]._.parent.text) == (("NP",), "(NP (NN action))", "for action")
    assert (doc[0]._.labels, doc[0]._.parse_string) == ((), "(DT The)")


def test_benepar_raises_for_what_is_no_constituent(doc):
    for name in ("labels", "parse_string", "constituents", "parent", "children"):
        with pytest.raises(NonConstituentError, match="'time for' is not a constituent"):
            getattr(doc[1:3]._, name)


def test_benepar_nltk_interface(nlp):
    """`benepar.Parser` takes words, and their tags where they are known; it gives an `nltk.Tree` below TOP."""
    pytest.importorskip("nltk", reason="NLTK is not here: pip install 'spacy-lpcfg[nltk]'")
    parser = nlp.get_pipe("lpcfg_parser")
    words, tags = ['"', "Fly", "safely", ".", '"'], ["``", "VB", "RB", ".", "''"]
    assert str(parser.parse(words, tags).tree) == FLY
    assert str(to_nltk(parser.parse(words).tree)) == FLY
    assert next(nlp('"Fly safely."').sents)._.parse_string == FLY
