"""`spacy-lpcfg learn lpcfg`: from bracketed treebanks to a pipeline that `spacy.load` opens."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.clusters import on_cluster
from spacy_lpcfg.components.cli.shared.console import busy, log, reporting_errors, tell
from spacy_lpcfg.components.cli.shared.learner_options import chosen_learner, learner_option
from spacy_lpcfg.components.cli.shared.pipelines import blank_pipeline, check_folder
from spacy_lpcfg.components.cli.shared.treebanks import read_held_out, save_measured, tree_files
from spacy_lpcfg.learners import AUTO, learner_of

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_lpcfg.learning import Smoothing, Spectral
    from spacy_lpcfg.learning.base import Learner, Step
    from spacy_lpcfg.parsing.model import ParsingModel
    from spacy_lpcfg.trees import Tree


_ENCODER = (
    "The pretrained encoder of evidence: auto, which comes with the package for English; none; the folder of an "
    "exported encoder; or a model that has one."
)


@reporting_errors
def learn_lpcfg(
    context: typer.Context,
    trees: options.TrainingTrees,
    output: options.Output,
    dev: options.Dev = None,
    method: Annotated[str, learner_option("lpcfg")] = "pivot",
    settings: options.Settings = None,
    encoder: Annotated[str, typer.Option(metavar="NAME", help=_ENCODER)] = AUTO,
    tags: options.TreeTags = options.TagDetail.fine,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    scheduler: options.Scheduler = None,
    lang: options.Lang = "en",
    dialect: options.Dialect = None,
    skip_bad: options.SkipBad = False,
    force: options.Force = False,
) -> None:
    """Learn a constituency parser: a blank pipeline with an lpcfg_parser.

    The method pivot learns evidence too, which says how likely each phrase and tag is by the words around it: more
    accurate, and some minutes more to learn. For English it is learned on the vectors of the encoder that comes with
    the package; with --encoder none, and for other languages, from the treebank alone. Other methods do so with
    --set evidence=true, or with an --encoder; --set evidence=false is the grammar alone.

    --set changes settings of the method's class, such as Pivot: n_states is the most latent states of a symbol, and
    n_iterations the iterations of EM, with --dev the most; functions=true has labels keep them, as NP-SBJ, and
    heads=NAME or FILE takes other head rules than the language's. pivot, spectral and em have a variant=paper: as they
    were published, without evidence. For spectral that is the paper of 2013; variant=2012 is the one before it.

    With --dev the smoothing of the spectral method, and the number of iterations of methods by EM, are
    tuned on held-out trees, and the F1 on them is printed. The pipeline's meta.json has the steps of EM
    under "fit" and the spectral method's "singular_values"; `spacy-lpcfg inspect` shows both. An option or setting that
    the method has no use for is refused.

    \b
    Example:
        spacy-lpcfg learn lpcfg train.mrg --dev dev.mrg --set n_states=16 -o model/
    """
    output = check_folder(output, inputs=[*trees, *(dev or ())], force=force)
    _refuse_unused_seed(context, method)
    nlp = blank_pipeline(lang)
    held_out = read_held_out(dev, skip_bad, dialect, tags)
    learner, config = chosen_learner(method, settings, seed=seed, lang=lang, jobs=jobs, encoder=encoder)
    with (
        on_cluster(scheduler),
        busy("learning", _n_steps(learner)) as reach,
        tree_files(trees, skip_bad, dialect, tags) as train,
    ):
        learned = _learn(learner, train, held_out, reach)
    config = {**config, "settings": {**config["settings"], **learned.settings}}
    add_parser(nlp, learned.grammar, config, learned.meta)
    from spacy_lpcfg.models.kinds import make_parser

    save_measured(nlp, output, partial(make_parser, learned.grammar), held_out, force=force)


def _refuse_unused_seed(context: typer.Context, method: str) -> None:
    """Raise BadParameter if a seed was given for a method that draws nothing at random."""
    is_given = getattr(context.get_parameter_source("seed"), "name", "DEFAULT") != "DEFAULT"
    if is_given and "seed" not in learner_of(method).parameters:
        raise typer.BadParameter(f"{method} has no use for it, since it draws nothing at random", param_hint="--seed")


# Learning ----------------------------------------------------------------------------------------


class Learned(NamedTuple):
    """A grammar, the settings of its learner that held-out trees chose, and what meta.json tells of learning."""

    grammar: "ParsingModel"
    settings: dict[str, Any]
    meta: dict[str, Any]


def _n_steps(learner: "Learner") -> int | None:
    """Return the maximum number of iterations; None for a learner without iterations."""
    from spacy_lpcfg.learning.em import EMLearner

    below = _below_layer(learner)
    return below.n_iterations if isinstance(below, EMLearner) else None


def _below_layer(learner: "Learner") -> "Learner":
    """Return the learner of the grammar that evidence is added to, or the learner itself."""
    from spacy_lpcfg.evidence.learner import EvidenceLearner

    return learner.learner if isinstance(learner, EvidenceLearner) else learner


def _learn(
    learner: "Learner", train: Iterable["Tree"], held_out: Sequence["Tree"], reach: Callable[[int], None]
) -> Learned:
    """Learn a grammar, tuned on the held-out trees; `reach` is called with the number of each iteration."""
    from spacy_lpcfg.learning import Spectral
    from spacy_lpcfg.learning.base import values_of_steps
    from spacy_lpcfg.learning.em import EMLearner

    if isinstance(learner, Spectral):
        return _spectral(learner, train, held_out)
    if isinstance(_below_layer(learner), EMLearner):
        return _iterative(learner, train, held_out, reach)
    told: list[object] = []
    grammar = learner.fit(train, on_step=told.append)
    steps = values_of_steps(told)
    return Learned(grammar, {}, {"fit": steps} if steps else {})


def _spectral(learner: "Spectral", train: Iterable["Tree"], held_out: Sequence["Tree"]) -> Learned:
    """Learn by the spectral method, with smoothing tuned on the held-out trees if there are any."""
    from spacy_lpcfg.learning.spectral import NO_SMOOTHING
    from spacy_lpcfg.learning.tuning import tune

    smoothing, estimate = learner.smoothing, learner.estimate(train)
    if held_out and smoothing != NO_SMOOTHING:
        smoothing, grammar = tune(estimate, held_out, on_trial=_log_trial)
    else:
        grammar = estimate.grammar(smoothing)
    values = [[round(value, 6) for value in row[row > 0].tolist()] for row in estimate.bases.singular_values]
    meta = {"singular_values": dict(zip(grammar.symbols, values, strict=True))}
    return Learned(grammar, {"smoothing": asdict(smoothing)}, meta)


def _log_trial(smoothing: "Smoothing", f1: float) -> None:
    log(f"C {smoothing.c:g}, nu {smoothing.nu:g}, max_lexical {smoothing.max_lexical:g}: dev F1 {f1:.2f}")


def _iterative(
    learner: "Learner", train: Iterable["Tree"], held_out: Sequence["Tree"], reach: Callable[[int], None]
) -> Learned:
    """Learn by EM, with the number of iterations that is best on the held-out trees if there are any."""
    steps: list[Step] = []
    n_steps = _n_steps(learner)

    def on_step(step: "Step") -> None:
        steps.append(step)
        reach(step.iteration)
        _log_step(step, n_steps)

    grammar = learner.fit(train, held_out=held_out, on_step=on_step)
    evaluated = [step for step in steps if not isnan(step.f1)]
    best = max(evaluated, key=lambda step: step.f1) if evaluated else steps[-1]
    meta = {"fit": [step.to_values() for step in steps]}
    return Learned(grammar, {"n_iterations": best.iteration}, meta)


def _log_step(step: "Step", n_steps: int | None) -> None:
    likelihood = f", log-likelihood {step.log_likelihood:.0f}" if not isnan(step.log_likelihood) else ""
    f1 = f", dev F1 {step.f1:.2f}" if not isnan(step.f1) else ""
    log(f"iteration {step.iteration} of {n_steps}: {step.seconds:.1f} s{likelihood}{f1}")


# The pipeline ------------------------------------------------------------------------------------


def add_parser(nlp: "Language", model: "ParsingModel", learner: dict[str, Any], meta: dict[str, Any]) -> None:
    """Add an `lpcfg_parser` by a model, with its learner in the config, and in the pipeline's meta what steps found."""
    from spacy_lpcfg.components.lpcfg_parser import LPCFGParser

    component = nlp.add_pipe("lpcfg_parser", config={"learner": learner})
    assert isinstance(component, LPCFGParser)
    component.learned = model
    tell(model.summary)
    nlp.meta.update(meta)
