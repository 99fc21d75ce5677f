"""What labels mean."""

import pytest

import spacy_lpcfg


@pytest.mark.parametrize(
    ("label", "meaning"),
    [
        ("SBAR", "subordinate or relative clause, with the word that begins it"),
        ("NP-SBJ-1", "noun phrase, subject"),
        ("PRP", "personal pronoun"),
        ("PP-PRP", "prepositional phrase, purpose or reason"),
        ("-LRB-", "opening bracket"),
        ("ODD", None),
        ("", None),
    ],
)
def test_labels_are_explained(label, meaning):
    assert spacy_lpcfg.explain(label) == meaning


def test_labels_that_are_no_text_are_refused():
    with pytest.raises(TypeError, match=r"Expected a label such as 'SBAR', got None"):
        spacy_lpcfg.explain(None)
