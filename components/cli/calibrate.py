"""`spacy-lpcfg calibrate`: whether a parser is right as often as its scores say, and temperatures that mend it."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import log, progress, reporting_errors
from spacy_lpcfg.components.cli.shared.pipelines import check_folder, find_parser, load_pipeline, save_pipeline
from spacy_lpcfg.components.cli.shared.treebanks import read_treebank

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spacy_lpcfg.evaluation.calibration import DomainOutcomes, Reliability
    from spacy_lpcfg.parsing.protocol import SentenceParser
    from spacy_lpcfg.trees import Tree


_FITTED = "fitted to these trees"
_UNCHANGED = {"temperature": 1.0, "tag_temperature": 1.0}


@reporting_errors
def calibrate(
    model: options.ParserModel,
    trees: Annotated[
        list[Path], options.file_argument("TREES...", "Trees that it did not learn from; each file is a domain.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", file_okay=False, help="Folder for the pipeline with the temperatures found."),
    ] = None,
    component: options.Component = None,
    dialect: options.Dialect = None,
    skip_bad: options.SkipBad = False,
    force: options.Force = False,
) -> None:
    """Tell whether brackets, tags and whole trees are right as often as their scores say.

    The words of the trees are parsed. The expected calibration error is the mean distance between the scores and the
    share that is right, over ten ranges of scores. The log-odds of the scores of brackets are then divided by the one
    temperature that makes the error least on these trees, and those of tags by another: trees stay as they are. On
    other texts the error will be larger. Of several files each is a domain, such as news or dialogue, and the sum of
    their squared errors is made least. What is saved has the temperatures as settings of the component, which overrule
    those of the model.

    \b
    Example:
        spacy-lpcfg calibrate model/ news.mrg dialogue.mrg --output calibrated/
    """
    import numpy as np

    from spacy_lpcfg.evaluation.calibration import fit_shared_temperature, reliability, tempered

    if output is not None:
        output = check_folder(output, inputs=[model, *trees], force=force)
    nlp = load_pipeline(model)
    pipe = find_parser(nlp, component)
    parser = pipe.ready_parser().parser
    domains = [_outcomes(parser, read_treebank([path], skip_bad, dialect)) for path in trees]
    fitted = {
        "temperature": fit_shared_temperature([domain.brackets for domain in domains]),
        "tag_temperature": fit_shared_temperature([domain.tags for domain in domains]),
    }
    of_component = {"temperature": pipe.score_temperature, "tag_temperature": pipe.output.tag_temperature}
    if output is not None:
        nlp.get_pipe_config(pipe.name)["output"].update(fitted)
        pipe.output = replace(pipe.output, temperature=fitted["temperature"], tag_temperature=fitted["tag_temperature"])
        save_pipeline(nlp, output, force=force)
        log(f"saved to {output}")
    for name, values in (("as they are", _UNCHANGED), ("of the component", of_component), (_FITTED, fitted)):
        errors = [domain.expected_errors(**values) for domain in domains]
        print(f"temperatures {values['temperature']:5.3f} and of tags {values['tag_temperature']:5.3f}, {name}:")
        for path, of_domain in zip(trees, errors, strict=True):
            print(f"    {path.name}: expected calibration error of " + _shown(of_domain))
        if len(trees) > 1:
            print("    mean: expected calibration error of " + _shown(np.mean(errors, axis=0)))
    scores, right = (np.concatenate(parts) for parts in zip(*(domain.brackets for domain in domains), strict=True))
    _print_table(reliability(tempered(scores, fitted["temperature"]), right))


def _outcomes(parser: "SentenceParser", treebank: "Iterable[Tree]") -> "DomainOutcomes":
    """Parse the words of trees, and compare the parses with the trees, normalized as for scoring."""
    from spacy_lpcfg.evaluation.calibration import DomainOutcomes
    from spacy_lpcfg.trees import clean

    golds = [tree for tree in map(clean, treebank) if tree is not None]
    return DomainOutcomes.of([parser.parse(gold.words) for gold in progress(golds, "sentences")], golds)


def _shown(errors: "Sequence[float]") -> str:
    brackets, tags, trees = (100 * error for error in errors)
    return f"brackets {brackets:.2f}%, tags {tags:.2f}%, whole trees {trees:.2f}%"


def _print_table(diagram: "Reliability") -> None:
    """Print a line for each bin that has brackets."""
    print("probability  brackets  right")
    n_bins = len(diagram.counts)
    for i, (count, accuracy) in enumerate(zip(diagram.counts.tolist(), diagram.accuracies.tolist(), strict=True)):
        if count:
            print(f"{i / n_bins:.1f} to {(i + 1) / n_bins:.1f}  {count:9d}  {100 * accuracy:4.1f}%")
