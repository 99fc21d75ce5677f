import logging

import pytest
import spacy

GERMAN = "Gestern regnete es den ganzen Tag, deshalb blieben wir zu Hause und lasen dicke B\u00fccher."
JAPANESE = "昨日は一日中雨が降ったので家にいました。"
ENGLISH = "Yesterday it rained all day, so we stayed at home and read thick books."


@pytest.fixture
def hints(caplog):
    """The messages of the log that tell of unknown words."""
    caplog.set_level(logging.WARNING, "spacy")
    logger = logging.getLogger("spacy")
    before, logger.propagate = logger.propagate, True
    yield lambda: [message for message in caplog.messages if "unknown to the model" in message]
    logger.propagate = before


@pytest.fixture
def english():
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_parser", config={"pretrained": "en-fast"})
    return nlp


@pytest.mark.parametrize("text", [GERMAN, JAPANESE])
def test_unknown_words_are_told_once(english, hints, text):
    list(english.pipe([text, text, ENGLISH, text]))
    english(text)
    (hint,) = hints()
    assert hint.startswith("lpcfg_parser: most words of this text are unknown to the model (of language 'en')")


def test_unknown_words_are_told_after_much_that_is_known(english, hints):
    list(english.pipe([ENGLISH] * 100))
    assert hints() == []
    list(english.pipe([GERMAN] * 20))
    assert len(hints()) == 1


@pytest.mark.parametrize("text", ["", "Xqzt.", "12 34 56 " * 20, "https://a.example/bcdefghijkl " * 9, ENGLISH.upper()])
def test_unknown_words_of_little_text_and_of_english_are_not_told(english, hints, text):
    english(text)
    assert hints() == []
