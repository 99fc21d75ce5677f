"""Trees from files of any kind: treebanks, Docs, JSON lines, and text that a pipeline parses."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.components.cli.shared.failures import Failures
from spacy_lpcfg.components.cli.shared.files import LONGEST_JSON, STDIN, read_lines
from spacy_lpcfg.components.cli.shared.inputs import Source, check_usage, is_json, kind_by_name, kind_said
from spacy_lpcfg.components.cli.shared.options import Input
from spacy_lpcfg.components.cli.shared.pipelines import find_parser, load_pipeline
from spacy_lpcfg.components.cli.shared.readers import read_docs, trees_of
from spacy_lpcfg.components.cli.shared.runs import Parsed, Run
from spacy_lpcfg.components.cli.shared.treebanks import log_dialect

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_lpcfg.components.parsing_pipe import ParsingPipe
    from spacy_lpcfg.trees import Tree
    from spacy_lpcfg.trees.errors import OnError

DOCS = ".spacy"
_TOO_LONG = f"Expected a JSON object of at most {LONGEST_JSON:,} characters on a line, but it goes on."


def files_below(path: str, dialect: str | None, suffixes: tuple[str, ...] = ()) -> Iterable[str]:
    """Return the files to read at a path: the treebanks in a folder; for any other path [path].

    path (str): A folder, a file, a text, or "-" for stdin.
    dialect (str or None): The dialect of the treebanks to take from a folder. With None, treebanks of all dialects are
        taken; files that do not look like a treebank are left out, with a warning.
    suffixes (tuple of str): Suffixes of further files to take from a folder.
    RAISES (FileNotFoundError): If a folder has no such files; raised at the first item.
    RAISES (ValueError): If the dialect is unknown; raised at the first item.
    """
    from spacy_lpcfg.trees.files import treebank_files

    return treebank_files(path, dialect, suffixes) if os.path.isdir(path) else [path]


def trees_of_path(path: str, on_error: OnError, dialect: str | None, encoding: str = "utf-8") -> Iterator[Tree]:
    """Yield the trees of a treebank, a folder of treebanks, a .spacy, .jsonl or .json file, or of stdin for "-".

    on_error (callable or None): Called with the error of each broken tree, except in a .spacy file; None raises it.
    dialect (str or None): The dialect of treebanks; None to recognize it.
    encoding (str): The character encoding of treebank files; stdin and other files are UTF-8.
    RAISES (TreebankError): For the first broken tree if `on_error` is None, and for a file that cannot be read at
        all.
    RAISES (ValueError): If a .spacy file is damaged, or one of its Docs has no trees.
    RAISES (FileNotFoundError): If there is no such file, or a folder has no treebanks.
    """
    if path == STDIN:
        return trees_of(Source(path, "trees", dialect=dialect), on_error)
    if path.endswith(DOCS):
        return trees_of_docs(path)
    if is_json(path):
        return _trees_of_json(path, on_error)
    return _trees_of_treebanks(path, on_error, dialect, encoding)


def _trees_of_treebanks(path: str, on_error: OnError, dialect: str | None, encoding: str) -> Iterator[Tree]:
    from spacy_lpcfg.trees import TreeFiles

    dropped: Counter[str] = Counter()
    told: dict[str, Any] = {"on_error": on_error, "on_dropped": lambda _, some: dropped.update(some)}
    files = TreeFiles.of(path, dialect=dialect, encoding=encoding, **told)
    yield from files
    log_dialect(files.dialect, dialect, dropped)


def trees_of_docs(path: str | Path) -> Iterator[Tree]:
    """Yield the trees of a .spacy file, with the root labels of the treebank; sentences without words are skipped.

    RAISES (ValueError): If the file is damaged or in another format, or a Doc has no trees.
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
    """Yield the trees in the field "tree" of JSON objects: JSON lines, or a JSON list with one object on each line.

    Objects whose tree is null, for sentences without words, are skipped.

    on_error (callable or None): Called with the error of each malformed line; None raises the error.
    RAISES (BrokenFileError): If a line is longer than `LONGEST_JSON`.
    """
    from spacy_lpcfg.trees import TreebankError, parse_trees
    from spacy_lpcfg.trees.errors import BrokenFileError, raise_or_report

    for number, line in enumerate(read_lines(path), start=1):
        if len(line) > LONGEST_JSON:
            raise BrokenFileError(_TOO_LONG, path, number)
        try:
            item = line.strip().removesuffix(",")
            record = json.loads(item) if item not in ("", "[", "]") else {"tree": None}
            text, sent_id = record["tree"], record.get("sent_id")
            trees = parse_trees("" if text is None else text.encode("utf-8").decode("utf-8"))  # no half characters
            yield from (tree.with_id(sent_id) if isinstance(sent_id, str) else tree for tree in trees)
            continue
        except TreebankError as error:
            message = error.message
        except UnicodeEncodeError as error:
            message = f"Expected characters, but got half of one: {error.object[error.start]!r}. Write it whole."
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            message = f'Expected a JSON object such as {{"tree": "(NP (NN Rain))"}}, but got {line[:40]!r}.'
        raise_or_report(TreebankError(message, path, number), on_error)


class TreeSources:
    """Inputs of a command that takes trees, Docs, or text, which a pipeline parses.

    paths (sequence of str): Files, texts, "-" for stdin, or folders, whose treebanks and .spacy files are all read.
    kind (str or None): The kind of input of all files; None to recognize it by the suffix of each file, or else text.
    model (str): The pipeline to parse text with, as for `load_pipeline`; it is loaded when it is first needed.
    dialect (str or None): The dialect of treebanks; None to recognize it.
    skip_bad (bool): Whether broken trees are skipped.
    RAISES (BadParameter): If a path cannot be read.
    RAISES (FileNotFoundError): If a folder has no such files.
    """

    def __init__(
        self, paths: Sequence[str], kind: Input | None, model: str, dialect: str | None, *, skip_bad: bool
    ) -> None:
        self.kind, self.model, self.dialect = kind, model, dialect
        for path in paths:
            if not os.path.isdir(path):
                check_usage(path, kind)
        files = chain.from_iterable(files_below(path, dialect, (DOCS,)) for path in paths)
        self.sources = [Source(file, self._kind_of(file), dialect=dialect) for file in files]
        self.failures = Failures(len(self.sources), skip_bad=skip_bad)

    def _kind_of(self, file: str) -> Input:
        named = kind_by_name(file)
        if named == "spacy" and self.kind is None:
            return named
        return kind_said(self.kind, self.dialect) or named or "text"

    @property
    def inputs(self) -> list[str]:
        """The input files and the model, which the output must not replace."""
        return [*(source.file for source in self.sources), self.model]

    def docs(self, source: Source) -> Iterator[Parsed]:
        """Return an iterator over the Docs of a .spacy file, or over the parsed Docs of another source."""
        from spacy.vocab import Vocab

        if source.kind == "spacy":
            return (Parsed(doc, origin) for doc, origin in read_docs(source, Vocab()))
        return Run.of(*self._pipeline, source.file, self.kind).parsed()

    def load(self) -> None:
        """Load the pipeline now if any source has to be parsed, so that its errors do not count as errors of a file.

        RAISES (ValueError): If the pipeline cannot be loaded, or has no trained parser.
        """
        if any(source.kind not in ("trees", "spacy") for source in self.sources):
            _ = self._pipeline

    @cached_property
    def _pipeline(self) -> tuple[Language, ParsingPipe]:
        nlp = load_pipeline(self.model)
        return nlp, find_parser(nlp)
