"""`spacy-lpcfg parse`: bracketed trees of text, of words, of tagged words, or of the words of other trees."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from spacy_lpcfg.components.cli.console import STDIN, log, progress, read_lines, reporting_errors, writing

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_lpcfg.components.parsing_pipe import ParsingPipe, TextParser
    from spacy_lpcfg.components.spectral_bracketer import SpectralBracketerPipe
    from spacy_lpcfg.trees import Tree

_ITEM = re.compile(r"[^ \t\n\r\f\v]+")  # other white space may be part of a treebank's word
_ROUND_BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-"})
_EMPTY = "empty"


class Input(str, Enum):
    text = "text"
    tokens = "tokens"
    tagged = "tagged"
    trees = "trees"


class Tags(str, Enum):
    model = "model"
    given = "given"


class Sentence(NamedTuple):
    """Words as they came, and their tags if they are known."""

    words: list[str]
    tags: list[str] | None


class Parsed(NamedTuple):
    """A line of the output, and the status of its `Parse`, or "empty"."""

    line: str
    status: str


@reporting_errors
def parse(
    model: Annotated[
        str,
        typer.Argument(metavar="DIR", help="A pipeline with an lpcfg_parser, an isbn_parser or a spectral_bracketer."),
    ],
    file: Annotated[str, typer.Argument(metavar="FILE", help="What to parse, in UTF-8; - is stdin.")],
    kind: Annotated[
        Input | None,
        typer.Option("--input", help="What FILE holds, see above. [default: text; for a bracketer see above]"),
    ] = None,
    tags: Annotated[
        Tags | None,
        typer.Option(help="Tag by the model, or take what is given. [default: given if tagged, else model]"),
    ] = None,
    root: Annotated[
        str | None,
        typer.Option(help="Label over every tree. [default: that of the trees learned from, if they had one]"),
    ] = None,
    beam: Annotated[
        int | None, typer.Option(min=1, help="Of an isbn_parser: more is slower and better. [default: as it is set]")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File for the trees, not stdout.")] = None,
) -> None:
    """Parse a file: one bracketed tree a line, in the order of the input.

    \b
    --input text    a document a line; the pipeline finds words and sentences,
                    and every sentence makes a line of the output
    --input tokens  a sentence a line, its words separated by blanks;
                    an empty line stays an empty line
    --input tagged  the same with word/TAG, split at the last slash
    --input trees   bracketed trees, for their words, and with --tags given
                    their tags; trees without words are left out

    A bracketer needs tags. Unless a component of its pipeline sets them, FILE has to hold trees or tagged words, and
    without --input its first line tells which; stdin is tagged then. Its brackets have the label X.

    Words are printed as they came, but for round brackets, which become -LRB- and -RRB-. stderr says how many
    sentences got a makeshift tree because the model has none for them.

    \b
    Example:
        echo "The old ferry was sold." | spacy-lpcfg parse model/ -
    """
    from spacy_lpcfg.components.parsing_pipe import ParsingPipe

    _check(file, kind, tags)
    nlp, component = _load(model)
    if beam is not None:
        _set_beam(component, beam)
    if isinstance(component, ParsingPipe):
        parses = _parse(nlp, component, file, kind or Input.text, tags, root)
    else:
        parses = _bracket(nlp, component, file, kind or _kind_for_bracketer(nlp, file), tags, root or "")
    _write(parses, output)


def _check(file: str, kind: Input | None, tags: Tags | None) -> None:
    if kind == Input.tokens and tags == Tags.given:
        raise typer.BadParameter("tokens have no tags: use --input tagged or --input trees", param_hint="--tags")
    if file != STDIN and not Path(file).is_file():
        raise typer.BadParameter(f"there is no file {file!r}", param_hint="FILE")


def _load(model: str) -> tuple["Language", "ParsingPipe | SpectralBracketerPipe"]:
    """A pipeline, and its first component that has learned to parse or to bracket."""
    import spacy

    from spacy_lpcfg.components.parsing_pipe import ParsingPipe
    from spacy_lpcfg.components.spectral_bracketer import SpectralBracketerPipe

    nlp = spacy.load(model)
    for _, component in nlp.pipeline:
        if isinstance(component, (ParsingPipe, SpectralBracketerPipe)) and component.learned is not None:
            return nlp, component
    raise ValueError(
        f"{model} has no lpcfg_parser, isbn_parser or spectral_bracketer that has learned, but {nlp.pipe_names}. "
        "Make one with `spacy-lpcfg learn`."
    )


def _set_beam(component: "ParsingPipe | SpectralBracketerPipe", beam: int) -> None:
    from spacy_lpcfg.components.isbn_parser import ISBNParser

    if not isinstance(component, ISBNParser):
        raise typer.BadParameter(f"{component.name} has no beam", param_hint="--beam")
    component.beam = beam


def _parse(
    nlp: "Language", component: "ParsingPipe", file: str, kind: Input, tags: Tags | None, root: str | None
) -> Iterator[Parsed]:
    label = component.root_label or None if root is None else root
    if kind == Input.text:
        if tags:
            component.tags = tags.value
        return _parse_text(nlp, component.spans_key, read_lines(file), label)
    sentences = _SENTENCES[kind](file)
    if (tags or _DEFAULT_TAGS[kind]) == Tags.model:
        sentences = (Sentence(words, None) for words, _ in sentences)
    return _parse_sentences(component.ready_parser(), sentences, label)


def _bracket(
    nlp: "Language", component: "SpectralBracketerPipe", file: str, kind: Input, tags: Tags | None, root: str
) -> Iterator[Parsed]:
    if kind == Input.tokens or tags == Tags.model:
        raise typer.BadParameter("a bracketer has no tags of its own: use --input tagged or --input trees")
    if kind == Input.text:
        return _parse_text(nlp, component.spans_key, read_lines(file), root)
    return _bracket_sentences(component, _SENTENCES[kind](file), root)


def _write(parses: Iterable[Parsed], output: Path | None) -> None:
    status: Counter[str] = Counter()
    with writing(output) as out:
        for parsed in progress(parses, "sentences", hidden=output is None and sys.stdout.isatty()):
            out.write(parsed.line + "\n")
            status[parsed.status] += 1
    makeshift = {name: n for name, n in status.items() if name not in ("parsed", _EMPTY)}
    if makeshift:
        kinds = ", ".join(f"{n} {name}" for name, n in sorted(makeshift.items()))
        log(f"{sum(makeshift.values())} of {sum(status.values())} sentences got a makeshift tree: {kinds}")


# Text --------------------------------------------------------------------------------------------


def _assigned(nlp: "Language") -> set[str]:
    """What the components of a pipeline say that they set."""
    return {attribute for name in nlp.pipe_names for attribute in nlp.get_pipe_meta(name).assigns}


def _parse_text(nlp: "Language", key: str, lines: Iterable[str], root: str | None) -> Iterator[Parsed]:
    """Parse documents in the pipeline; if nothing in it finds sentences, spaCy's rule for punctuation does."""
    from spacy_lpcfg.components.constituents import trees

    if not _assigned(nlp) & {"doc.sents", "token.is_sent_start"}:
        nlp.add_pipe("sentencizer", first=True)
    for doc in nlp.pipe(lines):
        for tree, status in zip(trees(doc, key), doc.spans[key].attrs["status"]):
            if tree is not None:
                yield Parsed(_bracketed(tree, root), status)


# Sentences ---------------------------------------------------------------------------------------


def _parse_sentences(parser: "TextParser", sentences: Iterable[Sentence], root: str | None) -> Iterator[Parsed]:
    """Parse without Docs."""
    from spacy_lpcfg.trees import Tree

    for words, tags in sentences:
        if not words:
            yield Parsed("", _EMPTY)
            continue
        found = parser.parse(words, tags)
        tree = Tree.from_spans(_printable(words), _printable(found.tags), found.spans)
        yield Parsed(_bracketed(tree, root), found.status)


def _bracket_sentences(
    component: "SpectralBracketerPipe", sentences: Iterable[Sentence], root: str
) -> Iterator[Parsed]:
    """Bracket by the bracketer alone; words that no bracket holds together are below the root."""
    from spacy_lpcfg.components.spectral_bracketer import BRACKETED, LABEL
    from spacy_lpcfg.trees import Tree, unescape_token

    for words, tags in sentences:
        if not words:
            yield Parsed("", _EMPTY)
            continue
        assert tags is not None
        found = component.bracket([unescape_token(word) for word in words], tags).spans
        spans = [(start, end, LABEL) for start, end in found]
        if len(words) > 1 and found[:1] != ((0, len(words)),):
            spans.insert(0, (0, len(words), ""))
        tree = Tree.from_spans(_printable(words), _printable(tags), spans)
        yield Parsed(_bracketed(tree, root), BRACKETED)


def _kind_for_bracketer(nlp: "Language", file: str) -> Input:
    """Text if the pipeline tags it; else what the first line of the file looks like; of stdin, tagged words."""
    from spacy_lpcfg.bracketing.tagged import is_bracketed

    if _assigned(nlp) & {"token.tag", "token.pos"}:
        return Input.text
    first = None if file == STDIN else next(filter(str.strip, read_lines(file)), None)
    return Input.trees if first is not None and is_bracketed(first) else Input.tagged


def _read_tokens(file: str) -> Iterator[Sentence]:
    for line in read_lines(file):
        yield Sentence(_ITEM.findall(line), None)


def _read_tagged(file: str) -> Iterator[Sentence]:
    for number, line in enumerate(read_lines(file), start=1):
        items = [item.rpartition("/") for item in _ITEM.findall(line)]
        for word, slash, tag in items:
            if not (word and tag):
                raise ValueError(
                    f"{file}:{number}: Expected word/TAG, separated by blanks, but got {word + slash + tag!r}"
                )
        yield Sentence([word for word, _, _ in items], [tag for _, _, tag in items])


def _read_trees(file: str) -> Iterator[Sentence]:
    from spacy_lpcfg.trees import normalize, parse_trees, read_trees

    trees = parse_trees(read_lines(file), path="<stdin>") if file == STDIN else read_trees(file)
    for tree in map(normalize, trees):
        if tree is not None:
            yield Sentence(tree.words, tree.tags)


_SENTENCES: dict[Input, Callable[[str], Iterator[Sentence]]] = {
    Input.tokens: _read_tokens,
    Input.tagged: _read_tagged,
    Input.trees: _read_trees,
}
_DEFAULT_TAGS = {Input.tokens: Tags.model, Input.tagged: Tags.given, Input.trees: Tags.model}


def _printable(texts: Iterable[str]) -> list[str]:
    return [text.translate(_ROUND_BRACKETS) for text in texts]


def _bracketed(tree: "Tree", root: str | None) -> str:
    """The tree on one line, under the root label, unless it is None or stands there already.

    An unlabelled node is no constituent, but the root of words that none holds together: it gets the label.
    """
    if root is None or tree.label == root:
        return f"{tree}"
    return f"({root} {' '.join(map(str, tree.children)) if not tree.label and tree.children else tree})"
