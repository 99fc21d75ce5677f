import gzip
import pickle
import tracemalloc
from itertools import islice, repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.strategies import trees

from spacy_lpcfg.trees import Tree, TreebankError, brackets, lines, parse_trees, read_trees, tree_builder, write_trees

CAT = "(S (NP (DT the) (NN cat)) (VP (VBD slept)))"
DOG = "(S (NP (DT the) (NN dog)) (VP (VBD ran)))"

BROKEN = {  # what is wrong: the tree, and a part of the message
    "closes too often": ("(S (NP (NN x)) (VP (VB y))))", "closes nothing"),
    "not closed": ("(S (NP (NN x)) (VP (VB y))", "1 of its nodes are still open"),
    "not closed in a word": ("(S (NP (NN x", "3 of its nodes|word beside|beside other nodes"),
    "text outside": ("Once upon a time", "'Once' outside"),
    "text after": ("(S (NN x)) , he said", "',' outside"),
    "node without words": ("(S (NP) (VP (VB y)))", r"in \(NP ...\), but got nothing"),
    "brackets without anything": ("(())", r"in \( ...\), but got nothing"),
    "word before a node": ("(NP the (NN cat))", "'the' beside other nodes"),
    "word after a node": ("(NP (DT the) cat)", "'cat' beside other nodes"),
    "two words": ("(S (NN ice cream))", "'ice' and 'cream'. Join a word with a space"),
    "no label inside": ("(S ( (NP (NN x))))", "Expected a label"),
    "no label twice": ("( ( (S (NN x))))", "Expected a label"),
}


def parse(text: str) -> list[str]:
    return [str(tree) for tree in parse_trees(text)]


def parse_and_skip(text: str) -> tuple[list[str], list[TreebankError]]:
    errors: list[TreebankError] = []
    return [str(tree) for tree in parse_trees(text, on_error=errors.append)], errors


@given(trees(), st.lists(st.sampled_from([" ", "\n", "\t", "\r\n", "\n\n  "])))
def test_brackets_white_space_outside_of_words_is_free(tree, spaces):
    text = str(tree)
    for space in spaces:
        text = text.replace(" ", space, 1).replace("(", f"{space}(", 1).replace(")", f"{space})", 1)
    assert list(parse_trees(text)) == [tree]


@pytest.mark.parametrize("text", ["", "\n", " \r\n\t"])
def test_brackets_text_without_trees_is_no_error(text):
    assert parse(text) == []


def test_brackets_several_trees_on_a_line_and_one_over_lines():
    flush_left = CAT.replace(" ", "\n")
    assert parse(f"{CAT} {DOG}{CAT}\n\n{flush_left}{DOG}\r\n") == [CAT, DOG, CAT, CAT, DOG]


def test_brackets_unlabelled_root():
    (tree,) = parse_trees(f"( {CAT} (. .) )")
    assert tree.label == ""
    assert str(tree) == f"( {CAT} (. .))"
    assert parse(f"({CAT})") == [f"( {CAT})"]


@pytest.mark.parametrize(
    "text",
    [
        "(S.fp (sn-SUJ (grup.nom (np0000a Anna))) (neg-fumat.fp (Fp .)))",
        "(IP-MAT-SPE (NP-SBJ *T*-1) (C 0) (NPR-N með-með) (VBDI $kat) (NP=2 (Q 1\\/2)))",
        "(NP (-LRB- -LRB-) (NN :-RRB-) (NN 10\u00a0000) (NN a\u2028b) (NN \\*) (NN 🙂))",
        "(ADVP|PRT (`` ``) ('' \") (: --) (# #) (@ @x))",
        "(NN word)",
    ],
)
def test_brackets_labels_and_words_are_kept_as_they_stand(text):
    assert parse(text) == [text]


def test_brackets_names_of_trees_are_dropped():
    name = "(ID 1525.GEORGIUS.NAR-REL,.1)"
    assert parse(f"( {CAT}\n  {name})\n( (METADATA (AUTHOR x)) {DOG})") == [f"( {CAT})", f"( {DOG})"]
    assert parse(f"( {name})\n(ID x)") == ["(ID x)"]
    assert parse(f"(S {CAT} {name})") == [f"(S {CAT} {name})"]


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_brackets_error_names_file_line_and_remedy(text, message):
    with pytest.raises(TreebankError, match=message) as caught:
        list(parse_trees(f"{CAT}\n\n{text}", path="some.mrg"))
    assert str(caught.value).startswith("some.mrg:3: Expected ")
    assert (caught.value.path, caught.value.line) == ("some.mrg", 3)
    assert isinstance(caught.value, ValueError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("layout", ["{0}\n{1}\n{2}\n", "  {0}\n  {1}\n  {2}\n", "{0}\n{1}\n\n{2}"])
def test_brackets_broken_tree_is_skipped_alone(text, message, layout):
    good, errors = parse_and_skip(layout.format(CAT, text, DOG))
    assert good == [CAT, DOG]
    assert [error.line for error in errors] == [2]


def test_brackets_broken_tree_over_lines_is_named_by_its_first():
    text = f"{CAT}\n(S\n  (NP (NN x))\n  (VP)\n  (. .))\n{DOG}"
    good, errors = parse_and_skip(text)
    assert good == [CAT, DOG]
    assert [error.line for error in errors] == [2]
    assert "seen in line 4" in str(errors[0])


def test_brackets_unclosed_tree_does_not_swallow_the_rest():
    indented = CAT.replace(" (VP", "\n   (VP")
    text = "\n".join([indented, "(S (NP (NN x))", indented, "(S (NP)", DOG, "(S", indented])
    good, errors = parse_and_skip(text)
    assert good == [CAT, CAT, DOG, CAT]
    assert [error.line for error in errors] == [3, 6, 8]


@pytest.mark.parametrize(
    ("text", "kept", "n_errors"),
    [
        ("{0}\n(S (NP))\n{0}".format(CAT.replace(" (", "\n(")), [CAT, CAT], 1),
        (f"{CAT} (NP (NN)) {DOG} (NP a b (NP (NN c))) {CAT}", [CAT, DOG, CAT], 2),
    ],
    ids=["flush left", "on one line"],
)
def test_brackets_broken_trees_leave_those_beside_them(text, kept, n_errors):
    good, errors = parse_and_skip(text)
    assert (good, len(errors)) == (kept, n_errors)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"(NP (SYM :\)))", [":-RRB-"]),
        (r"(NP (SYM \() (SYM \)))", ["-LRB-", "-RRB-"]),
        (r"(NP (NNP C:\))", ["C:" + "\\"]),
        ("(NP (NNP C:\\ ))", ["C:" + "\\"]),
        ("(S\n (NP (NNP C:\\))\n (X (NN C:\\)))", ["C:\\", "C:\\"]),
        ("(S\n (NP (SYM :\\))))\n", [":-RRB-"]),
    ],
)
def test_brackets_after_backslashes_are_parts_of_words_where_the_others_are_balanced(text, words):
    (tree,) = parse_trees(text)
    assert tree.words == words
    assert [*parse_trees(str(tree))] == [tree]


def test_brackets_that_are_not_closed_are_told_where_the_next_tree_begins():
    """Unless trees before have nodes that begin lines as trees do."""
    not_closed = "( (S (NP (NN a)) (VP (VB b)))\n"
    _, (error,) = parse_and_skip(f"{CAT}\n{not_closed}( {DOG})\n")
    assert error.line == 2
    assert "the tree of line 2 is not closed where line 3 begins another" in error.message
    _, errors = parse_and_skip(f"(S\n(NP (NN a)))\n(S\n(NP (NN a))\n(VP)\n)\n{CAT}\n")
    assert "Expected a word or other nodes" in errors[0].message


@given(st.text(alphabet="()ab \n", max_size=40))
def test_brackets_any_text_is_read_or_refused(text):
    good, errors = parse_and_skip(text)
    assert all(error.line <= text.count("\n") + 1 for error in errors)
    if not errors:
        assert parse(text) == good
    else:
        with pytest.raises(TreebankError):
            parse(text)


def test_brackets_deep_tree():
    depth = 5_000
    text = "(S " * depth + "(NN x)" + ")" * depth
    assert parse(text) == [text]
    assert parse_and_skip(text[:-1])[1][0].line == 1


def test_brackets_reading_is_streaming():
    endless = parse_trees(repeat(CAT))
    next(endless)
    tracemalloc.start()
    assert sum(len(tree) for tree in islice(endless, 5_000)) == 15_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000


def test_brackets_files_plain_zipped_and_with_byte_order_mark(tmp_path):
    plain, zipped, marked = tmp_path / "a.mrg", tmp_path / "b.mrg", tmp_path / "c.mrg"
    plain.write_text(f"{CAT}\r\n{DOG}", encoding="utf-8")
    zipped.write_bytes(gzip.compress(DOG.encode()))
    marked.write_text(CAT, encoding="utf-8-sig")
    assert [str(tree) for tree in read_trees([plain, zipped, str(marked)])] == [CAT, DOG, DOG, CAT]
    assert [str(tree) for tree in read_trees(str(zipped))] == [DOG]


def test_brackets_file_errors_name_the_file(tmp_path, new_file):
    path = new_file("a.mrg", f"{CAT}\n(NP)\n{DOG}\n")
    with pytest.raises(TreebankError, match=r"a\.mrg:2: Expected a word"):
        list(read_trees(path))
    errors: list[TreebankError] = []
    assert len(list(read_trees([path, path], on_error=errors.append))) == 4
    assert [(error.path, error.line) for error in errors] == [(str(path), 2)] * 2
    with pytest.raises(FileNotFoundError):
        list(read_trees(tmp_path / "absent.mrg"))


def test_brackets_file_in_another_encoding_is_refused(new_file):
    path = new_file("latin.mrg", f"{CAT}\n(NN Köln)\n".encode("latin-1"))
    with pytest.raises(TreebankError, match=r"latin\.mrg:2: Expected UTF-8, but got the byte 0xf6"):
        list(read_trees(path, on_error=lambda error: None))


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: data[:20] + b"xx" * 20])
def test_brackets_damaged_gzip_is_refused(new_file, damage):
    path = new_file("a.mrg.gz", damage(gzip.compress((CAT * 50).encode())))
    with pytest.raises(TreebankError, match="damaged"):
        list(read_trees(path))


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("text", ["(S\n" + "(A b)\n" * 40, "(S " + "(A b) " * 40, "(" * 40, "(A b c\n" + "d\n" * 400])
def test_brackets_tree_without_end_is_refused(text, skip, monkeypatch):
    """Also where broken trees are skipped: what is kept to go back to would have no end."""
    monkeypatch.setattr(tree_builder, "MAX_NODES", 30)
    monkeypatch.setattr(brackets, "LONGEST_LINE", 300)
    few = "(S (A b) (A b))"
    trees = parse_trees(f"{few}\n" * 50 + text, on_error=[].append if skip else None)
    assert [str(tree) for tree in islice(trees, 50)] == [few] * 50
    message = r"<text>:51: Expected (a tree of at most (30 nodes|300 characters), but it goes on|one word|a label)"
    with pytest.raises(TreebankError, match=message) as error:
        list(trees)
    assert not skip or "goes on" in str(error.value)


def test_brackets_line_without_end_is_refused(new_file, monkeypatch):
    """A small gzip file may hold more than there is memory for."""
    monkeypatch.setattr(lines, "LONGEST_LINE", 100)
    path = new_file("a.mrg.gz", gzip.compress(f"{CAT}\n".encode() + b" " * 10**6))
    with pytest.raises(TreebankError, match=r"a\.mrg\.gz:2: .*at most 100 bytes"):
        list(read_trees(path))
    path.write_bytes(gzip.compress(b" " * 98 + b"\n" + f"{CAT}\n".encode()))
    assert len(list(read_trees(path))) == 1


@pytest.mark.parametrize("name", ["a.mrg", "a.mrg.gz"])
def test_brackets_write_inverts_read(tmp_path, name):
    path = tmp_path / name
    treebank = list(parse_trees(f"{CAT} ( {DOG}) (NN við)"))
    write_trees(path, treebank)
    assert list(read_trees(path)) == treebank
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    first = path.read_bytes()
    write_trees(str(path), treebank)
    assert path.read_bytes() == first


X = Tree("NN", word="x")


@pytest.mark.parametrize(
    "tree",
    [*(Tree("NN", word=word) for word in ("ice cream", "(", "", "\ud800")), Tree("", word="x"), Tree("S NP", [X]),
     Tree("S", [Tree("", [X])])],
)  # fmt: skip
def test_brackets_write_refuses_what_cannot_be_read_and_leaves_the_file(tmp_path, new_file, tree):
    path = new_file("a.mrg", CAT)
    with pytest.raises(ValueError, match="Expected labels and words that are not empty"):
        write_trees(path, [X, tree])
    assert path.read_text(encoding="utf-8") == CAT
    assert list(tmp_path.iterdir()) == [path]
