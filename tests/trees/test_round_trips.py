"""Random trees on Docs with whitespace, in every way that Docs are kept and copied, and through every view of them."""

import re
import unicodedata
from itertools import chain

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from oracles.strategies import sentences_with_space
from oracles.strategies import trees as random_trees
from pipelines import copies
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_lpcfg.batches import in_batches
from spacy_lpcfg.components.cli.shared.formats import Target, trees_as
from spacy_lpcfg.components.cli.shared.tree_sources import trees_of_path
from spacy_lpcfg.components.doc.extensions import register_extensions
from spacy_lpcfg.components.doc.read import rooted_trees, trees
from spacy_lpcfg.components.doc.tree_group import FORMAT, KEY
from spacy_lpcfg.components.doc.write import set_trees
from spacy_lpcfg.components.training.corpus import Treebank, tree_to_doc
from spacy_lpcfg.trees import Tree, from_nltk, write_trees
from spacy_lpcfg.trees.transforms import ROOT_LABELS, escape_tokens, normalize_rooted, strip_root

register_extensions()
VOCAB = Vocab()
unrooted = random_trees().filter(lambda tree: tree.label not in ROOT_LABELS)


def doc_of(sentences: list[list[str | Tree]]) -> Doc:
    """A Doc of sentences, each of whitespace tokens and at most one tree; the trees' words are w0, w1, ..."""
    words: list[str] = []
    starts: list[bool] = []
    for sentence in sentences:
        texts = [[item] if isinstance(item, str) else [f"w{i}" for i in range(len(item))] for item in sentence]
        inside = list(chain.from_iterable(texts))
        words += inside
        starts += [i == 0 for i in range(len(inside))]
    doc = Doc(VOCAB, words=words, sent_starts=starts)
    set_trees(doc, wanted_of(sentences))
    return doc


def wanted_of(sentences: list[list[str | Tree]]) -> list[Tree | None]:
    return [next((numbered(item) for item in sentence if isinstance(item, Tree)), None) for sentence in sentences]


def numbered(tree: Tree) -> Tree:
    """The tree over the words w0, w1, ..."""
    numbers = iter(range(len(tree)))
    return tree.fold(
        lambda node, below: Tree(node.label, below) if below else Tree(node.label, word=f"w{next(numbers)}")
    )


def kept(doc: Doc) -> list[Doc]:
    """The Doc in every way that Docs are kept and copied, with its vocabulary and with a new one."""
    as_bytes = Doc(Vocab()).from_bytes(doc.to_bytes())
    (binned,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(Vocab())
    return [doc, as_bytes, binned, *copies(doc), Example(doc, doc).reference]


@given(st.lists(sentences_with_space(unrooted), min_size=1, max_size=4))
def test_round_trip_through_everything_that_keeps_docs(sentences):
    for doc in kept(doc_of(sentences)):
        assert trees(doc) == wanted_of(sentences)
        assert doc.spans[KEY].attrs["format"] == FORMAT


@given(st.lists(unrooted, min_size=1, max_size=4))
def test_round_trip_through_json(wanted):
    """JSON keeps words, tags, sentences, and spans in their order. (spaCy reads no whitespace tokens from it.)"""
    sentences: list[list[str | Tree]] = [[tree] for tree in wanted]
    assert trees(Doc(Vocab()).from_json(doc_of(sentences).to_json())) == wanted_of(sentences)


@given(st.lists(sentences_with_space(unrooted), min_size=1, max_size=4))
def test_round_trip_through_docs_together(sentences):
    """Docs of a sentence each, put together, have the trees of all."""
    docs = [doc_of([sentence]) for sentence in sentences]
    assert trees(Doc.from_docs(docs)) == wanted_of(sentences)


@given(sentences_with_space(unrooted))
def test_round_trip_through_views(sentence):
    """A node's labels, words, children and parents are those of the tree, and drawing the spans anew gives it again."""
    doc = doc_of([sentence])
    (tree,) = wanted_of([sentence])
    if tree is None:
        assert not doc._.constituency
        return
    (root,) = doc._.constituency
    assert root.tree == tree
    assert from_nltk(root.to_nltk()) == tree
    words = [token.i for token in root.leaves]
    again = [
        (words.index(node.start), words.index(node.end - 1) + 1, label)
        for node in root.nodes()
        for label in node.labels
    ]
    assert again == tree.spans()
    for node in root.nodes():
        assert all(child.parent == node for child in node.children)
        assert not node.children or [leaf for child in node.children for leaf in child.leaves] == list(node.leaves)
    spans = [Span(doc, span.start, span.end, span.label_) for span in doc.spans[KEY]]
    doc.spans[KEY] = SpanGroup(doc, spans=spans, attrs={"format": FORMAT})
    assert trees(doc) == [tree]


@given(st.lists(random_trees(), min_size=1, max_size=4))
def test_round_trip_from_a_file_through_the_reader(tmp_path_factory, treebank):
    """The reader's Docs have the file's trees, normalized, and what they give is written and read as the same."""
    path = tmp_path_factory.mktemp("treebank") / "trees.mrg"
    write_trees(path, treebank)
    wanted = [tree for tree in map(normalize_rooted, treebank) if tree is not None]
    if not wanted:
        return
    docs = list(Treebank(path).docs(VOCAB))
    again = [[spelled(spelled(tree))] for tree in wanted]  # a curly mark is straight from then on
    assert [[spelled(tree) for tree in rooted_trees(doc)] for doc in docs] == again
    assert [trees(doc)[0] for doc in docs] == [strip_root(tree)[1] for tree in wanted]
    assert [rooted_trees(tree_to_doc(VOCAB, rooted_trees(doc))) for doc in docs] == [rooted_trees(doc) for doc in docs]


def spelled(tree: Tree) -> Tree:
    """The tree over words as a Doc gives them back, in the treebank's spelling."""
    (doc,) = [tree_to_doc(VOCAB, [tree])]
    words = iter(escape_tokens([token.text for token in doc]))
    return tree.fold(lambda node, below: Tree(node.label, below) if below else Tree(node.label, word=next(words)))


# Files of any words and labels

PRINTABLE = [chr(code) for code in range(0x3100) if unicodedata.category(chr(code))[0] in "ZPSLNM"]
BREAKS = ["\x85", "\x1c", "\x1d", "\x1e", "\x1f", "\ufeff", "\U0001f44d"]
"""Beside separators that are printable, ends of lines by other conventions, and a byte order mark."""
HELD = [char for char in PRINTABLE + BREAKS if char not in " ()"]


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("penn", "a.mrg"),
        ("penn", "a.mrg.gz"),
        ("penn", "a.tree"),
        ("jsonl", "a.jsonl"),
        ("json", "a.json"),
        ("spacy", "a.spacy"),
    ],
)
def test_round_trip_through_files_of_all_characters(form, name, tmp_path):
    """Each alone, at both ends, and in the middle of words and labels."""
    treebank = []
    for some in in_batches(HELD, 100):
        words = [word for char in some for word in (char, f"a{char}", f"{char}a", f"a{char}b")]
        treebank.append(Tree("S", [Tree(f"N{word}", [Tree("NN", word=word)]) for word in words]))
    Target(tmp_path / name, form, force=True).write(trees_as(form, iter(treebank), lang="en"))
    assert list(trees_of_path(str(tmp_path / name), None, None)) == treebank


# Spelling

ODD = ["``", "''", '"', "\u201c", "\u201d", "[", "-LSB-", "-LRB-", r"1\/2", r"\*", "*", "\u3000", "\u2028", "_", "It"]


@given(
    st.lists(
        st.lists(st.sampled_from(ODD) | st.text("\"`'()/*-LR\\ \u00a0", min_size=1, max_size=4), min_size=1), min_size=1
    )
)
def test_trees_spelling_is_kept(sentences):
    """However odd, as far as brackets can hold it."""
    banned = re.compile(r"[()\s]", re.ASCII)
    treebank = [
        Tree("S", [Tree("X", word=word if not banned.search(word) else "It") for word in words]) for words in sentences
    ]
    doc = tree_to_doc(VOCAB, treebank)
    for each in kept(doc):
        assert trees(each) == treebank
    joined = Doc.from_docs([doc, tree_to_doc(VOCAB, [Tree("S", [Tree("NN", word="plain")])])])
    if "spellings" in doc.spans[KEY].attrs:
        assert trees(joined)[:-1] == treebank


def test_trees_spelling_follows_tokens():
    tree = Tree(
        "S", [Tree("VB", word='"'), Tree("NP", [Tree("DT", word="a"), Tree("NN", word="b")]), Tree("X", word=r"\*")]
    )
    doc = tree_to_doc(VOCAB, [tree])
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[1:3])
    assert [found.words for found in trees(doc)] == [['"', "a_b", r"\*"]]


def test_trees_spelling_is_not_that_of_other_words():
    """Only where a tree has the words of the Doc."""
    doc = Doc(VOCAB, words=["New York"], sent_starts=[True])
    set_trees(doc, [Tree("NP", [Tree("NNP", word="York")])])
    assert [found.words for found in trees(doc)] == [["New_York"]]
    assert "spellings" not in doc.spans[KEY].attrs


def test_trees_spelling_stays_when_a_parser_writes_its_own():
    nlp = spacy.blank("en")
    parser = nlp.add_pipe("lpcfg_parser")
    doc = tree_to_doc(nlp.vocab, [Tree("S", [Tree("PRP", word="It"), Tree("VBD", word="fell"), Tree("''", word='"')])])
    assert [found.words for found in trees(parser(doc))] == [["It", "fell", '"']]
