"""The ID and the text of a sentence, through CoNLL-U, trees and Docs."""

import pickle

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_lpcfg.components.doc.read import rooted_trees
from spacy_lpcfg.components.doc.sentences import multiwords_of
from spacy_lpcfg.components.doc.write import set_trees
from spacy_lpcfg.components.training.corpus import tree_to_doc
from spacy_lpcfg.trees import parse_trees
from spacy_lpcfg.trees.dependencies import conllu
from spacy_lpcfg.trees.reading import read_dialect
from spacy_lpcfg.trees.source import SourceText
from spacy_lpcfg.trees.transforms import normalize_rooted

FRENCH = """\
# newdoc id = fr
# sent_id = fr.7
# text = Il parle du chat.
1	Il	il	PRON	_	_	2	nsubj	_	_
2	parle	parler	VERB	_	_	0	root	_	_
3-4	du	_	_	_	_	_	_	_	_
3	de	de	ADP	_	_	5	case	_	_
4	le	le	DET	_	_	5	det	_	_
5	chat	chat	NOUN	_	_	2	obl	_	Gloss=cat|SpaceAfter=No
6	.	.	PUNCT	_	_	2	punct	_	_

# sent_id = fr.8
# text = Vámonos.
1-2	Vámonos	_	_	_	_	_	_	_	SpaceAfter=No
1	Vamos	ir	VERB	_	_	0	root	_	_
2	nos	nosotros	PRON	_	_	1	obj	_	_
3	.	.	PUNCT	_	_	1	punct	_	SpaceAfter=No
"""
EARLY = "(S (NP (PRP She)) (VP (`` ``) (VBD left) ('' '')) (PRN (-LRB- -LRB-) (ADVP (RB early)) (-RRB- -RRB-)) (. .))"


def text_columns(conllu_text: str) -> list[str]:
    """Return the lines of the IDs and texts of sentences, and of words their numbers, forms, tags and white space."""
    lines = []
    for line in conllu_text.splitlines():
        if line.startswith(("# sent_id", "# text")):
            lines.append(line)
        elif line and line[0].isdigit():
            number, form, _, *tags, _, _, _, _, misc = line.split("\t")
            lines.append(" ".join((number, form, *tags, misc.removeprefix("Gloss=cat|"))))
    return lines


@pytest.fixture
def french():
    return [*read_dialect(FRENCH.splitlines(keepends=True), "a.conllu")]


def test_text_of_conllu_has_multiword_tokens_and_is_written_back_equal(french):
    texts = [tree.source.text for tree in french]
    assert [text.text for text in texts] == ["Il parle du chat.", "Vámonos."]
    assert texts[0].offsets == [(0, 2), (3, 8), (9, 11), (9, 11), (12, 16), (16, 17)]
    assert text_columns("\n".join(map(conllu, french))) == text_columns(FRENCH)
    assert pickle.loads(pickle.dumps(french[0])).source == french[0].source


@pytest.mark.filterwarnings("ignore:Merged tokens cross")
@pytest.mark.parametrize(("start", "end"), [(3, 5), (2, 5), (1, 3)])
def test_multiword_token_merged_with_another_loses_its_form_and_no_word(french, start, end):
    """The words de and le, which are "du" in the text, are merged in part or whole with the word before or after."""
    doc = tree_to_doc(Vocab(), [normalize_rooted(french[0])])
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[start:end])
    assert rooted_trees(doc)[0].source.text.text == doc.text.rstrip() == "Il parle de le chat."


def test_multiword_token_of_which_a_word_is_split_loses_its_form_and_no_word(french):
    doc = tree_to_doc(Vocab(), [normalize_rooted(french[0])])
    with doc.retokenize() as retokenizer:
        retokenizer.split(doc[3], ["l", "e"], heads=[doc[2], doc[2]])
    assert rooted_trees(doc)[0].source.text.text == doc.text.rstrip() == "Il parle de le chat."


@pytest.mark.filterwarnings("ignore:Merged tokens cross")
def test_text_of_conllu_goes_through_docs(french):
    doc = tree_to_doc(Vocab(), [normalize_rooted(tree) for tree in french])
    assert doc.text == "Il parle de le chat. Vamos nos."
    (loaded,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(Vocab())
    joined = Doc.from_docs([doc, tree_to_doc(doc.vocab, [*parse_trees("(NP (NN Rain))")])], ensure_whitespace=False)
    for each in (doc, loaded):
        assert text_columns("\n".join(map(conllu, rooted_trees(each)))) == text_columns(FRENCH)
    assert multiwords_of(joined)[2:4] == ["du", "+"]
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
    assert rooted_trees(doc)[0].source.text.text == "Il parle du chat."


def test_text_of_docs_is_written_to_conllu():
    doc = spacy.blank("en")('She "left"  (early).')
    doc.user_data["sent_ids"] = ["CHAP1.5,3"]
    set_trees(doc, [*parse_trees(EARLY)])
    (tree,) = rooted_trees(doc)
    assert text_columns(conllu(tree)) == [
        "# sent_id = CHAP1.5,3",
        '# text = She "left" (early).',
        "1 She PRON PRP _",
        '2 " PUNCT `` SpaceAfter=No',
        "3 left VERB VBD SpaceAfter=No",
        "4 \" PUNCT '' _",
        "5 ( PUNCT -LRB- SpaceAfter=No",
        "6 early ADV RB SpaceAfter=No",
        "7 ) PUNCT -RRB- SpaceAfter=No",
        "8 . PUNCT . SpaceAfter=No",
    ]


def test_text_is_left_out_where_a_tree_has_other_words(french):
    (shorter,) = parse_trees("(NP (NN chat))")
    assert shorter.with_source(french[0].source).source == french[0].source._replace(text=None)
    assert "# sent_id = a b\n# text = chat\n" in conllu(shorter.with_id("a\nb"))
    cut = SourceText(("de", "le", "chat"), (True, True, False), ("+", "du", "+"))
    assert [token.form for token in cut.tokens()] == ["de", "du"]
    unmarked = FRENCH.replace("SpaceAfter=No", "_").replace("Gloss=cat|", "")
    for text, expected in ((unmarked, "Il parle du chat."), (unmarked.replace("= Il", "= Elle"), "Il parle du chat .")):
        assert next(read_dialect(text.splitlines(keepends=True), "a.conllu")).source.text.text == expected
    nameless = FRENCH.replace("\tdu\t", "\t\t").replace("3-4", "2-9").splitlines(keepends=True)
    assert next(read_dialect(nameless, "a.conllu")).source.text.text == "Il parle de le chat."
    text = SourceText(("a\nb", "c"), (False, False))
    assert (text.text, text.offsets) == ("a\nbc", [(0, 3), (3, 4)])
