"""Targets that read files: brackets, tagged text, maps of tags, EVALB's trees and parameters."""

from __future__ import annotations

import gc
import gzip
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any

from spacy.tokens import DocBin
from spacy.vocab import Vocab

from fuzz.choices import Choices, bytes_of
from fuzz.contract import Target, expect, files
from spacy_lpcfg.bracketing.tagged import read_tagged
from spacy_lpcfg.bracketing.tags import UNIVERSAL
from spacy_lpcfg.components.doc.read import rooted_trees, trees
from spacy_lpcfg.components.doc.tree_group import key_of
from spacy_lpcfg.components.training.corpus import docs_of, tree_to_doc
from spacy_lpcfg.components.training.tagged_text import read_tag_map, tagged_doc
from spacy_lpcfg.evaluation.evalb import Params, evaluate, read_evalb
from spacy_lpcfg.evaluation.evalb_report import reference_table, summary_table
from spacy_lpcfg.language_model.text import read_sentences
from spacy_lpcfg.trees import Tree, TreebankError, clean, normalize, parse_trees, read_trees, write_trees
from spacy_lpcfg.trees.transforms import collapse_unaries, expand_unaries, normalize_rooted

VOCAB = Vocab()
TREES = """\
( (S (NP-SBJ-1 (PRP It)) (VP (VBZ seems) (S (NP-SBJ (-NONE- *-1)) (VP (VBG working)))) (. .)) )
(ROOT (S
  (NP=2 (DT The) (NN ferry|boat))
  (VP (VBD left)))) (TOP (NP (-NONE- *))) ( (ID 3) (X (`` ``) (-LRB- -LRB-) (S|A \\/)))
"""
TAGGED = "The/DT ferry/NN 1\\/2/CD left/VBD ./.\n\n( /-LRB- a/b/NN\n"
PARAMS = """\
# a comment
DEBUG 0
MAX_ERROR 10
CUTOFF_LEN 40
LABELED 1
DELETE_LABEL TOP
DELETE_LABEL_FOR_LENGTH -NONE-
QUOTE_LABEL ''
EQ_LABEL ADVP PRT
EQ_WORD Its It's
"""


def whole_text(choices: Choices) -> str:
    """Take all of the bytes, so that they are the file."""
    return choices.rest()


def seeds_of(*texts: str) -> Callable[[], list[bytes]]:
    """Return seeds of texts as they are, after a byte order mark, zipped, and with other ends of lines."""

    def seeds() -> list[bytes]:
        plain = [bytes_of(text) for text in texts]
        zipped = [gzip.compress(data, mtime=0) for data in plain]
        return [*plain, *zipped, *(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n") for data in plain)]

    return seeds


# Brackets ----------------------------------------------------------------------------------------


def check_brackets(text: str) -> None:
    """Expect trees or errors that name the place; trees can be written, read again, and go through all that follows.

    Where errors are collected, nothing is read before the first of them that is not read where it is raised.
    """
    with files(text) as (path,):
        found = _read_both_ways(read_trees, path, text, "trees")
        write_trees(path, found)
        expect(list(read_trees(path)) == found, "what was written is read as something else")
    for tree in found:
        check_tree(tree)


def _read_both_ways(read: Callable[..., Iterator[Any]], path: Path, text: str, what: str) -> list[Any]:
    """Read with errors collected and raised: items before the first error are the same; errors name the place."""
    first, before = _until_error(read(path))
    errors: list[TreebankError] = []
    last, found = _until_error(read(path, on_error=errors.append))
    expect(found[: len(before)] == before, f"other {what} where errors are collected")
    expect(str(first) == str(next(iter([*errors, last]))), f"other errors where they are collected: {first}")
    for error in filter(None, [*errors, last]):
        check_treebank_error(error, path, text)
    return found


def _until_error(items: Iterator[Any]) -> tuple[TreebankError | None, list[Any]]:
    """Return the items that came, and the error that ended them, if one did."""
    found: list[Any] = []
    try:
        for item in items:
            found.append(item)
    except TreebankError as error:
        return error, found
    return None, found


def check_treebank_error(error: TreebankError, path: Path, text: str) -> None:
    """Expect an error that says where and what, in a line of the file or of its zipped contents."""
    expect(error.path == str(path) and str(error).startswith(f"{path}:{error.line}: "), f"no place in {error}")
    is_zipped = text.startswith("\x1f\udc8b")
    expect(error.line >= 1 and (is_zipped or error.line <= text.count("\n") + 1), f"there is no line {error.line}")
    expect("Expected" in error.message and len(error.message) < 10_000, f"what was expected? {error}")


def check_tree(tree: Tree) -> None:
    """Expect that brackets, spans, transforms and Docs give a tree back."""
    expect(list(parse_trees(str(tree))) == [tree], "brackets of a tree are read as something else")
    expect(Tree.from_spans(tree.words, tree.tags, tree.spans()) == tree, "spans are those of another tree")
    expect(expand_unaries(collapse_unaries(tree)) == tree, "collapsed chains are expanded to others")
    for change in (clean, normalize):
        changed = change(tree)
        expect(changed is None or change(changed) == changed, f"{change.__name__} twice is not once")
    normalized, rooted = normalize(tree), normalize_rooted(tree)
    expect((normalized is None) == (rooted is None), "words or none, with a root or without")
    if normalized is not None and rooted is not None:
        doc = tree_to_doc(VOCAB, [rooted])
        expect(len(trees(doc)) == 1 and len(rooted_trees(doc)) == 1, "another number of trees on the Doc")
        expect(len(doc) == len(normalized), "another number of words on the Doc")


# Tagged text -------------------------------------------------------------------------------------


def check_tagged(text: str) -> None:
    """Expect sentences with a tag for each word, or errors that name the place; Docs can be made of them."""
    with files(text) as (path,):
        found = _read_both_ways(read_tagged, path, text, "sentences")
    for words, tags in found:
        expect(0 < len(words) == len(tags) and all(words) and all(tags), f"no tag for each word: {words} {tags}")
        doc = tagged_doc(VOCAB, (words, tags))
        expect([token.tag_ for token in doc] == list(tags), "other tags on the Doc")


def check_tag_map(text: str) -> None:
    """Expect universal tags, or an error that names the place."""
    with files(text) as (path,):
        try:
            found = read_tag_map(path)
        except TreebankError as error:
            check_treebank_error(error, path, text)
            return
    expect(set(found.values()) <= set(UNIVERSAL), "tags that are not universal")


# Plain text and Docs ------------------------------------------------------------------------------


def check_text(text: str) -> None:
    """Expect sentences with words, or an error that names the place."""
    with files(text) as (path,):
        try:
            found = list(read_sentences(path))
        except TreebankError as error:
            expect(str(error).startswith(f"{path}:"), f"no place in {error}")
            return
    expect(all(map(all, found)), "words that are empty")


@cache
def _docs() -> bytes:
    """Return the Docs of some trees, before they are zipped."""
    docs = [tree_to_doc(VOCAB, [tree]) for tree in map(normalize_rooted, parse_trees(TREES)) if tree is not None]
    return zlib.decompress(DocBin(docs=docs).to_bytes())


def docs_case(choices: Choices) -> list[list[int]]:
    """Choose places of bytes, and their new values."""
    return choices.some(lambda: [choices.number(0, len(_docs()) - 1), choices.number(0, 255)], 6)


def check_docs(case: list[list[int]]) -> None:
    """Expect Docs whose spans are trees, or a ValueError; the garbage collection goes on."""
    data = bytearray(_docs())
    for place, value in case:
        data[place % len(data)] = value
    try:
        for doc in docs_of(zlib.compress(bytes(data)), "docs.spacy", Vocab()):
            expect(all(isinstance(tree, (Tree, NoneType)) for tree in rooted_trees(doc, key_of(doc))), "no trees")
    except ValueError as error:
        expect(len(str(error)) > 10, f"a message that says little: {error!r}")
    expect(gc.isenabled(), "the garbage collection is off")


# EVALB -------------------------------------------------------------------------------------------


def evalb_case(choices: Choices) -> dict[str, str]:
    """Make gold and test trees, of which one is mostly a changed copy of the other, and parameters."""
    gold, test, params, shared = choices.text(200), choices.text(200), choices.text(60), choices.rest()
    return {"gold": gold + shared, "test": test + shared, "params": params}


def evalb_seeds() -> list[bytes]:
    lines = "(S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ '))) (. .))\n(X (A a) (B b))\n\n(S-X (NP=1 (`` `)))(TOP (NN x))\n"
    settings = (PARAMS[start : start + 60].encode() for start in range(0, len(PARAMS), 60))
    parts = ((b"(S (X a))\n", b"(S (Y a))\n", each) for each in settings)
    return [b"".join(bytes([len(part)]) + part for part in each) + lines.encode() for each in parts]


def check_params(text: str) -> None:
    """Expect parameters, or an error that names the place."""
    with files(text) as (path,):
        read_params(path)


def read_params(path: Path) -> Params | None:
    try:
        return Params.from_file(path)
    except ValueError as error:
        expect(str(error).startswith(f"{path}:"), f"no place in {error!r}")
        return None


def check_evalb(case: dict[str, str]) -> None:
    """Expect scores within their bounds, of a tree with itself the best, and tables; or errors that name the place."""
    with files(case["gold"], case["test"], case["params"]) as (gold_path, test_path, params_path):
        params = read_params(params_path)
        (gold_error, golds), (test_error, tests) = (_until_error(read_evalb(path)) for path in (gold_path, test_path))
        for error, path, name in ((gold_error, gold_path, "gold"), (test_error, test_path, "test")):
            if error is not None:
                check_treebank_error(error, path, case[name])
    if params is None or gold_error or test_error:
        return
    n = min(len(golds), len(tests))
    evaluation = evaluate(golds[:n], tests[:n], params)
    total = evaluation.total()
    for value in (total.precision, total.recall, total.fmeasure, total.complete_match, total.tag_accuracy):
        expect(0 <= value <= 100, f"{value} percent")
    expect(0 <= total.n_crossing <= total.brackets.n_test, "more crossing brackets than brackets")
    expect(bool(summary_table(evaluation)) and bool(reference_table(evaluation)), "no tables")
    same = evaluate(golds, golds, params).total()
    expect(same.n_error == 0, "a tree has other words than itself")
    expect(same.n_complete == same.n_valid and same.n_correct_tags == same.n_words, "a tree differs from itself")
    expect(same.n_crossing == 0, "a tree crosses itself")


TARGETS = {
    "brackets": Target(whole_text, check_brackets, seeds_of(TREES, "(A b", "(A (B c) d)\n(A\n (B e))")),
    "tagged": Target(whole_text, check_tagged, seeds_of(TAGGED, TREES)),
    "tag_map": Target(whole_text, check_tag_map, seeds_of("NN NOUN\n\n. PUNCT\n")),
    "text": Target(whole_text, check_text, seeds_of("The ferry .\n\n\u3000 left")),
    "docs": Target(docs_case, check_docs),
    "evalb": Target(evalb_case, check_evalb, evalb_seeds),
    "params": Target(whole_text, check_params, seeds_of(PARAMS)),
}
