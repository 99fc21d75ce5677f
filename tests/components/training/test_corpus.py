"""The treebank reader: what an Example has, where files may lie, and what bad files do."""

import gzip
import logging
import sys
import tracemalloc
import zlib
from itertools import islice

import numpy as np
import pytest
import spacy
import srsly
from spacy.tokens import DocBin

from spacy_lpcfg.components.doc.read import rooted_trees, trees
from spacy_lpcfg.components.doc.tree_group import KEY
from spacy_lpcfg.components.training.corpus import Treebank, docs_of, tree_to_doc
from spacy_lpcfg.storage.reader import LIMIT_NAME
from spacy_lpcfg.trees import TreebankError, parse_trees, read_trees

NLP = spacy.blank("en")
GOOD = """\
( (S (NP-SBJ-1 (PRP It)) (VP (VBZ seems) (S (NP-SBJ (-NONE- *-1)) (VP (VBG working)))) (. .)) )
(TOP (INTJ (`` ``) (UH Yes) ('' '') (-LRB- -LRB-) (NN 1\\/2) (-RRB- -RRB-)))
"""
BROKEN = "(S (NP (PRP It)) (VP (VBZ breaks)\n"


@pytest.fixture
def good(new_file):
    return new_file("good.mrg", GOOD)


def test_corpus_normalizes_trees_and_unescapes_words(good):
    first, second = Treebank(good)(NLP)
    assert [token.text for token in second.reference] == ['"', "Yes", '"', "(", "1/2", ")"]
    assert str(trees(first.reference)[0]) == ("(S (NP (PRP It)) (VP (VBZ seems) (S (VP (VBG working)))) (. .))")
    assert [token.tag_ for token in first.reference] == ["PRP", "VBZ", "VBG", "."]
    assert [rooted_trees(eg.reference)[0].label for eg in (first, second)] == ["S", "TOP"]
    assert [span.label_ for span in first.reference.spans[KEY]] == ["S", "NP", "VP", "S", "VP"]


def test_corpus_reads_treebanks_of_other_dialects(tmp_path, caplog):
    text = "( (IP-MAT (NP-SBJ *pro*) (VBDI fór-fara) (ADVP (ADV heim-heim))) (ID X,.1))\n"
    (tmp_path / "saga.psd").write_text(text, "utf-8")
    with caplog.at_level(logging.INFO, "spacy"):
        (guessed,) = Treebank(tmp_path)(NLP)
    assert "trees were read as corpussearch: 1 empty categories, 2 lemmas left out" in caplog.text
    assert [token.text for token in guessed.reference] == ["fór", "heim"]
    (said,) = Treebank(tmp_path / "saga.psd", dialect="penn")(NLP)
    assert [token.text for token in said.reference] == ["*pro*", "fór-fara", "heim-heim"]
    with pytest.raises(ValueError, match="Expected one of the dialects penn, "):
        Treebank(tmp_path, dialect="ppche")
    (tmp_path / "ja.psd").write_text("( (FRAG (NP (N 本))) (ID 1_x;JP))\n", "utf-8")
    with pytest.raises(TreebankError, match="Expected files of one dialect"):
        list(Treebank(tmp_path)(NLP))


def test_corpus_shows_the_parser_words_and_sentences_only(good):
    example = next(Treebank(good)(NLP))
    predicted = example.predicted
    assert [token.text for token in predicted] == [token.text for token in example.reference]
    assert len(list(predicted.sents)) == 1
    assert KEY not in predicted.spans
    assert not predicted.has_annotation("TAG")
    assert next(Treebank(good, gold_tags=True)(NLP)).predicted[0].tag_ == "PRP"


def test_corpus_reads_files_folders_and_lists(tmp_path, good):
    (tmp_path / "wsj" / "00").mkdir(parents=True)
    with gzip.open(tmp_path / "wsj" / "00" / "b.mrg.gz", "wt", encoding="utf-8") as file:
        file.write("(UH b)\n(UH c)")
    (tmp_path / "wsj" / "00" / "a.mrg").write_text("(UH a)", encoding="utf-8")
    (tmp_path / "wsj" / "README").write_text("no trees here", encoding="utf-8")
    words = [doc.text.strip() for doc in Treebank(tmp_path / "wsj").docs(NLP.vocab)]
    assert words == ["a", "b", "c"]
    assert [doc.text.strip() for doc in Treebank(tmp_path / "wsj/*/*.gz").docs(NLP.vocab)] == ["b", "c"]
    both = Treebank([good, tmp_path / "wsj"])
    assert len(list(both(NLP))) == 5
    assert len(list(Treebank(both.paths, limit=3)(NLP))) == 3


def test_corpus_has_the_words_of_conllu_and_not_those_that_a_tokenizer_finds(tmp_path):
    rows = (("1-2", "Vámonos", "_", "_"), (1, "Vamos", "VERB", 0), (2, "nos", "PRON", 1), (3, "don't", "X", 1))
    lines = ["\t".join(map(str, (i, form, "_", part, "_", "_", head, "dep", "_", "_"))) for i, form, part, head in rows]
    (tmp_path / "a.conllu").write_text("\n".join([*lines, ""]), encoding="utf-8")
    read = [*Treebank(tmp_path / "a.conllu").docs(NLP.vocab)]
    texts = [tree_to_doc(NLP.vocab, [*read_trees(tmp_path / "a.conllu")])]
    DocBin(docs=texts).to_disk(tmp_path / "a.spacy")
    assert (read[0].has_unknown_spaces, texts[0].text) == (True, "Vamos nos don't ")
    for path in (tmp_path / "a.conllu", tmp_path / "a.spacy"):
        (example,) = Treebank(path)(NLP)
        assert [token.text for token in example.predicted] == ["Vamos", "nos", "don't"]


def test_corpus_reads_docbins(tmp_path, good):
    text = tree_to_doc(NLP.vocab, list(parse_trees("(UH Yes) (UH No)")))
    DocBin(docs=[*Treebank(good).docs(NLP.vocab), text]).to_disk(tmp_path / "good.spacy")
    examples = list(Treebank(tmp_path / "good.spacy")(NLP))
    again = [trees(eg.reference) for eg in examples[:2]]
    assert again == [trees(eg.reference) for eg in Treebank(good)(NLP)]
    assert len(list(examples[2].predicted.sents)) == 2
    DocBin(docs=[text]).to_disk(tmp_path / "text.spacy")
    (whole,) = Treebank(tmp_path / "text.spacy", limit=1)(NLP)
    assert len(list(whole.reference.sents)) == 2  # a limit counts Docs
    with pytest.raises(ValueError, match="Expected limit to be a whole number of at least 0, got -1"):
        Treebank(good, limit=-1)
    with pytest.raises(ValueError, match=r"good\.spacy.*under 'other'.*constituents"):
        list(Treebank(tmp_path / "good.spacy", spans_key="other")(NLP))


def test_corpus_can_be_read_again_and_streams(good):
    treebank = Treebank(good)
    assert len(list(treebank(NLP))) == len(list(treebank(NLP))) == 2
    good.write_text(GOOD + BROKEN, encoding="utf-8")
    assert len(list(islice(treebank(NLP), 2))) == 2


def test_corpus_names_a_broken_tree_or_counts_all_once_when_told_to_skip(good, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("spacy"), "propagate", True)
    good.write_text(BROKEN + GOOD + BROKEN, encoding="utf-8")
    with pytest.raises(TreebankError, match=r"good\.mrg:1: .*skip_bad = true"):
        list(Treebank(good)(NLP))
    treebank = Treebank(good, skip_bad=True)
    for _ in range(2):
        assert len(list(treebank(NLP))) == 2
    (record,) = caplog.records
    assert "2 broken trees were skipped" in record.message
    assert "good.mrg:1" in record.message


def test_corpus_without_trees_is_an_error(tmp_path):
    (tmp_path / "empty.mrg").write_text("( (S (-NONE- *)) )\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"No trees in .*empty\.mrg"):
        list(Treebank(tmp_path / "empty.mrg")(NLP))
    with pytest.raises(FileNotFoundError):
        list(Treebank(tmp_path / "absent.mrg")(NLP))
    with pytest.raises(ValueError, match=r"no path.*--paths\.train"):
        next(Treebank(None)(NLP))


def test_corpus_makes_a_word_of_white_space_visible():
    doc = tree_to_doc(NLP.vocab, list(parse_trees("(X (NN \u00a0) (NN b))")))
    assert [token.text for token in doc] == ["_", "b"]
    assert trees(doc)[0].words == ["\u00a0", "b"]


def test_corpus_gives_coarse_tags_with_the_fine_ones(tmp_path):
    doc = tree_to_doc(NLP.vocab, list(parse_trees("(S (NP (PRP It)) (VP (VBZ works)))")))
    for token, pos in zip(doc, ("PRON", "VERB"), strict=True):
        token.pos_ = pos
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "trees.spacy")
    for gold_tags, wanted in ((True, ["PRON", "VERB"]), (False, ["", ""])):
        (eg,) = Treebank(tmp_path / "trees.spacy", gold_tags=gold_tags)(NLP)
        assert [token.pos_ for token in eg.predicted] == wanted


def test_corpus_gives_gold_tags_of_docs_with_text(tmp_path, new_file):
    rows = ((1, "Vamos", "VERB", 0), (2, "hoy", "ADV", 1))
    lines = ["\t".join(map(str, (i, form, "_", part, "_", "_", head, "dep", "_", "_"))) for i, form, part, head in rows]
    trees = [*read_trees(new_file("a.conllu", "\n".join([*lines, ""])))]
    DocBin(docs=[tree_to_doc(NLP.vocab, trees)]).to_disk(tmp_path / "a.spacy")
    (example,) = Treebank(tmp_path / "a.spacy", gold_tags=True)(NLP)
    assert not example.reference.has_unknown_spaces
    assert [token.tag_ for token in example.predicted] == [token.tag_ for token in example.reference] != ["", ""]


def packed(**changes):
    """The bytes of a DocBin of a Doc of three words, with other parts."""
    doc = tree_to_doc(spacy.blank("en").vocab, list(parse_trees("(S (NP (DT the) (NN cat)) (VP (VBD slept)))")))
    values = srsly.msgpack_loads(zlib.decompress(DocBin(docs=[doc]).to_bytes()))
    return zlib.compress(srsly.msgpack_dumps({**values, **changes}))


TOO_LARGE = {
    "zeros": lambda: zlib.compress(bytes(5_000_000)),
    "a list of lists": lambda: packed(cats=[[]] * 200_000),
    "many empty Docs": lambda: packed(lengths=bytes(4 * 30_000)),
    "spans": lambda: packed(span_groups=[b"\x91" + b"\x80" * 200_000]),
    "user data": lambda: packed(user_data=[b"\x91" + b"\x80" * 200_000]),
    "strings": lambda: packed(strings=[f"{i}" for i in range(30_000)]),
}


@pytest.mark.parametrize("what", TOO_LARGE)
def test_corpus_counts_what_docs_take_before_it_makes_them(what, monkeypatch):
    data = TOO_LARGE[what]()
    monkeypatch.setenv(LIMIT_NAME, str(10**7))
    assert len(list(docs_of(packed(), "here.spacy", NLP.vocab))) == 1
    tracemalloc.start()
    try:
        with pytest.raises(
            ValueError, match=rf"^here.spacy: To read this takes .* 10,000,000 are allowed.*{LIMIT_NAME}"
        ):
            list(docs_of(data, "here.spacy", NLP.vocab))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 2e7


def test_corpus_refuses_docs_that_say_they_have_too_many_tokens():
    """By the limit as it is: 2 million tokens are said to be there, and none is."""
    with pytest.raises(ValueError, match=r"here.spacy: To read this takes .* 1,073,741,824 are allowed"):
        list(docs_of(packed(lengths=np.array([2_100_000], np.int32).tobytes()), "here.spacy", NLP.vocab))


@pytest.mark.skipif(sys.platform != "linux", reason="has the devices of Linux")
def test_corpus_refuses_what_might_not_end(tmp_path):
    (tmp_path / "zeros.spacy").symlink_to("/dev/zero")
    with pytest.raises(ValueError, match=r"Expected a file, got '.*zeros.spacy', a pipe or a device"):
        list(Treebank(tmp_path / "zeros.spacy").docs(NLP.vocab))
