"""`spacy-lpcfg calibrate`: whether a parser is right as often as its scores say, and the temperature that mends it."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.components.cli.console import log, progress, reporting_errors
from spacy_lpcfg.components.cli.pipelines import (
    Component,
    Force,
    ParserModel,
    check_folder,
    find_parser,
    load_pipeline,
    save_pipeline,
)
from spacy_lpcfg.components.cli.treebanks import Dialect, SkipBad, name_of, read_treebank

if TYPE_CHECKING:
    from spacy_lpcfg.evaluation.calibration import Reliability


_FITTED = "fitted to these trees"


@reporting_errors
def calibrate(
    model: ParserModel,
    trees: Annotated[
        list[Path],
        typer.Argument(metavar="TREES...", exists=True, dir_okay=False, help="Trees that it did not learn from."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", file_okay=False, help="Folder for the pipeline with the temperature found."),
    ] = None,
    component: Component = None,
    dialect: Dialect = None,
    skip_bad: SkipBad = False,
    force: Force = False,
) -> None:
    """Tell whether brackets are right as often as their scores say.

    The words of the trees are parsed. The expected calibration error is the mean distance of the brackets' scores and
    the share of them that is right, in tenths of probability. The log-odds of all scores are then divided by the one
    temperature that makes the error least on these trees: trees stay as they are. On others the error will be a little
    larger. What is saved has it as the setting of the component, which overrules that of the model.

    \b
    Example:
        spacy-lpcfg calibrate model/ dev.mrg --output calibrated/
    """
    from spacy_lpcfg.evaluation.calibration import fit_temperature, outcomes, reliability, tempered
    from spacy_lpcfg.trees import clean

    if output is not None:
        output = check_folder(output, inputs=[model, *trees], force=force)
    nlp = load_pipeline(model)
    pipe = find_parser(nlp, component)
    golds = [tree for tree in map(clean, read_treebank(trees, skip_bad, name_of(dialect))) if tree is not None]
    parser = pipe.ready_parser().parser
    scores, right = outcomes([parser.parse(gold.words) for gold in progress(golds, "sentences")], golds)
    temperature = fit_temperature(scores, right)
    of_component = pipe.score_temperature
    if output is not None:
        nlp.get_pipe_config(pipe.name)["output"]["temperature"] = temperature
        pipe.output = replace(pipe.output, temperature=temperature)
        save_pipeline(nlp, output, force=force)
        log(f"saved to {output}")
    for name, value in (("as they are", 1.0), ("of the component", of_component), (_FITTED, temperature)):
        found = reliability(tempered(scores, value), right)
        print(f"temperature {value:5.3f}, {name}: expected calibration error {100 * found.expected_error:.2f}%")
    _print_table(reliability(tempered(scores, temperature), right))


def _print_table(found: "Reliability") -> None:
    """A line for each bin that has brackets."""
    print("probability  brackets  right")
    n_bins = len(found.counts)
    for i, (count, accuracy) in enumerate(zip(found.counts.tolist(), found.accuracies.tolist(), strict=True)):
        if count:
            print(f"{i / n_bins:.1f} to {(i + 1) / n_bins:.1f}  {count:9d}  {100 * accuracy:4.1f}%")
