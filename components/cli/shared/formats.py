"""The formats that commands write: their names, the endings of their files, and how each is written.

Those of trees alone come from the table `spacy_lpcfg.trees.formats`, which is imported when a format is asked for.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import typer

from spacy_lpcfg.batches import in_batches
from spacy_lpcfg.components.cli.shared.citations import CitedSentence, Origin, located
from spacy_lpcfg.components.cli.shared.files import ZIPPED, replacing, writing
from spacy_lpcfg.storage.files import is_device

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from spacy_lpcfg.trees import Tree

_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")  # where programs end a cell or a line


class OutputFormat(NamedTuple):
    """A format of output: the endings of its files, and how items are written.

    suffixes (tuple of str): Endings of files in this format, the usual one first.
    write (callable): Writes items to an open file: lines, rows of cells, objects of JSON, or Docs.
    is_binary (bool): Whether the file takes bytes; a text may be compressed, with `.gz` after its ending.
    """

    suffixes: tuple[str, ...]
    write: Callable[[IO[Any], Iterable[Any]], None]
    is_binary: bool = False

    def takes(self, ending: str, is_zipped: bool) -> bool:
        """Return whether files with an ending, compressed or not, are in this format."""
        return ending in self.suffixes and not (is_zipped and self.is_binary)


def format_of(
    output: Path | None,
    form: Enum | None,
    possible: Iterable[Enum | str],
    *,
    hint: str = "--output",
    needs_ending: bool = False,
) -> str:
    """Return the name of the format to write: the given one, or that of the file's ending, or the first possible one.

    output (Path or None): The file; None for stdout.
    form (Enum or None): The value of --format.
    possible (iterable of Enum or str): Formats that the command can write; of two with one ending the first is meant.
    needs_ending (bool): Whether a file without an ending is refused.
    RAISES (BadParameter): For an ending that the command cannot write, or that is another format's.
    """
    names = [choice.value if isinstance(choice, Enum) else choice for choice in possible]
    wanted = None if form is None else form.value
    if output is None or is_device(output):
        return wanted or names[0]
    is_zipped = output.suffix == ZIPPED
    ending = (output.with_suffix("") if is_zipped else output).suffix.lower()
    fitting = [name for name in names if output_formats()[name].takes(ending, is_zipped)]
    if wanted and fitting and wanted not in fitting:
        raise typer.BadParameter(f"{str(output)!r} is no name for {wanted}", param_hint=hint)
    if not wanted and not fitting and (ending or needs_ending):
        or_so = ", or --format say what it is" if len(names) > 1 and not needs_ending else ""
        raise typer.BadParameter(f"{str(output)!r} should end in {_endings(names)}{or_so}", param_hint=hint)
    return wanted or (fitting or names)[0]


def check_terminal(output: Path | None, name: str) -> None:
    """Raise BadParameter if a format of bytes would go to a terminal."""
    if output_formats()[name].is_binary and output is None and sys.stdout.isatty():
        raise typer.BadParameter(f"{name} is nothing to read: name a file by --output", param_hint="--format")


def _endings(names: Iterable[str]) -> str:
    *first, last = dict.fromkeys(suffix for name in names for suffix in output_formats()[name].suffixes)
    return f"{', '.join(first)} or {last}" if first else last


def write_output(output: Path | None, name: str, items: Iterable[Any], *, force: bool) -> None:
    """Write items in a format to a file that appears when it is complete, or to stdout for None.

    force (bool): Whether to replace a file that has appeared since `check_output`.
    RAISES (ValueError): If a file has appeared that may not be replaced; the output is then saved beside it.
    """
    form = output_formats()[name]
    opened: Any = replacing if form.is_binary else writing
    with opened(output, force=force) as out:
        form.write(out, items)


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
    for number, value in enumerate(objects):
        out.write(f"{',' if number else '['}\n{_as_json(value)}")
    out.write("\n]\n")


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
    """Return all formats that commands write by their names; "brackets" is the format penn."""
    from spacy_lpcfg.trees.formats import FORMATS, PENN

    of_trees = {form.name: form.suffixes for form in FORMATS.values() if form.write is not None}
    of_trees["brackets"] = of_trees[PENN]
    return {**_FORMATS, **{name: OutputFormat(suffixes, _write_lines) for name, suffixes in of_trees.items()}}


# Trees -------------------------------------------------------------------------------------------


def formats_of_trees() -> list[str]:
    """Return the names of the formats in which trees can be written."""
    from spacy_lpcfg.trees.formats import FORMATS

    return ["spacy", "jsonl", "json", *(form.name for form in FORMATS.values() if form.write is not None)]


def trees_as(name: str, trees: Iterator[Tree], *, lang: str, n_sents: int = 1) -> Iterator[Any]:
    """Convert trees to the items of an output format: lines, objects or Docs.

    lang (str): The language of the head rules, for dependencies.
    n_sents (int): The number of trees of a Doc.
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
    """Return a tree of a treebank as an object of JSON, like those of `parse`."""
    from spacy_lpcfg.trees.transforms import strip_root

    sentence = CitedSentence.of_words(Origin("").of_words(tree.words, tree.source))
    spans = [dict(zip(("start", "end", "label"), span, strict=True)) for span in strip_root(tree)[1].spans() if span[2]]
    place = {"sent_id": tree.sent_id or None, **sentence.extent(), "words": tree.words, **sentence.word_characters()}
    return {**place, "tags": tree.tags, "tree": str(tree), "spans": located(spans, sentence)}
