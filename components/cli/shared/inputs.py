"""Inputs of commands: text, words, tagged words, the words of trees, or Docs; read and parsed as a stream."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import typer

from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.cli.shared.citations import CitedSentence, Origin, cited_sentences
from spacy_lpcfg.components.cli.shared.files import STDIN, ZIPPED, check_input_or_text, is_text, read_lines
from spacy_lpcfg.components.cli.shared.options import BRACKETED, Input, Tags
from spacy_lpcfg.components.cli.shared.pipelines import listened_to
from spacy_lpcfg.components.cli.shared.processes import pipe
from spacy_lpcfg.components.cli.shared.streams import stdin

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

    from spacy_lpcfg.components.language_model import LanguageModelPipe
    from spacy_lpcfg.components.parsing_pipe import ParsingPipe
    from spacy_lpcfg.components.spectral_bracketer import SpectralBracketerPipe
    from spacy_lpcfg.trees import Tree
    from spacy_lpcfg.trees.errors import OnError
    from spacy_lpcfg.trees.source import SentenceSource

    Pipe: TypeAlias = ParsingPipe | SpectralBracketerPipe | LanguageModelPipe

_ITEM = re.compile(r"[^ \t\n\r\f\v]+")  # other white space may be part of a treebank's word
_BINARY = ".spacy"
_QUESTIONS = "lpcfg_cli_questions"  # the name of a component; see `questions.py`


class Source(NamedTuple):
    """An input of a command.

    file (str): The name of a file, "-" for stdin, or a text.
    kind (Input): The kind of its contents.
    tags (Tags or None): Where tags come from; None for the default of the kind of input.
    is_guessed (bool): Whether `kind` is a guess.
    dialect (str or None): The dialect of trees; None for the one that a file looks like.
    is_told (bool): Whether to log what the dialect changes.
    """

    file: str
    kind: Input
    tags: Tags | None = None
    is_guessed: bool = False
    dialect: str | None = None
    is_told: bool = False

    @property
    def name(self) -> str:
        """The name of the file in error messages."""
        return "<stdin>" if self.file == STDIN else "<text>" if is_text(self.file) else self.file

    def lines(self) -> Iterator[str]:
        """Yield the lines of the source, without their ends."""
        return lines_of(self.file)


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


class _Kind(NamedTuple):
    """A kind of input.

    read (callable): Yields texts or Docs, each with its origin.
    expected (str): A description for the message that there is nothing to parse.
    suffixes (tuple of str): Ends of the names of files in folders that hold it.
    tags (Tags or None): Where tags come from unless an option says; None as the pipeline is set.
    """

    read: Callable[[Language, Source], Iterator[tuple[Any, Origin]]]
    expected: str
    suffixes: tuple[str, ...]
    tags: Tags | None = None


class _Words(NamedTuple):
    """The origin of a sentence that is made of words, their tags if they are known, and what its file says of it."""

    origin: Origin
    tags: list[str] | None = None
    source: SentenceSource | None = None


class EmptyInputError(ValueError):
    """An input in which there is nothing to parse."""


# Kinds of input ---------------------------------------------------------------------------------


def lines_of(source: str) -> Iterator[str]:
    """Yield the lines of a file, of stdin for "-", or of a text itself."""
    return iter(source.split("\n")) if is_text(source) else read_lines(source)


def check_usage(file: str, kind: Input | None, tags: Tags | None) -> None:
    """Raise BadParameter if an input cannot be read, or has no tags to be given."""
    check_input_or_text(file)
    if is_text(file) and kind == Input.spacy:
        raise typer.BadParameter("a text holds no Docs: name a .spacy file", param_hint="FILE")
    if kind == Input.tokens and tags == Tags.given:
        raise typer.BadParameter("tokens have no tags: use --input tagged or --input trees", param_hint="--tags")


def source_of(
    nlp: Language, component: Pipe, file: str, kind: Input | None, tags: Tags | None, dialect: str | None = None
) -> Source:
    """Return the source of a FILE or text; without options its kind is guessed from the name or the first lines.

    RAISES (BadParameter): If the component is a bracketer and the input has no tags.
    """
    content = kind_said(kind, dialect) or _guessed_kind(nlp, component, file)
    if _is_bracketer(component) and (content == Input.tokens or tags == Tags.model):
        raise typer.BadParameter("a bracketer has no tags of its own: use --input tagged or --input trees")
    return Source(file, content, tags, kind is None, dialect, is_told=True)


def kind_said(kind: Input | None, dialect: str | None) -> Input | None:
    """Return the kind of input that options ask for; trees if they name a dialect, None if they name nothing.

    RAISES (BadParameter): If a dialect is named for an input other than trees.
    """
    if dialect is not None and kind not in (None, Input.trees):
        raise typer.BadParameter(f"{kind.value} has no dialect, only trees have", param_hint="--dialect")
    return kind if dialect is None else Input.trees


def _is_bracketer(component: Pipe) -> bool:
    from spacy_lpcfg.components.spectral_bracketer import SpectralBracketerPipe

    return isinstance(component, SpectralBracketerPipe)


def kind_by_name(file: str) -> Input | None:
    """Return what a file holds by its name, Docs or trees; None if the name does not say."""
    kinds = () if is_text(file) else (Input.spacy, Input.trees)
    return next((kind for kind in kinds if file.endswith(suffixes_of(kind))), None)


def _guessed_kind(nlp: Language, component: Pipe, file: str) -> Input:
    """Return the kind of an input: by its name, or else text; for an untagged bracketer Docs, or by the first lines."""
    from spacy_lpcfg.bracketing.tagged import holds_trees
    from spacy_lpcfg.trees.formats.table import first_lines

    named = kind_by_name(file)
    if named == Input.spacy:
        return named
    if not _is_bracketer(component) or _assigned(nlp, besides=component.name) & {"token.tag", "token.pos"}:
        return named or Input.text
    is_trees = file != STDIN and holds_trees(first_lines(f"{line}\n" for line in lines_of(file)))
    return Input.trees if is_trees else Input.tagged


def _assigned(nlp: Language, besides: str) -> set[str]:
    """Return the attributes that all components of a pipeline but one declare to set."""
    names = [name for name in nlp.pipe_names if name != besides]
    return {attribute for name in names for attribute in nlp.get_pipe_meta(name).assigns}


# Parsing -----------------------------------------------------------------------------------------


def run_pipeline(
    nlp: Language,
    component: Pipe,
    source: Source,
    *,
    questions: dict[str, dict[str, Any]] | None = None,
    with_trees: bool = True,
    n_process: int = 1,
) -> Iterator[Parsed]:
    """Yield the parsed Docs of a file in order, as a stream that never holds the whole file in memory.

    nlp (Language): The pipeline; components that find sentences and answer the questions are added to it, once.
    component (Pipe): The component that parses or answers; where the input is words, only what it listens to runs too.
    questions (dict of str to dict): Names of methods of the component and their arguments; see `questions.py`.
    with_trees (bool): Whether to parse, besides answering questions.
    n_process (int): The number of processes.
    RAISES (ValueError): If the file cannot be read. (EmptyInputError): If it is empty.
    """
    is_text = source.kind in (Input.text, Input.spacy)
    if is_text and not _assigned(nlp, besides=component.name) & {"doc.sents", "token.is_sent_start"}:
        nlp.add_pipe("lpcfg_sentencizer", first=True)
    needed = (*listened_to(nlp, component), component.name, _QUESTIONS)
    disabled = [] if is_text else [name for name in nlp.pipe_names if name not in needed]
    _use_tags(component, source)
    if questions and _QUESTIONS not in nlp.pipe_names:
        from spacy_lpcfg.components.cli.shared.questions import FACTORY

        config = {"component": component.name, "questions": questions}
        nlp.add_pipe(FACTORY, _QUESTIONS, before=component.name, config=config)
    is_empty = True
    with nlp.select_pipes(disable=disabled if with_trees else [*disabled, component.name]):
        for doc, origin in pipe(nlp, _unparsed(nlp, component, source), n_process=n_process):
            is_empty = False
            yield Parsed(doc, origin)
    if is_empty:
        message = f"{source.name}: there is nothing to parse in it. Expected {_KINDS[source.kind].expected}."
        raise EmptyInputError(message)


def n_documents(nlp: Language, source: Source) -> int | None:
    """Count the documents of a file for a progress bar; None without a bar, or if the file cannot be read twice."""
    if not _is_watched() or not os.path.isfile(source.file):
        return None
    return sum(1 for _ in _KINDS[source.kind].read(nlp, source._replace(is_told=False)))


def _is_watched() -> bool:
    return sys.stderr.isatty()


def _use_tags(component: Pipe, source: Source) -> None:
    """Set the tags that a component uses: given ones, which are in `token.tag_`, or its own."""
    usual = _KINDS[source.kind].tags
    if _is_bracketer(component):
        if usual is not None:
            component.attr = "tag"
    elif hasattr(component, "tags") and (tags := source.tags or usual):
        component.tags = tags.value


# Files -------------------------------------------------------------------------------------------


def _unparsed(nlp: Language, component: Pipe, source: Source) -> Iterator[tuple[Any, Origin]]:
    """Yield texts or Docs to parse, without the tags of a treebank's trees unless these are asked for."""
    may_be_used = source.tags == Tags.given or _is_bracketer(component)
    for doc, origin in _KINDS[source.kind].read(nlp, source):
        if not may_be_used and (source.kind == Input.trees or (source.kind == Input.spacy and _has_gold(doc))):
            for token in doc:
                token.tag_ = ""
        yield doc, origin


def _has_gold(doc: Doc) -> bool:
    """Return whether a Doc has trees that no parser wrote."""
    from spacy_lpcfg.components.doc.tree_group import attributes, key_of

    key = key_of(doc)
    return key in doc.spans and attributes(doc, key).given_tags is None


def _placed_lines(source: Source) -> Iterator[tuple[str, Origin]]:
    """Yield the lines of a source, with their numbers and the characters at which they begin."""
    first_char = 0
    for number, line in enumerate(source.lines(), start=1):
        yield line, Origin(source.name, line=number, first_char=first_char)
        first_char += len(line) + 1


def _read_text(nlp: Language, source: Source) -> Iterator[tuple[str, Origin]]:
    is_first = True
    for line, origin in _placed_lines(source):
        if not line.strip():
            continue
        if is_first and source.is_guessed and _is_tree(line):
            raise ValueError(
                f"{source.name} holds bracketed trees: use --input trees, or --input text to take brackets for words"
            )
        is_first = False
        yield line, origin


def _is_tree(line: str) -> bool:
    """Return whether a line is bracketed trees, of which at least one is more than a word in brackets."""
    from spacy_lpcfg.trees import TreebankError, parse_trees

    if not line.lstrip().startswith("("):
        return False
    try:
        return any(not tree.is_leaf for tree in [*parse_trees(line)])
    except TreebankError:
        return False


def docs_of_source(source: Source, vocab: Vocab) -> Iterator[Doc]:
    """Yield the Docs of a `.spacy` file, or of stdin; errors are those of `docs_of`."""
    from spacy_lpcfg.components.training.corpus import docs_of, read_docs
    from spacy_lpcfg.storage.container import read_stream

    is_file = source.file != STDIN
    return read_docs(source.file, vocab) if is_file else docs_of(read_stream(stdin()), source.name, vocab)


def placed_docs(source: Source, vocab: Vocab) -> Iterator[tuple[Doc, Origin]]:
    """Yield the Docs of a source as `docs_of_source` does, each with its origin."""
    for number, doc in enumerate(docs_of_source(source, vocab), start=1):
        yield doc, Origin(source.name, number)


def _read_docs(nlp: Language, source: Source) -> Iterator[tuple[Doc, Origin]]:
    return placed_docs(source, nlp.vocab)


def _read_words(
    read: Callable[[Source], Iterator[_Words]], nlp: Language, source: Source
) -> Iterator[tuple[Doc, Origin]]:
    """Yield a Doc for each sentence; an underscore for a word of white space, which would be none of the tree."""
    from spacy.tokens import Doc

    from spacy_lpcfg.components.doc.sentences import set_source

    for origin, tags, of_file in read(source):
        words = origin.words or []
        texts = ["_" if word.isspace() else word for word in words]
        spaces = [*of_file.text.spaces] if of_file and of_file.text else None
        starts: list[bool | int | None] = [i == 0 for i in range(len(words))]
        doc = Doc(nlp.vocab, words=texts, spaces=spaces, tags=tags, sent_starts=starts)
        if of_file:
            set_source(doc, of_file)
        yield doc, origin


def _read_tokens(source: Source) -> Iterator[_Words]:
    for line, origin in _placed_lines(source):
        items = [*_ITEM.finditer(line)]
        words = [item[0] for item in items]
        yield _Words(origin._replace(words=words, text=line, offsets=[item.span() for item in items]))


def _read_tagged(source: Source) -> Iterator[_Words]:
    for number, line in enumerate(source.lines(), start=1):
        items = [item.rpartition("/") for item in _ITEM.findall(line)]
        for word, slash, tag in items:
            if not (word and tag):
                raise ValueError(
                    f"{source.name}:{number}: Expected word/TAG, separated by blanks, but got "
                    f"{shown(word + slash + tag)}"
                )
        origin = Origin(source.name, line=number).of_words([word for word, _, _ in items])
        yield _Words(origin, [tag for _, _, tag in items])


def _read_trees(source: Source) -> Iterator[_Words]:
    from spacy_lpcfg.trees import normalize

    for tree in map(normalize, trees_of(source)):
        if tree is not None:
            yield _Words(Origin(source.name).of_words(tree.words, tree.source), tree.tags, tree.source)


def trees_of(source: Source, on_error: OnError = None) -> Iterator[Tree]:
    """Yield the trees of a file, of stdin or of a text, in the given dialect, or else in the one that it looks like.

    on_error (callable or None): As for `read_trees`.
    """
    from spacy_lpcfg.components.cli.shared.treebanks import log_dialect
    from spacy_lpcfg.trees.formats.table import first_lines
    from spacy_lpcfg.trees.reading import read_dialect, recognized_dialect

    dropped: Counter[str] = Counter()
    lines = (f"{line}\n" for line in source.lines())
    opening = first_lines(lines)
    dialect = source.dialect or recognized_dialect("".join(opening), source.name)
    yield from read_dialect(chain(opening, lines), source.name, dialect=dialect, dropped=dropped, on_error=on_error)
    if source.is_told:
        log_dialect(dialect, source.dialect, dropped)


_TEXTS = (".txt", ".txt.gz")
_KINDS = {
    Input.text: _Kind(_read_text, "text, a document a line", _TEXTS),
    Input.tokens: _Kind(
        partial(_read_words, _read_tokens), "a sentence a line, its words separated by blanks", _TEXTS, Tags.model
    ),
    Input.tagged: _Kind(
        partial(_read_words, _read_tagged),
        "a sentence a line, as word/TAG separated by blanks",
        (".tagged", ".tagged.gz"),
        Tags.given,
    ),
    Input.trees: _Kind(
        partial(_read_words, _read_trees),
        BRACKETED,
        (),  # as `spacy_lpcfg.trees.formats` has them
        Tags.model,
    ),
    Input.spacy: _Kind(_read_docs, "Docs", (_BINARY,)),
}


def suffixes_of(kind: Input) -> tuple[str, ...]:
    """Return the ends of the names of those files of a folder that hold input of a kind."""
    from spacy_lpcfg.trees.formats.table import suffixes_of_trees

    if kind == Input.trees:
        return tuple(suffix + end for suffix in suffixes_of_trees() for end in ("", ZIPPED))
    return _KINDS[kind].suffixes
