"""`doc._.complexity`, of Docs and sentences."""

import numpy as np
import pytest
import spacy
from pipelines import pipeline_by

from spacy_lpcfg.components.doc.complexity import sentence_complexity
from spacy_lpcfg.components.doc.extensions import register_extensions
from spacy_lpcfg.components.doc.view import NonConstituentError
from spacy_lpcfg.components.training.corpus import tree_to_doc
from spacy_lpcfg.queries import complexity
from spacy_lpcfg.trees import parse_trees

register_extensions()
TREES = [
    *parse_trees("(S (NP (NN Rain)) (VP (VBD fell)) (. .)) (S (NP (PRP We)) (VP (VBD left) (SBAR (S (VP (VBD ran))))))")
]


def test_complexity_of_docs_is_that_of_their_trees():
    doc = tree_to_doc(spacy.blank("en").vocab, TREES)
    assert doc._.complexity == complexity(TREES).document
    assert [sent._.complexity for sent in doc.sents] == complexity(TREES).sentences
    assert doc._.complexity["DC"] == 1
    assert sentence_complexity(doc).sentences == complexity(TREES).sentences
    with pytest.raises(NonConstituentError):
        _ = doc[1:3]._.complexity


def test_complexity_has_surprisal_where_the_model_has_it(sample_grammar):
    nlp, _ = pipeline_by(sample_grammar)
    doc = nlp("It rained. We left.")
    _, second = doc.sents
    bits = np.array([token._.surprisal for token in doc])
    assert doc._.complexity["surprisal"] == pytest.approx(bits.mean())
    assert second._.complexity["surprisal"] == pytest.approx(bits[second.start :].mean())
    assert sentence_complexity(doc, with_surprisal=False).document["surprisal"] is None
