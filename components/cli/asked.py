"""Files of trees that commands ask: treebanks, Docs, and text that a pipeline parses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from spacy_lpcfg.cached import cached_property
from spacy_lpcfg.components.cli.inputs import (
    Input,
    Source,
    check_usage,
    docs_of_source,
    kind_by_name,
    kind_said,
    run_pipeline,
    source_of,
)
from spacy_lpcfg.components.cli.pipelines import find_parser, load_pipeline

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from spacy_lpcfg.components.parsing_pipe import ParsingPipe

_BINARY = ".spacy"
AskedFiles: TypeAlias = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", help="Treebanks, .spacy, folders of them, text in UTF-8, or - for stdin."),
]


@dataclass(frozen=True)
class AskedReader:
    """Options that say what files hold, and which component of which pipeline parses text."""

    kind: Input | None
    model: str
    component: str | None
    dialect: str | None = None

    def sources(self, paths: Sequence[str]) -> Iterator[Source]:
        """Yield the files, and those in folders; they hold text unless an option or the name says more."""
        for path in paths:
            if not os.path.isdir(path):
                check_usage(path, self.kind, None)
        for file in chain.from_iterable(map(self._files, paths)):
            kind = kind_by_name(file) if file.endswith(_BINARY) and self.kind is None else None
            kind = kind or kind_said(self.kind, self.dialect) or kind_by_name(file) or Input.text
            yield Source(file, kind, None, dialect=self.dialect, is_told=True)

    def _files(self, path: str) -> Iterable[str]:
        from spacy_lpcfg.trees.files import treebank_files

        return treebank_files(path, self.dialect, (_BINARY,)) if os.path.isdir(path) else [path]

    def docs(self, source: Source) -> Iterator[Doc]:
        """Yield the Docs of a file, or its text parsed."""
        from spacy.vocab import Vocab

        if source.kind == Input.spacy:
            return docs_of_source(source, Vocab())
        text = source_of(*self._pipeline, source.file, self.kind, None)
        return (doc for doc, _ in run_pipeline(*self._pipeline, text))

    @cached_property
    def _pipeline(self) -> tuple[Language, ParsingPipe]:
        nlp = load_pipeline(self.model)
        return nlp, find_parser(nlp, self.component)
