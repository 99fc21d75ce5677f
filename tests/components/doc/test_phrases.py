"""Phrases and clauses of Docs as Spans, and as tables."""

import pytest
import spacy
from pipelines import pipeline_by
from spacy.tokens import Doc, Span

from spacy_lpcfg.components.doc.extensions import register_extensions
from spacy_lpcfg.components.doc.view import NonConstituentError
from spacy_lpcfg.components.training.corpus import tree_to_doc
from spacy_lpcfg.trees import parse_trees

register_extensions()
TREES = """
(TOP (S (NP (NP (DT The) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBD ran))))) (VP (VBD fell)) (. .)))
(TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))
"""


@pytest.fixture
def doc() -> Doc:
    return tree_to_doc(spacy.blank("en").vocab, [*parse_trees(TREES)])


@pytest.fixture(scope="module")
def parsed(sample_grammar) -> Doc:
    nlp, _ = pipeline_by(sample_grammar)
    doc = nlp("The old man left. It works.")
    doc.user_data["nlp"] = nlp  # which knows labels as long as it is there
    return doc


def test_phrases_are_spans(doc):
    found = doc._.phrases("NP")
    assert [phrase.text for phrase in found] == ["The man who ran", "The man", "It"]
    assert [phrase.text for phrase in doc._.phrases("NP", maximal=True)] == ["The man who ran", "It"]
    assert all(isinstance(phrase, Span) and phrase.label_ == "NP" for phrase in found)
    assert [(phrase.head, phrase.depth, phrase.probability) for phrase in found] == [
        (doc[1], 1, None),
        (doc[1], 2, None),
        (doc[6], 1, None),
    ]
    second = [*doc.sents][1]
    (phrase,) = second._.phrases("NP")
    assert (phrase.text, phrase.sentence, phrase.sent_id) == ("It", 2, "")
    doc.user_data["sent_ids"] = ["a.1", "a.2"]
    assert [phrase.sent_id for phrase in doc._.phrases("NP")] == ["a.1", "a.1", "a.2"]


def test_phrases_as_table(parsed):
    (first, *_) = parsed._.phrases("NP").as_table()
    p = first.pop("probability")
    assert 0 < p <= 1
    assert first == {
        **{"sentence": 1, "sent_id": "", "start": 0, "end": 3, "label": "NP", "start_char": 0, "end_char": 11},
        **{"text": "The old man", "head": "man", "depth": 1},
    }
    assert parsed._.phrases("ADJP").as_table() == []


def test_phrases_of_clauses(doc):
    main, relative, last = doc._.clauses
    assert (main.text, main.verb, main.subject.text) == ("The man who ran fell .", doc[4], "The man who ran")
    assert (relative.label_, relative.verb.text, relative.subject.text) == ("SBAR", "ran", "who")
    assert (relative.is_finite, relative.is_subordinate, relative.is_relative) == (True, True, True)
    assert (last.is_finite, last.is_subordinate, last.is_relative) == (True, False, False)
    assert relative.subject.depth == 3
    row = doc._.clauses.as_table()[1]
    assert [*row][9:] == ["head", "depth", "verb", "subject", "is_finite", "is_subordinate", "is_relative"]
    assert (row["verb"], row["subject"], row["is_relative"]) == ("ran", "who", True)
    assert [each.text for each in [*doc.sents][1]._.clauses] == ["It works ."]


def test_phrases_refuse_what_they_cannot_find(parsed, doc):
    with pytest.raises(ValueError, match=r"^Expected a label of the model's trees, one of ADJP, .*, got 'XP'\.$"):
        parsed._.phrases("XP")
    with pytest.raises(ValueError, match="got 'NN'"):
        parsed._.phrases("CONJP|NN")
    with pytest.raises(ValueError, match="got 'XP'"):
        parsed._.phrases("NP|XP")
    assert parsed._.phrases("CONJP") == ()
    assert [parsed.user_data["nlp"](text)._.clauses for text in ("", " \n ")] == [(), ()]
    assert doc._.phrases("XP") == ()

    with pytest.raises(NonConstituentError):
        _ = parsed[2:4]._.clauses
