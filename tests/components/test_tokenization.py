"""The tokenizer gets no long runs of characters without a blank, for which it takes quadratic time."""

import pytest
import spacy
from pipelines import pipeline_by
from spacy.tokenizer import Tokenizer

from spacy_lpcfg.components.cli.shared.pipelines import blank_pipeline
from spacy_lpcfg.components.cli.shared.processes import pipe
from spacy_lpcfg.components.serve.corenlp import CoreNLP
from spacy_lpcfg.components.tokenization import MAX_RUN, tokenize

TEXTS = [
    "(" * (3 * MAX_RUN + 7),
    f"We (all) came.  {')' * 2 * MAX_RUN} \n\n It's {'x' * MAX_RUN} {'👍' * (MAX_RUN + 1)}\n",
]


class Recorder(Tokenizer):
    """A tokenizer that keeps the texts that it gets."""

    def __init__(self, tokenizer):
        self.texts = []
        self.tokenizer = tokenizer

    def __call__(self, text):
        self.texts.append(text)
        return self.tokenizer(text)

    @property
    def longest_run(self) -> int:
        return max((len(run) for text in self.texts for run in text.split()), default=0)


@pytest.fixture
def nlp():
    nlp = spacy.blank("en")
    nlp.tokenizer = Recorder(nlp.tokenizer)
    return nlp


@pytest.mark.parametrize("text", TEXTS)
def test_long_runs_are_cut(nlp, text):
    doc = tokenize(nlp, text)
    assert doc.text == text
    assert nlp.tokenizer.longest_run == MAX_RUN
    assert not doc.has_annotation("SENT_START")


def test_tokens_of_other_texts_are_those_of_spacy():
    nlp = spacy.blank("en")
    text = f"We're gonna (all) {'x' * MAX_RUN} come."
    assert tokenize(nlp, text).to_bytes() == nlp(text).to_bytes()
    assert [token.norm_ for token in tokenize(nlp, f"gonna {TEXTS[0]}")[:2]] == [token.norm_ for token in nlp("gonna")]


def test_texts_that_are_too_long_are_refused(nlp):
    nlp.max_length = MAX_RUN
    with pytest.raises(ValueError, match="max_length"):
        tokenize(nlp, TEXTS[0])


def test_commands_and_servers_cut_long_runs(nlp, sample_grammar):
    (doc, _), *_ = pipe(nlp, [(TEXTS[0], None)])
    assert doc.text == TEXTS[0]
    assert nlp.tokenizer.longest_run == MAX_RUN
    served, component = pipeline_by(sample_grammar)
    served.tokenizer = Recorder(served.tokenizer)
    CoreNLP(served, component).annotate(TEXTS[0], {"annotators": "tokenize"})
    assert served.tokenizer.longest_run == MAX_RUN


BRACKETS = {
    "The mice (n = 8) were old.": "The mice ( n = 8 ) were old .",
    "My uncle (a baker): he says no.": "My uncle ( a baker ) : he says no .",
    "I came :) at 0.0 (8-) ;)": "I came :) at 0.0 ( 8- ) ;)",
}


@pytest.mark.parametrize("text", BRACKETS)
def test_brackets_close_beside_digits_and_colons(text, tmp_path):
    nlp = blank_pipeline("en")
    nlp.to_disk(tmp_path)
    for loaded in (nlp, spacy.load(tmp_path)):
        assert " ".join(token.text for token in loaded.tokenizer(text)) == BRACKETS[text]


def test_languages_with_a_tokenizer_of_their_own_stay_as_they_are():
    assert blank_pipeline("zh").tokenizer("他走了。")[0].text == "他"
