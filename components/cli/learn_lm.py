"""`spacy-lpcfg learn lm`: the language model of Saul and Pereira."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import busy, log, reporting_errors, tell, usage_errors
from spacy_lpcfg.components.cli.shared.pipelines import blank_pipeline, check_folder, saving_folder
from spacy_lpcfg.variants import DEFAULT

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_lpcfg.language_model import LanguageModel, LanguageModelLearner
    from spacy_lpcfg.language_model.learning import Iteration, LanguageModelFit

HISTORY = "history.json"  # the file of what the iterations found, beside the pipeline


class LanguageModelMethod(str, Enum):
    em = "em"
    pivot = "pivot"
    pivot_em = "pivot-em"


@reporting_errors
def learn_lm(
    text: Annotated[list[Path], options.file_argument("TEXT...", "A sentence a line; also .gz.")],
    output: options.Output,
    dev: Annotated[
        list[Path] | None, options.file_option("Text that chooses the iterations; may be given again.")
    ] = None,
    method: Annotated[LanguageModelMethod, typer.Option(help="How to learn.")] = LanguageModelMethod.pivot_em,
    variant: options.Variant = DEFAULT,
    states: Annotated[int, typer.Option(min=1, help="The most latent states.")] = 128,
    iterations: Annotated[
        int | None,
        typer.Option(min=0, help="The most iterations of EM. [default: em 10, pivot 0, pivot-em 1]"),
    ] = None,
    seed: options.Seed = 0,
    rare: Annotated[int, typer.Option(min=0, help="Words seen at most so often are unknown.")] = 1,
    kneser_ney: Annotated[
        bool, typer.Option("--kneser-ney", help="Mix with n-grams, weighed on the --dev text.")
    ] = False,
    lang: options.TokenizerLang = "en",
    force: options.Force = False,
) -> None:
    """Learn a language model of plain text: a blank pipeline with a language_model, p(w2 | w1) by latent states.

    A line of TEXT is a sentence, with blanks between its tokens. With --dev the perplexity of that text is printed, and
    the best number of iterations is kept; without it all are made. Beside the pipeline, history.json has the
    log-likelihood (nats), the perplexity of the --dev text and the CPU seconds so far of every iteration.

    \b
    Example:
        spacy-lpcfg learn lm train.txt --dev dev.txt --states 128 --kneser-ney -o lm/
        spacy-lpcfg perplexity lm/ test.txt
        spacy-lpcfg surprisal lm/ "The horse raced past the barn fell."
    """
    from spacy_lpcfg.language_model import LanguageModelLearner, read_sentences
    from spacy_lpcfg.language_model.learning import interpolate

    _check_usage(method, iterations, dev, kneser_ney)
    output = check_folder(output, inputs=[*text, *(dev or ())], force=force)
    nlp = blank_pipeline(lang)
    sentences, held_out = list(read_sentences(text)), list(read_sentences(dev or []))
    if dev and not held_out:
        raise ValueError(f"{dev[0]} has no words")
    with usage_errors("--variant"):
        learner = LanguageModelLearner(method.value, variant, states, iterations, seed, rare)
    with busy("learning"):
        model, history = _fit(learner, sentences, held_out)
        if kneser_ney:
            model = interpolate(model, sentences, held_out)
    if kneser_ney:
        log("weights of latent model, bigrams, trigrams: " + ", ".join(f"{weight:.3f}" for weight in model.weights))
    tell(f"{len(model.vocabulary)} words, {model.aggregate.n_states} states")
    if held_out:
        tell(f"dev perplexity {model.perplexity(held_out).perplexity:.2f} on {len(held_out)} sentences")
    _add_model(nlp, model, learner)
    _save(nlp, history, output, force=force)


def _check_usage(method: LanguageModelMethod, iterations: int | None, dev: list[Path] | None, kneser_ney: bool) -> None:
    """Raise BadParameter for options that do not go together."""
    if kneser_ney and not dev:
        raise typer.BadParameter("--kneser-ney needs a --dev text to weigh the models on")
    if method == LanguageModelMethod.pivot and iterations:
        raise typer.BadParameter("the pivot method makes no iterations of EM: use --method pivot-em")


def _fit(
    learner: "LanguageModelLearner", sentences: Sequence[list[str]], held_out: Sequence[list[str]]
) -> "LanguageModelFit":
    """Return the model of the sentences and its iterations, which are logged."""
    from spacy_lpcfg.language_model.learning import fit

    fitted = fit(sentences, learner.aggregate(), dev=held_out, rare=learner.rare)
    for n, log_likelihood, score, seconds in fitted.history:
        dev_part = f", dev perplexity {score.perplexity:.2f}" if score else ""
        log(f"{n} iterations of EM, {seconds:.1f} s: log-likelihood {log_likelihood:.0f}{dev_part}")
    return fitted


def _add_model(nlp: "Language", model: "LanguageModel", learner: "LanguageModelLearner") -> None:
    """Add a `language_model` with the settings of the learner."""
    from spacy_lpcfg.components.language_model import LanguageModelPipe

    settings = asdict(learner)
    seed = settings.pop("seed")
    config = {"learner": {"@misc": "spacy-lpcfg.Learner.v1", "name": "lm", "seed": seed, "settings": settings}}
    component = nlp.add_pipe("language_model", config=config)
    assert isinstance(component, LanguageModelPipe)
    component.learned = model


def _save(nlp: "Language", history: Sequence["Iteration"], output: Path, *, force: bool) -> None:
    with saving_folder(output, force=force) as folder:
        nlp.to_disk(folder)
        (folder / HISTORY).write_text(json.dumps(list(map(_as_json, history)), indent=2), encoding="utf-8")
    tell(f"saved to {output}")


def _as_json(step: "Iteration") -> dict[str, Any]:
    """Return the record of an iteration, with null for values that are not known or not finite."""
    values = {
        "log_likelihood": step.log_likelihood,
        "dev_perplexity": math.nan if step.dev is None else step.dev.perplexity,
        "seconds": step.seconds,
    }
    return {"iteration": step.n, **{name: value if math.isfinite(value) else None for name, value in values.items()}}
