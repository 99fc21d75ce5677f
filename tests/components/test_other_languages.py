"""Docs by a parser that learned from dependencies, of languages without noun chunks of their own in spaCy."""

import pytest
import spacy
from commands import run

from spacy_lpcfg.components.doc.tree_matcher import TreeMatcher

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
    run("learn", "parser", folder, "--lang", request.param, "--method", "pcfg", "--output", folder / "model")
    return spacy.load(folder / "model")


def parsed(nlp, n):
    words = [item.split("/")[0] for item in TREEBANKS[nlp.lang][n].split()]
    return nlp(spacy.tokens.Doc(nlp.vocab, words))


EXPECTED = {
    "tr": {"chunks": ["Ali", "eski evi"], "root": "gördü", "head": "gördü", "object": slice(1, 3)},
    "he": {"chunks": ["הילד", "הבית"], "root": "ראה", "head": "הבית", "object": slice(2, 4)},
}


def test_chunks_heads_phrases_clauses_and_matches(nlp):
    doc, expected = parsed(nlp, 0), EXPECTED[nlp.lang]
    assert [chunk.text for chunk in doc.noun_chunks] == expected["chunks"]
    assert [phrase.text for phrase in doc._.phrases("NP")] == expected["chunks"]
    (root,) = doc._.constituency
    assert root.head.text == expected["root"]
    heads = {word.text: head.text for word, head, _ in root.dependencies()}
    assert (heads[doc[0].text], heads[doc[2].text]) == (expected["root"], expected["head"])
    (clause,) = doc._.clauses
    assert (clause.verb, clause.subject.text, clause.is_finite) == (root.head, doc[0].text, True)
    matcher = TreeMatcher(nlp.vocab)
    matcher.add("OBJECT", ["VP < NP|PP=object"])
    (match,) = matcher(doc)
    assert match.names["object"].text == doc[expected["object"]].text
    figures = doc._.complexity
    assert (figures["W"], figures["S"], figures["T"], figures["MLT"]) == (4, 1, 1, 4)
    assert figures["height"] > 2


def test_subordinate_clauses(nlp):
    if nlp.lang == "he":
        outer, inner = parsed(nlp, 2)._.clauses
        assert (outer.is_subordinate, inner.is_subordinate, inner.is_relative) == (False, True, False)
        assert inner.subject.text == "הוא"
