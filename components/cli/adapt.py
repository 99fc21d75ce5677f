"""`spacy-lpcfg adapt`: adapt a parser to trees of your own, such as corrected ones."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import busy, log, reporting_errors, tell, usage_errors
from spacy_lpcfg.components.cli.shared.pipelines import check_folder, find_lpcfg_parser, load_pipeline, save_pipeline
from spacy_lpcfg.components.cli.shared.treebanks import read_treebank

if TYPE_CHECKING:
    from spacy_lpcfg.evidence.adaptation import Conventions


@reporting_errors
def adapt(
    model: options.GrammarModel,
    trees: Annotated[list[Path], options.file_argument("TREES...", "Trees to learn from.")],
    output: options.Output,
    words: options.Words = None,
    seed: options.Seed = 0,
    dialect: options.Dialect = None,
    skip_bad: options.SkipBad = False,
    force: options.Force = False,
) -> None:
    """Adapt a model to trees of your own.

    Takes 20 to some thousand trees, such as `correct` saves. First it prints up to ten differences between your trees
    and the model's trees: labels that the model lacks, other hyphens and quotation marks, other roots, and other
    brackets over the same words. A frequent difference is a convention, which you can change in your trees with
    `spacy-lpcfg edit`.

    Then it trains the grammar and the classifier of the encoder's vectors on your trees, with settings chosen by
    cross-validation. It prints F1 before and after, with a confidence interval of the difference. The model is saved
    unchanged unless the adapted one is better in nine of ten random resamplings of your trees (bootstrap).

    \b
    Example:
        spacy-lpcfg correct en text.txt --output corrected.mrg
        spacy-lpcfg adapt en corrected.mrg --output mine
    """
    from spacy_lpcfg.evidence.adaptation import AdaptationTrial, Conventions
    from spacy_lpcfg.evidence.adaptation import adapt as adapt_model

    output = check_folder(output, inputs=[model, *trees], force=force)
    nlp = load_pipeline(model)
    pipe, learned = find_lpcfg_parser(nlp)
    if words is not None:
        with usage_errors("--words"):
            pipe.words = words
            pipe.ready_parser()
    treebank = list(read_treebank(trees, skip_bad, dialect))

    def on_step(report: object) -> None:
        if isinstance(report, Conventions):
            _tell_differences(report)
        elif isinstance(report, AdaptationTrial):
            log(f"{report.settings.summary}: F1 {report.f1:.2f}")

    with busy("adapting"):
        adapted = adapt_model(learned, treebank, seed=seed, on_step=on_step)
    tell(adapted.summary)
    pipe.learned = adapted.model
    if adapted.is_adapted:  # the model has a tau of its own
        pipe.output = replace(pipe.output, tau=None)
        nlp.get_pipe_config(pipe.name)["output"]["tau"] = None
    save_pipeline(nlp, output, force=force)


def _tell_differences(conventions: "Conventions") -> None:
    if not conventions.differences:
        tell("Your trees and those of the model have the same conventions.")
        return
    tell("Differences between your trees and those of the model:")
    for difference in conventions.differences:
        tell(f"{difference.n:6,d}  {difference.what} [{difference.example}]")
