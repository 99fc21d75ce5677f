"""`spacy-lpcfg learn lm`: learn the latent-state language model of Saul and Pereira."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import busy, log, reporting_errors, tell
from spacy_lpcfg.components.cli.shared.learner_options import chosen_learner
from spacy_lpcfg.components.cli.shared.options import SET
from spacy_lpcfg.components.cli.shared.pipelines import add_learned, blank_pipeline, check_folder, save_pipeline

if TYPE_CHECKING:
    from spacy_lpcfg.language_model.learning import Iteration


@reporting_errors
def learn_lm(
    text: Annotated[list[Path], options.file_argument("TEXT...", "A sentence a line; also .gz.")],
    output: options.Output,
    dev: options.Dev = None,
    settings: options.Settings = None,
    seed: options.Seed = 0,
    lang: options.TokenizerLang = "en",
    force: options.Force = False,
) -> None:
    """Learn a language_model, with latent states, from plain text.

    A line of TEXT is a sentence, with blanks between its tokens. --dev prints the perplexity of that text, and keeps
    the best number of iterations. "fit" in the pipeline's meta.json has the log-likelihood (nats), the perplexity of
    the --dev text and the CPU seconds so far after every iteration.

    --set changes settings of `LanguageModelLearner`: method=em, pivot or pivot-em, n_states (128, or 256 with
    method=em), n_iterations (the most iterations of EM), rare (words seen at most `rare` times count as unknown),
    kneser_ney=true to mix with n-grams, whose weights are fitted on the --dev text, and variant=paper.

    \b
    Example:
        spacy-lpcfg learn lm train.txt --dev dev.txt --set n_states=64 --set kneser_ney=true -o lm/
        spacy-lpcfg surprisal lm/ "The horse raced past the barn fell."
    """
    from spacy_lpcfg.language_model import LanguageModelLearner, read_sentences
    from spacy_lpcfg.learning.base import meta_of

    output = check_folder(output, inputs=[*text, *(dev or ())], force=force)
    nlp = blank_pipeline(lang)
    learner, config = chosen_learner("lm", settings, seed=seed, lang=lang)
    assert isinstance(learner, LanguageModelLearner)
    if learner.kneser_ney and not dev and not learner.held_out:
        raise typer.BadParameter("kneser_ney needs a --dev text to weigh the models on", param_hint=SET)
    sentences, held_out = list(read_sentences(text)), list(read_sentences(dev or []))
    if dev and not held_out:
        raise ValueError(f"{dev[0]} has no words")
    with busy("learning"):
        model, history = learner.fit(sentences, held_out=held_out)
    _log_history(history)
    if learner.kneser_ney:
        log("weights of latent model, bigrams, trigrams: " + ", ".join(f"{weight:.3f}" for weight in model.weights))
    tell(f"{len(model.vocabulary)} words, {model.aggregate.n_states} states")
    if held_out:
        tell(f"dev perplexity {model.perplexity(held_out).perplexity:.2f} on {len(held_out)} sentences")
    add_learned(nlp, "language_model", model, {"learner": config})
    nlp.meta.update(meta_of(history))
    save_pipeline(nlp, output, force=force)


def _log_history(history: "Sequence[Iteration]") -> None:
    for n, log_likelihood, score, seconds in history:
        dev_part = f", dev perplexity {score.perplexity:.2f}" if score else ""
        log(f"{n} iterations of EM, {seconds:.1f} s: log-likelihood {log_likelihood:.0f}{dev_part}")
