"""`spacy-lpcfg learn isbn`: incremental sigmoid belief networks from a treebank."""

from collections.abc import Callable
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import busy, log, reporting_errors, tell
from spacy_lpcfg.components.cli.shared.learner_options import chosen_learner
from spacy_lpcfg.components.cli.shared.pipelines import add_learned, blank_pipeline, check_folder
from spacy_lpcfg.components.cli.shared.treebanks import read_held_out, read_training, save_measured

if TYPE_CHECKING:
    from spacy_lpcfg.isbn.learning import LearningEpoch


@reporting_errors
def learn_isbn(
    trees: options.TrainingTrees,
    output: options.Output,
    dev: options.Dev = None,
    settings: options.Settings = None,
    tags: options.TreeTags = options.TagDetail.fine,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    beam: Annotated[
        int | None, typer.Option(min=1, help="Number of hypotheses kept after each word when parsing.")
    ] = None,
    lang: options.TokenizerLang = "en",
    dialect: options.Dialect = None,
    skip_bad: options.SkipBad = False,
    force: options.Force = False,
) -> None:
    """Learn an isbn_parser, a left-to-right network, from trees.

    --dev keeps the network of the pass after which these trees have the highest likelihood, fits tau to the first 200
    of them, and prints F1 on them. Without --dev, one of 50 trees, at most 200 in all, is left out of learning to fit
    tau, unless there are fewer than 500.

    --set changes settings of `ISBNLearner`, such as n_states=160 (latent units of a position), n_networks=2,
    n_epochs=10, approximation=mean-field, training.dropout=0.2, lexical.min_count=2, functions=true (labels keep them,
    as NP-SBJ) or variant=paper.

    \b
    Example:
        spacy-lpcfg learn isbn train.mrg --dev dev.mrg --set n_states=120 -o model/
    """
    from spacy_lpcfg.isbn.learning import ISBNLearner
    from spacy_lpcfg.learning.base import meta_of

    output = check_folder(output, inputs=[*trees, *(dev or ())], force=force)
    nlp = blank_pipeline(lang)
    held_out = read_held_out(dev, skip_bad, dialect, tags)
    learner, config = chosen_learner("isbn", settings, seed=seed, lang=lang, jobs=jobs)
    assert isinstance(learner, ISBNLearner)
    treebank = list(read_training(trees, skip_bad, dialect, tags))
    n_epochs = learner.passes(len(treebank))
    with busy("learning", learner.n_networks * n_epochs) as reach:
        history: list[LearningEpoch] = []
        on_step = partial(_log_epoch, history=history, n_epochs=n_epochs, reach=reach)
        isbn = learner.fit(treebank, held_out=held_out, on_step=on_step)
    pruning = {} if beam is None else {"beam": beam}
    component = add_learned(nlp, "isbn_parser", isbn, {"learner": config, "pruning": pruning})
    tell(isbn.summary)
    nlp.meta.update(meta_of(history))
    save_measured(nlp, output, component.ready_parser, held_out, force=force)


def _log_epoch(
    epoch: "LearningEpoch", *, history: list["LearningEpoch"], n_epochs: int, reach: Callable[[int], None]
) -> None:
    history.append(epoch)
    reach((epoch.network - 1) * n_epochs + epoch.epoch)
    dev = f", dev {epoch.dev:.3f}" if not isnan(epoch.dev) else ""
    log(
        f"network {epoch.network}, epoch {epoch.epoch} of {n_epochs}: {epoch.seconds:.1f} s, "
        f"log-likelihood a word {epoch.log_likelihood:.3f}{dev}"
    )
