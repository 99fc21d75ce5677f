"""`spacy-lpcfg calibrate`: measure how well the probabilities of a parser are calibrated, and fit the exponent tau."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import progress, reporting_errors, skipping_broken
from spacy_lpcfg.components.cli.shared.pipelines import (
    check_folder,
    find_parser,
    load_pipeline,
    queries_of,
    save_pipeline,
)
from spacy_lpcfg.components.cli.shared.tree_sources import trees_of_path
from spacy_lpcfg.components.cli.shared.treebanks import no_trees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spacy.language import Language

    from spacy_lpcfg.components.parsing_pipe import ParsingPipe
    from spacy_lpcfg.evaluation.calibration import DomainOutcomes, Reliability
    from spacy_lpcfg.parsing.query import Query
    from spacy_lpcfg.trees import Tree


@reporting_errors
def calibrate(
    model: options.ParserModel,
    trees: Annotated[
        list[Path], options.file_argument("TREES...", "Trees that it did not learn from; each file is a domain.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", file_okay=False, help="Folder to save the calibrated pipeline to.")
    ] = None,
    dialect: options.Dialect = None,
    skip_bad: options.SkipBad = False,
    force: options.Force = False,
) -> None:
    """Measure how well probabilities are calibrated, and fit tau.

    Parses the words of the trees, and chooses tau, an exponent of the probabilities of trees: a tau of less than 1
    makes all answers less sure, more than 1 surer. The tau that gives the gold brackets the largest likelihood is
    chosen; it is a setting of the saved pipeline. Each file is a domain, such as news or dialogue, and all domains have
    equal weight.

    Prints the expected calibration error of brackets, tags and whole trees, before and after. It is the mean difference
    between the probability of answers and the share of right ones, over ten ranges of probabilities.

    \b
    Example:
        spacy-lpcfg calibrate model/ news.mrg dialogue.mrg --output calibrated/
    """
    import numpy as np

    from spacy_lpcfg.evaluation.calibration import TAUS, bracket_losses, reliability

    if output is not None:
        output = check_folder(output, inputs=[model, *trees], force=force)
    nlp = load_pipeline(model)
    pipe = find_parser(nlp)
    domains = [_Domain.read(nlp, pipe, path, skip_bad, dialect) for path in trees]
    parser = pipe.ready_parser()
    losses = [bracket_losses(parser, domain.queries, domain.golds) for domain in domains]
    tau = TAUS[int(np.argmin(np.sum(losses, axis=0)))]
    before = [domain.outcomes(pipe) for domain in domains]
    pipe.output = replace(pipe.output, tau=tau)
    after = [domain.outcomes(pipe) for domain in domains]
    if output is not None:
        nlp.get_pipe_config(pipe.name)["output"]["tau"] = tau
        save_pipeline(nlp, output, force=force)
    for name, found in (("as it is", before), (f"with tau {tau:g}, fitted to these trees", after)):
        print(f"{name}:")
        _print_errors(trees, [outcomes.expected_errors() for outcomes in found])
    _print_table(reliability(*map(np.concatenate, zip(*(outcomes.brackets for outcomes in after), strict=True))))


class _Domain(NamedTuple):
    """Evaluation sentences from one file.

    name (str): The name of the file.
    golds (list of Tree): The gold trees, normalized for scoring.
    queries (list of Query): The prepared parser query of each sentence.
    """

    name: str
    golds: "list[Tree]"
    queries: "list[Query]"

    @classmethod
    def read(cls, nlp: "Language", pipe: "ParsingPipe", path: Path, skip_bad: bool, dialect: str | None) -> "_Domain":
        from spacy_lpcfg.trees import clean

        with skipping_broken(skip_bad) as on_error:
            read = progress(trees_of_path(str(path), on_error, dialect), "trees")
            golds = list(filter(None, map(clean, read)))
        if not golds:
            raise no_trees([path])
        queries = queries_of(nlp, pipe, [gold.words for gold in golds])
        return cls(path.name, golds, pipe.ready_parser().prepare(queries))

    def outcomes(self, pipe: "ParsingPipe") -> "DomainOutcomes":
        """Parse the sentences, and return for each bracket, tag and tree its probability and whether it is right."""
        from spacy_lpcfg.components.isbn_parser import ISBNParser
        from spacy_lpcfg.evaluation.calibration import DomainOutcomes

        parser = pipe.ready_parser()
        parses = [parser.parse(query) for query in progress(self.queries, f"sentences of {self.name}")]
        return DomainOutcomes.of(parses, self.golds, with_tags=not isinstance(pipe, ISBNParser))


def _print_errors(trees: list[Path], errors: "Sequence[tuple[float, float, float]]") -> None:
    """Print the expected calibration errors of each file, and their means if there are several files.

    trees (list of Path): The files.
    errors (sequence of (float, float, float)): The errors of brackets, tags and whole trees, as fractions, for each
        file.
    """
    import numpy as np

    for path, of_domain in zip(trees, errors, strict=True):
        print(f"    {path.name}: expected calibration error of " + _shown(of_domain))
    if len(trees) > 1:
        print("    mean: expected calibration error of " + _shown(np.mean(errors, axis=0)))


def _shown(errors: "Sequence[float]") -> str:
    brackets, tags, trees = (100 * error for error in errors)
    return f"brackets {brackets:.2f}%, tags {tags:.2f}%, whole trees {trees:.2f}%"


def _print_table(diagram: "Reliability") -> None:
    print("probability  brackets  right")
    n_bins = len(diagram.counts)
    for i, (count, accuracy) in enumerate(zip(diagram.counts.tolist(), diagram.accuracies.tolist(), strict=True)):
        if count:
            print(f"{i / n_bins:.1f} to {(i + 1) / n_bins:.1f}  {count:9d}  {100 * accuracy:4.1f}%")
