"""Docs by a parser that learned from dependencies, of languages without noun chunks of their own in spaCy."""

import pytest
import spacy
from commands import run

from spacy_lpcfg.components.tree_matcher import TreeMatcher

TREEBANKS = {
    "tr": [
        "Ali/PROPN/4/nsubj eski/ADJ/3/amod evi/NOUN/4/obj gördü/VERB/0/root ./PUNCT/4/punct",
        "Ali/PROPN/2/nsubj geldi/VERB/0/root ./PUNCT/2/punct",
        "evi/NOUN/2/obj gördü/VERB/0/root ./PUNCT/2/punct",
    ],
    "he": [
        "הילד/NOUN/2/nsubj ראה/VERB/0/root את/ADP/4/case הבית/NOUN/2/obj ./PUNCT/2/punct",
        "הילד/NOUN/2/nsubj הלך/VERB/0/root ./PUNCT/2/punct",
        "הילד/NOUN/2/nsubj אמר/VERB/0/root ש/SCONJ/5/mark הוא/PRON/5/nsubj ראה/VERB/2/ccomp ./PUNCT/2/punct",
    ],
}


def conllu(text):
    rows = [item.split("/") for item in text.split()]
    return "\n".join(
        "\t".join((str(i), word, "_", part, "_", "_", head, relation, "_", "_"))
        for i, (word, part, head, relation) in enumerate(rows, start=1)
    )


@pytest.fixture(scope="module", params=TREEBANKS)
def nlp(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    train = folder / f"{request.param}_x-ud-train.conllu"
    train.write_text("\n\n".join(3 * [conllu(text) for text in TREEBANKS[request.param]]) + "\n", "utf-8")
    (folder / f"{request.param}_x-ud-test.conllu").write_text("no treebank\n", "utf-8")
    run("learn", "lpcfg", folder, "--lang", request.param, "--method", "pcfg", "--output", folder / "model")
    return spacy.load(folder / "model")


def parsed(nlp, n):
    words = [item.split("/")[0] for item in TREEBANKS[nlp.lang][n].split()]
    return nlp(spacy.tokens.Doc(nlp.vocab, words))


def test_noun_chunks_are_phrases_without_others_in_them(nlp):
    expected = {"tr": ["Ali", "eski evi"], "he": ["הילד", "הבית"]}
    assert [chunk.text for chunk in parsed(nlp, 0).noun_chunks] == expected[nlp.lang]


def test_heads_are_content_words(nlp):
    doc = parsed(nlp, 0)
    (root,) = doc._.constituency
    assert root.head.text == {"tr": "gördü", "he": "ראה"}[nlp.lang]
    heads = {word.text: head.text for word, head, _ in root.dependencies()}
    assert heads[doc[0].text] == root.head.text
    assert heads[doc[2].text] == {"tr": "gördü", "he": "הבית"}[nlp.lang]


def test_phrases_clauses_and_search(nlp):
    doc = parsed(nlp, 0)
    assert [phrase.text for phrase in doc._.phrases("NP")] == [chunk.text for chunk in doc.noun_chunks]
    (clause,) = doc._.clauses
    assert (clause.verb, clause.subject.text, clause.is_finite) == (doc._.constituency[0].head, doc[0].text, True)
    matcher = TreeMatcher(nlp.vocab)
    matcher.add("OBJECT", ["VP < NP|PP=object"])
    (match,) = matcher(doc)
    assert match.names["object"].text == doc[1:3].text if nlp.lang == "tr" else doc[2:4].text


def test_subordinate_clauses(nlp):
    if nlp.lang == "he":
        outer, inner = parsed(nlp, 2)._.clauses
        assert (outer.is_subordinate, inner.is_subordinate, inner.is_relative) == (False, True, False)
        assert inner.subject.text == "הוא"


def test_words_t_units_and_depths_are_measured(nlp):
    figures = parsed(nlp, 0)._.complexity
    assert (figures["W"], figures["S"], figures["T"], figures["MLT"]) == (4, 1, 1, 4)
    assert figures["height"] > 2
