"""The table of tree formats, and how each of them is recognized, read and written.

From this table follow the choices of `--dialect`, the formats of `convert`, the suffixes of treebank files in folders,
error messages, and the table of formats in the documentation. A format that can be read is also called a dialect.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

from spacy_lpcfg.storage.files import PathLike
from spacy_lpcfg.trees.brackets import bracket_lines, build_trees
from spacy_lpcfg.trees.dependencies import conllu
from spacy_lpcfg.trees.dependency_sentences import DependencySentence, read_conllu
from spacy_lpcfg.trees.errors import OnError
from spacy_lpcfg.trees.formats.alpino import read_alpino
from spacy_lpcfg.trees.formats.conll import read_conll
from spacy_lpcfg.trees.formats.corpussearch import CorpusSearchBuilder, has_lemmas, without_comments
from spacy_lpcfg.trees.formats.discbracket import DiscBracketBuilder
from spacy_lpcfg.trees.formats.greynir import GreynirBuilder
from spacy_lpcfg.trees.formats.keyaki import KeyakiBuilder
from spacy_lpcfg.trees.formats.negra import read_export
from spacy_lpcfg.trees.formats.penn import PennBuilder, function_mark
from spacy_lpcfg.trees.formats.sejong import read_sejong
from spacy_lpcfg.trees.formats.sinica import read_sinica
from spacy_lpcfg.trees.formats.square import SquareBuilder, to_round
from spacy_lpcfg.trees.formats.tiger import read_tiger
from spacy_lpcfg.trees.heads import rules_of_tags
from spacy_lpcfg.trees.latex import to_latex
from spacy_lpcfg.trees.phrases import read_phrases
from spacy_lpcfg.trees.tree import Tree
from spacy_lpcfg.trees.tree_builder import TreeBuilder

_OPENING = 2**16  # characters by which a file is judged


@dataclass(frozen=True, kw_only=True)
class TreeFormat:
    """A format of trees in text files.

    name (str): The name of the format, as in `--dialect` and error messages.
    contents (str): A description of its files: a noun phrase that can follow "this looks like".
    suffixes (tuple of str): Suffixes of its files, without `.gz`, the usual one first.
    in_folders (tuple of str): The suffixes by which files in a folder are found; () for all of `suffixes`.
    family (str): The family of formats to which it belongs; a file that looks like one format of a family may be read
        as another. "" for a family of its own. XML files are recognized only as formats of the family "xml".
    recognises (callable or None): Returns whether a text, the first 65,536 characters or so of a file, looks like the
        format. Formats further down in the table are asked first. None if the format cannot be read.
    read (callable or None): Takes an iterable of lines, the name of the file for error messages, `on_error` as for
        `read_trees`, and a Counter of dropped elements; yields the trees. Raises TreebankError for malformed trees
        unless there is an `on_error`. None if the format cannot be read.
    read_sentences (callable or None): Takes the path of a file and `on_error`; yields the sentences with dependencies,
        which `convert --by` parses. None if the format has no dependencies.
    write (callable or None): Takes trees and the code of their language, whose head rules make the dependencies of
        "conllu"; yields the lines of a file. None if the format cannot be written.
    """

    name: str
    contents: str
    suffixes: tuple[str, ...]
    in_folders: tuple[str, ...] = ()
    family: str = ""
    recognises: Callable[[str], bool] | None = None
    read: Callable[[Iterable[str], str, OnError, Counter[str]], Iterator[Tree]] | None = None
    read_sentences: Callable[[PathLike, OnError], Iterator[DependencySentence]] | None = None
    write: Callable[[Iterable[Tree], str], Iterator[str]] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "in_folders", self.in_folders or self.suffixes)
        object.__setattr__(self, "family", self.family or self.name)


# Reading and writing -----------------------------------------------------------------------------


def first_lines(stream: Iterator[str]) -> list[str]:
    """Take the first lines of a file from its stream, about 65,536 characters, from which the format is recognized."""
    lines, n_left = [], _OPENING
    for line in stream:
        lines.append(line)
        n_left -= len(line) + 1
        if n_left < 0:
            break
    return lines


def _read_penn(lines: Iterable[str], path: str, on_error: OnError, dropped: Counter[str]) -> Iterator[Tree]:
    stream = iter(lines)
    opening = first_lines(stream)
    builder = PennBuilder(path, dropped, mark=function_mark("".join(opening)))
    return build_trees(builder.lines(chain(opening, stream)), builder, on_error=on_error)


def _read_corpussearch(lines: Iterable[str], path: str, on_error: OnError, dropped: Counter[str]) -> Iterator[Tree]:
    stream = iter(lines)
    opening = first_lines(stream)
    builder = CorpusSearchBuilder(path, dropped, with_lemmas=has_lemmas("".join(opening)))
    return build_trees(without_comments(chain(opening, stream)), builder, on_error=on_error)


def _read_built(
    builder: type[TreeBuilder], lines: Iterable[str], path: str, on_error: OnError, dropped: Counter[str]
) -> Iterator[Tree]:
    return build_trees(lines, builder(path, dropped), on_error=on_error)


def _write_conllu(trees: Iterable[Tree], lang: str) -> Iterator[str]:
    return (conllu(tree, rules_of_tags(tree.tags, lang)) for tree in trees)


def _write_latex(style: str, trees: Iterable[Tree], lang: str) -> Iterator[str]:
    yield f"% needs \\usepackage{{{style}}}"
    for tree in trees:
        yield f"\n{to_latex(tree, style)}"


# Recognising -------------------------------------------------------------------------------------

_GREYNIR = re.compile(r"\(META\s+\(ID-CORPUS|\s\(lemma ")
_KEYAKI = re.compile(r"\(ID [^\s()]*;[A-Za-z]+\)|\([^\s()]+;\*[A-Z0-9]+\*")
_CORPUSSEARCH = re.compile(r"\((?:CODE|ID|METADATA) [^()]+\)|\((?:IP-MAT|IP-SUB|IP-INF)[\s-]")
_EXPORT = re.compile(r"^#(?:BOS|FORMAT|BOT)\b", re.MULTILINE)
_CONLLU = re.compile(r"\A\s*(?:#.*\n\s*)*1(?:-\d+)?\t(?:[^\t\n]*\t){8}")
_TIGER = re.compile(r"<(?:corpus|graph|s)[\s>]")
_ALPINO = re.compile(r"<alpino_ds[\s>]")
_CONLL = re.compile(
    r"\A(?:#begin document|(?:#.*\n|[^\S\n]*\n)*(?:(?:[^\s<>(]\S*|\()[ \t]+){2,}(?:\([^\s()*]+)+\*\)*(?:\s|\Z))"
)
_LEAF = re.compile(r"\([^\s()]+\s+([^()]+)\)")
_NUMBERED = re.compile(r"[0-9]+=\S+\s*")
_MORPHEMES = re.compile(r"\S+/[A-Z]{2,3}(?:\s\+\s\S+/[A-Z]{2,3})*\s*")
_SEJONG = re.compile(r"\A\s*;.*\n\s*\([A-Z_]+\s")
_SINICA = re.compile(r"\A\s*#\S+\s+\S*\([A-Za-z]+:")
_SQUARE = re.compile(r"\A\s*\[[^\s\[\]]*\s*\[")
_XML = re.compile(r"\s*<[?!A-Za-z]")
_MARKUP_LINES = re.compile(r"\A(?:\s*<[^()\n]*>[^\S\n]*\n|\s*\*x\*.*\n)*")


def _brackets_in_markup(opening: str) -> str:
    """Remove lines of markup and headers before the first parenthesis; change nothing if none follows them."""
    bare = _MARKUP_LINES.sub("", opening).lstrip()
    return bare if bare.startswith("(") else opening


def _is_corpussearch(opening: str) -> bool:
    return "-NONE-" not in opening and _CORPUSSEARCH.search(opening) is not None


def _has(pattern: re.Pattern[str], opening: str) -> bool:
    return pattern.search(opening) is not None


def _has_leaves(word: re.Pattern[str], opening: str) -> bool:
    """Return whether more than half of the leaves have words that match a regular expression."""
    words = _LEAF.findall(opening)
    return 2 * sum(word.fullmatch(each) is not None for each in words) > len(words)


def _is_sejong(opening: str) -> bool:
    return _has(_SEJONG, opening) or _has_leaves(_MORPHEMES, opening)


def looks_like(opening: str) -> str | None:
    """Recognize the format of a file from its first lines, `opening`: return its name, or None for no known format."""
    opening = _brackets_in_markup(opening)
    is_xml = _XML.match(opening) is not None
    for form in reversed(DIALECTS.values()):
        if form.recognises is not None and (form.family == "xml") == is_xml and form.recognises(opening):
            return form.name
    return None


# The table ---------------------------------------------------------------------------------------

PENN = "penn"
FORMATS = {
    form.name: form
    for form in (
        TreeFormat(
            name=PENN,
            contents="brackets as in the Penn Treebank",
            suffixes=(".mrg", ".parsed", ".ptb", ".fid", ".tree"),
            in_folders=(".mrg", ".fid"),
            family="brackets",
            recognises=lambda opening: opening.lstrip().startswith("("),
            read=_read_penn,
            write=lambda trees, lang: bracket_lines(trees),
        ),
        TreeFormat(
            name="square",
            contents="trees in square brackets",
            suffixes=(".square",),
            recognises=partial(_has, _SQUARE),
            read=lambda lines, *others: _read_built(SquareBuilder, to_round(lines), *others),
        ),
        TreeFormat(
            name="discbracket",
            contents="brackets of discontinuous trees, as disco-dop writes them",
            suffixes=(".discbracket", ".dbr"),
            recognises=partial(_has_leaves, _NUMBERED),
            read=partial(_read_built, DiscBracketBuilder),
        ),
        *(
            TreeFormat(
                name=name,
                contents=f"the Sejong Treebank, {leaves} as leaves",
                suffixes=(".sejong", ".txt.parse"),
                in_folders=(".sejong",),
                family="sejong",
                recognises=recognises,
                read=partial(read_sejong, name == "sejong"),
            )
            for name, leaves, recognises in (
                ("sejong-morphemes", "morphemes", lambda opening: False),
                ("sejong", "words", _is_sejong),
            )
        ),
        TreeFormat(
            name="sinica",
            contents="the Sinica Treebank",
            suffixes=(".sinica",),
            recognises=partial(_has, _SINICA),
            read=read_sinica,
        ),
        TreeFormat(
            name="corpussearch",
            contents="brackets with codes, empty categories and lemmas, as in historical corpora",
            suffixes=(".psd", ".tree"),
            family="brackets",
            recognises=_is_corpussearch,
            read=_read_corpussearch,
        ),
        TreeFormat(
            name="keyaki",
            contents="the Keyaki Treebank",
            suffixes=(".psd",),
            family="brackets",
            recognises=partial(_has, _KEYAKI),
            read=partial(_read_built, KeyakiBuilder),
        ),
        TreeFormat(
            name="greynir",
            contents="GreynirCorpus",
            suffixes=(".gld", ".psd"),
            recognises=partial(_has, _GREYNIR),
            read=partial(_read_built, GreynirBuilder),
        ),
        TreeFormat(
            name="negra",
            contents="the export format of NEGRA",
            suffixes=(".export", ".negra"),
            recognises=partial(_has, _EXPORT),
            read=read_export,
        ),
        TreeFormat(
            name="tiger",
            contents="TIGER-XML",
            suffixes=(".xml",),
            family="xml",
            recognises=partial(_has, _TIGER),
            read=read_tiger,
        ),
        TreeFormat(
            name="alpino",
            contents="the XML of Alpino",
            suffixes=(".xml",),
            family="xml",
            recognises=partial(_has, _ALPINO),
            read=read_alpino,
        ),
        TreeFormat(
            name="conll2012",
            contents="columns of CoNLL-2012 with parts of trees",
            suffixes=(".gold_conll", "_gold_conll", ".auto_conll", "_auto_conll", ".conll"),
            in_folders=(".gold_conll", "_gold_conll"),
            recognises=partial(_has, _CONLL),
            read=read_conll,
        ),
        TreeFormat(
            name="conllu",
            contents="sentences with dependencies, as in Universal Dependencies",
            suffixes=(".conllu",),
            recognises=partial(_has, _CONLLU),
            read=read_phrases,
            read_sentences=read_conllu,
            write=_write_conllu,
        ),
        TreeFormat(
            name="forest",
            contents="drawings by the LaTeX package forest",
            suffixes=(".tex",),
            write=partial(_write_latex, "forest"),
        ),
        TreeFormat(
            name="qtree",
            contents="drawings by the LaTeX package qtree",
            suffixes=(".tex",),
            write=partial(_write_latex, "qtree"),
        ),
    )
}
"""All formats by their names."""
DIALECTS = {name: form for name, form in FORMATS.items() if form.read is not None}
"""The formats that can be read."""

_LEFT_OUT = (
    "empty categories",
    "codes",
    "lines of markup",
    "lines of headers",
    "marks of disfluency",
    "labels' features",
    "lemmas",
    "lemmas and notes",
    "trees without words",
    "sentences without a tree",
    "trees of withheld words",
)


def suffixes_of_trees() -> tuple[str, ...]:
    """Return the suffixes, without `.gz`, of the files of all formats that can be read."""
    return tuple(dict.fromkeys(suffix for form in DIALECTS.values() for suffix in form.suffixes))


def told(dropped: Counter[str]) -> str:
    """Describe for users, on one line, the elements that a reader dropped or changed; return "" if there are none.

    dropped (Counter): The counts by description, as `read_trees` fills them.
    """
    left_out = ", ".join(f"{dropped[name]:,} {name}" for name in _LEFT_OUT if dropped[name])
    changed = ", ".join(f"{n:,} {name}" for name, n in dropped.items() if n and name not in _LEFT_OUT)
    return "; ".join(filter(None, [left_out and f"{left_out} left out", changed]))
