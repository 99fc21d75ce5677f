"""Trees on a Doc: written, read back, viewed, and what happens when the annotation was damaged."""

import math
import pickle
import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import spacy
from bracketed import tree_of
from hypothesis import given
from oracles.lexical_heads import lexical_heads
from oracles.strategies import trees as random_trees
from spacy.attrs import LANG
from spacy.tokens import Doc, Span, SpanGroup, Token
from spacy.vocab import Vocab

from spacy_lpcfg.components.doc.boundaries import doc_boundaries
from spacy_lpcfg.components.doc.extensions import register_extensions
from spacy_lpcfg.components.doc.phrases import doc_clauses
from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.doc.tree_group import FORMAT, KEY
from spacy_lpcfg.components.doc.view import NonConstituentError, doc_constituency, span_constituency
from spacy_lpcfg.components.doc.write import set_parses, set_trees
from spacy_lpcfg.components.training.corpus import tree_to_doc
from spacy_lpcfg.pictures import tree_svg
from spacy_lpcfg.trees import HeadRules, Tree, dependencies, from_nltk, to_latex
from spacy_lpcfg.trees.heads import DEFAULT, ENGLISH

register_extensions()

VOCAB = Vocab()
FLIES = "(S (NP (NP (DT The) (NN time)) (PP (IN for) (NP (NN action)))) (VP (VBZ is) (ADVP (RB now))))"


def doc_of(*texts: str) -> Doc:
    return tree_to_doc(VOCAB, [tree_of(text) for text in texts])


def parse_of(text: str, scores: list[float], status: str = "parsed", probability: float = np.nan) -> SimpleNamespace:
    """Return a parse as a parser does, made by hand."""
    parsed = tree_of(text)
    return SimpleNamespace(
        tree=parsed,
        spans=parsed.spans(),
        tags=parsed.tags,
        span_scores=np.array(scores, np.float32),
        tag_scores=np.full(len(parsed), 0.5, np.float32),
        log_probability=-3.0,
        status=status,
        probability=probability,
    )


def test_constituents_views_are_of_whichever_component_wrote_trees():
    """The parser's own key comes before those of others, and any key counts where there is no other."""
    doc = doc_of("(S (NP (DT The) (NN time)) (VP (VBZ is)))")
    doc.spans["zz"] = doc.spans[KEY].copy()
    for key, label in (("brackets", "X"), ("isbn_constituents", "T"), (KEY, "S")):
        set_trees(doc, [tree_of(f"({label} (NP (DT The) (NN time)) (VP (VBZ is)))")], key)
    for key, label in ((KEY, "S"), ("isbn_constituents", "T"), ("brackets", "X"), ("zz", "S")):
        assert doc._.constituency[0].labels == (label,) == doc[:]._.constituency.labels
        assert doc_constituency(doc, "zz")[0].labels == ("S",)
        del doc.spans[key]
    with pytest.raises(ValueError, match="has no constituents"):
        _ = doc._.constituency


def test_constituents_are_spans_in_preorder_with_tags_on_tokens():
    doc = doc_of("(S (NP (PRP It)) (VP (VBZ works)))", "(UH Yes)", "(S (VP (VB Go)))")
    spans = [(span.start, span.end, span.label_) for span in doc.spans[KEY]]
    assert spans == [(0, 2, "S"), (0, 1, "NP"), (1, 2, "VP"), (3, 4, "S"), (3, 4, "VP")]
    assert [token.tag_ for token in doc] == ["PRP", "VBZ", "UH", "VB"]
    assert {**doc.spans[KEY].attrs, "offsets": None} == {"format": FORMAT, "offsets": None}
    with pytest.raises(ValueError, match="each of 3 sentences, got 1"):
        set_trees(doc, [tree_of("(UH a)")])
    with pytest.raises(ValueError, match="of 2 words"):
        set_trees(doc, [tree_of("(UH a)")] * 3)
    doc = doc_of("(TOP (NP (NN tea)) (CC or) (NP (NN coffee)))")
    assert [span.text for span in doc.spans[KEY]] == ["tea", "coffee"]
    assert str(trees(doc)[0]) == "( (NP (NN tea)) (CC or) (NP (NN coffee)))"


def test_constituents_of_whitespace_are_carried_not_parsed():
    words = ["\n", "A", " ", "cat", "\t", "Yes", "\n", " "]
    doc = Doc(VOCAB, words=words, sent_starts=[1, 0, 0, 0, 0, 1, 0, 1])
    wanted = [tree_of("(NP (DT A) (NN cat))"), tree_of("(UH Yes)"), None]
    set_trees(doc, wanted)
    assert [(span.start, span.end) for span in doc.spans[KEY]] == [(1, 4)]
    assert trees(doc) == wanted
    assert [node.label for node in doc._.constituency] == ["NP", "UH"]
    assert [sent._.constituency for sent in doc.sents] == [*doc._.constituency, None]
    assert doc[0:5]._.labels == ("NP",)
    assert doc[2]._.labels == ()
    assert (doc[7:8]._.parse_string, doc[7:8]._.constituency) == ("", None)


def test_constituents_of_empty_and_whitespace_docs():
    for words in ([], ["\n"]):
        doc = Doc(VOCAB, words=words)
        set_parses(doc, [None] * len(words))
        assert trees(doc) == [None] * len(words)
        assert len(doc.spans[KEY]) == 0
        assert doc.spans[KEY].attrs["status"] == ["empty"] * len(words)


def test_constituents_spell_words_as_treebanks_do():
    doc = doc_of("(X (`` ``) (-LRB- -LRB-) (NN New) (-RRB- -RRB-) ('' ''))")
    assert [token.text for token in doc] == ['"', "(", "New", ")", '"']
    assert trees(doc)[0].words == ["``", "-LRB-", "New", "-RRB-", "''"]
    merged = Doc(VOCAB, words=["New York", "\u00a0"], sent_starts=[1, 1])
    set_trees(merged, [tree_of("(NNP x)"), None])
    assert trees(merged)[0].words == ["New_York"]


def test_constituents_carry_scores_of_parses():
    doc = Doc(VOCAB, words=["It", "works", " ", "Go"], sent_starts=[1, 0, 0, 1])
    parses = [
        parse_of("(S (NP (PRP It)) (VP (VBZ works)))", [0.9, 0.8, 0.7]),
        parse_of("(TOP (VP (VB Go)))", [1.0, 0.6], "glued"),
    ]
    set_parses(doc, parses)
    group = doc.spans[KEY]
    assert group.attrs["scores"].dtype == np.float32
    assert group.attrs["scores"].tolist() == pytest.approx([0.9, 0.8, 0.7, 0.6])
    assert group.attrs["tag_scores"].tolist() == pytest.approx([0.5, 0.5, np.nan, 0.5], nan_ok=True)
    assert group.attrs["log_probabilities"].tolist() == [-3.0, -3.0]
    assert group.attrs["status"] == ["parsed", "glued"]
    root = doc._.constituency[0]
    assert root.label_probability == pytest.approx(0.9)
    assert root.children[1].probability == root.children[1].label_probability == pytest.approx(0.7)
    assert [span._.probability for span in group] == pytest.approx([0.9, 0.8, 0.7, 0.6])
    assert doc[1:2]._.probability == pytest.approx(0.7)


def test_probability_of_a_span_is_that_of_its_own_label():
    doc = Doc(VOCAB, words=["Go"])
    set_parses(doc, [parse_of("(S (VP (VB Go)))", [0.9, 0.6])])
    assert [span._.probability for span in doc.spans[KEY]] == pytest.approx([0.9, 0.6])
    assert [Span(doc, 0, 1, label)._.probability for label in ("", "PERSON")] == pytest.approx([0.9, 0.9])


def test_probability_of_a_root_is_that_of_the_whole_tree():
    doc = Doc(VOCAB, words=["It", "works", " ", "Go", "Oh", "a", "b"], sent_starts=[1, 0, 0, 1, 1, 1, 0])
    texts = "(S (NP (PRP It)) (VP (VBZ works)))", "(VP (VB Go))", "(UH Oh)", "(S (X a) (X b))"
    scores = [0.9, 0.8, 0.7], [0.6], [], [0.0]
    wanted = [0.25, 0.375, 0.5, None]
    parses = [
        parse_of(text, of_text, probability=np.nan if p is None else p)
        for text, of_text, p in zip(texts, scores, wanted, strict=True)
    ]
    set_parses(doc, parses)
    assert [root.probability for root in doc._.constituency] == wanted
    for again in (Doc(VOCAB).from_bytes(doc.to_bytes()), pickle.loads(pickle.dumps(doc)), Doc.from_docs([doc, doc])):
        assert [root.probability for root in again._.constituency][-4:] == wanted
    set_parses(doc, parses, threshold=0.75)
    assert [root.probability for root in doc._.constituency] == wanted  # with the brackets that are left out
    doc[1].is_sent_start = True
    assert doc[3]._.constituency.probability is None  # whose tree had other words


def test_uncertain_brackets_have_rivals_that_their_component_tells():
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("lpcfg_parser", config={"pretrained": "en-fast"})
    words = ["They", "cooked", "the", "beans", "in", "the", "pot", "on", "the", "stove", "."]
    doc = nlp(Doc(nlp.vocab, words=words))
    (posteriors,) = pipe.posteriors(Doc(nlp.vocab, words=words))
    root, scores = doc._.constituency[0], doc.spans[KEY].attrs["scores"].tolist()
    found = root.uncertain(1.1)
    assert [(each.span, each.span.label_, each.probability) for each in found if each.is_in_tree] == [
        (span, span.label_, score) for span, score in zip(doc.spans[KEY], scores, strict=True)
    ]
    rivals = [rival for each in found for rival in each.rivals]
    assert ("the beans in the pot", "NP") in [(span.text, span.label_) for span, _ in rivals]
    for span, p in rivals:
        assert posteriors.brackets[span.start, span.end, span.label_] == pytest.approx(p, abs=1e-6)
    least = min(scores)
    assert [each.probability for each in root.uncertain(least + 1e-6) if each.is_in_tree] == [least]
    assert root.uncertain(0.0) == []
    with pytest.raises(ValueError, match="is not there to be asked"):
        Doc(Vocab()).from_bytes(doc.to_bytes())._.constituency[0].uncertain()
    with pytest.raises(ValueError, match="have no probabilities"):
        doc_of(FLIES)._.constituency[0].uncertain()


def test_constituents_below_the_threshold_are_left_out_and_told():
    doc = Doc(VOCAB, words=["The", "time", "is", "now"], sent_starts=[1, 0, 0, 0])
    text = "(S (NP (DT The) (NN time)) (VP (VBZ is) (ADVP (RB now))))"
    set_parses(doc, [parse_of(text, [0.4, 0.9, 0.3, 0.8])], threshold=0.5)
    assert [(span.text, span.label_) for span in doc.spans[KEY]] == [("The time", "NP"), ("now", "ADVP")]
    assert str(trees(doc)[0]) == "( (NP (DT The) (NN time)) (VBZ is) (ADVP (RB now)))"
    root = doc._.constituency[0]
    assert (root.labels, root.label, root.label_probability) == ((), "", None)
    assert root.probability is None
    assert root.children[1].probability == 0.5  # of the tag

    def left_out(doc: Doc) -> list[tuple[str, str, float]]:
        return [
            (span.text, span.label_, round(p, 6))
            for span, p, _, is_in_tree in doc._.constituency.left_out
            if not is_in_tree
        ]

    both = [("The time is now", "S", 0.4), ("is now", "VP", 0.3)]
    assert left_out(doc) == left_out(Doc(Vocab()).from_bytes(doc.to_bytes())) == both
    assert left_out(Doc.from_docs([doc, doc])) == both * 2
    whole, gold = Doc(VOCAB, words=["It"], sent_starts=[1]), Doc(VOCAB, words=["It"], sent_starts=[1])
    set_parses(whole, [parse_of("(NP (PRP It))", [0.9])], threshold=0.5)
    set_trees(gold, [tree_of("(NP (PRP It))")])
    assert left_out(Doc.from_docs([doc, whole])) == both
    assert left_out(Doc.from_docs([doc, gold])) == []
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
    assert left_out(doc) == both
    set_parses(doc, [parse_of("(S (NP (DT The) (NN time)) (VP is))", [0.4, 0.9])], threshold=0.0)
    assert left_out(doc) == []
    assert sorted(doc.spans) == [KEY]
    set_parses(whole, [parse_of("(NP (PRP It))", [0.4])], threshold=0.5)
    set_trees(whole, [tree_of("(NP (PRP It))")])
    assert sorted(whole.spans) == [KEY]


def test_constituents_keep_the_tags_of_others():
    doc = Doc(VOCAB, words=["It", "works"], tags=["X", "Y"], sent_starts=[1, 0])
    set_parses(doc, [parse_of("(S (PRP It) (VBZ works))", [1.0])], set_tags=False)
    assert [token.tag_ for token in doc] == ["X", "Y"]
    assert trees(doc)[0].tags == ["PRP", "VBZ"]
    loaded = Doc(Vocab()).from_bytes(doc.to_bytes())
    assert trees(loaded)[0].tags == ["PRP", "VBZ"]


def test_constituents_that_are_absent_are_not_empty():
    doc = Doc(VOCAB, words=["It", "works"], sent_starts=[1, 0])
    of_docs = trees, doc_constituency, doc_boundaries, doc_clauses
    views = (lambda doc: doc[0]._.boundary, lambda doc: doc._.complexity, lambda doc: doc._.phrases("NP"))
    for read in (*of_docs, *views, lambda doc: doc[0:1]._.labels):
        with pytest.raises(ValueError, match=r"has no constituents.*lpcfg_parser"):
            read(doc)
    doc.spans[KEY] = []
    assert str(trees(doc)[0]) == "( ( It) ( works))"
    assert doc[0:2]._.labels == ()


def test_constituents_changed_by_hand_are_noticed():
    doc = Doc(VOCAB, words=["It", "works", "now"], sent_starts=[1, 0, 0])
    set_parses(doc, [parse_of("(S (PRP It) (VP (VBZ works) (RB now)))", [1.0, 1.0])])
    doc.spans[KEY].append(doc[0:1])
    with pytest.raises(ValueError, match="needs 3 scores, but its attrs have 2"):
        trees(doc)
    doc.spans[KEY] = [Span(doc, 0, 2, "A"), Span(doc, 1, 3, "B")]
    with pytest.raises(ValueError, match=r"(?i)brackets"):
        trees(doc)
    with pytest.raises(ValueError, match="cross"):
        doc._.constituency[0].children  # noqa: B018
    doc.spans[KEY].attrs["format"] = FORMAT + 1
    with pytest.raises(ValueError, match="upgrade"):
        trees(doc)


def test_constituency_walks_the_tree():
    doc = doc_of(FLIES)
    (root,) = doc._.constituency
    assert " ".join(node.label for node in root.nodes()) == "S NP NP DT NN PP IN NP VP VBZ ADVP"
    subject, predicate = root.children
    assert (subject.start, subject.end, subject.span.text) == (0, 4, "The time for action")
    assert subject.span in list(doc.spans[KEY])
    assert (subject.parent, root.parent) == (root, None)
    assert [token.text for token in predicate.leaves] == ["is", "now"]
    assert predicate.bracketed == "(VP (VBZ is) (ADVP (RB now)))"
    assert predicate.tree == tree_of(predicate.bracketed)
    assert root.probability is None
    assert doc[2:4]._.constituency == subject.children[1]
    assert len({root, doc._.constituency[0]}) == 1
    with pytest.raises(NonConstituentError):
        span_constituency(doc_of("(UH a)", "(UH b)")[0:2])


def test_constituency_getters_can_be_pickled_and_leave_others_alone():
    held = Span.get_extension("labels")
    Span.set_extension("labels", default="mine", force=True)
    try:
        with pytest.warns(UserWarning, match=r"stay as they are: Span\._\.labels\..* Span\._\.lpcfg_labels\."):
            register_extensions()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            register_extensions()  # says it once
        assert Span.get_extension("labels")[0] == "mine"
        span = doc_of(FLIES)[0:2]
        assert (span._.labels, span._.lpcfg_labels, span._.parse_string) == ("mine", ("NP",), "(NP (DT The) (NN time))")
    finally:
        Span.remove_extension("labels")
        Span.remove_extension("lpcfg_labels")
        register_extensions()
    assert Span.get_extension("labels") == held
    for owner in (Span, Token):
        pickle.dumps([owner.get_extension(name) for name in ("labels", "constituency", "parent")])


def test_constituency_nodes_are_sequences_of_their_children():
    (root,) = doc_of(FLIES)._.constituency
    assert tuple(root) == root.children == (root[0], root[1]) == root[:] == (*root[:1], root[-1])
    assert (len(root), root[-1].label, root[0][1][0].text) == (2, "VP", "for")
    assert [node.label for node in root[0]] == ["NP", "PP"]
    assert root[1] in root
    assert root not in root
    with pytest.raises(IndexError):
        root[2]
    word = root[0][0][0]
    assert (list(word), len(word), bool(word)) == ([], 0, True)


def test_constituency_nodes_are_text_and_brackets():
    doc = Doc(VOCAB, words=["(", "A", "\n", "cat", ")"], spaces=[False, True, False, False, False])
    set_trees(doc, [tree_of("(PRN (-LRB- -LRB-) (NP (DT A) (NN cat)) (-RRB- -RRB-))")])
    (root,) = doc._.constituency
    assert (root.text, root[1].text) == ("(A \ncat)", "A \ncat")
    assert str(root[1]) == f"{root[1]}" == root[1].bracketed == "(NP (DT A) (NN cat))"
    assert str(root) == "(PRN (-LRB- -LRB-) (NP (DT A) (NN cat)) (-RRB- -RRB-))"


def test_constituency_nodes_have_a_short_repr():
    (root,) = doc_of(FLIES)._.constituency
    assert repr(root[0]) == "Constituent(NP, 'The time for action')"
    words = [f"word{i}" for i in range(500)]
    long = tree_to_doc(VOCAB, [Tree("S", [Tree("NN", word=word) for word in words])])
    assert repr(long._.constituency[0]) == f"Constituent(S, '{' '.join(words)[:40]}...')"


def test_constituency_of_a_doc_is_a_tuple_that_draws_itself():
    trees_ = [f"(S (NP (PRP It)) (VP (VBZ works{i})))" for i in range(12)]
    found = doc_of(*trees_)._.constituency
    assert isinstance(found, tuple)
    assert len(found) == 12
    assert found == tuple(found)
    assert found[0].label == "S"
    html = found._repr_html_()
    assert {int(n) for n in re.findall(r"works(\d+)", html)} == set(range(10))
    assert "2 more trees" in html
    assert doc_of(FLIES)._.constituency._repr_html_() == doc_of(FLIES)._.constituency[0]._repr_html_()
    empty = Doc(VOCAB, words=["\n"])
    set_trees(empty, [None])
    assert empty._.constituency == ()
    assert empty._.constituency._repr_html_() == ""


def test_constituency_of_a_sentence_of_2000_words():
    n = 2000
    spans = [(i, n, "VP") for i in range(n - 1)]
    deep = Tree.from_spans([f"w{i}" for i in range(n)], ["NN"] * n, spans)
    doc = tree_to_doc(VOCAB, [deep])
    assert trees(doc) == [deep]
    assert doc[n - 2 :]._.constituency.parent.start == n - 3


def test_constituency_is_drawn():
    pytest.importorskip("nltk", reason="nltk is not here: pip install 'spacy-lpcfg[nltk]'")
    (root,) = doc_of(FLIES)._.constituency
    subject, predicate = root.children
    assert predicate.svg() == tree_svg(predicate.tree)
    assert predicate.svg() in predicate._repr_html_()
    assert "action" in subject.svg()
    assert "action" not in predicate.svg()
    assert predicate.pretty().splitlines()[-1].split() == ["is", "now"]
    assert predicate.pretty("ascii").isascii()
    assert from_nltk(root.to_nltk()) == root.tree
    assert root.latex() == to_latex(root.tree)
    assert subject.latex("qtree") == to_latex(subject.tree, "qtree")


def test_constituency_is_drawn_with_its_probabilities():
    doc = doc_of("(S (NP (DT The) (NN time)) (VP (VBZ is) (ADVP (RB now))))")
    (root,) = doc._.constituency
    assert root.scores == (None, None)
    group = doc.spans["constituents"]
    group.attrs["scores"] = np.array([1.0, 0.25, 0.5, 0.75], dtype=np.float32)
    group.attrs["tag_scores"] = np.array([1.0, 0.5, 1.0, 0.75], dtype=np.float32)
    (root,) = doc._.constituency
    _, predicate = root.children
    assert root.scores == ([1.0, 0.25, 0.5, 0.75], [1.0, 0.5, 1.0, 0.75])
    assert predicate.scores == ([0.5, 0.75], [1.0, 0.75])
    assert predicate.svg() == tree_svg(predicate.tree, *predicate.scores) != tree_svg(predicate.tree)
    assert predicate.svg() in predicate._repr_html_()


def test_constituency_without_a_root_is_drawn_with_its_probabilities():
    doc = doc_of("(S (NP (DT The) (NN time)) (VP (VBZ is)))")
    doc.spans["constituents"] = SpanGroup(
        doc, name="constituents", spans=list(doc.spans["constituents"])[1:], attrs={"scores": np.ones(2, np.float32)}
    )
    (root,) = doc._.constituency
    (around, *inside), tags = root.scores
    assert math.isnan(around)
    assert (inside, tags, root.tree.label) == ([1.0, 1.0], None, "")
    assert "<svg" in root.svg()


def test_constituency_shown_in_a_notebook_escapes_text(monkeypatch):
    (root,) = doc_of("(S (<b> <script>alert(1)) (NN &amp;))".replace("(1)", "-LRB-1-RRB-"))._.constituency
    assert "&lt;script&gt;alert-LRB-1" in root._repr_html_()
    assert "<script" not in root._repr_html_()
    monkeypatch.setattr("spacy_lpcfg.pictures.trees._MOST_LEVELS", 0)
    assert root._repr_html_().endswith("draw the subtrees that matter.</p>")
    assert "<script" not in root._repr_html_()


@pytest.mark.parametrize(("lang", "rules"), [("en", ENGLISH), ("xx", DEFAULT)])
@given(shape=random_trees())
def test_constituents_have_the_heads_of_their_trees(lang, rules, shape):
    blank = Vocab()
    blank.lex_attr_getters[LANG] = lambda _: lang
    doc = tree_to_doc(blank, [shape])
    for node in doc._.constituency[0].nodes():
        head = node.leaves[lexical_heads(node.tree, rules)[0]]
        assert node.head == head
        assert (node.head_child is None) == (len(node) == 0)
        assert node.head_child is None or node.head_child.head == head
        expected = dependencies(node.tree, rules)
        assert [each.label for each in node.dependencies()] == [each.label for each in expected]


def test_constituents_dependencies_are_between_tokens():
    """Words count from the node's first, white space aside; other rules are taken where they are given."""
    doc = Doc(Vocab(), words=["It", "\n", "works", "now"], sent_starts=[True, False, False, False])
    set_trees(doc, [tree_of("(S (NP (PRP It)) (VP (VBZ works) (ADVP (RB now))))")])
    (root,) = doc._.constituency
    found = [(each.token.text, each.head.text, each.label) for each in root.dependencies(ENGLISH)]
    assert found == [("It", "works", "S>NP"), ("works", "works", "root"), ("now", "works", "VP>ADVP")]
    assert [each.head.i for each in root.dependencies(HeadRules(side="left"))] == [0, 0, 2]
    assert [each.head.i for each in root[1].dependencies()] == [2, 2]
