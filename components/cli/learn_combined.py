"""`spacy-lpcfg learn combined`: the presets, of grammars and belief networks that decide together or teach another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from spacy_lpcfg.components.cli.learn_lpcfg import add_parser
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.clusters import on_cluster
from spacy_lpcfg.components.cli.shared.console import busy, reporting_errors
from spacy_lpcfg.components.cli.shared.learner_options import Settings, chosen_learner, learner_option
from spacy_lpcfg.components.cli.shared.pipelines import blank_pipeline, check_folder
from spacy_lpcfg.components.cli.shared.treebanks import read_held_out, read_training, save_measured

if TYPE_CHECKING:
    from spacy_lpcfg.learning.base import Learner


@reporting_errors
def learn_combined(
    trees: options.TrainingTrees,
    output: options.Output,
    dev: Annotated[list[Path] | None, options.file_option("Trees to measure on; may be given again.")] = None,
    preset: Annotated[str, learner_option("combined")] = "balanced",
    settings: Settings = None,
    text: Annotated[
        Path | None,
        options.file_option("Raw text, a sentence a line, to learn from what models say of it; fast needs one."),
    ] = None,
    tags: options.TreeTags = options.TagDetail.fine,
    classes_from: options.ClassesFrom = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    scheduler: options.Scheduler = None,
    lang: options.Lang = "en",
    dialect: options.Dialect = None,
    skip_bad: options.SkipBad = False,
    force: options.Force = False,
) -> None:
    """Learn by a preset: a blank pipeline with an lpcfg_parser.

    Of the presets fast is one grammar, and the others are several models that decide together, which are more accurate
    than any of them alone. fast learns from the trees and from a --text that four grammars have parsed; with a --text
    balanced has this grammar for its own, and the models of accurate learn twice, the second time from what the first
    ones say of the text too. With --dev the F1 on these trees is printed, parsed from raw words. With --scheduler each
    model is learned by a worker of the cluster.

    \b
    Example:
        spacy-lpcfg learn combined train.mrg --dev dev.mrg --preset accurate -o model/
        spacy-lpcfg learn combined train.mrg --preset fast --text raw.txt -o model/
    """
    from spacy_lpcfg.learning.base import ModelLearned, values_of_steps

    output = check_folder(output, inputs=[*trees, *(dev or ()), text, classes_from], force=force)
    nlp = blank_pipeline(lang)
    learner, config = chosen_learner(
        preset, settings, text=text, seed=seed, lang=lang, classes_from=classes_from, jobs=jobs
    )
    held_out = read_held_out(dev, skip_bad, dialect, tags)
    told: list[object] = []
    with on_cluster(scheduler), busy("learning", n_models(learner), "models") as reach:

        def on_step(step: object) -> None:
            told.append(step)
            if isinstance(step, ModelLearned):
                reach(step.number)

        train = read_training(trees, skip_bad, dialect, tags)
        learned = learner.fit(train, on_step=on_step)
    add_parser(nlp, learned, config, {"fit": values_of_steps(told)})
    save_measured(nlp, output, learned.parser, held_out, force=force)


def n_models(learner: "Learner") -> int | None:
    """Return the number of models that a combination learns; None for any other learner."""
    from spacy_lpcfg.combination import Combination

    return len(learner.learners) if isinstance(learner, Combination) else None
