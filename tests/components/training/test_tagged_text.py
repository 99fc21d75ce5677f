"""Tagged text on the side of spaCy: sentences of Docs, files of all kinds, and the corpus reader."""

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.util import registry

from spacy_lpcfg.bracketing.tagged import TaggedSentence
from spacy_lpcfg.components.doc.sentences import sentence_bounds
from spacy_lpcfg.components.training.tagged_text import (
    SentenceReader,
    TaggedText,
    Untagged,
    doc_sentences,
    read_sentences,
    tagged_doc,
)
from spacy_lpcfg.trees import TreebankError

LINES = "The/DT dog/NN barked/VBD ./.\n\nGo/VB (/-LRB- home/NN )/-RRB-\n"
SENTENCES = [
    TaggedSentence(("The", "dog", "barked", "."), ("DT", "NN", "VBD", ".")),
    TaggedSentence(("Go", "(", "home", ")"), ("VB", "-LRB-", "NN", "-RRB-")),
]


@pytest.fixture
def nlp():
    return spacy.blank("en")


@pytest.fixture
def text(new_file):
    return new_file("text.tagged", LINES)


@pytest.fixture
def binary(tmp_path, nlp):
    """The same in one Doc, with white space in it, and a Doc without words."""
    words = ["The", "dog", " ", "barked", ".", "\n", "Go", "(", "home", ")"]
    tags = ["DT", "NN", "_SP", "VBD", ".", "_SP", "VB", "-LRB-", "NN", "-RRB-"]
    pos = ["DET", "NOUN", "SPACE", "VERB", "PUNCT", "SPACE", "VERB", "PUNCT", "NOUN", "PUNCT"]
    doc = Doc(nlp.vocab, words=words, tags=tags, pos=pos, sent_starts=[i in (0, 6) for i in range(10)])
    path = tmp_path / "text.spacy"
    DocBin(docs=[doc, Doc(nlp.vocab, words=["\n"])]).to_disk(path)
    return path


def test_tagged_text_of_docs_is_without_white_space(binary, nlp):
    doc, empty = DocBin().from_disk(binary).get_docs(nlp.vocab)
    for attr, tags in (("tag", ("DT", "NN", "VBD", ".")), ("pos", ("DET", "NOUN", "VERB", "PUNCT"))):
        first, second = doc_sentences(doc, sentence_bounds(doc), attr)
        assert (first.positions, second.positions) == ([0, 1, 3, 4], [6, 7, 8, 9])
        assert first.tagged == (SENTENCES[0].words, tags)
    assert doc_sentences(empty, [(0, 1)], "pos") == [([], TaggedSentence((), ()))]
    assert doc_sentences(Doc(nlp.vocab), [], "pos") == []


def test_tagged_text_without_tags_names_the_attribute_and_who_sets_it(nlp):
    bare, tagged = Doc(nlp.vocab, words=["Go", "home"]), Doc(nlp.vocab, words=["Go", "home"], tags=["VB", ""])
    with pytest.raises(Untagged, match=r"token\.pos_.*'Go home ?'.*'morphologizer', or a 'tagger'"):
        doc_sentences(bare, [(0, 2)], "pos")
    with pytest.raises(Untagged, match=r"token\.tag_.*'tagger' or an 'lpcfg_parser'\. In `spacy train`"):
        doc_sentences(bare, [(0, 2)], "tag")
    with pytest.raises(Untagged, match=r"It has token\.tag_: set attr = 'tag'"):
        doc_sentences(tagged, [(0, 2)], "pos")
    assert doc_sentences(tagged, [(0, 2)], "tag")[0].tagged.tags == ("VB", "")


def test_tagged_text_reads_all_kinds_of_files(text, binary, new_file):
    trees = new_file("text.mrg", "(S (VB Go) (PRN (-LRB- -LRB-) (NN home) (-RRB- -RRB-)))")
    assert list(read_sentences([text, str(binary), trees])) == [*SENTENCES, *SENTENCES, SENTENCES[1]]
    pos = [sentence.tags for sentence in read_sentences(binary, attr="pos")]
    assert pos == [("DET", "NOUN", "VERB", "PUNCT"), ("VERB", "PUNCT", "NOUN", "PUNCT")]
    make = registry.readers.get("spacy-lpcfg.tagged_sentences.v1")
    reader = make([text, binary])
    assert isinstance(reader, SentenceReader)
    assert list(reader()) == list(reader()) == SENTENCES * 2


def test_tagged_text_names_files_that_it_cannot_read(tmp_path, new_file, nlp):
    path = new_file("bad.spacy", b"not a DocBin")
    with pytest.raises(ValueError, match=r"bad\.spacy is no \.spacy file"):
        list(read_sentences(path))
    DocBin(docs=[nlp("Go home")]).to_disk(path)
    with pytest.raises(Untagged, match=r"bad\.spacy: Expected a Doc with token\.tag_"):
        list(read_sentences(path))
    with pytest.raises(FileNotFoundError):
        list(read_sentences(tmp_path / "absent"))


def test_tagged_text_corpus_has_tags_on_both_sides(text, nlp):
    reader = registry.readers.get("spacy-lpcfg.TaggedText.v1")(text)
    examples = list(reader(nlp))
    assert len(examples) == 2
    for eg, sentence in zip(examples, SENTENCES, strict=True):
        assert eg.predicted is not eg.reference
        for doc in (eg.predicted, eg.reference):
            assert tuple(token.text for token in doc) == sentence.words
            assert tuple(token.tag_ for token in doc) == sentence.tags
            assert len(list(doc.sents)) == 1
            assert not doc.spans
    assert [token.pos_ for token in examples[0].reference] == ["DET", "NOUN", "VERB", "PUNCT"]


def test_tagged_text_corpus_takes_nothing_but_tags_of_docs(binary, nlp):
    (doc, empty) = (eg.reference for eg in TaggedText(binary)(nlp))
    assert [token.tag_ for token in doc][:3] == ["DT", "NN", "_SP"]
    assert [sent.start for sent in doc.sents] == [0, 6]
    assert len(empty) == 1
    assert len(list(TaggedText([binary], limit=1)(nlp))) == 1


def test_tagged_text_corpus_says_what_is_wrong(new_file, nlp, caplog):
    with pytest.raises(ValueError, match="has no path"):
        next(TaggedText(None)(nlp))
    with pytest.raises(ValueError, match="has no path"):
        SentenceReader(None)()
    path = new_file("text", "")
    with pytest.raises(ValueError, match=r"No sentences in .*text"):
        list(TaggedText(path)(nlp))
    path.write_text("Go/VB\nhome\n", encoding="utf-8")
    with pytest.raises(TreebankError, match=r"text:2: Expected word/tag.*skip_bad = true"):
        list(TaggedText(path)(nlp))
    corpus = TaggedText(path, skip_bad=True)
    for _ in range(2):  # as in every epoch
        assert len(list(corpus(nlp))) == 1
    assert caplog.text.count("1 broken sentence was skipped, the first at ") == 1


def test_tagged_text_docs_have_universal_tags(nlp):
    doc = tagged_doc(nlp.vocab, TaggedSentence(("a", "\u00a0", "b"), ("NEVERSEEN", "NN", "CC")))
    assert [(token.text, token.pos_) for token in doc] == [("a", "X"), ("_", "NOUN"), ("b", "CCONJ")]
