"""Files of rules: what they hold, and mistakes in them with their lines."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_lpcfg.queries import RuleError, edit, editing, parse_rules, read_rules
from spacy_lpcfg.queries.operations import OPERATIONS
from spacy_lpcfg.trees import TreebankError, parse_trees

FILE = """% Two rules.
% A comment may go over lines, 100\\% of them.

SBARQ=n1  % a question
  % with a comment within the pattern
  < SQ=n2

excise n1 n1
relabel n2 S % the question


% A comment between rules.

NP=n < (PP=p < /^(o)f$/#1\\%v)

[relabel p /^PP$/PP-\\%{v}/] [relabel n X]
"""


def test_edit_rules_have_places_patterns_and_operations(tmp_path):
    rules = parse_rules(FILE, "x.tsurgeon")
    places = [(rule.path, rule.line, len(rule.operations)) for rule in rules]
    assert places == [("x.tsurgeon", 4, 2), ("x.tsurgeon", 14, 2)]
    assert rules[0].pattern.text.split() == ["SBARQ=n1", "<", "SQ=n2"]
    (tree,) = parse_trees("(SBARQ (SQ (NP (NP a) (PP of))))")
    assert str(edit(tree, rules)) == "(S (X (NP a) (PP-o of)))"
    for name, data in (("plain", FILE.encode()), ("zipped.gz", gzip.compress(b"\xef\xbb\xbf" + FILE.encode()))):
        (tmp_path / name).write_bytes(data)
        read = read_rules(tmp_path / name)
        assert [(rule.line, rule.pattern.text) for rule in read] == [(rule.line, rule.pattern.text) for rule in rules]
    assert parse_rules("") == parse_rules("\n% nothing\n") == []


WRONG = [
    ("NP <\n  < VP=\n\ndelete x\n", 2, "got '<', at column 3 of the pattern"),
    ("NP=x\n  $+ (VP=\n\ndelete x\n", 2, "Expected a name after =, got the end, at column 10 of the pattern"),
    ("NP=x\n\ndelete x\n\nVP=y\n", 5, "Expected a blank line and operations"),
    ("NP=x\ndelete x\n", 2, "got 'delete'"),
    ("NP=x\n\nremove x\n", 3, "Expected an operation, which is one of delete, prune"),
    ("NP=x\n\ndelete x\nprune y\n", 4, "Expected the name of a node (x), got 'y'"),
    ("NP\n\ndelete x\n", 3, "the pattern names none"),
    ("NP=x\n\ndelete\n", 3, "got the end of the line"),
    ("NP=x\n\nexcise x\n", 3, "got the end of the line"),
    ("NP=x\n\nexcise x x x\n", 3, "Expected the end of the line, or several operations in [ ] each, got 'x'"),
    ("NP=x\n\n[delete x\n", 3, "Expected ], got the end of the line"),
    ("NP=x\n\nif exist x delete x\n", 3, "Expected exists, got 'exist'"),
    ("NP=x\n\nif exists y delete x\n", 3, "got 'y'"),
    ("NP=x\n\nrelabel x\n", 3, "Expected a new label"),
    ("NP=x\n\nrelabel x /(/b/\n", 3, "missing )"),
    ("NP=x\n\nrelabel x /(a)/$2/\n", 3, "Expected a group of the regular expression (a), got $2"),
    ("NP=x\n\nrelabel x /a/={y}/\n", 3, "Expected the name of a node in ={y}, got y"),
    ("NP=x\n\nmove x x\n", 3, "Expected a place: $+ or $- with"),
    ("NP=x\n\ninsert (NP (DT the) >1 x\n", 3, "Expected a tree such as"),
    ("NP=x\n\ninsert ((NP a)) >1 x\n", 3, "Expected a tree such as"),
    ("NP=x\n\ninsert (NP a=b=c) >1 x\n", 3, "a label with a name at most"),
    ("NP=x\n\ninsert (NP a@) >1 x\n", 3, "no foot @"),
    ("NP=x\n\nadjoin (FOO (BAR)) x\n", 3, "one leaf with @"),
    ("NP=x\n\nadjoin (FOO (BAR@) (BAZ@)) x\n", 3, "one leaf with @"),
    ("NP=x\n\nadjoin (FOO@ (BAR)) x\n", 3, "one leaf with @"),
    ("NP=x\n\ncreateSubtree FOO\n", 3, "Expected the name of a node"),
    ("NP=x\n\ncreateSubtree FOO x x x\n", 3, "Expected the end of the line"),
]


@pytest.mark.parametrize(("text", "line", "message"), WRONG)
def test_edit_rules_name_the_line_of_a_mistake(text, line, message):
    with pytest.raises(RuleError) as error:
        parse_rules(text, "wrong.tsurgeon")
    assert str(error.value).startswith(f"wrong.tsurgeon:{line}: ")
    assert message in str(error.value)


TOKENS = [*"[]()xy", "if", "exists", "NP", "NP=y", "VP@", ">1", "$+", "/a/", "/(a)/$1={x}/", "|a|", *OPERATIONS]


@settings(max_examples=200)
@given(st.sampled_from([*OPERATIONS]), st.lists(st.sampled_from(TOKENS), max_size=8))
def test_edit_rules_are_read_or_refused_whatever_they_are(operation, tokens):
    """Rules that can be read can be carried out, or name their line."""
    lines = set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(editing, "MOST_FIRINGS", 3)
        try:
            rules = parse_rules(f"NP=x\n\n{operation} {' '.join(tokens)}\n", "any")
            edit(*parse_trees("(S (NP (NN a)) (VP v))"), rules)
        except RuleError as error:
            lines.add(error.line)
    assert lines <= {1, 3}


def test_edit_rules_name_the_file_that_is_no_text(tmp_path):
    (tmp_path / "latin").write_bytes(b"% caf\xe9\n")
    with pytest.raises(TreebankError, match="latin:1: Expected UTF-8"):
        read_rules(tmp_path / "latin")
