"""`spacy-lpcfg learn parser`: learn a parser from treebanks, and save it as a pipeline for `spacy.load`."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.clusters import on_cluster
from spacy_lpcfg.components.cli.shared.console import busy, log, reporting_errors, tell
from spacy_lpcfg.components.cli.shared.learner_options import chosen_learner, learner_option
from spacy_lpcfg.components.cli.shared.pipelines import add_learned, blank_pipeline, check_folder
from spacy_lpcfg.components.cli.shared.treebanks import read_held_out, save_measured, tree_files
from spacy_lpcfg.learners import AUTO, learner_of

if TYPE_CHECKING:
    from spacy_lpcfg.isbn.learning import LearningEpoch
    from spacy_lpcfg.learning.base import Learner, Step
    from spacy_lpcfg.learning.tuning import SmoothingTrial
    from spacy_lpcfg.parsing.model import ParsingModel
    from spacy_lpcfg.trees import Tree


_ENCODER = (
    "Pretrained encoder: auto (for English, the one in the package), none, a file of `spacy-lpcfg encoder`, the folder "
    "of an encoder in ONNX, or a model that has one."
)


@reporting_errors
def learn_parser(
    context: typer.Context,
    trees: options.TrainingTrees,
    output: options.Output,
    dev: options.Dev = None,
    method: Annotated[str, learner_option("parser")] = "pivot",
    settings: options.Settings = None,
    encoder: Annotated[str, typer.Option(metavar="NAME", help=_ENCODER)] = AUTO,
    tags: options.TreeTags = "fine",
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    scheduler: options.Scheduler = None,
    lang: options.Lang = "en",
    dialect: options.Dialect = None,
    skip_bad: options.SkipBad = False,
    force: options.Force = False,
) -> None:
    """Learn a parser from trees.

    The method isbn learns an isbn_parser, a network that reads from left to right; all other methods learn an
    lpcfg_parser, a grammar, which has latent states unless the method is pcfg. The method pivot also learns
    evidence: how likely each phrase and tag is, given the words around it. That is more accurate, and takes some
    minutes more. For English, evidence is learned on the vectors of the encoder that comes with the package;
    with --encoder none, and for other languages, from the treebank alone. Other methods for grammars, except
    induction, learn evidence with --set evidence=true, or with an --encoder; --set evidence=false learns the
    grammar alone.

    --set changes settings of the method's class, such as Pivot or ISBNLearner:

    \b
    n_states        maximum number of latent states of a symbol; for a network,
                    number of latent units at a position
    n_iterations    number of iterations of EM; with --dev the maximum
    n_epochs        number of passes over the trees, for a network
    n_networks=2    learn two networks
    functions=true  keep function labels, as in NP-SBJ
    heads=NAME      head rules other than those of the language; also a FILE
    variant=paper   as published, without evidence, for pivot, spectral, em and
                    isbn; spectral also has variant=2012

    --dev names held-out trees, on which it prints F1. The smoothing of the spectral method, and the number of
    iterations of EM or of passes, are tuned on them. The probabilities of a network are calibrated on the first
    200 of them, or without --dev on one tree in 50 of TREES, at most 200, if there are 500 or more.
    `spacy-lpcfg inspect` shows the steps and the singular values.

    \b
    Example:
        spacy-lpcfg learn parser train.mrg --dev dev.mrg --set n_states=16 -o model/
        spacy-lpcfg learn parser train.mrg --dev dev.mrg --method isbn -o isbn/
    """
    output = check_folder(output, inputs=[*trees, *(dev or ())], force=force)
    entry = learner_of(method)
    _refuse_unused(context, "seed", method, is_used="seed" in entry.parameters)
    _refuse_unused(context, "encoder", method, is_used=entry.takes_evidence)
    nlp = blank_pipeline(lang)
    held_out = read_held_out(dev, skip_bad, dialect, tags)
    learner, config = chosen_learner(method, settings, seed=seed, lang=lang, jobs=jobs, encoder=encoder)
    with on_cluster(scheduler), tree_files(trees, skip_bad, dialect, tags) as train:
        learned = _learn(learner, train, held_out)
    config = {**config, "settings": {**config["settings"], **learned.settings}}
    component = add_learned(nlp, entry.component, learned.model, {"learner": config})
    tell(learned.model.summary)
    nlp.meta.update(learned.meta)
    save_measured(nlp, component, output, held_out, force=force)


def _refuse_unused(context: typer.Context, option: str, method: str, *, is_used: bool) -> None:
    """Raise BadParameter if an option was given explicitly, but the method does not use it."""
    is_given = getattr(context.get_parameter_source(option), "name", "DEFAULT") != "DEFAULT"
    if is_given and not is_used:
        raise typer.BadParameter(f"{method} has no use for it", param_hint=f"--{option}")


# Learning ----------------------------------------------------------------------------------------


class Learned(NamedTuple):
    """The result of training.

    model (ParsingModel): The trained model.
    settings (dict): The settings of the learner that were tuned on held-out trees.
    meta (dict): The training log, for meta.json.
    """

    model: "ParsingModel"
    settings: dict[str, Any]
    meta: dict[str, Any]


def _learn(learner: "Learner", train: Iterable["Tree"], held_out: Sequence["Tree"]) -> Learned:
    """Train a model, tuned on held-out trees if there are any; log each iteration, epoch and tuning trial."""
    from spacy_lpcfg.isbn.learning import ISBNLearner, LearningEpoch
    from spacy_lpcfg.learning.base import Step, meta_of
    from spacy_lpcfg.learning.tuning import SmoothingTrial

    reports: list[object] = []
    n_steps = n_epochs = _n_iterations(learner)
    if isinstance(learner, ISBNLearner):
        train = list(train)
        n_epochs = learner.passes(len(train))
        n_steps = learner.n_networks * n_epochs

    def on_step(report: object) -> None:
        reports.append(report)
        if isinstance(report, Step) and n_steps is not None:
            reach(report.iteration)
            _log_step(report, n_steps)
        elif isinstance(report, LearningEpoch):
            reach(len(reports))
            _log_epoch(report, n_epochs)
        elif isinstance(report, SmoothingTrial):
            _log_trial(report)

    with busy("learning", n_steps) as reach:
        model = learner.fit(train, held_out=held_out or None, on_step=on_step)
    return Learned(model, _tuned_settings(reports, with_iterations=n_steps is not None), meta_of(reports))


def _n_iterations(learner: "Learner") -> int | None:
    """Return the maximum number of EM iterations of a learner, or of the learner inside it; None for other learners."""
    from spacy_lpcfg.evidence.learner import EvidenceLearner
    from spacy_lpcfg.learning.em import EMLearner

    below = learner.learner if isinstance(learner, EvidenceLearner) else learner
    return below.n_iterations if isinstance(below, EMLearner) else None


def _tuned_settings(reports: Sequence[object], *, with_iterations: bool) -> dict[str, Any]:
    """Return the tuned values of the settings "smoothing" and "n_iterations", as far as they were tuned.

    reports (sequence of object): All reports of training; `SmoothingTrial` and `Step` are used.
    with_iterations (bool): Whether the learner has a setting "n_iterations".
    """
    from spacy_lpcfg.learning.base import Step
    from spacy_lpcfg.learning.tuning import SmoothingTrial

    trials = [report for report in reports if isinstance(report, SmoothingTrial)]
    steps = [report for report in reports if isinstance(report, Step)]
    evaluated = [step for step in steps if not isnan(step.f1)]
    settings: dict[str, Any] = {}
    if trials:
        settings["smoothing"] = asdict(max(trials, key=lambda trial: trial.f1).smoothing)
    if steps and with_iterations:
        best = max(evaluated, key=lambda step: step.f1) if evaluated else steps[-1]
        settings["n_iterations"] = best.iteration
    return settings


def _log_trial(trial: "SmoothingTrial") -> None:
    smoothing = trial.smoothing
    log(f"C {smoothing.c:g}, nu {smoothing.nu:g}, max_lexical {smoothing.max_lexical:g}: dev F1 {trial.f1:.2f}")


def _log_step(step: "Step", n_steps: int) -> None:
    likelihood = f", log-likelihood {step.log_likelihood:.0f}" if not isnan(step.log_likelihood) else ""
    f1 = f", dev F1 {step.f1:.2f}" if not isnan(step.f1) else ""
    log(f"iteration {step.iteration} of {n_steps}: {step.seconds:.1f} s{likelihood}{f1}")


def _log_epoch(epoch: "LearningEpoch", n_epochs: int | None) -> None:
    dev = f", dev {epoch.dev:.3f}" if not isnan(epoch.dev) else ""
    log(
        f"network {epoch.network}, epoch {epoch.epoch} of {n_epochs}: {epoch.seconds:.1f} s, "
        f"log-likelihood a word {epoch.log_likelihood:.3f}{dev}"
    )
