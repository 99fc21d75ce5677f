"""`doc.noun_chunks` by trees, and by dependencies where a Doc has them."""

import pytest
import spacy
from pipelines import copies, pipeline_by, pipeline_of
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_lpcfg.bracketing import Brackets
from spacy_lpcfg.components.doc.write import set_brackets
from spacy_lpcfg.components.training.corpus import tree_to_doc
from spacy_lpcfg.trees import parse_trees

CASES = {
    "(S (NP (NP (DT The) (NN time)) (PP (IN for) (NP (NN action)))) (VP (VBZ is) (ADVP (RB now))))": [
        "The time", "action",
    ],
    "(NP (NP (PRP$ my) (NN sister) (POS 's)) (JJ old) (NN ferry))": ["my sister 's old ferry"],
    "(NP (NP (NP (NNP Kim) (POS 's)) (NN sister) (POS 's)) (NN ferry))": ["Kim 's sister 's ferry"],
    "(NP (NP (NP (NNP Kim) (POS 's)) (NN ferry)) (PP (IN to) (NP (NNP Oslo))))": ["Kim 's ferry", "Oslo"],
    "(SBARQ (WHNP (WP Who)) (SQ (VP (VBD saw) (NP (NP (PRP it))))) (. ?))": ["Who", "it"],
    "(NP (NP (NN tea)) (CC and) (NP (NN milk)))": ["tea", "milk"],
    "(INTJ (UH Yes))": [],
}  # fmt: skip


def texts(doc) -> list[str]:
    return [chunk.text for chunk in doc.noun_chunks]


@pytest.mark.parametrize("bracketed", CASES)
def test_noun_chunks_are_the_noun_phrases_without_others_in_them(bracketed):
    doc = tree_to_doc(Vocab(), list(parse_trees(bracketed)))
    assert texts(doc) == CASES[bracketed]
    assert {chunk.label_ for chunk in doc.noun_chunks} <= {"NP"}


@pytest.mark.parametrize("lang", ["en", "tr", "xx"])
def test_noun_chunks_of_a_blank_pipeline(lang, sample_grammar):
    """Languages with a function of their own, and without."""
    nlp, _ = pipeline_by(sample_grammar, lang)
    doc = nlp("The man who saw my sister missed the ferry. It left.")
    assert texts(doc) == ["The man", "who", "my sister", "the ferry", "It"]
    assert texts(doc[2:7]) == ["who", "my sister"]
    assert [texts(copy) for copy in copies(doc)] == [texts(doc)] * 5


def test_noun_chunks_of_docs_that_were_made_before_the_parser(sample_grammar):
    nlp = spacy.blank("en")
    doc = nlp.make_doc("It left.")
    nlp.add_pipe("lpcfg_parser").learned = sample_grammar
    assert texts(nlp(doc)) == ["It"]


def with_dependencies(vocab: Vocab) -> Doc:
    return Doc(
        vocab,
        words=["The", "old", "ferry", "left"],
        heads=[2, 2, 3, 3],
        deps=["det", "amod", "nsubj", "ROOT"],
        pos=["DET", "ADJ", "NOUN", "VERB"],
    )


def test_noun_chunks_by_dependencies_stay_as_they_are(sample_grammar):
    """Also where the tree has others."""
    plain, (nlp, _) = spacy.blank("en"), pipeline_by(sample_grammar)
    doc = nlp(with_dependencies(nlp.vocab))
    assert texts(doc) == texts(with_dependencies(plain.vocab)) == ["The old ferry"]
    doc.spans["constituents"] = []
    assert texts(doc) == ["The old ferry"]


def test_noun_chunks_without_trees_are_the_errors_of_spacy():
    for lang, error, message in (("en", ValueError, "E029"), ("xx", NotImplementedError, "E894")):
        for each in (spacy.blank(lang), pipeline_of("lpcfg_parser", lang)):
            with pytest.raises(error, match=message):
                list(each.make_doc("It left.").noun_chunks)


def test_noun_chunks_are_not_by_brackets_without_labels():
    nlp = pipeline_of("lpcfg_parser")
    doc = Doc(nlp.vocab, words=["It", "left"], tags=["PRP", "VBD"])
    set_brackets(doc, [[0, 1]], [Brackets([(0, 2)], [1.0])], ["parsed"], label="X", key="brackets")
    with pytest.raises(ValueError, match="E029"):
        list(doc.noun_chunks)
