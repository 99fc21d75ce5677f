"""Classes of words from raw text, and what they tell both parsers of words that the treebank does not have."""

from dataclasses import replace

import numpy as np
import pytest
import spacy

from spacy_lpcfg.chart import Parser
from spacy_lpcfg.chart.settings import EXHAUSTIVE
from spacy_lpcfg.grammar import Ensemble, Grammar
from spacy_lpcfg.grammar.checking import check
from spacy_lpcfg.isbn import ISBN
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.learning_settings import ISBNLexical
from spacy_lpcfg.learning import LexicalSettings, TreebankPCFG
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.trees import parse_trees
from spacy_lpcfg.words import ClassLearner
from spacy_lpcfg.words.classes import NO_CLASSES, WordClasses

SLOTS = [["the", "a", "this"], ["zib", "zob", "zub", "zyb"], ["zab", "zeb", "zaab"]]
ORDER = [0, 1, 2, 0, 1]
# The signatures of all made-up words are alike; in the trees nouns are commoner than verbs.
TREES = list(
    parse_trees(
        [
            "(S (NP (DT the) (NN zib)) (VP (VBD zab) (NP (DT a) (NN zob))))",
            "(S (NP (DT this) (NN zub)) (VP (VBD zeb) (NP (DT the) (NN dax))))",
            "(S (NP (DT the) (NN wug)) (VP (VBD zab)))",
        ]
    )
)


def text(n: int = 300, seed: int = 0) -> tuple[tuple[str, ...], ...]:
    """Sentences of one pattern, in which words of a slot are exchangeable."""
    rng = np.random.default_rng(seed)
    return tuple(tuple(str(rng.choice(SLOTS[k])) for k in ORDER) for _ in range(n))


LEARNER = ClassLearner(text(), n_classes=3)
CLASSES = LEARNER.classes()
LEXICAL = LexicalSettings(word_classes=LEARNER)


# ----------------------------------------------------------------------------------------------- learning


def test_words_of_a_slot_are_a_class():
    found = [{CLASSES.of(word) for word in slot} for slot in SLOTS]
    assert sorted(map(tuple, found)) == [(1,), (2,), (3,)]
    assert CLASSES.n_classes == 4
    assert CLASSES.of("unheard") == CLASSES.of("") == 0
    assert CLASSES.of("Zib") == CLASSES.of("zib")


def test_capitals_of_beginnings_and_digits_do_not_count():
    capitals = [(words[0].capitalize(), *words[1:-1], f"{i}0", "Rome") for i, words in enumerate(text(200))]
    found = ClassLearner(tuple(capitals), n_classes=4).classes()
    assert {"the", "zib", "00", "000", "Rome"} <= set(found.words)
    assert not {"The", "rome"} & set(found.words)
    assert found.of("37") == found.of("00") != 0


def test_learners_of_equal_texts_learn_once():
    found = ClassLearner(text(), n_classes=3).classes()
    assert ClassLearner(text(), n_classes=3).classes() is found
    assert ClassLearner(text(), n_classes=2).classes() is not found


@pytest.mark.parametrize("lines", [(), ((),), (("one", "line", "of", "text"),)])
def test_too_little_text_is_told(lines):
    with pytest.raises(ValueError, match=r"Expected at least 64 different words.*got 0 in .* Give more text"):
        ClassLearner(lines).classes()
    with pytest.raises(ValueError, match="at least 2 classes"):
        ClassLearner(text(), n_classes=1).classes()


def test_shares_are_distributions_of_smoothed_counts():
    noun, verb = CLASSES.of("zib"), CLASSES.of("zab")
    shares = CLASSES.shares([("zib", 0), ("zob", 0), ("zab", 1), ("wug", 0)], 3)
    assert shares.sum(axis=0) == pytest.approx(1)
    assert shares.min() > 0
    assert shares[noun, 0] > shares[noun, 2] > shares[noun, 1]
    assert shares[verb, 1] > shares[verb, 2] > shares[verb, 0]
    of_all = (np.bincount([noun, noun, verb, 0], minlength=4) + 1 / 4) / 5
    assert shares[:, 2] == pytest.approx(of_all)  # a tag without words
    assert shares[noun, 0] == pytest.approx((2 + 10 * of_all[noun]) / 13)
    assert NO_CLASSES.shares([("zib", 0)], 2).tolist() == [[1.0, 1.0]]


# ----------------------------------------------------------------------------------------------- grammars


def grammar() -> Grammar:
    return TreebankPCFG(LEXICAL).fit(TREES)


def test_unknown_words_of_a_grammar_share_their_signature_by_class():
    """The probabilities of the unknown words of all classes add up to that of an unknown word without classes."""
    with_classes, without = grammar().lexicon, TreebankPCFG().fit(TREES).lexicon
    words = ["zyb", "zaab", "unheard", "thib"]
    lexicon = replace(with_classes, classes=WordClasses(("thib", "zaab", "zyb"), np.array([1, 2, 3], np.int32)))
    lexicon = replace(lexicon, class_shares=lexicon.classes.shares([("zyb", 0), ("zaab", 1)], len(lexicon.tags)))
    assert sorted(lexicon.classes.of(word) for word in words) == [0, 1, 2, 3]
    unknown = without.look_up(["the", "unheard"])[1][1]
    assert lexicon.look_up(["the", *words])[1][1:].sum(axis=0) == pytest.approx(unknown, rel=1e-5)
    known = ["the", "zib", "dax"]
    assert (with_classes.look_up(known)[1] == without.look_up(known)[1]).all()
    assert np.array_equal(with_classes.weights, without.weights)


@pytest.mark.parametrize(("word", "tag"), [("zyb", "NN"), ("zaab", "VBD")])
def test_classes_bring_out_the_tags_of_unknown_words(word, tag):
    own = grammar()
    likely = own.lexicon.look_up(["the", word])[1][1]
    unheard = own.lexicon.look_up(["the", "unheard"])[1][1]
    assert own.tags[(likely / unheard).argmax()] == tag
    assert Parser(own, settings=EXHAUSTIVE).parse(["the", word, "zab"]).tags[0] == "DT"


def test_grammars_and_ensembles_keep_their_classes():
    own = grammar()
    ensemble = Ensemble.from_bytes(Ensemble((own, own)).to_bytes())
    for again in (Grammar.from_bytes(own.to_bytes()), *ensemble.grammars):
        assert again.lexicon.classes.words == CLASSES.words
        assert np.array_equal(again.lexicon.classes.classes, CLASSES.classes)
        assert np.array_equal(again.lexicon.class_shares, own.lexicon.class_shares)
    assert Grammar.from_bytes(TreebankPCFG().fit(TREES).to_bytes()).lexicon.classes.words == ()


SHARES = grammar().lexicon.class_shares
DAMAGED = {
    "classes": {"classes": WordClasses(CLASSES.words, CLASSES.classes - np.int32(1))},
    "words": {"classes": WordClasses(CLASSES.words[1:], CLASSES.classes)},
    "type": {"classes": WordClasses(CLASSES.words, CLASSES.classes.astype(np.int64))},
    "few shares": {"class_shares": SHARES[:-1]},
    "no shares": {"class_shares": SHARES[:0, :0]},
    "tags": {"class_shares": SHARES[:, 1:]},
    "zero": {"class_shares": 0 * SHARES},
    "not a number": {"class_shares": np.nan * SHARES},
}


@pytest.mark.parametrize("parts", DAMAGED.values(), ids=DAMAGED)
def test_classes_that_do_not_fit_are_refused(parts, isbn):
    own = grammar()
    with pytest.raises(ModelError, match="inconsistent in its classes"):
        check(replace(own, lexicon=replace(own.lexicon, **parts)))
    rare = replace(isbn.vocabulary.rare, **parts)
    with pytest.raises(ModelError, match="inconsistent in its classes"):
        ISBN.from_bytes(replace(isbn, vocabulary=replace(isbn.vocabulary, rare=rare)).to_bytes())


# ----------------------------------------------------------------------------------------------- networks


@pytest.fixture(scope="module")
def isbn() -> ISBN:
    return ISBNLearner(n_states=4, n_epochs=1, lexical=ISBNLexical(word_classes=LEARNER)).fit(TREES)


def test_unknown_words_of_a_network_share_their_signature_by_class(isbn):
    rare = isbn.vocabulary.rare
    without = replace(rare, classes=NO_CLASSES, class_shares=np.zeros((0, 0), dtype=np.float32))
    found = [rare.log_factors(word, False) for word in ("thiz", "zyzyb", "zaab", "zyb")]
    assert all(np.isfinite(factors).all() for factors in found)
    assert rare.log_factors("zyb", False) == pytest.approx(
        without.log_factors("zyb", False) + np.log(rare.class_shares[CLASSES.of("zyb")]), rel=1e-5
    )
    assert (rare.log_factors("dax", False) == without.log_factors("dax", False)).all()
    tags = rare.tags_of("zaab", False)
    assert tags.sum() == pytest.approx(1)
    verb = isbn.tags.index("VBD")
    assert tags[verb] > without.tags_of("zaab", False)[verb]


def test_networks_keep_their_classes(isbn):
    again = ISBN.from_bytes(isbn.to_bytes())
    assert again.vocabulary.rare.classes.words == CLASSES.words
    one, two = (each.vocabulary.candidates(["the", "zaab", "zyb"]) for each in (isbn, again))
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert "word_classes" not in isbn.meta["learner"]


# ----------------------------------------------------------------------------------------------- pipelines


def test_pipelines_keep_classes_but_need_no_text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(map(" ".join, text())) + "\n", encoding="utf-8")
    raw = {"@misc": "spacy-lpcfg.RawText.v1", "path": str(path), "lang": None}
    classes = {"@misc": "spacy-lpcfg.WordClasses.v1", "text": raw, "n_classes": 3}
    nlp = spacy.blank("en")
    learner = {"@misc": "spacy-lpcfg.TreebankPCFG.v1"}
    learner["lexical"] = {"@misc": "spacy-lpcfg.LexicalSettings.v1", "word_classes": classes}
    pipe = nlp.add_pipe("lpcfg_parser", config={"learner": learner})
    pipe.grammar = pipe.learner.fit(TREES)
    assert pipe.grammar.lexicon.classes.n_classes == 4
    nlp.to_disk(tmp_path / "model")
    path.unlink()
    assert spacy.load(tmp_path / "model").get_pipe("lpcfg_parser").grammar.to_bytes() == pipe.grammar.to_bytes()
