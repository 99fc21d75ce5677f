"""`spacy-lpcfg learn lm`: the language model of Saul and Pereira."""

import json
import math
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spacy_lpcfg.components.cli.chosen import usage
from spacy_lpcfg.components.cli.console import busy, log, reporting_errors, tell
from spacy_lpcfg.components.cli.pipelines import Force, Output, Seed, Variant, check_folder, saving_folder
from spacy_lpcfg.variants import DEFAULT

if TYPE_CHECKING:
    from spacy_lpcfg.language_model import LanguageModel, LanguageModelFit
    from spacy_lpcfg.language_model.learning import Iteration, LanguageModelLearner

FILE = "language_model"  # the file of a language model in its folder
HISTORY = "history.json"  # and of what its iterations found


class LanguageModelMethod(str, Enum):
    em = "em"
    pivot = "pivot"
    pivot_em = "pivot-em"


@reporting_errors
def learn_lm(
    text: Annotated[
        list[Path],
        typer.Argument(metavar="TEXT...", exists=True, dir_okay=False, help="A sentence a line; also .gz."),
    ],
    output: Output,
    dev: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help="Text that chooses the iterations; may be given again."),
    ] = None,
    method: Annotated[LanguageModelMethod, typer.Option(help="How to learn.")] = LanguageModelMethod.pivot_em,
    variant: Variant = DEFAULT,
    states: Annotated[int, typer.Option(min=1, help="The most latent states.")] = 128,
    iterations: Annotated[
        int | None,
        typer.Option(min=0, help="The most iterations of EM. [default: em 10, pivot 0, pivot-em 1]"),
    ] = None,
    seed: Seed = 0,
    rare: Annotated[int, typer.Option(min=0, help="Words seen at most so often are unknown.")] = 1,
    kneser_ney: Annotated[
        bool, typer.Option("--kneser-ney", help="Mix with n-grams, weighed on the --dev text.")
    ] = False,
    force: Force = False,
) -> None:
    """Learn a language model of plain text: p(w2 | w1) by latent states.

    A line of TEXT is a sentence, with blanks between its tokens. With --dev the perplexity of that text is printed, and
    the best number of iterations is kept; without it all are made. Beside the model, history.json has the
    log-likelihood (nats), the perplexity of the --dev text and the CPU seconds so far of every iteration.

    \b
    Example:
        spacy-lpcfg learn lm train.txt --dev dev.txt --states 128 --kneser-ney -o lm/
        spacy-lpcfg perplexity lm/ test.txt
    """
    from spacy_lpcfg.language_model import METHODS, interpolate, read_sentences

    _check_usage(method, iterations, dev, kneser_ney)
    output = check_folder(output, force=force)
    sentences, held_out = list(read_sentences(text)), list(read_sentences(dev or []))
    if dev and not held_out:
        raise ValueError(f"{dev[0]} has no words")
    settings: dict[str, Any] = {"n_states": states, "seed": seed}
    settings |= {} if iterations is None else {"n_iterations": iterations}
    with usage("--variant"):
        learner = METHODS[method.value].variant(variant, **settings)
    with busy("learning"):
        model, history = _fit(learner, sentences, held_out, rare)
        if kneser_ney:
            model = interpolate(model, sentences, held_out)
    if kneser_ney:
        log("weights of latent model, bigrams, trigrams: " + ", ".join(f"{weight:.3f}" for weight in model.weights))
    tell(f"{len(model.vocabulary)} words, {model.aggregate.n_states} states")
    if held_out:
        tell(f"dev perplexity {model.perplexity(held_out).perplexity:.2f} on {len(held_out)} sentences")
    _save(model, history, output, force=force)


def _check_usage(method: LanguageModelMethod, iterations: int | None, dev: list[Path] | None, kneser_ney: bool) -> None:
    """RAISES (BadParameter): For options that do not go together."""
    if kneser_ney and not dev:
        raise typer.BadParameter("--kneser-ney needs a --dev text to weigh the models on")
    if method == LanguageModelMethod.pivot and iterations:
        raise typer.BadParameter("the pivot method makes no iterations of EM: use --method pivot-em")


def _fit(
    learner: "LanguageModelLearner",
    sentences: Sequence[list[str]],
    held_out: Sequence[list[str]],
    rare: int,
) -> "LanguageModelFit":
    """The model of the sentences and its iterations, which are logged."""
    from spacy_lpcfg.language_model import fit

    found = fit(sentences, learner, dev=held_out, rare=rare)
    for n, log_likelihood, score, seconds in found.history:
        dev_part = f", dev perplexity {score.perplexity:.2f}" if score else ""
        log(f"{n} iterations of EM, {seconds:.1f} s: log-likelihood {log_likelihood:.0f}{dev_part}")
    return found


def _save(model: "LanguageModel", history: Sequence["Iteration"], output: Path, *, force: bool) -> None:
    with saving_folder(output, force=force) as folder:
        folder.mkdir()
        model.to_disk(folder / FILE)
        (folder / HISTORY).write_text(json.dumps(list(map(_as_json, history)), indent=2), encoding="utf-8")
    tell(f"saved to {output}")


def _as_json(step: "Iteration") -> dict[str, Any]:
    """An iteration by names, with null for what is not known or not finite."""
    values = {
        "log_likelihood": step.log_likelihood,
        "dev_perplexity": math.nan if step.dev is None else step.dev.perplexity,
        "seconds": step.seconds,
    }
    return {"iteration": step.n, **{name: value if math.isfinite(value) else None for name, value in values.items()}}
