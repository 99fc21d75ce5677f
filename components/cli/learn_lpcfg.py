"""`spacy-lpcfg learn lpcfg`: from bracketed treebanks to a pipeline that `spacy.load` opens."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from spacy_lpcfg.components.cli.clusters import Scheduler, on_cluster
from spacy_lpcfg.components.cli.console import busy, log, reporting_errors, tell
from spacy_lpcfg.components.cli.pipelines import Force, Seed, blank_pipeline, check_folder, n_jobs
from spacy_lpcfg.components.cli.treebanks import Trees, read_held_out, save_measured, tree_files
from spacy_lpcfg.components.cli.word_classes import ClassesFrom, class_settings, word_classes

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_lpcfg.combination import Combination, Combined
    from spacy_lpcfg.grammar import Grammar
    from spacy_lpcfg.learning import Smoothing
    from spacy_lpcfg.learning.base import Step
    from spacy_lpcfg.trees import Tree


class Method(str, Enum):
    spectral = "spectral"
    pivot = "pivot"
    clusters = "clusters"
    em = "em"
    split_merge = "split-merge"
    ensemble = "ensemble"
    distil = "distil"
    pcfg = "pcfg"


class Teacher(str, Enum):
    ensemble = "ensemble"
    balanced = "balanced"
    accurate = "accurate"


_ITERATIVE = (Method.em, Method.split_merge, Method.clusters, Method.pivot)
_LATENT = tuple(method for method in Method if method != Method.pcfg)
_USERS = {
    "states": _LATENT,
    "iterations": _ITERATIVE,
    "grammars": (Method.ensemble, Method.distil),
    "teacher": (Method.distil,),
    "seed": _LATENT,
}
"""The methods that have use for an option, of those that not all have."""


@reporting_errors
def learn_lpcfg(
    context: typer.Context,
    trees: Trees,
    output: Annotated[Path, typer.Option("--output", "-o", file_okay=False, help="Folder for the pipeline.")],
    dev: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help="Trees to tune on; may be given again."),
    ] = None,
    method: Annotated[Method, typer.Option(help="How to learn.")] = Method.spectral,
    states: Annotated[
        int | None,
        typer.Option(min=1, help="The most latent states of a symbol; by default what suits the method."),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="For em, split-merge, clusters and pivot: iterations of EM, with --dev the most; by default what "
            "suits the method.",
        ),
    ] = None,
    grammars: Annotated[
        int,
        typer.Option(
            min=4, help="Grammars of an ensemble, or of distil's teacher; half of them read from right to left."
        ),
    ] = 8,
    text: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="For distil: raw text, a sentence a line.")
    ] = None,
    teacher: Annotated[
        Teacher, typer.Option(help="For distil: what parses the text, an ensemble or a combination.")
    ] = Teacher.ensemble,
    classes_from: ClassesFrom = None,
    seed: Seed = 0,
    jobs: Annotated[int, typer.Option(help="Parallel jobs; -1 is one for each processor.")] = 1,
    scheduler: Scheduler = None,
    lang: Annotated[str, typer.Option(help="Language of the tokenizer and the head rules.")] = "en",
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out broken trees and count them.")] = False,
    force: Force = False,
) -> None:
    """Learn a constituency parser: a blank pipeline with an lpcfg_parser.

    With --dev the smoothing of the spectral method, and the number of iterations of em, split-merge, clusters and
    pivot, are tuned on held-out trees, and the F1 on them is printed. The pipeline's meta.json has the steps of EM
    under "fit" and the spectral method's "singular_values"; `spacy-lpcfg inspect` shows both. An option that the method
    has no use for is refused.

    \b
    Example:
        spacy-lpcfg learn lpcfg train.mrg --dev dev.mrg --states 16 -o model/
    """
    from spacy_lpcfg.learning import LexicalSettings

    output = check_folder(output, force=force)
    _refuse_unused(context, method, teacher)
    if grammars % 4:
        raise typer.BadParameter("expected a multiple of 4: two kinds, each way", param_hint="--grammars")
    if (method == Method.distil) != (text is not None):
        raise typer.BadParameter("distil wants a --text, and no other method does", param_hint="--text")
    nlp = blank_pipeline(lang)
    held_out = read_held_out(dev, skip_bad)
    given = {"n_states": states, "n_iterations": iterations}
    settings: dict[str, Any] = {"seed": seed, "lang": lang, **{name: n for name, n in given.items() if n is not None}}
    settings |= {"lexical": LexicalSettings(word_classes=word_classes(classes_from, lang))}
    jobs = n_jobs(jobs)
    with on_cluster(scheduler), busy("learning"), tree_files(trees, skip_bad) as train:
        if text is not None:
            learned = _distilled(train, text, teacher, grammars, settings, jobs)
        elif method == Method.ensemble:
            learned = _ensemble(train, grammars, settings, jobs)
        else:
            learned = _learn(method, train, held_out, settings, jobs)
    _add_parser(nlp, learned)
    save_measured(nlp, output, learned.grammar.parser, held_out, force=force)


def _refuse_unused(context: typer.Context, method: Method, teacher: Teacher) -> None:
    """RAISES (BadParameter): If an option was given that the method has no use for."""
    given = [name for name in _USERS if getattr(context.get_parameter_source(name), "name", "DEFAULT") != "DEFAULT"]
    for name in given:
        if method not in _USERS[name]:
            users = ", ".join(user.value for user in _USERS[name])
            raise typer.BadParameter(f"{method.value} has no use for it, only {users}", param_hint=f"--{name}")
    if "grammars" in given and method == Method.distil and teacher != Teacher.ensemble:
        message = f"the {teacher.value} teacher has no use for it, only the ensemble"
        raise typer.BadParameter(message, param_hint="--grammars")


# Learning ----------------------------------------------------------------------------------------


class Learned(NamedTuple):
    """A grammar, the config of the learner that makes it, and what the pipeline's meta.json tells of learning."""

    grammar: "Grammar | Combined"
    learner: dict[str, Any]
    meta: dict[str, Any]


def _learn(
    method: Method, train: Iterable["Tree"], held_out: Sequence["Tree"], settings: dict[str, Any], jobs: int
) -> Learned:
    if method == Method.spectral:
        return _spectral(train, held_out, settings, jobs)
    if method == Method.pcfg:
        return _pcfg(train, {name: settings[name] for name in ("lang", "lexical")}, jobs)
    return _iterative(method, train, held_out, settings, jobs)


def _ensemble(train: Iterable["Tree"], n_grammars: int, settings: dict[str, Any], jobs: int) -> Learned:
    ensemble, config = _both_ways(n_grammars, settings, jobs)
    steps: list[Step] = []
    learned = ensemble.fit(train, on_step=steps.append)
    return Learned(learned, config, {"fit": [step.to_values() for step in steps]})


def _both_ways(n_grammars: int, settings: dict[str, Any], jobs: int) -> tuple["Combination", dict[str, Any]]:
    """The learner of two ensembles, one of which reads from right to left, and its config."""
    from spacy_lpcfg.combination import Combination
    from spacy_lpcfg.learning import Ensembles
    from spacy_lpcfg.learning.ensemble import DIVERSE

    ensemble = Ensembles.diverse(n_grammars // 2, n_jobs=jobs, **settings)
    members = {
        type(learner).__name__.lower(): _config(learner, *settings, *DIVERSE, "n_iterations", "dropout")
        for learner in ensemble.learners
    }
    config = {"@misc": "spacy-lpcfg.Ensemble.v1", "n_seeds": ensemble.n_seeds, "*": members}
    ways = {"ensemble": config, "mirrored": {"@misc": "spacy-lpcfg.Mirrored.v1", "learner": config}}
    return Combination.both_ways(ensemble), {"@misc": "spacy-lpcfg.Combined.v1", "*": ways}


def _distilled(
    train: Iterable["Tree"], text: Path, teacher: Teacher, n_grammars: int, settings: dict[str, Any], jobs: int
) -> Learned:
    """A grammar that has learned from an ensemble, or from a combination."""
    from spacy_lpcfg.combination import preset
    from spacy_lpcfg.components.learners import make_distillation
    from spacy_lpcfg.learning import Pivot
    from spacy_lpcfg.learning.base import Learner

    seed, lang = settings["seed"], settings["lang"]
    master: Learner
    if teacher == Teacher.ensemble:
        master, config = _both_ways(n_grammars, settings, jobs)
    else:
        classes = settings["lexical"].word_classes
        master = preset(teacher.value, seed=seed, n_jobs=jobs, lang=lang, word_classes=classes)
        config = {"@misc": "spacy-lpcfg.Preset.v1", "name": teacher.value, "seed": seed, "lang": lang}
        config |= {} if classes is None else class_settings(classes.text.path, classes.text.lang)
    student = Pivot(n_jobs=jobs, **{"n_states": 24, **settings})
    steps: list[Step] = []
    distilled = make_distillation(master, student, text, lang, n_jobs=jobs).fit(train, on_step=steps.append)
    parts = {"teacher": config, "student": _config(student, "n_states", *settings), "text": str(text), "lang": lang}
    meta = {"fit": [step.to_values() for step in steps]}
    return Learned(cast("Grammar", distilled), {"@misc": "spacy-lpcfg.Distillation.v1", **parts}, meta)


def _config(learner: Any, *names: str) -> dict[str, Any]:
    """The config of a learner, with the named settings; of those of the lexicon the text for classes of words."""
    found = {name: getattr(learner, name) for name in names if name != "lexical"}
    classes = learner.lexical.word_classes
    of_words = {} if classes is None else class_settings(classes.text.path, classes.text.lang)
    return {"@misc": f"spacy-lpcfg.{type(learner).__name__}.v1", **found, **of_words}


def _spectral(train: Iterable["Tree"], held_out: Sequence["Tree"], settings: dict[str, Any], jobs: int) -> Learned:
    """With smoothing that is tuned, if there are held-out trees."""
    from spacy_lpcfg.learning import Spectral, tune

    learner = Spectral(n_jobs=jobs, **settings)
    smoothing, estimate = learner.smoothing, learner.estimate(train)
    if held_out:
        smoothing, grammar = tune(estimate, held_out, on_trial=_log_trial)
    else:
        grammar = estimate.grammar(smoothing)
    values = [[round(value, 6) for value in row[row > 0].tolist()] for row in estimate.bases.singular_values]
    meta = {"singular_values": dict(zip(grammar.symbols, values))}
    return Learned(grammar, {**_config(learner, *settings), **asdict(smoothing)}, meta)


def _log_trial(smoothing: "Smoothing", f1: float) -> None:
    log(f"C {smoothing.c:g}, nu {smoothing.nu:g}, max_lexical {smoothing.max_lexical:g}: dev F1 {f1:.2f}")


def _pcfg(train: Iterable["Tree"], settings: dict[str, Any], jobs: int) -> Learned:
    from spacy_lpcfg.learning import TreebankPCFG

    learner = TreebankPCFG(n_jobs=jobs, **settings)
    return Learned(learner.fit(train), _config(learner, *settings), {})


def _iterative(
    method: Method, train: Iterable["Tree"], held_out: Sequence["Tree"], settings: dict[str, Any], jobs: int
) -> Learned:
    """With the number of iterations that is best on held-out trees, if there are any."""
    from spacy_lpcfg.learning import EM, Clusters, Pivot, SplitMerge

    classes = {Method.em: EM, Method.split_merge: SplitMerge, Method.clusters: Clusters, Method.pivot: Pivot}
    learner = classes[method](n_jobs=jobs, **settings)
    steps: list[Step] = []

    def on_step(step: "Step") -> None:
        steps.append(step)
        _log_step(step)

    grammar = learner.fit(train, held_out=held_out, on_step=on_step)
    looked_at = [step for step in steps if step.f1 == step.f1]
    best = max(looked_at, key=lambda step: step.f1) if looked_at else steps[-1]
    config = {**_config(learner, *settings), "n_iterations": best.iteration}
    return Learned(grammar, config, {"fit": [step.to_values() for step in steps]})


def _log_step(step: "Step") -> None:
    likelihood = f", log-likelihood {step.log_likelihood:.0f}" if step.log_likelihood == step.log_likelihood else ""
    f1 = f", dev F1 {step.f1:.2f}" if step.f1 == step.f1 else ""
    log(f"iteration {step.iteration}: {step.seconds:.1f} s{likelihood}{f1}")


# The pipeline ------------------------------------------------------------------------------------


def _add_parser(nlp: "Language", learned: Learned) -> None:
    """Add an `lpcfg_parser`: its config says how it was learned, and the pipeline's meta what the steps found."""
    from spacy_lpcfg.combination import Combined
    from spacy_lpcfg.components.lpcfg_parser import LPCFGParser

    component = nlp.add_pipe("lpcfg_parser", config={"learner": learned.learner})
    assert isinstance(component, LPCFGParser)
    component.grammar = learned.grammar
    grammar: Any = learned.grammar.members[0] if isinstance(learned.grammar, Combined) else learned.grammar
    tell(
        f"{len(grammar.labels)} categories, {len(grammar.tags)} tags, {grammar.n_rules} binary rules, "
        f"at most {grammar.n_states.max()} states"
    )
    nlp.meta.update(learned.meta)
