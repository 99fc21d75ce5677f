from operator import eq

import pytest
from bracketed import tree_of
from hypothesis import given
from hypothesis import strategies as st
from oracles.strategies import labels, trees, words

from spacy_lpcfg.trees import Tree, clean, normalize, read_trees
from spacy_lpcfg.trees.transforms import (
    binarize,
    collapse_unaries,
    escape_token,
    escape_tokens,
    expand_unaries,
    remove_empty,
    split_chain,
    strip_root,
    unbinarize,
    unescape_token,
)

VP = "(VP (V a) (NP b) (PP c) (SBAR d))"


def chain(depth: int) -> Tree:
    """A tree whose only word is below `depth` nodes, of many labels."""
    tree = Tree("NN", word="x")
    for i in range(depth):
        tree = Tree(f"X{i % 7}", [tree])
    return tree


@pytest.mark.parametrize(
    ("markov", "expected"),
    [
        (0, "(VP (@VP (@VP (V a) (NP b)) (PP c)) (SBAR d))"),
        (1, "(VP (@VP->_SBAR (@VP->_PP (V a) (NP b)) (PP c)) (SBAR d))"),
        (2, "(VP (@VP->_SBAR (@VP->_PP_SBAR (V a) (NP b)) (PP c)) (SBAR d))"),
    ],
)
def test_binarize_groups_from_the_left(markov, expected):
    assert str(binarize(tree_of(VP), markov=markov)) == expected


@given(trees(), st.integers(0, 2))
def test_binarize_is_undone_by_unbinarize(tree, markov):
    binary = binarize(tree, markov=markov)
    assert unbinarize(binary) == tree
    assert all(len(node.children) <= 2 for node in binary.nodes())
    assert (binary.words, binary.tags) == (tree.words, tree.tags)


def test_binarize_refuses_labels_of_its_own_unknown_settings_and_parts_of_trees():
    for text in ("(S (@VP (V a)))", "(S (@ @))", "(@S (V a))"):
        with pytest.raises(ValueError, match="has the label '@"):
            binarize(tree_of(text))
    with pytest.raises(ValueError, match="0 or more, but got -1"):
        binarize(tree_of(VP), markov=-1)
    with pytest.raises(ValueError, match=r"'@VP'\. Pass the whole tree"):
        unbinarize(tree_of("(@VP (V a) (NP b))"))


def test_collapse_fuses_chains_down_to_the_tag():
    tree = tree_of("(S (NP (PRP it)) (VP (VP (V a) (ADVP|PRT (RB b)) (NP (NP (DT c) (NN d))))))")
    collapsed = collapse_unaries(tree)
    expected = r"(S (NP|PRP it) (VP|VP (V a) (ADVP\|PRT|RB b) (NP|NP (DT c) (NN d))))"
    assert str(collapsed) == expected
    assert expand_unaries(collapsed) == tree


@given(trees())
def test_collapse_is_undone_by_expand(tree):
    collapsed = collapse_unaries(tree)
    assert expand_unaries(collapsed) == tree
    assert all(len(node.children) != 1 for node in collapsed.nodes())


@given(st.lists(st.text(alphabet="|\\a", max_size=4), min_size=1, max_size=4))
def test_split_chain_gives_the_labels_of_the_chain(parts):
    tree = Tree(parts[-1], word="x")
    for label in reversed(parts[:-1]):
        tree = Tree(label, [tree])
    assert split_chain(collapse_unaries(tree).label) == parts


CATEGORIES = (
    "NP-SBJ-1>NP NP=2>NP NP-SBJ=3>NP PP-LOC-CLR>PP ADVP|PRT>ADVP|PRT sn-SUJ>sn grup.nom>grup.nom -NONE->-NONE- "
    "-LRB->-LRB- =>= NP>NP"
)


@pytest.mark.parametrize("labels", CATEGORIES.split())
def test_clean_cuts_functions_off_categories_only(labels):
    label, category = labels.split(">")
    tree = Tree(label, [Tree("X", word="x"), Tree("NN-Y", word="y")])
    assert clean(tree) == Tree(category, tree.children)


@given(trees())
def test_clean_never_leaves_an_empty_label(tree):
    assert all(node.label for node in clean(tree).nodes())


def test_remove_empty_takes_nodes_that_held_nothing_else():
    tree = tree_of("(S (NP-SBJ (-NONE- *-1)) (VP (V a) (SBAR (-NONE- 0) (S (-NONE- *T*)))) (NP 0))")
    assert str(remove_empty(tree)) == "(S (VP (V a)) (NP 0))"
    assert remove_empty(tree_of("(S (NP (-NONE- *)))")) is None
    assert remove_empty(tree_of("(-NONE- *)")) is None


@pytest.mark.parametrize(
    ("text", "root", "rest"),
    [
        ("( (S (V a)))", "", "(S (V a))"),
        ("(ROOT (S (V a)))", "ROOT", "(S (V a))"),
        ("( (ROOT (S (V a))))", "ROOT", "(S (V a))"),
        ("(TOP (V a))", "TOP", "(V a)"),
        ("(S (V a))", "", "(S (V a))"),
        ("(ROOT a)", "", "(ROOT a)"),
        ("(ROOT (V a) (. .))", "", "(ROOT (V a) (. .))"),
    ],
)
def test_strip_root_takes_off_the_artificial_root(text, root, rest):
    label, tree = strip_root(tree_of(text))
    assert (label, str(tree)) == (root, rest)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("( (S-TPC (NP-SBJ (NP-TTL (NP=1 (NN a)))) (VP (V b))))", "(S (NP (NN a)) (VP (V b)))"),
        ("(ROOT (S (NP (-NONE- *)) (S-1 (VP (V b)))))", "(S (VP (V b)))"),
        ("(ROOT (S (V b)) (-NONE- *))", "(S (V b))"),
        ("( (NP (NN a)) (. .))", "(TOP (NP (NN a)) (. .))"),
        ("(NP (NP b))", "(NP (NP b))"),
        ("(X (Y (X (V b))))", "(X (Y (X (V b))))"),
        ("(ROOT (NP (-NONE- *)))", "None"),
    ],
)
def test_normalize_gives_what_is_learned_and_scored(text, expected):
    assert str(normalize(tree_of(text))) == expected


@given(trees(labels(["S", "NP-1", "NP", "ROOT"]), labels(["-NONE-", "NN"])))
def test_normalize_has_no_unary_over_its_like_and_happens_once(tree):
    normal = normalize(tree)
    if normal is not None:
        assert normalize(normal) == normal
        assert "-NONE-" not in normal.tags
        for node in normal.nodes():
            if len(node.children) == 1 and not node.children[0].is_leaf:
                assert node.label != node.children[0].label


@pytest.mark.parametrize(
    ("word", "escaped"), [("(", "-LRB-"), ("}", "-RCB-"), ("[", "-LSB-"), (":)", ":-RRB-"), ("f(s)", "f-LRB-s-RRB-")]
)
def test_escape_token_names_brackets(word, escaped):
    assert escape_token(word) == escaped
    assert unescape_token(escaped) == word


@given(words())
def test_escape_token_is_undone_by_unescape(word):
    text = unescape_token(word)  # no escapes of its own
    if unescape_token(text) == text:
        assert unescape_token(escape_token(text)) == text


@pytest.mark.parametrize(
    ("escaped", "word"), [("``", '"'), ("''", '"'), (r"1\/2", "1/2"), (r"\*", "*"), ("--", "--"), ("'s", "'s")]
)
def test_unescape_token_reads_what_treebanks_write(escaped, word):
    assert unescape_token(escaped) == word


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('" a " b " c "', "`` a '' b `` c ''"),
        ("“ a ” b", "`` a '' b"),
        ('a ” b " c "', "a '' b `` c ''"),
        ('“ a “ b ” " ”', "`` a `` b '' `` ''"),
        ('a . "', "a . ''"),
        ("( a [ b ] )", "-LRB- a -LSB- b -RSB- -RRB-"),
    ],
)
def test_escape_tokens_gives_quotation_marks_their_direction(text, expected):
    assert escape_tokens(text.split()) == expected.split()


def test_escape_tokens_spells_as_the_treebank_does():
    known = {"[", '"', r"1\/2", "3/4"}
    text = ["(", "[", '"', "1/2", "3/4", "5/8", '"']
    assert escape_tokens(text, known=known) == ["-LRB-", "[", '"', r"1\/2", "3/4", "5/8", '"']


def test_transforms_depth_is_bounded_by_memory_only():
    deep = chain(5_000)
    assert expand_unaries(collapse_unaries(deep)) == deep
    assert normalize(deep) == deep
    wide = Tree("S", [Tree("NN", word="x")] * 2_000)
    assert unbinarize(binarize(wide, markov=2)) == wide


@pytest.mark.parametrize("name", ["wsj_sample/train.mrg", "gum/dev.mrg"])
def test_transforms_escapes_of_treebanks_are_undone(shared_data, name):
    treebank = [tree.words for tree in map(normalize, read_trees(shared_data / name)) if tree]
    known = {word for sentence in treebank for word in sentence}
    n_words = n_undone = 0
    for sentence in treebank:
        again = escape_tokens([unescape_token(word) for word in sentence], known=known)
        n_words += len(sentence)
        n_undone += sum(map(eq, again, sentence))
    assert n_undone > 0.999 * n_words
