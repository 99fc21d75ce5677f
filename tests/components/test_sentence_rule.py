import pytest
import spacy
from pipelines import pipeline_by
from spacy.tokens import Doc

from benchmarks.accuracy.sentences import Document, rows, universal_dependencies, written
from spacy_lpcfg.components.doc.sentences import find_sentences, texts_of, words_of
from spacy_lpcfg.components.sentence_rule import PunctuationSentencizer, sentence_starts
from spacy_lpcfg.trees import parse_trees
from spacy_lpcfg.trees.transforms import escape_tokens

DIALOGUE = ['"Where are you going?" asked the boy.', '"Home," she said.', '"I\'m tired."']
TEXTS = {
    "dialogue": [*DIALOGUE, '"Stop!" Tom cried.', "He left."],
    "curly": ["“Where are you going?” asked the boy.", "“Home,” she said.", "“I’m tired.”"],
    "single": ["‘Where?’ she asked.", "‘Home.’", "He left."],
    "long quotation": ['He said, "I am.', 'You are."', '"We are."'],
    "brackets": ["He left.", "(She stayed.)", "They met again (twice).", "Once."],
    "references": ["He left.[7]", "She stayed. [8] [9]", "They met."],
    "abbreviations": [
        "Mr. Smith of Acme Inc. lives in the U.S. Army camp.",
        "Prof. Lee and Dr. J. K. Brown came, e.g. by car.",
    ],
    "abbreviations that the tokenizer splits": ["It costs $3.50 p.a. e.g. for gas.", "They pay it p.a.", "It rained."],
    "list after a colon": ["Could you ask Jane to:\n", "- call Tom\n", "- write to Ann"],
    "ends in abbreviation": ["He lives in the U.S.", "She came at 5 p.m.", "They saw vitamin C.", "The end etc."],
    "runs of stops": ["Really?!", "We waited ... and waited.", "Then...", "No.", "No!!!", "yes."],
    "numbers": ["1. Buy milk.", "2. Call Tom.", "He was 5.", "She was 6."],
    "list": ["To do:\n", "1. Buy milk\n", "2) Call Tom\n", "- Sleep\n", "• Eat"],
    "letter": ["Dear Anna,\n", "the parcel came.", "See you soon\n", "Best wishes,\n", "Tom"],
    "letter with blank lines": ["Anna,\n\n", "It came.\n\n", "Best,\n", "Tom"],
    "paragraphs": ["A heading\n\n", "A text that somebody\nhas broken into\nThree lines.", "More"],
    "verse": ["Roses are red,\nviolets are blue."],
    "transcript": ["He looked at the —", "So what did he see?"],
    "white space": ["\n\n Hello. \n ", "World.  "],
}
OTHER_LANGUAGES = {
    "de": ["„Wohin gehst du?“, fragte er.", "„Nach Hause“, sagte sie.", "Dr. Meyer kam."],
    "xx": ["« Où vas-tu ? » dit-il.", "« Chez moi. »", "Elle part."],
    "zh": ["他问：“去哪儿？”", "“回家。”", "他走了。"],
}


def split(doc):
    starts = [i for i, is_start in enumerate(sentence_starts(doc)) if is_start]
    return [doc[start:end].text for start, end in zip(starts, [*starts[1:], len(doc)], strict=True)]


def joined(sentences):
    return "".join(text if text[-1].isspace() else f"{text} " for text in sentences[:-1]) + sentences[-1]


@pytest.mark.parametrize("sentences", TEXTS.values(), ids=TEXTS)
def test_sentence_rule_splits_english(sentences):
    doc = spacy.blank("en").make_doc(joined(sentences))
    assert [text.strip() for text in split(doc)] == [text.strip() for text in sentences]


@pytest.mark.parametrize(("lang", "sentences"), OTHER_LANGUAGES.items())
def test_sentence_rule_splits_other_languages(lang, sentences):
    text = "".join(sentences) if lang == "zh" else " ".join(sentences)
    assert split(spacy.blank(lang).make_doc(text)) == sentences


@pytest.mark.parametrize("marks", ['""', ("``", "''")])
def test_sentence_rule_takes_words_without_their_white_space(marks):
    start, end = marks
    doc = Doc(
        spacy.blank("en").vocab, f"{start} Where ? {end} asked he . {start} I go . I run . {end} He left .".split()
    )
    assert split(doc) == [f"{start} Where ? {end} asked he .", f"{start} I go .", f"I run . {end}", "He left ."]


@pytest.mark.parametrize("text", ["", " ", "\n\n", ".", '"', "...", '."', "[", ".[1", "Hi,\n", "-\n-\n-"])
def test_sentence_rule_takes_any_text(text):
    doc = spacy.blank("en").make_doc(text)
    assert sentence_starts(doc)[:1] == [True] * (len(doc) > 0)


def test_sentence_rule_keeps_the_sentences_of_a_doc():
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_sentencizer")
    doc = nlp.make_doc("It rained. We stayed.")
    assert len(list(nlp(doc.copy()).sents)) == 2
    for token in doc:
        token.is_sent_start = token.i == 0
    assert len(list(nlp(doc).sents)) == 1


def test_sentence_rule_leaves_quotations_that_a_treebank_can_spell():
    doc = spacy.blank("en").make_doc(" ".join(DIALOGUE))
    words = [texts_of(doc, words_of(doc, start, end)) for start, end in find_sentences(doc, "constituents").bounds]
    quotes = [[word for word in escape_tokens(sentence) if word in ("``", "''", '"')] for sentence in words]
    assert quotes == [["``", "''"]] * 3


UD = """\
# newdoc id = a
# newpar id = a-1
# text = He said "Hi".
1\tHe\t_
2\t.\t_\tSpaceAfter=No

# text = She?
1\tShe\t_
2\t?\t_

# newpar id = a-2
# text = Yes
1\tYes\t_

"""


def test_sentence_rule_benchmark_reads_treebanks():
    document = universal_dependencies(UD)
    assert document.text == 'He said "Hi".She?\n\nYes'
    assert document.sentences == ['He said "Hi".', "She?", "Yes"]
    (tree,) = parse_trees(
        "(S (`` ``) (NP (NN ice) (HYPH -) (NN age)) (VP (VBZ is) (RB n't)) (, ,) ('' '') (-LRB- -LRB-) (. ?))"
    )
    assert written(tree) == '"ice-age isn\'t," (?'
    ours, theirs = list(rows([Document("It rained. We stayed.", ["It rained.", "We stayed."])]))[:2]
    assert ours["splitter"] == "lpcfg_sentencizer"
    assert (ours["F1"], theirs["F1"]) == (100, 100)


class CountingDoc(Doc):
    """A Doc that counts how often all of its tokens are looked through."""

    n_looks = 0

    def has_annotation(self, *arguments, **settings):
        CountingDoc.n_looks += 1
        return super().has_annotation(*arguments, **settings)


@pytest.mark.parametrize("name", ["lpcfg_sentencizer", "lpcfg_parser"])
def test_boundaries_are_set_in_linear_time(sample_grammar, name):
    """spaCy's setter of `token.is_sent_start` looks through the whole Doc."""
    nlp, _ = pipeline_by(sample_grammar)
    pipe = PunctuationSentencizer() if name == "lpcfg_sentencizer" else nlp.get_pipe(name)
    n_looks = []
    for n in (5, 50):
        CountingDoc.n_looks = 0
        doc = pipe(CountingDoc(nlp.vocab, words=["It", "left", "."] * n))
        n_looks.append(CountingDoc.n_looks)
        assert [token.is_sent_start for token in doc] == [True, False, False] * n
    assert n_looks[0] == n_looks[1]
