"""Sentences with dependencies: what CoNLL-U says of them, and the words below each."""

import gzip

import pytest

from spacy_lpcfg.trees import TreebankError
from spacy_lpcfg.trees.dependencies import NO_HEAD
from spacy_lpcfg.trees.dependency_sentences import DependencySentence, read_conllu, read_sentences, subtree_spans


def line(number, word, head, relation, tag="_", part="X"):
    return "\t".join((str(number), word, "_", part, tag, "_", str(head), relation, "_", "_"))


TEXT = f"""\
# text = I can't, (no)
{line(1, "I", 2, "nsubj", "PRP", "PRON")}
{line("2-3", "can't", "_", "_")}
{line(2, "ca", 0, "root", "MD", "AUX")}
{line(3, "n't", 2, "advmod", "RB", "PART")}
{line("3.1", "go", "_", "_")}
{line(4, ",", 2, "punct", ",", "PUNCT")}
{line(5, "(", 6, "punct", "-LRB-", "PUNCT")}
{line(6, "no", 2, "discourse", "UH", "INTJ")}
{line(7, ")", 6, "punct", "-RRB-", "PUNCT")}


# nothing but a comment

{line(1, "Yes", 0, "root")}"""


@pytest.fixture
def path(new_file):
    def written(text, name="a.conllu"):
        path = new_file(name, gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return written


@pytest.mark.parametrize("name", ["a.conllu", "a.conllu.gz"])
def test_conllu_is_read_without_comments_multiword_tokens_and_empty_nodes(path, name):
    first, second = read_conllu(path(TEXT, name))
    assert first.words == ("I", "ca", "n't", ",", "(", "no", ")")
    assert first.heads == (1, NO_HEAD, 1, 1, 5, 1, 5)
    assert first.tags[:2] == ("PRP", "MD")
    assert first.relations[5] == "discourse"
    assert first.children()[1] == [0, 2, 3, 5]
    assert second == DependencySentence(("Yes",), (None,), ("X",), ("_",), (NO_HEAD,), ("root",))


def test_subtrees_lose_the_punctuation_at_their_edges(path):
    first, _ = read_conllu(path(TEXT))
    assert subtree_spans(first) == [(0, 1), (0, 7), (2, 3), None, None, (5, 6), None]


def sentence(words: str, heads: tuple[int, ...], parts: str = "X X X", relations: str = "dep dep dep"):
    n = len(heads)
    texts = (tuple(text.split()) for text in (words, parts, relations))
    words, parts, relations = texts
    return DependencySentence(words, (None,) * n, parts, ("_",) * n, heads, relations)


def test_subtrees_keep_brackets_whose_partner_is_within():
    films = sentence(
        "films ( old ) ,", (NO_HEAD, 2, 0, 2, 0), "NOUN PUNCT ADJ PUNCT PUNCT", "root punct punct punct punct"
    )
    assert subtree_spans(films)[0] == (0, 4)


def test_subtrees_with_gaps_have_no_span():
    assert subtree_spans(sentence("a b c", (NO_HEAD, 0, 0)))[0] == (0, 3)
    assert subtree_spans(sentence("a b c", (2, NO_HEAD, 1)))[2] is None


CHAIN = "\n".join(["# text = a chain", *(line(i, "a", i - 1, "dep") for i in range(1, 502))])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 Yes 0 root", "a.conllu:1: Expected 10 columns"),
        (line(2, "Yes", 0, "root"), "a.conllu:1: Expected the word number 1"),
        (line(1, "Yes", "_", "root"), "Expected the number of a head from 0 to 1, got '_'"),
        (line(1, " ", 0, "root"), "a.conllu:1: Expected a word in column 2"),
        (line(1, "Yes", 0, "root", part="_"), "a.conllu:1: Expected a universal part of speech in column 4, got '_'"),
        (
            line(1, "Yes", 0, "root", part="A B"),
            "a.conllu:1: Expected a universal part of speech in column 4, got 'A B'",
        ),
        (f"{line(1, 'a', 0, 'root')}\n{line(2, 'b', 9, 'dep')}", "a.conllu:2: Expected the number of a head"),
        (line(1, "Yes", 7, "root"), "Expected the number of a head from 0 to 1, got '7'"),
        (f"{line(1, 'a', 2, 'dep')}\n{line(2, 'b', 1, 'dep')}", "Expected words whose heads make a tree"),
        (
            line(1, "Yes", "1" * 5_000, "root"),
            "a.conllu:1: Expected the number of a head from 0 to 1, got '1+'... of 5,000",
        ),
        (CHAIN, "a.conllu:2: Expected a sentence of at most 500 words, got 501"),
    ],
)
def test_conllu_that_is_none_is_refused(path, text, message):
    with pytest.raises(TreebankError, match=message):
        list(read_conllu(path(text)))


def test_broken_sentences_are_left_out_and_told():
    errors = []
    lines = [line(1, "a", 1, "dep"), "", line(1, "Yes", 0, "root")]
    (sentence,) = read_sentences(lines, "here", errors.append)
    assert sentence.words == ("Yes",)
    assert [(error.path, error.line) for error in errors] == [("here", 1)]
