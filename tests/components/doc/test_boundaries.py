"""`token._.boundary`."""

import spacy
from spacy.tokens import Doc

from spacy_lpcfg.components.doc.boundaries import doc_boundaries
from spacy_lpcfg.components.doc.extensions import register_extensions
from spacy_lpcfg.components.doc.write import set_trees
from spacy_lpcfg.queries.boundaries import SENTENCE_END, Boundary, boundaries
from spacy_lpcfg.trees import parse_trees

register_extensions()
TREES = [
    *parse_trees("(S (NP (NN Rain)) (VP (VBD fell)) (. .)) (S (NP (PRP We)) (VP (VBD left) (SBAR (S (VP (VBD ran))))))")
]


def test_boundaries_of_tokens_are_those_of_the_trees():
    doc = Doc(
        spacy.blank("en").vocab,
        words=["Rain", "\n", "fell", ".", "We", "left", "ran", " "],
        sent_starts=[True, False, False, False, True, False, False, False],
    )
    set_trees(doc, TREES)
    first, second = map(boundaries, TREES)
    space = Boundary()
    expected = [first[0], space, *first[1:], *second, space]
    assert [token._.boundary for token in doc] == doc_boundaries(doc) == expected
    assert [token._.boundary.level for token in doc] == [1, 0, 0, SENTENCE_END, 0, 1, SENTENCE_END, 0]
