"""`spacy-lpcfg search`: find tree patterns in treebanks, in Docs, and in text that is parsed."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

import typer

from spacy_lpcfg.batches import in_batches
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.citations import EXTENT, PLACE, CitedSentence, Origin
from spacy_lpcfg.components.cli.shared.console import begun, log, progress, reporting_errors
from spacy_lpcfg.components.cli.shared.formats import checked_target
from spacy_lpcfg.components.cli.shared.inputs import Source
from spacy_lpcfg.components.cli.shared.patterns import NamedPattern, patterns_and_files
from spacy_lpcfg.components.cli.shared.readers import trees_of
from spacy_lpcfg.components.cli.shared.tree_sources import TreeSources
from spacy_lpcfg.components.cli.shared.treebanks import log_dialect

if TYPE_CHECKING:
    from spacy_lpcfg.queries import TreeIndex, TreeMatch, TreeNode
    from spacy_lpcfg.trees import HeadRules
    from spacy_lpcfg.trees.errors import OnError

_CONTEXT = 40  # characters on each side of a match
_COLUMNS = (*PLACE, "pattern", "start", "end", "label", "probability", *EXTENT)
_N_DOCS = 500  # that are looked through at a time
_NO_HEAD = " <# is the head child of a node, such as its IN; <<# is the word as well."

SearchFormat = Literal["kwic", "brackets", "tsv", "csv", "jsonl", "json"]
_TABLES = ("tsv", "csv")
_JSON = ("jsonl", "json")


class Searched(NamedTuple):
    """A batch of indexed trees from one file, ready to be searched.

    name (str): The name of the file.
    n_before (int): The number of trees in the file before this batch.
    indexes (dict of bool to TreeIndex): Indexes of the trees, as far as patterns need them.
        False: The trees as they are.
        True: The trees below a node ROOT.
    sentence (callable): Returns the location of a tree's sentence, given the position of the tree in the index.
    """

    name: str
    n_before: int
    indexes: "dict[bool, TreeIndex]"
    sentence: Callable[[int], CitedSentence]

    def search(self, patterns: Iterable[NamedPattern]) -> "Iterator[Found]":
        """Yield the matches of patterns, sorted by tree, then by pattern."""
        first, *others = [self._matches(*named) for named in patterns]
        return merge(first, *others, key=lambda found: found.match.node.tree_number) if others else first

    def _matches(self, name: str, pattern: Any) -> "Iterator[Found]":
        for match in self.indexes[pattern.has_root].search(pattern):
            yield Found(name, match, self)


class Found(NamedTuple):
    """A match of a pattern, with the batch of trees in which it was found.

    name (str): The name of the pattern.
    match (TreeMatch): The matched node, and the named nodes.
    searched (Searched): The batch of trees.
    """

    name: str
    match: "TreeMatch"
    searched: Searched

    @property
    def number(self) -> int:
        """The number of the tree in its file, from 1."""
        return self.searched.n_before + self.match.node.tree_number + 1

    @property
    def sentence(self) -> CitedSentence:
        return self.searched.sentence(self.match.node.tree_number)


_Arguments = Annotated[
    list[str],
    typer.Argument(
        metavar="[PATTERN] FILE...",
        help="A pattern in Tregex's language, 'NP < (PP <<# of)', unless -e or --patterns has it; then treebanks, "
        ".spacy, folders of them, text in UTF-8, - for stdin, or a text.",
    ),
]
_Expressions = Annotated[
    list[str] | None,
    typer.Option("-e", metavar="PATTERN", help="A pattern, or 'name: pattern'; may be given again."),
]
_PatternsFile = Annotated[
    Path | None,
    typer.Option(
        "--patterns", exists=True, dir_okay=False, help="File with a pattern, or 'name: pattern', on each line."
    ),
]
_Form = Annotated[
    SearchFormat | None,
    options.format_option("Matches in context, as trees, in a table or as JSON. [default: kwic; tsv with --counts]"),
]
_Counts = Annotated[bool, typer.Option("--counts", help="Print a table of the numbers of matches.")]


@reporting_errors
def search(
    arguments: _Arguments,
    expressions: _Expressions = None,
    patterns_file: _PatternsFile = None,
    form: _Form = None,
    counts: _Counts = False,
    kind: options.Kind = None,
    model: options.TextModel = "en",
    lang: options.Lang = "en",
    dialect: options.Dialect = None,
    skip_bad: options.SkipBad = False,
    output: options.OutputFile = None,
    force: options.Replace = False,
) -> None:
    """Find patterns in trees.

    FILE is a treebank (.mrg, .psd, .export and others, .gz or not), Docs with trees (.spacy), or text, which the model
    parses. Penn trees are searched with their roots, function labels and empty elements. Of several files, one that
    cannot be read is reported, and the others are searched.

    A pattern with ROOT finds it over each tree, even where a file has none: 'S > ROOT' is the clause at the top.

    There is a match for each node and each choice of the nodes that the pattern names. Tables and JSON say where a
    match stands, as `parse` does, and have the words of each named node. Several patterns are searched at once;
    patterns of one name count together.

    \b
    Example:
        spacy-lpcfg search 'NP < (PP <<# of)' train.mrg
        spacy-lpcfg search 'VP < /^VB/=verb < (NP=object !$ NP)' train.mrg -o verbs.csv
        spacy-lpcfg search 'SBAR !< IN' *.mrg corpus.spacy --counts
        spacy-lpcfg search 'NP $+ VP' text.txt --model model/ --format brackets
        spacy-lpcfg search -e 'subject: NP $+ VP' -e 'object: NP > VP' text.txt -o roles.jsonl
    """
    from spacy_lpcfg.trees import head_rules

    patterns, files = patterns_and_files(arguments, expressions or (), patterns_file)
    reader = TreeSources(files, kind, model, dialect, skip_bad=skip_bad)
    target = checked_target(
        output, form, _TABLES if counts else get_args(SearchFormat), inputs=reader.inputs, force=force
    )
    reader.load()
    has_root = {named.pattern.has_root for named in patterns}
    searched = _searched(reader, head_rules(lang), has_root)
    is_one = len(files) == 1 and not os.path.isdir(files[0])
    rows = _count_rows(searched, patterns) if counts else _rows(begun(searched), patterns, target.form, is_one)
    target.write(begun(rows))
    reader.failures.tell()


# Reading -----------------------------------------------------------------------------------------


def _searched(reader: TreeSources, rules: "HeadRules", has_root: set[bool]) -> Iterator[Searched]:
    """Read and index the trees of all sources, and yield them in batches, each from one file.

    rules (HeadRules): The head rules, for patterns with heads.
    has_root (set of bool): The indexes that patterns need, as keys of `Searched.indexes`.
    """
    for source in reader.sources:
        if source.kind == "trees":
            parts = _treebank(source, rules, reader.failures.on_error, has_root)
        else:
            parts = _docs(reader, source, rules, has_root)
        yield from reader.failures.reading(source.name, parts)


def _treebank(source: Source, rules: "HeadRules", on_error: "OnError", has_root: set[bool]) -> Iterator[Searched]:
    from spacy_lpcfg.queries import TreeIndex
    from spacy_lpcfg.trees.formats import PENN
    from spacy_lpcfg.trees.reading import dialect_of

    if os.path.isfile(source.file) and (source.dialect or dialect_of(source.file)) == PENN:
        dropped: Counter[str] = Counter()
        index = TreeIndex.read(source.file, rules, on_error=on_error, dropped=dropped)
        log_dialect(PENN, source.dialect, dropped)
    else:
        index = TreeIndex.from_trees(trees_of(source, on_error), rules)

    def sentence(number: int) -> CitedSentence:
        words = index.tree(number).words
        return CitedSentence.of_words(Origin(source.name).of_words(words, index.sources[number]))

    yield Searched(source.name, 0, {below: index.below_root() if below else index for below in has_root}, sentence)


def _docs(reader: TreeSources, source: Source, rules: "HeadRules", has_root: set[bool]) -> Iterator[Searched]:
    from spacy_lpcfg.components.doc.tree_matcher import IndexedDocs

    n_before = 0
    for some in in_batches(progress(reader.docs(source), "documents"), _N_DOCS):
        docs = [parsed.doc for parsed in some]
        indexes = {below: IndexedDocs(docs, rules, has_root=below).index for below in has_root}
        sentences = [sentence for parsed in some for sentence in parsed.sentences() if sentence.offsets]
        yield Searched(source.name, n_before, indexes, sentences.__getitem__)
        n_before += len(sentences)


# Writing -----------------------------------------------------------------------------------------


def _count_rows(searched: Iterable[Searched], patterns: Iterable[NamedPattern]) -> Iterator[tuple[Any, ...]]:
    """Yield a table of counts for each file and pattern name, the header first; totals follow for several files.

    The columns are the numbers of matches, of trees with a match, and of all trees.
    """
    names = [*dict.fromkeys(named.name for named in patterns)]
    counts: dict[str, dict[str, Counter[str]]] = {}
    for part in searched:
        of_file = counts.setdefault(part.name, {name: Counter() for name in names})
        numbers: dict[str, list[int]] = {name: [] for name in names}
        for found in part.search(patterns):
            numbers[found.name].append(found.number)
        for name, of_name in numbers.items():
            n_trees = len(next(iter(part.indexes.values())))
            of_file[name].update(matches=len(of_name), matching=len({*of_name}), trees=n_trees)
    if len(counts) > 1:
        counts["total"] = {name: sum((of_file[name] for of_file in counts.values()), Counter()) for name in names}
    yield "file", "pattern", "matches", "matching", "trees"
    for file, of_file in counts.items():
        for name, numbers_of_name in of_file.items():
            yield file, name, *(numbers_of_name[column] for column in ("matches", "matching", "trees"))


def _rows(searched: Iterable[Searched], patterns: list[NamedPattern], form: str, is_one: bool) -> Iterator[Any]:
    """Yield the matches as table rows (the header first), as dicts for JSON, or as lines.

    At the end, patterns without a match are logged.

    patterns (list of NamedPattern): The patterns.
    form (str): The output format.
    is_one (bool): Whether there is only one input file, so that lines do not name it.
    """
    names = [*dict.fromkeys(name for named in patterns for name in named.pattern.names)]
    unseen = _Unseen(patterns)
    if form in _TABLES:
        yield *_COLUMNS, *names
    for part in searched:
        for found in part.search(patterns):
            unseen.matching.add(found.name)
            if form in _TABLES:
                yield _cells(found, names)
            elif form in _JSON:
                yield _object(found)
            else:
                yield _line(found, form, is_one=is_one, is_named=len(patterns) > 1)
        unseen.look_through(part)
    unseen.tell()


class _Unseen:
    """Record of the patterns that have matched so far, and of the labels in patterns that no tree has had so far."""

    def __init__(self, patterns: list[NamedPattern]) -> None:
        self.patterns = patterns
        self.matching: set[str] = set()
        self.labels = {label for named in patterns for label in named.pattern.labels}

    def look_through(self, part: Searched) -> None:
        """Remove from the unseen labels those that occur in a batch of trees."""
        index = next(iter(part.indexes.values()))
        if any(named.name not in self.matching for named in self.patterns):
            self.labels = {label for label in self.labels if not index.has(label)}

    def tell(self) -> None:
        """Log which patterns have no match, and which of their labels no tree has."""
        for name, pattern in self.patterns:
            if name in self.matching:
                continue
            of_pattern = "" if len(self.patterns) == 1 else f" of {name}"
            log(f"No match{of_pattern}.{_NO_HEAD if '<#' in pattern.text.replace('<<#', '') else ''}")
            if unseen := [label for label in pattern.labels if label in self.labels]:
                log(f"No tree has a node {', '.join(unseen)}.")


def _line(found: Found, form: str, *, is_one: bool, is_named: bool) -> str:
    """Format a match as a line: tree number, and subtree or keyword in context.

    form (str): "brackets" for the subtree, otherwise keyword in context.
    is_one (bool): Whether to leave out the name of the file.
    is_named (bool): Whether to include the name of the pattern.
    """
    position = str(found.number) if is_one else f"{found.searched.name}:{found.number}"
    name = f"\t{found.name}" if is_named else ""
    if form == "brackets":
        return f"{position}{name}\t{found.match.node.tree}"
    return f"{_in_context(position, found.match.node, found.sentence)}{name}"


def _in_context(position: str, node: "TreeNode", sentence: CitedSentence) -> str:
    """Format a match as keyword in context: the matched text in square brackets, `_CONTEXT` characters on each side.

    position (str): The number of the tree, or file and number, at the beginning of the line.
    """
    bounds = ((0, node.start), (node.start, node.end), (node.end, len(sentence.offsets)))
    before, inside, after = (" ".join(sentence.extent(*words)["text"].split()) for words in bounds)
    left = before[-_CONTEXT:] if len(before) <= _CONTEXT else f"...{before[3 - _CONTEXT :]}"
    right = after if len(after) <= _CONTEXT else f"{after[: _CONTEXT - 3]}..."
    return f"{position:>6}  {left:>{_CONTEXT}} [{inside}] {right}".rstrip()


def _extent(node: "TreeNode", sentence: CitedSentence) -> dict[str, Any]:
    """Return a node as a dict for JSON: its word positions "start" and "end", "label", and the fields `EXTENT`."""
    return {"start": node.start, "end": node.end, "label": node.label, **sentence.extent(node.start, node.end)}


def _cells(found: Found, names: Iterable[str]) -> Iterator[Any]:
    """Yield the cells of a match's table row, the text of each named node last, "" for a name without a node."""
    sentence, node = found.sentence, found.match.node
    values = found.name, node.start, node.end, node.label, found.match.probability
    yield from sentence.row(found.number, *values, start=node.start, end=node.end)
    for name in names:
        named = found.match.names.get(name)
        yield "" if named is None else sentence.extent(named.start, named.end)["text"]


def _object(found: Found) -> dict[str, Any]:
    sentence, match = found.sentence, found.match
    return {
        **sentence.place(found.number),
        "pattern": found.name,
        **_extent(match.node, sentence),
        "probability": None if match.probability is None else round(match.probability, 6),
        "tree": str(match.node.tree),
        "names": {name: _extent(node, sentence) for name, node in match.names.items()},
        "context": sentence.extent()["text"],
    }
