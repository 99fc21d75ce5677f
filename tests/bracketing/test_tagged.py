"""Tagged text: both formats, told apart by their first line, and what is wrong in either by file and line."""

import gzip
from collections.abc import Iterator

import pytest

from spacy_lpcfg.bracketing.tagged import TaggedSentence, read_tagged, tagged_sentences
from spacy_lpcfg.trees import TreebankError

TREES = """\

( (S (NP-SBJ-1 (PRP It)) (VP (VBZ seems) (S (NP-SBJ (-NONE- *-1)) (VP (VBG working)))) (. .)) )
(ROOT (FRAG (-LRB- -LRB-)
   (NN 1\\/2) (-RRB- -RRB-))) (ROOT (NP (-NONE- *)))
"""
LINES = "It/PRP seems/VBZ working/VBG ./.\n\n(/-LRB- 1/2/NN )/-RRB-\n"
WANTED = [
    TaggedSentence(("It", "seems", "working", "."), ("PRP", "VBZ", "VBG", ".")),
    TaggedSentence(("(", "1/2", ")"), ("-LRB-", "NN", "-RRB-")),
]


def pairs(line: str) -> list[tuple[str, str]]:
    (sentence,) = tagged_sentences([line])
    return list(zip(*sentence, strict=True))


@pytest.mark.parametrize("text", [TREES, LINES])
@pytest.mark.parametrize("is_zipped", [False, True])
def test_tagged_reads_both_formats_plain_and_zipped(new_file, text, is_zipped):
    path = new_file("text", gzip.compress(text.encode()) if is_zipped else text.encode())
    assert list(read_tagged(path)) == WANTED
    assert list(read_tagged([path, path])) == WANTED * 2


@pytest.mark.parametrize("line", ["(/-LRB- It/PRP", "(:/UH It/PRP", "(/( )/)", "It/PRP (/-LRB-"])
def test_tagged_lines_may_begin_with_a_bracket(line):
    assert [item for pair in pairs(line) for item in pair] == [x for i in line.split() for x in i.rsplit("/", 1)]


@pytest.mark.parametrize("line", ["(S (NN a/b))", "((S (NN a)))", "( (S", "(S"])
def test_tagged_trees_may_begin_in_any_way(line):
    assert list(tagged_sentences([line, "" if line.endswith(")") else "(NN a)" + ")" * line.count("(")])) != []


def test_tagged_names_file_and_line(tmp_path):
    path = tmp_path / "text"
    for text, place in [
        ("\nIt/PRP\nseems\n", ":3: Expected word/tag"),
        ("It/\n", ":1: Expected word/tag"),
        ("\n\n(S (NN a)\n", ":3: Expected closing brackets"),
    ]:
        path.write_text(text, encoding="utf-8")
        with pytest.raises(TreebankError, match=f"text{place}"):
            list(read_tagged(path))
    path.write_bytes(b"It/PRP\ncaf\xe9/NN\n")
    with pytest.raises(TreebankError, match="text:2: Expected UTF-8"):
        list(read_tagged(path))
    path.write_bytes(gzip.compress(LINES.encode())[:-9])
    with pytest.raises(TreebankError, match="damaged"):
        list(read_tagged(path))


@pytest.mark.parametrize("text", ["It/PRP\nseems\nworks/VBZ\n", "(S (PRP It))\n(S (\n(S (VBZ works))\n"])
def test_tagged_skips_what_is_broken_when_told(text):
    errors: list[TreebankError] = []
    found = list(tagged_sentences(text.splitlines(), on_error=errors.append))
    assert [sentence.words for sentence in found] == [("It",), ("works",)]
    assert [error.line for error in errors] == [2]


def test_tagged_reads_as_a_stream():
    def endless() -> Iterator[str]:
        while True:
            yield "It/PRP works/VBZ"

    assert next(tagged_sentences(endless())).words == ("It", "works")


def test_tagged_reads_all_of_the_brown_corpus(shared_data):
    sentences = list(read_tagged(shared_data / "brown" / "brown_tagged.txt.gz"))
    assert len(sentences) == 57340
    assert sum(len(sentence.words) for sentence in sentences) == 1161192
