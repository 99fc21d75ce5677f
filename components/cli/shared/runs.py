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

_SENTENCES, _TAGS = {"doc.sents", "token.is_sent_start"}, {"token.tag", "token.pos"}


class EmptyInputError(ValueError):
    """Raised for an input that has nothing to parse."""


class Parsed(NamedTuple):
    """A Doc that a pipeline has processed, with its location in the input."""

    doc: Doc
    origin: Origin

    @property
    def words(self) -> list[str] | None:
        """The original words, if the input was words or trees; None if it was text or Docs."""
        return self.origin.words

    def sentences(self) -> list[CitedSentence]:
        """Return the location of each sentence, including sentences without words."""
        return cited_sentences(self.doc, self.origin)

    def bounds(self) -> Iterator[tuple[CitedSentence, tuple[int, int]]]:
        """Yield the location of each sentence with its start and end token; nothing for an empty line of words."""
        from spacy_lpcfg.components.doc.sentences import sentence_bounds

        if len(self.doc):
            yield from zip(self.sentences(), sentence_bounds(self.doc), strict=True)


class Run(NamedTuple):
    """A pipeline to run over an input.

    nlp (Language): The pipeline.
    name (str): The name of the component that parses, brackets or computes surprisals.
    source (Source): The input.
    """

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
        """Create a run over a file, stdin or a text.

        nlp (Language): The pipeline.
        component (Pipe): The component of the pipeline that parses, brackets or computes surprisals.
        file, dialect, tags: As for `Source`.
        kind (Input or None): The kind of input; None to recognize it by the file's suffix or first lines.
        RAISES (BadParameter): If the component is a bracketer and the input has no tags, or a dialect is given for an
            input other than trees.
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

        If needed, components that find sentences and call the methods are added to the pipeline. For input other than
        text and Docs, only the components that the parser listens to, such as a tok2vec, run before it.

        questions (dict of str to dict, or None): The keyword arguments of the component's methods to call for each Doc,
            by the name of the method; see `questions.py`.
        with_trees (bool): Whether to parse as well; otherwise only the methods are called.
        n_process (int): The number of processes; 1 is this process.
        RAISES (ValueError): If the input is malformed.
        RAISES (EmptyInputError): If the input is empty.
        """
        nlp, source = self.nlp, self.source
        is_text = source.kind in ("text", "spacy")
        if is_text and not _assigned(nlp, besides=self.name) & _SENTENCES:
            nlp.add_pipe("lpcfg_sentencizer", first=True)
        needed = [*listened_to(nlp, self.component), self.name]
        if questions:
            from spacy_lpcfg.components.cli.shared.questions import FACTORY

            needed.append(FACTORY)
            if FACTORY not in nlp.pipe_names:
                nlp.add_pipe(FACTORY, before=self.name, config={"component": self.name, "questions": questions})
        disabled = [] if is_text else [name for name in nlp.pipe_names if name not in needed]
        self._use_tags()
        is_empty = True
        with nlp.select_pipes(disable=disabled if with_trees else [*disabled, self.name]):
            for doc, origin in pipe(nlp, self._unparsed(), n_process=n_process):
                is_empty = False
                yield Parsed(doc, origin)
        if is_empty:
            expected = KINDS[source.kind].expected
            raise EmptyInputError(f"{source.name}: there is nothing to parse in it. Expected {expected}.")

    def n_documents(self) -> int | None:
        """Return the number of documents for a progress bar; None if stderr is no terminal or the input no file."""
        if not _is_watched() or not os.path.isfile(self.source.file):
            return None
        return sum(1 for _ in READERS[self.source.kind](self.source._replace(is_told=False), self.nlp.vocab))

    def _use_tags(self) -> None:
        """Set whether the component takes given tags (`token.tag_`) or its model's, as --tags or the input requires."""
        usual, component = KINDS[self.source.kind].tags, self.component
        if _is_bracketer(component):
            if usual is not None:
                component.attr = "tag"
        elif hasattr(component, "tags") and (tags := self.source.tags or usual):
            component.tags = tags

    def _unparsed(self) -> Iterator[tuple[Any, Origin]]:
        """Yield texts or Docs to parse, with their locations; gold tags are removed unless the component uses them."""
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
    """Check an input, load a pipeline, and return the run of the pipeline over the input.

    model (str): The pipeline, as for `load_pipeline`.
    file, kind, dialect, tags: As for `Run.of`.
    find (callable): Returns the component to use from the pipeline, such as `find_parser`.
    RAISES (BadParameter): As in `check_usage` and `Run.of`.
    RAISES (ValueError): As in `load_pipeline` and `find`.
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
    """Recognize the format of an input (`--input`) by its suffix; "text" if the suffix is unknown.

    A bracketer whose pipeline has no tagger needs tags. For it, a file that is not .spacy counts as "trees" if its
    first lines look like trees, otherwise as "tagged"; stdin counts as "tagged".
    """
    from spacy_lpcfg.bracketing.tagged import holds_trees
    from spacy_lpcfg.trees.formats.table import first_lines

    named = kind_by_name(file)
    if named == "spacy" or not _is_bracketer(component) or _assigned(nlp, besides=component.name) & _TAGS:
        return named or "text"
    lines = (f"{line}\n" for line in Source(file, "text").lines())
    return "trees" if file != STDIN and holds_trees(first_lines(lines)) else "tagged"


def _assigned(nlp: Language, besides: str) -> set[str]:
    """Return the attributes that the components of a pipeline declare to assign, except the component `besides`."""
    names = [name for name in nlp.pipe_names if name != besides]
    return {attribute for name in names for attribute in nlp.get_pipe_meta(name).assigns}


def _has_gold(doc: Doc) -> bool:
    """Return whether a Doc has gold trees rather than trees that a parser wrote."""
    from spacy_lpcfg.components.doc.tree_group import attributes, key_of

    key = key_of(doc)
    return key in doc.spans and attributes(doc, key).given_tags is None
