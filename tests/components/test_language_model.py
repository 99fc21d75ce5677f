"""The component `language_model`: what it learns from text, and whose surprisal tokens have."""

import numpy as np
import pytest
import spacy
from commands import SAMPLE
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lpcfg.components.doc.surprisal import doc_surprisal
from spacy_lpcfg.components.language_model import read_language_model
from spacy_lpcfg.language_model import LanguageModelError, LanguageModelLearner
from spacy_lpcfg.language_model.learning import interpolate
from spacy_lpcfg.trees import read_trees

SENTENCES = [tree.words for tree in read_trees(SAMPLE / "train.mrg")]
TEXT = "We missed the old ferry. She was here."
SETTINGS = {"method": "em", "n_states": 4, "n_iterations": 2, "rare": 0}
LEARNER = {"@misc": "spacy-lpcfg.Learner.v1", "name": "lm", "settings": SETTINGS}


def examples(nlp, sentences=SENTENCES):
    docs = [Doc(nlp.vocab, words=words) for words in sentences]
    return [Example(Doc(nlp.vocab, words=words), doc) for words, doc in zip(sentences, docs, strict=True)]


def pipeline(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe("language_model", config={"learner": LEARNER, **config})
    return nlp


@pytest.fixture(scope="module")
def nlp():
    nlp = pipeline()
    nlp.initialize(lambda: examples(nlp))
    return nlp


def test_language_model_learner_holds_out_what_weighs_the_ngrams():
    learner = LanguageModelLearner(method="em", n_states=4, n_iterations=2, kneser_ney=True, held_out=0.25)
    dev = SENTENCES[3::4]
    train = [words for i, words in enumerate(SENTENCES) if i % 4 != 3]
    wanted = LanguageModelLearner(method="em", n_states=4, n_iterations=2).fit(train, held_out=dev).model
    assert learner.fit(SENTENCES).model.to_bytes() == interpolate(wanted, train, dev).to_bytes()
    given = learner.fit(train, held_out=dev).model
    assert given.to_bytes() == interpolate(wanted, train, dev).to_bytes()


def test_language_model_learner_says_what_it_expects():
    with pytest.raises(ValueError, match="Expected a held-out text for kneser_ney"):
        LanguageModelLearner(kneser_ney=True).fit(SENTENCES)


def test_language_model_gives_tokens_their_surprisal(nlp):
    """Sentence by sentence, in the treebank's spelling, though nothing else finds sentences."""
    model = nlp.get_pipe("language_model").learned
    doc = nlp("We missed the old ferry. She (and Tom) waited.")
    texts = ("We missed the old ferry .", "She -LRB- and Tom -RRB- waited .")
    sentences = [text.split() for text in texts]
    assert [len(sent) for sent in doc.sents] == [6, 7]
    wanted = [model.surprisal(words) for words in sentences]
    bits = [token._.surprisal for token in doc]
    np.testing.assert_array_equal(bits, np.concatenate([each[:-1] for each in wanted]))
    attrs = doc.spans["language_model"].attrs
    np.testing.assert_array_equal(attrs["end_surprisal"], [each[-1] for each in wanted])
    found = nlp.get_pipe("language_model").surprisals(nlp.make_doc(doc.text))
    np.testing.assert_array_equal(np.concatenate(found), np.concatenate(wanted))


def test_language_model_goes_before_a_parser(nlp, sample_grammar):
    alone = [token._.surprisal for token in nlp(TEXT)]
    for place in ({"first": True}, {"last": True}):
        nlp.add_pipe("lpcfg_parser", config={"output": {"surprisal": True}}, **place).learned = sample_grammar
        doc = nlp(TEXT)
        assert len(doc._.constituency) == 2
        np.testing.assert_array_equal([token._.surprisal for token in doc], alone)
        others = doc.spans["constituents"].attrs["surprisal"]
        assert not np.isclose(others, alone).any()
        np.testing.assert_array_equal(doc_surprisal(doc, nlp.get_pipe("language_model"))[0], alone)
        nlp.remove_pipe("lpcfg_parser")


def test_language_model_surprisal_stays_with_the_doc(nlp):
    doc = nlp(TEXT)
    bits = [token._.surprisal for token in doc]
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert [token._.surprisal for token in again] == bits
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:5])
    assert [token._.surprisal for token in doc] == pytest.approx([*bits[:2], sum(bits[2:5]), *bits[5:]])


def test_language_model_is_read_from_a_pipeline_or_a_file(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    bits = [token._.surprisal for token in nlp(TEXT)]
    for path in (tmp_path / "model", tmp_path / "model" / "language_model" / "model"):
        config = {"language_model": {"@readers": "spacy-lpcfg.read_language_model.v1", "path": str(path)}}
        other = pipeline()
        other.config["initialize"]["components"] = {"language_model": config}
        other.initialize()
        assert [token._.surprisal for token in other(TEXT)] == bits
    (tmp_path / "foreign").write_bytes(b"foreign")
    with pytest.raises(LanguageModelError):
        read_language_model(tmp_path / "foreign")()


def test_language_model_scores_perplexity(nlp):
    dev = SENTENCES[:20]
    scores = nlp.evaluate(examples(nlp, dev))
    wanted = nlp.get_pipe("language_model").learned.perplexity(dev).perplexity
    assert scores["perplexity"] == pytest.approx(wanted)
    assert scores["token_probability"] == pytest.approx(1 / wanted)
    assert nlp.evaluate([])["perplexity"] is None


def test_language_model_says_what_it_needs():
    nlp = pipeline()
    with pytest.raises(ValueError, match="has no language model yet"):
        nlp(TEXT)
    with pytest.raises(ValueError, match="found no text to learn from"):
        nlp.initialize(lambda: examples(nlp, [[]]))
    nlp.config["training"]["max_epochs"] = -1
    with pytest.raises(ValueError, match=r"Set training\.max_epochs = 1"):
        nlp.initialize(lambda: examples(nlp))
    with pytest.raises(ValueError, match="a learner of language models"):
        pipeline().get_pipe("language_model").learner = "em"
