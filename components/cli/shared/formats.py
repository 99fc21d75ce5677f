"""The formats that commands write: their names, the suffixes of their files, and how each is written.

Formats that hold only trees come from the table `spacy_lpcfg.trees.formats`, which is imported when it is needed.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import typer

from spacy_lpcfg.batches import in_batches
from spacy_lpcfg.checks import check_one_of
from spacy_lpcfg.components.cli.shared.citations import CitedSentence, Origin, located
from spacy_lpcfg.components.cli.shared.console import usage_errors
from spacy_lpcfg.components.cli.shared.files import ZIPPED, check_output, replacing, writing
from spacy_lpcfg.storage.files import is_device

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from spacy_lpcfg.trees import Tree

_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")  # where programs end a cell or a line


class OutputFormat(NamedTuple):
    """An output format: the suffixes of its files, and the function that writes it.

    suffixes (tuple of str): The suffixes of files in this format, the usual one first.
    write (callable): Writes items to an open file, given the file and an iterable of the items. The items are lines,
        rows of cells, JSON objects or Docs, depending on the format.
    is_binary (bool): Whether `write` takes a binary file. Only text files can be compressed by a further suffix `.gz`.
    """

    suffixes: tuple[str, ...]
    write: Callable[[IO[Any], Iterable[Any]], None]
    is_binary: bool = False

    def takes(self, ending: str, is_zipped: bool) -> bool:
        """Return whether a file with the suffix `ending`, before .gz if `is_zipped`, can be in this format."""
        return ending in self.suffixes and not (is_zipped and self.is_binary)


class Target(NamedTuple):
    """The output of a command: file and format.

    path (Path or None): The file, which is written atomically; None for stdout.
    form (str): The name of the format, a key of `output_formats()`.
    force (bool): Whether an existing file may be replaced.
    """

    path: Path | None
    form: str
    force: bool

    def write(self, items: Iterable[Any]) -> None:
        """Write items to the file in its format.

        items (iterable): Lines, rows, JSON objects or Docs, depending on the format; see `OutputFormat.write`.
        RAISES (ValueError): As in `replacing`, if the file exists and must not be replaced.
        """
        form = output_formats()[self.form]
        opened: Any = replacing if form.is_binary else writing
        with opened(self.path, force=self.force) as out:
            form.write(out, items)


def checked_target(
    output: Path | None, form: str | None, possible: Iterable[str], *, inputs: Iterable[str | Path], force: bool
) -> Target:
    """Return the checked output file and format of a command; arguments as for `format_of` and `check_output`.

    RAISES (BadParameter): As in these two functions, and if a binary format would be written to a terminal.
    """
    target = Target(output, format_of(output, form, possible), force)
    check_output(output, inputs=inputs, force=force)
    if output_formats()[target.form].is_binary and output is None and sys.stdout.isatty():
        raise typer.BadParameter(f"{target.form} is nothing to read: name a file by --output", param_hint="--format")
    return target


def format_of(output: Path | None, form: str | None, possible: Iterable[str]) -> str:
    """Return the name of the output format: by --format, else by the suffix of the file, else the first possible.

    output (Path or None): The output file; None for stdout.
    form (str or None): The value of --format; None if it is not given.
    possible (iterable of str): The formats that the command can write; of several with the same suffix the first wins.
    RAISES (BadParameter): If the command cannot write the format or suffix, or the suffix contradicts the format.
    """
    names = [*possible]
    if form is not None:
        with usage_errors("--format"):
            check_one_of("a format", form, names)
    if output is None or is_device(output):
        return form or names[0]
    is_zipped = output.suffix == ZIPPED
    ending = (output.with_suffix("") if is_zipped else output).suffix.lower()
    fitting = [name for name in names if output_formats()[name].takes(ending, is_zipped)]
    if form and fitting and form not in fitting:
        raise typer.BadParameter(f"{str(output)!r} is no name for {form}", param_hint="--output")
    if not form and not fitting and ending:
        or_so = ", or --format say what it is" if len(names) > 1 else ""
        raise typer.BadParameter(f"{str(output)!r} should end in {_endings(names)}{or_so}", param_hint="--output")
    return form or (fitting or names)[0]


def _endings(names: Iterable[str]) -> str:
    *first, last = dict.fromkeys(suffix for name in names for suffix in output_formats()[name].suffixes)
    return f"{', '.join(first)} or {last}" if first else last


# Writers -----------------------------------------------------------------------------------------


def _write_lines(out: IO[str], lines: Iterable[str]) -> None:
    for line in lines:
        out.write(line + "\n")


def _write_tsv(out: IO[str], rows: Iterable[Iterable[Any]]) -> None:
    _write_lines(out, ("\t".join(_BREAKS.sub(" ", str(cell)) for cell in row) for row in rows))


def _write_csv(out: IO[str], rows: Iterable[Iterable[Any]]) -> None:
    csv.writer(out, lineterminator="\n").writerows(rows)


def _write_jsonl(out: IO[str], objects: Iterable[Any]) -> None:
    _write_lines(out, map(_as_json, objects))


def _write_json(out: IO[str], objects: Iterable[Any]) -> None:
    before = "["
    for value in objects:
        out.write(f"{before}\n{_as_json(value)}")
        before = ","
    out.write("[]\n" if before == "[" else "\n]\n")


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _write_docs(out: IO[bytes], docs: Iterable[Any]) -> None:
    from spacy.tokens import DocBin

    out.write(DocBin(docs=docs).to_bytes())


_FORMATS = {
    "jsonl": OutputFormat((".jsonl",), _write_jsonl),
    "json": OutputFormat((".json",), _write_json),
    "tsv": OutputFormat((".tsv",), _write_tsv),
    "csv": OutputFormat((".csv",), _write_csv),
    "l2sca": OutputFormat((".csv",), _write_csv),
    "spacy": OutputFormat((".spacy",), _write_docs, is_binary=True),
    "kwic": OutputFormat((".txt",), _write_lines),
    "words": OutputFormat((".txt",), _write_lines),
    "text": OutputFormat((".txt",), _write_lines),
    "ascii": OutputFormat((".txt",), _write_lines),
    "svg": OutputFormat((".svg",), _write_lines),
    "html": OutputFormat((".html", ".htm"), _write_lines),
}
"""Formats of more than trees, by their names."""


@cache
def output_formats() -> Mapping[str, OutputFormat]:
    """Return the output formats of all commands by name; "brackets" is an alias of the format penn."""
    from spacy_lpcfg.trees.formats import FORMATS, PENN

    of_trees = {form.name: form.suffixes for form in FORMATS.values() if form.write is not None}
    of_trees["brackets"] = of_trees[PENN]
    return {**_FORMATS, **{name: OutputFormat(suffixes, _write_lines) for name, suffixes in of_trees.items()}}


# Trees -------------------------------------------------------------------------------------------


def formats_of_trees() -> list[str]:
    """Return the names of the formats in which trees can be written, "penn" first."""
    from spacy_lpcfg.trees.formats import FORMATS, PENN

    written = (form.name for form in FORMATS.values() if form.write is not None)
    return [*dict.fromkeys([PENN, "spacy", "jsonl", "json", *written])]


def trees_as(name: str, trees: Iterator[Tree], *, lang: str, n_sents: int = 1) -> Iterator[Any]:
    """Convert trees to the items of an output format: lines, JSON objects or Docs.

    name (str): The name of the format, one of `formats_of_trees()`.
    trees (iterator of Tree): The trees.
    lang (str): The language of the head rules, for formats with dependencies.
    n_sents (int): The number of trees in each Doc, for "spacy".
    """
    from spacy_lpcfg.trees.formats import FORMATS

    if name == "spacy":
        return _trees_as_docs(trees, n_sents)
    write = FORMATS[name].write if name in FORMATS else None
    return map(_tree_as_json, trees) if write is None else write(trees, lang)


def _trees_as_docs(trees: Iterator[Tree], n_sents: int) -> Iterator[Doc]:
    from spacy.vocab import Vocab

    from spacy_lpcfg.components.training.corpus import tree_to_doc

    vocab = Vocab()
    for group in in_batches(trees, n_sents):
        yield tree_to_doc(vocab, group)


def _tree_as_json(tree: Tree) -> dict[str, Any]:
    """Return a tree of a treebank as a dict for JSON, with the fields of `parse` but no scores and no file or line."""
    from spacy_lpcfg.trees.transforms import strip_root

    sentence = CitedSentence.of_words(Origin("").of_words(tree.words, tree.source))
    spans = [dict(zip(("start", "end", "label"), span, strict=True)) for span in strip_root(tree)[1].spans() if span[2]]
    place = {"sent_id": tree.sent_id or None, **sentence.extent(), "words": tree.words, **sentence.word_characters()}
    return {**place, "tags": tree.tags, "tree": str(tree), "spans": located(spans, sentence)}
