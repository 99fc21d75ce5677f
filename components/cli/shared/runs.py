"""Runs of a pipeline over an input, which is read and parsed as a stream."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from spacy_lpcfg.components.cli.shared.citations import CitedSentence, Origin, cited_sentences
from spacy_lpcfg.components.cli.shared.files import STDIN
from spacy_lpcfg.components.cli.shared.inputs import KINDS, Source, check_usage, kind_by_name, kind_said
from spacy_lpcfg.components.cli.shared.options import Input, Tags
from spacy_lpcfg.components.cli.shared.pipelines import find_parser, listened_to, load_pipeline
from spacy_lpcfg.components.cli.shared.processes import pipe
from spacy_lpcfg.components.cli.shared.readers import READERS

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_QUESTIONS = "lpcfg_cli_questions"  # the name of a component; see `questions.py`
_SENTENCES, _TAGS = {"doc.sents", "token.is_sent_start"}, {"token.tag", "token.pos"}


class EmptyInputError(ValueError):
    """An input in which there is nothing to parse."""


class Parsed(NamedTuple):
    """A Doc that went through a pipeline, and where it comes from."""

    doc: Doc
    origin: Origin

    @property
    def words(self) -> list[str] | None:
        """The words as they came, if the Doc was made of words."""
        return self.origin.words

    def sentences(self) -> list[CitedSentence]:
        """Return the sentences with their places, those without words included."""
        return cited_sentences(self.doc, self.origin)


class Run(NamedTuple):
    """A pipeline, the name of its component that parses or answers, and an input."""

    nlp: Language
    name: str
    source: Source

    @classmethod
    def of(
        cls,
        nlp: Language,
        component: Any,
        file: str,
        kind: Input | None,
        dialect: str | None = None,
        tags: Tags | None = None,
    ) -> Run:
        """Return the run over a file or text; without options its kind is guessed by the name or the first lines.

        component (Pipe): The component of the pipeline that parses or answers.
        file, kind, dialect, tags: As in `Source`; kind None to guess it.
        RAISES (BadParameter): If the component is a bracketer and the input has no tags.
        """
        content = kind_said(kind, dialect) or _guessed_kind(nlp, component, file)
        if _is_bracketer(component) and (content == "tokens" or tags == "model"):
            raise typer.BadParameter(
                "a bracketer has no tags of its own: use --input tagged or --input trees", param_hint="--input"
            )
        return cls(nlp, component.name, Source(file, content, tags, kind is None, dialect))

    @property
    def component(self) -> Any:
        return self.nlp.get_pipe(self.name)

    def parsed(
        self, *, questions: dict[str, dict[str, Any]] | None = None, with_trees: bool = True, n_process: int = 1
    ) -> Iterator[Parsed]:
        """Yield the parsed Docs in order, as a stream that never holds the whole file in memory.

        Components that find sentences and answer the questions are added to the pipeline, once. Where the input is
        words, only what the component listens to runs before it.

        questions (dict of str to dict): Names of methods of the component and their arguments; see `questions.py`.
        with_trees (bool): Whether to parse, besides answering questions.
        n_process (int): The number of processes.
        RAISES (ValueError): If the file cannot be read. (EmptyInputError): If it is empty.
        """
        nlp, source = self.nlp, self.source
        is_text = source.kind in ("text", "spacy")
        if is_text and not _assigned(nlp, besides=self.name) & _SENTENCES:
            nlp.add_pipe("lpcfg_sentencizer", first=True)
        needed = (*listened_to(nlp, self.component), self.name, _QUESTIONS)
        disabled = [] if is_text else [name for name in nlp.pipe_names if name not in needed]
        self._use_tags()
        if questions and _QUESTIONS not in nlp.pipe_names:
            from spacy_lpcfg.components.cli.shared.questions import FACTORY

            nlp.add_pipe(FACTORY, _QUESTIONS, before=self.name, config={"component": self.name, "questions": questions})
        is_empty = True
        with nlp.select_pipes(disable=disabled if with_trees else [*disabled, self.name]):
            for doc, origin in pipe(nlp, self._unparsed(), n_process=n_process):
                is_empty = False
                yield Parsed(doc, origin)
        if is_empty:
            expected = KINDS[source.kind].expected
            raise EmptyInputError(f"{source.name}: there is nothing to parse in it. Expected {expected}.")

    def n_documents(self) -> int | None:
        """Count the documents for a progress bar; None without a bar, or if the file cannot be read twice."""
        if not _is_watched() or not os.path.isfile(self.source.file):
            return None
        return sum(1 for _ in READERS[self.source.kind](self.source._replace(is_told=False), self.nlp.vocab))

    def _use_tags(self) -> None:
        """Set the tags that the component uses: given ones, which are in `token.tag_`, or its own."""
        usual, component = KINDS[self.source.kind].tags, self.component
        if _is_bracketer(component):
            if usual is not None:
                component.attr = "tag"
        elif hasattr(component, "tags") and (tags := self.source.tags or usual):
            component.tags = tags

    def _unparsed(self) -> Iterator[tuple[Any, Origin]]:
        """Yield texts or Docs to parse, without the tags of a treebank's trees unless these are asked for."""
        kind = self.source.kind
        may_be_used = self.source.tags == "given" or _is_bracketer(self.component)
        items: Iterator[tuple[Any, Origin]] = READERS[kind](self.source, self.nlp.vocab)
        for doc, origin in items:
            if not may_be_used and (kind == "trees" or (kind == "spacy" and _has_gold(doc))):
                for token in doc:
                    token.tag_ = ""
            yield doc, origin


def loaded_run(
    model: str,
    file: str,
    kind: Input | None,
    dialect: str | None = None,
    tags: Tags | None = None,
    *,
    find: Callable[[Language], Any] = find_parser,
) -> Run:
    """Check an input, load the pipeline of a model, and return the run over it; other arguments as in `Run.of`.

    find (callable): Returns the component of a pipeline that parses or answers.
    """
    check_usage(file, kind, tags)
    nlp = load_pipeline(model)
    return Run.of(nlp, find(nlp), file, kind, dialect, tags)


def _is_watched() -> bool:
    return sys.stderr.isatty()


def _is_bracketer(component: Any) -> bool:
    from spacy_lpcfg.components.spectral_bracketer import SpectralBracketerPipe

    return isinstance(component, SpectralBracketerPipe)


def _guessed_kind(nlp: Language, component: Any, file: str) -> Input:
    """Return the kind of an input: by its name, or else text; for an untagged bracketer Docs, or by the first lines."""
    from spacy_lpcfg.bracketing.tagged import holds_trees
    from spacy_lpcfg.trees.formats.table import first_lines

    named = kind_by_name(file)
    if named == "spacy" or not _is_bracketer(component) or _assigned(nlp, besides=component.name) & _TAGS:
        return named or "text"
    lines = (f"{line}\n" for line in Source(file, "text").lines())
    return "trees" if file != STDIN and holds_trees(first_lines(lines)) else "tagged"


def _assigned(nlp: Language, besides: str) -> set[str]:
    """Return the attributes that all components of a pipeline but one declare to set."""
    names = [name for name in nlp.pipe_names if name != besides]
    return {attribute for name in names for attribute in nlp.get_pipe_meta(name).assigns}


def _has_gold(doc: Doc) -> bool:
    """Return whether a Doc has trees that no parser wrote."""
    from spacy_lpcfg.components.doc.tree_group import attributes, key_of

    key = key_of(doc)
    return key in doc.spans and attributes(doc, key).given_tags is None
