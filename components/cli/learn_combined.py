"""`spacy-lpcfg learn combined`: grammars and belief networks that decide together."""

from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_lpcfg.components.cli.console import busy, log, reporting_errors
from spacy_lpcfg.components.cli.pipelines import blank_pipeline, check_folder, n_jobs
from spacy_lpcfg.components.cli.treebanks import Trees, read_held_out, read_treebank, save_measured
from spacy_lpcfg.components.cli.word_classes import ClassesFrom, class_settings, word_classes


class Preset(str, Enum):
    balanced = "balanced"
    accurate = "accurate"


@reporting_errors
def learn_combined(
    trees: Trees,
    output: Annotated[Path, typer.Option("--output", "-o", file_okay=False, help="Folder for the pipeline.")],
    dev: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help="Trees to measure on; may be given again."),
    ] = None,
    preset: Annotated[
        Preset, typer.Option(help="One grammar and one network that read each way, or two of both.")
    ] = Preset.balanced,
    text: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="Raw text, a sentence a line, to learn from what the models say of it."
        ),
    ] = None,
    classes_from: ClassesFrom = None,
    seed: Annotated[int, typer.Option(help="Of what is drawn at random.")] = 0,
    jobs: Annotated[int, typer.Option(help="Parallel jobs; -1 is one for each processor.")] = 1,
    lang: Annotated[str, typer.Option(help="Language of the tokenizer and the head rules.")] = "en",
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out broken trees and count them.")] = False,
) -> None:
    """Learn grammars and networks that decide together: a blank pipeline with an lpcfg_parser.

    They are more accurate than either alone. With --text they are learned twice: first from the trees, and then from
    these and from what the first ones say of the text. With --dev the F1 on these trees is printed, parsed from raw
    words.

    \b
    Example:
        spacy-lpcfg learn combined train.mrg --dev dev.mrg --preset accurate -o model/
    """
    from spacy_lpcfg.combination import TEMPERATURE, Combination, parser_of
    from spacy_lpcfg.components.learners import Learner, make_distillation
    from spacy_lpcfg.components.lpcfg_parser import LPCFGParser

    output = output.resolve()
    check_folder(output)
    nlp = blank_pipeline(lang)
    held_out = read_held_out(dev, skip_bad)
    classes = word_classes(classes_from, lang)
    jobs = n_jobs(jobs)
    models = Combination.preset(preset.value, seed=seed, n_jobs=jobs, lang=lang, word_classes=classes)
    log(f"{len(models.learners)} models: {', '.join(type(each).__name__ for each in models.learners)}")
    learner: Learner = models
    config: dict[str, Any] = {"@misc": "spacy-lpcfg.Preset.v1", "name": preset.value, "seed": seed, "lang": lang}
    config |= class_settings(classes_from, lang)
    if text is not None:
        learner = make_distillation(models, models, text, lang, n_jobs=jobs)
        parts = {"teacher": config, "student": config, "text": str(text), "lang": lang}
        config = {"@misc": "spacy-lpcfg.Distillation.v1", **parts}
    component = nlp.add_pipe("lpcfg_parser", config={"learner": config, "temperature": TEMPERATURE})
    assert isinstance(component, LPCFGParser)
    with busy("learning"):
        component.grammar = combined = learner.fit(read_treebank(trees, skip_bad))
    save_measured(nlp, output, partial(parser_of, combined), held_out)
