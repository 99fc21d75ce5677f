"""Tags that a Doc has before it is parsed: they stay, are a prior, and are never taken for those of a parser."""

import pytest
import spacy
from pipelines import copies
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.doc.sentences import given_tags_of
from spacy_lpcfg.components.doc.tree_group import KEY
from spacy_lpcfg.components.settings import Output

FAST = {"pretrained": "en-fast"}
WORDS = ["I", "saw", "her", "fall", "."]
VERB = ["PRP", "VBD", "PRP", "VB", "."]
NOUN = ["PRP", "VBD", "PRP$", "NN", "."]


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_parser", config=FAST)
    return nlp


@pytest.fixture
def parser(nlp):
    pipe = nlp.get_pipe("lpcfg_parser")
    yield pipe
    pipe.tags, pipe.output = "prior", Output()


def doc_of(nlp: Language, tags: list[str] | None = None, words: list[str] = WORDS) -> Doc:
    return Doc(nlp.vocab, words=words, tags=tags)


def tags_of(doc: Doc) -> list[str]:
    return [token.tag_ for token in doc]


def tree_tags(doc: Doc) -> list[str]:
    return [tag for tree in trees(doc) for tag in tree.tags]


def everything(doc: Doc) -> list[object]:
    attrs = {name: str(value) for name, value in doc.spans[KEY].attrs.items()}
    return [str(trees(doc)), attrs, tags_of(doc)]


@pytest.mark.parametrize("tags", [VERB, NOUN])
def test_given_tags_stay_and_are_a_prior(nlp, tags):
    doc = nlp(doc_of(nlp, tags))
    assert tags_of(doc) == tags == tree_tags(doc)
    assert doc[3]._.constituency.label == ("VP" if tags is VERB else "NN")
    assert tags_of(nlp(doc_of(nlp))) == tree_tags(nlp(doc_of(nlp)))
    some = nlp(doc_of(nlp, ["", "", *tags[2:4], ""]))
    assert tags_of(some) == tree_tags(some) == tags
    assert tags_of(nlp(Doc(nlp.vocab, ["I", "\n", "ran"], tags=["", "_SP", ""]))) == ["PRP", "_SP", "VBD"]


def test_given_tags_are_overruled_in_the_tree_and_stay_on_the_tokens(nlp):
    wrong = ["PRP", "VBD", "IN", "CC", "."]
    doc = nlp(doc_of(nlp, wrong))
    assert tags_of(doc) == wrong != tree_tags(doc)
    assert tree_tags(doc) == doc.spans[KEY].attrs["tags"] == doc._.constituency[0].tree.tags


def test_given_tags_come_from_any_component_before_the_parser():
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("attribute_ruler")
    ruler.add([[{"LOWER": "her"}]], {"TAG": "PRP"})
    ruler.add([[{"LOWER": "fall"}]], {"TAG": "VB", "POS": "VERB", "LEMMA": "fall"})
    nlp.add_pipe("lpcfg_parser", config=FAST)
    fall = nlp("I saw her fall.")[3]
    assert (fall.tag_, fall.pos_, fall.lemma_, fall._.constituency.label) == ("VB", "VERB", "fall", "VP")


@pytest.mark.parametrize(
    ("set_tags", "tokens"),
    [("missing", ["X1", "VBD", "PRP$", "NN", "."]), (True, NOUN), (False, ["X1", "", "", "", ""])],
)
def test_given_tags_and_set_tags(nlp, parser, set_tags, tokens):
    parser.output = Output(set_tags=set_tags)
    doc = nlp(doc_of(nlp, ["X1", "", "", "", ""]))
    assert tags_of(doc) == tokens
    assert tree_tags(doc) == doc.spans[KEY].attrs["tags"] == NOUN
    assert doc.spans[KEY].attrs["given_tags"] == ["X1", "", "", "", ""]
    parser.output = Output(set_tags=False)  # so that those of the parser are taken back
    assert tags_of(nlp(doc)) == ["X1", "", "", "", ""]


@pytest.mark.parametrize("set_tags", ["missing", True, False])
@pytest.mark.parametrize("tags", [None, VERB, ["PRP", "", "IN", "CC", ""]], ids=["none", "verb", "wrong"])
def test_given_tags_are_the_same_when_a_doc_is_parsed_again(nlp, parser, set_tags, tags):
    parser.output = Output(set_tags=set_tags)
    for parser.tags in ("prior", "given"):
        first = nlp(doc_of(nlp, tags))
        wanted = everything(first)
        for doc in (*copies(first), first):
            again = nlp(doc)
            assert everything(again) == wanted
            assert everything(nlp(again)) == wanted


def test_given_tags_are_those_that_somebody_sets_after_the_parser(nlp):
    doc = nlp(doc_of(nlp))
    assert tree_tags(doc) == NOUN
    doc[2].tag_, doc[3].tag_ = "PRP", "VB"
    assert tree_tags(doc) == NOUN
    assert tree_tags(nlp(doc)) == tags_of(doc) == VERB
    assert given_tags_of(doc, KEY) == ["", "", "PRP", "VB", ""]


@pytest.mark.filterwarnings("ignore:Merged tokens cross")
@pytest.mark.parametrize("words", [slice(0, 2), slice(2, 4), slice(1, 4)])
def test_given_tags_are_none_of_the_parsers_after_tokens_were_merged(nlp, words):
    doc = nlp(doc_of(nlp))
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[words])
    assert given_tags_of(doc, KEY) == [""] * len(doc)
    merged = doc[words.start]
    assert merged._.constituency.tree.tags[0] == merged.tag_
    assert trees(nlp(doc)) == trees(nlp(doc_of(nlp, words=[token.text for token in doc])))


@pytest.mark.filterwarnings("ignore:Merged tokens cross")
def test_given_tags_of_merged_tokens_stay_given(nlp):
    doc = nlp(doc_of(nlp, ["", "", "X3", "X4", ""]))
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
        retokenizer.merge(doc[0:2], attrs={"TAG": "X1"})
    assert given_tags_of(doc, KEY) == ["X1", doc[1].tag_, ""]
    assert doc[1].tag_ in ("X3", "X4")


def test_given_tags_of_docs_that_are_put_together(nlp):
    doc = Doc.from_docs([nlp(doc_of(nlp)), nlp(doc_of(nlp, VERB))])
    assert given_tags_of(doc, KEY)[:5] == [""] * 5  # read after the groups were put together
    assert given_tags_of(doc, KEY)[5:] == VERB


@pytest.mark.parametrize("tags", [None, VERB])
def test_given_tags_are_those_of_the_alternatives_of_a_node(nlp, tags):
    """They are asked of a Doc of the sentence alone, in which the parser's own tags are not to be given."""
    for node in nlp(doc_of(nlp, tags))._.constituency[0].nodes():
        if node.labels:
            assert node.alternatives[node.label] == pytest.approx(node.label_probability, abs=1e-5)


def test_given_tags_by_another_parser_are_given_unless_told():
    both = spacy.blank("en")
    both.add_pipe("lpcfg_parser", config=FAST)
    second = both.add_pipe("lpcfg_parser", name="second", config={**FAST, "spans_key": "second", "tags": "model"})
    doc = both("I saw her duck.")
    assert second.tags == "model"
    assert trees(doc, "second") == trees(doc)
    assert doc.spans["second"].attrs["given_tags"] == tags_of(doc)


@pytest.mark.parametrize("name", ["lpcfg_parser", "isbn_parser"])
def test_given_tags_analyze_pipes_tells_what_is_set(name):
    nlp = spacy.blank("en")
    nlp.add_pipe(name)
    found = nlp.analyze_pipes()
    assert set(found["summary"][name]["assigns"]) == {"doc.spans", "doc.sents", "token.is_sent_start", "token.tag"}
    assert found["summary"][name]["requires"] == found["problems"][name] == []
