"""`spacy-lpcfg sample`: draw random sentences from a grammar, or random trees of given sentences."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import progress, reporting_errors
from spacy_lpcfg.components.cli.shared.formats import checked_target
from spacy_lpcfg.components.cli.shared.outputs import answers_of, printable, tree_of
from spacy_lpcfg.components.cli.shared.pipelines import find_parser, load_pipeline
from spacy_lpcfg.components.cli.shared.runs import Run, loaded_run

if TYPE_CHECKING:
    from spacy_lpcfg.components.parsing_pipe import ParsingPipe
    from spacy_lpcfg.parsing.model import ParsingModel
    from spacy_lpcfg.trees import Tree

SampleFormat = Literal["brackets", "words"]


@reporting_errors
def sample(
    model: options.ParserModel,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="Sentences to draw trees of: a file in UTF-8 or .spacy, - for stdin, or a text."
        ),
    ] = None,
    n: Annotated[
        int, typer.Option("--n-samples", "-n", min=1, help="Number of trees, for each sentence if there are any.")
    ] = 10,
    seed: options.Seed = 0,
    max_words: Annotated[int, typer.Option(min=1, help="Without FILE: longer sentences are drawn again.")] = 40,
    kind: options.Kind = None,
    dialect: options.Dialect = None,
    tags: Annotated[
        options.Tags | None,
        typer.Option(help="Use tags of the model, or those of the input. [default: given if tagged, else model]"),
    ] = None,
    form: Annotated[SampleFormat | None, options.format_option("Trees, or their words. [default: brackets]")] = None,
    output: options.OutputFile = None,
    force: options.Replace = False,
) -> None:
    """Draw trees or sentences at random.

    With FILE, draws trees of its sentences by their probability given the words; an empty line follows the trees of
    each sentence. Without FILE, draws sentences with their trees from the grammar, which must not be a spectral one;
    unknown words are signatures such as <form_Cap_s>.

    \b
    Example:
        spacy-lpcfg sample model/ -n 100 --format words
        spacy-lpcfg sample en "I saw her duck." -n 20
    """
    inputs = [model] if file is None else [model, file]
    target = checked_target(output, form, get_args(SampleFormat), inputs=inputs, force=force)
    if file is None:
        samples = _sentences(find_parser(load_pipeline(model)), n, seed, max_words)
    else:
        samples = _of_sentences(loaded_run(model, file, kind, dialect, tags), n, seed)
    target.write("" if tree is None else _line(tree, target.form) for tree in progress(samples, "trees"))


def _sentences(pipe: "ParsingPipe", n: int, seed: int, max_words: int) -> "Iterator[Tree | None]":
    """Draw random trees with their words from the parser's grammar.

    n (int): The number of trees.
    seed (int): The random seed.
    max_words (int): The maximum number of words of a tree.
    RAISES (ValueError): If the parser's model is no grammar.
    """
    from spacy_lpcfg.chart.sampling import sample_trees
    from spacy_lpcfg.grammar import Grammar

    grammar = cast("ParsingModel", pipe.learned).without_evidence
    if not isinstance(grammar, Grammar):
        raise ValueError(
            f"{pipe.name!r} has no grammar to draw sentences from: name a FILE with sentences to draw trees of"
        )
    return islice(sample_trees(grammar, seed=seed, max_words=max_words), n)


def _of_sentences(run: Run, n: int, seed: int) -> "Iterator[Tree | None]":
    """Yield `n` trees sampled from the posterior of each sentence, and None after the trees of each sentence."""
    for parsed in run.parsed(questions={"samples": {"n": n, "seed": seed}}, with_trees=False):
        for _, words, trees in answers_of(parsed, "samples"):
            yield from (tree_of(printable(words), answer) for answer in trees)
            yield None


def _line(tree: "Tree", form: str) -> str:
    words = [word.replace(" ", "_") for word in tree.words]
    if form == "words":
        return " ".join(words)
    return str(type(tree).from_spans(words, tree.tags, tree.spans()))
