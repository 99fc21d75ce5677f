"""Reading of trees from files of any kind: treebanks, Docs, JSON lines, and text that a pipeline parses."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.components.cli.shared.files import LONGEST_JSON, STDIN, ZIPPED, read_lines
from spacy_lpcfg.components.cli.shared.inputs import (
    Parsed,
    Source,
    check_usage,
    kind_by_name,
    kind_said,
    placed_docs,
    run_pipeline,
    source_of,
    trees_of,
)
from spacy_lpcfg.components.cli.shared.options import Input
from spacy_lpcfg.components.cli.shared.pipelines import find_parser, load_pipeline
from spacy_lpcfg.components.cli.shared.treebanks import trees_of_files

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_lpcfg.components.cli.shared.console import OnError
    from spacy_lpcfg.components.parsing_pipe import ParsingPipe
    from spacy_lpcfg.trees import Tree


DOCS, _JSON = ".spacy", (".jsonl", ".json")
_TOO_LONG = f"Expected a JSON object of at most {LONGEST_JSON:,} characters on a line, but it goes on."


def files_below(path: str, dialect: str | None, suffixes: tuple[str, ...] = ()) -> Iterable[str]:
    """Return the treebanks in a folder, and the files in it with one of the suffixes; any other path as it is.

    RAISES (FileNotFoundError): For a folder without such files.
    """
    from spacy_lpcfg.trees.files import treebank_files

    return treebank_files(path, dialect, suffixes) if os.path.isdir(path) else [path]


def trees_of_path(path: str, on_error: OnError, dialect: str | None, encoding: str = "utf-8") -> Iterator[Tree]:
    """Yield the trees of a treebank, a folder of treebanks, a .spacy, .jsonl or .json file, or of stdin for "-".

    on_error (callable or None): Called with the error of each broken tree; None raises it.
    encoding (str): The encoding of files of treebanks.
    """
    if path == STDIN:
        return trees_of(Source(path, Input.trees, dialect=dialect, is_told=True), on_error)
    if path.endswith(DOCS):
        return trees_of_docs(path)
    if path.removesuffix(ZIPPED).endswith(_JSON):
        return _trees_of_json(path, on_error)
    return trees_of_files([Path(path)], on_error, dialect, encoding)


def trees_of_docs(path: str | Path) -> Iterator[Tree]:
    """Yield the trees of a .spacy file, below the treebank's root if it has one; sentences without words are skipped.

    RAISES (ValueError): For any other file, or if its Docs have no trees.
    """
    from spacy.vocab import Vocab

    from spacy_lpcfg.components.doc.read import rooted_trees
    from spacy_lpcfg.components.doc.tree_group import key_of
    from spacy_lpcfg.components.training.corpus import read_docs

    for doc in read_docs(path, Vocab()):
        try:
            yield from filter(None, rooted_trees(doc, key_of(doc)))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error


def _trees_of_json(path: str, on_error: OnError) -> Iterator[Tree]:
    """Yield the trees of JSON objects, one on each line, or of a list of such lines.

    A line whose tree is null, for a sentence without words, is skipped.
    """
    from spacy_lpcfg.trees import TreebankError, parse_trees
    from spacy_lpcfg.trees.errors import BrokenFileError

    for number, line in enumerate(read_lines(path), start=1):
        if len(line) > LONGEST_JSON:
            raise BrokenFileError(_TOO_LONG, path, number)
        try:
            item = line.strip().removesuffix(",")
            record = json.loads(item) if item not in ("", "[", "]") else {"tree": None}
            text, sent_id = record["tree"], record.get("sent_id")
            trees = parse_trees("" if text is None else _whole_characters(text))
            yield from (tree.with_id(sent_id) if isinstance(sent_id, str) else tree for tree in trees)
            continue
        except TreebankError as error:
            message = error.message
        except UnicodeEncodeError as error:
            message = f"Expected characters, but got half of one: {error.object[error.start]!r}. Write it whole."
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            message = f'Expected a JSON object such as {{"tree": "(NP (NN Rain))"}}, but got {line[:40]!r}.'
        if on_error is None:
            raise TreebankError(message, path, number)
        on_error(TreebankError(message, path, number))


def _whole_characters(text: str) -> str:
    r"""Return a text of JSON if it has no lone surrogates such as "\ud800", which no output can write.

    RAISES (UnicodeEncodeError): If it has one.
    """
    text.encode("utf-8")
    return text


@dataclass(frozen=True)
class TreeSources:
    """A reader of files with trees, or with text that a pipeline parses.

    kind (Input or None): The kind of contents of all files; None to tell by their names.
    model (str): The pipeline that parses text; it is loaded when the first text is read.
    component (str or None): The parser in the pipeline; None for its first trained one.
    dialect (str or None): The format of treebanks; None to recognize it.
    """

    kind: Input | None
    model: str
    component: str | None
    dialect: str | None = None

    def sources(self, paths: Sequence[str]) -> Iterator[Source]:
        """Yield each file, and each file in folders, with its kind: by `kind` or its name, else text."""
        for path in paths:
            if not os.path.isdir(path):
                check_usage(path, self.kind, None)
        for file in chain.from_iterable(files_below(path, self.dialect, (DOCS,)) for path in paths):
            kind = kind_by_name(file) if file.endswith(DOCS) and self.kind is None else None
            kind = kind or kind_said(self.kind, self.dialect) or kind_by_name(file) or Input.text
            yield Source(file, kind, dialect=self.dialect, is_told=True)

    def docs(self, source: Source) -> Iterator[Parsed]:
        """Yield the Docs of a .spacy file, or the parsed Docs of a file of text."""
        from spacy.vocab import Vocab

        if source.kind == Input.spacy:
            return (Parsed(doc, origin) for doc, origin in placed_docs(source, Vocab()))
        text = source_of(*self._pipeline, source.file, self.kind, None)
        return run_pipeline(*self._pipeline, text)

    def load_for(self, sources: Iterable[Source]) -> None:
        """Load the pipeline if a source is to be parsed: what is wrong with the pipeline is wrong with no file."""
        if any(source.kind not in (Input.trees, Input.spacy) for source in sources):
            _ = self._pipeline

    @cached_property
    def _pipeline(self) -> tuple[Language, ParsingPipe]:
        nlp = load_pipeline(self.model)
        return nlp, find_parser(nlp, self.component)
