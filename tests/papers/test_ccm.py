"""What CCM reads: tags of the treebank or universal ones, and clusters of the words that are frequent enough."""

from paths import SAMPLE

from benchmarks.papers.ccm import Symbols
from spacy_lpcfg.bracketing.tagged import TaggedSentence, read_tagged

SENTENCE = TaggedSentence(("The", "dog", ",", "qwxz", "."), ("DT", "NN", ",", "NNS", "."))


def test_ccm_symbols_are_tags_without_punctuation():
    assert Symbols("tags", [])(SENTENCE) == ["DT", "NN", "NNS"]
    assert Symbols("universal", [])(SENTENCE) == ["DET", "NOUN", "NOUN"]


def test_ccm_symbols_have_clusters_of_words_that_were_seen():
    symbols = Symbols("tags and clusters", list(read_tagged(SAMPLE / "train.mrg")))
    the, _, unseen = symbols(SENTENCE)
    assert (the.split()[0], unseen) == ("DT", "NNS")
    assert 0 <= int(the.split()[1]) < 64
    assert symbols(SENTENCE) == symbols(SENTENCE)
    assert symbols(TaggedSentence((".",), (".",))) == []
