"""The cache of texts is bounded in bytes: nothing of long words, whatever the model."""

import gc
import tracemalloc

import numpy as np
import pytest
import stored_models

from spacy_lpcfg.bracketing import Bracketer
from spacy_lpcfg.isbn import ISBN, IncrementalParser
from spacy_lpcfg.language_model import LanguageModel
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.words.remembered import LONGEST, remembered


def use(model, word):
    """Have a model look at a word, and at a tag as long."""
    if isinstance(model, Bracketer):
        model.bracket(["the", word, "sailed"], ["DT", word, "VBD"])
        model.bracket(["the", word, "sailed"], ["DT", word.lower() + "+bez*", "VBD"])
    elif isinstance(model, LanguageModel):
        model.surprisal(["a", word])
    else:
        parser = IncrementalParser(model) if isinstance(model, ISBN) else make_parser(model)
        parser.parse(["The", word, "sailed"])
        parser.parse(Query([word, "sailed"], [word, None]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["grammar", "isbn", "bracketer", "language model"])
def test_remembered_are_no_long_words(kind):
    model = stored_models.model(kind)
    use(model, "a" * 1000)
    gc.collect()
    tracemalloc.start()
    try:
        for i in range(10):
            use(model, f"{i}" + "Ab" * 50_000)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert grown < 300_000  # 1 to 6 MB if each word is kept


def test_remembered_are_so_many_short_texts():
    asked = []

    @remembered(2)
    def first(*texts):
        asked.append(texts)
        return texts[0]

    short, long = "a" * LONGEST, "a" * (LONGEST + 1)
    assert [first(text) for text in (short, short, long, long)] == [short, short, long, long]
    assert asked == [(short,), (long,), (long,)]
    for text in ("b", "c", short):
        first(text)
    assert asked[-1] == (short,)
    assert first("d", long) == first("d", long) == "d"
    assert asked[-2:] == [("d", long)] * 2


def test_remembered_or_not_a_word_means_the_same():
    lexicon = stored_models.model("grammar").lexicon
    rare = stored_models.model("isbn").vocabulary.rare
    for word in ("Xed" * 10, "Xed" * 100):
        for _ in range(2):
            assert lexicon.terminal(word, False) == lexicon.terminal("Xed" * 10, False)
            assert np.array_equal(rare.tags_of(word, False), rare.tags_of("Xed" * 10, False))
