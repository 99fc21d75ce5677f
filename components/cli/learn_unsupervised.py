"""`spacy-lpcfg learn unsupervised`: learn a parser from raw text, without tags or trees."""

from pathlib import Path
from typing import Annotated

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import busy, reporting_errors, tell
from spacy_lpcfg.components.cli.shared.learner_options import chosen_learner
from spacy_lpcfg.components.cli.shared.pipelines import add_learned, blank_pipeline, check_folder, save_pipeline


@reporting_errors
def learn_unsupervised(
    text: Annotated[
        list[Path], options.file_argument("TEXT...", "A sentence a line, a million words or more; also .gz.")
    ],
    output: options.Output,
    grammar_text: Annotated[
        list[Path] | None,
        options.file_option("Some thousand sentences like those to parse. [default: a sample of TEXT]"),
    ] = None,
    settings: options.Settings = None,
    seed: options.Seed = 0,
    lang: options.TokenizerLang = "en",
    force: options.Force = False,
) -> None:
    """Learn an lpcfg_parser from raw text, without trees.

    Its trees have probabilities, but only the labels S and X. A line of TEXT is a sentence, with blanks between its
    tokens.

    --set changes settings of `Unsupervised`, such as n_classes=[32] (the number of word classes of each grammar) and
    n_rounds=1, which are faster and less accurate.

    \b
    Example:
        spacy-lpcfg learn unsupervised text.txt.gz --grammar-text news.txt -o model/
        spacy-lpcfg parse model/ "The old ferry was sold."
    """
    from spacy_lpcfg.induced.learner import Unsupervised, without_marks
    from spacy_lpcfg.language_model import read_sentences

    output = check_folder(output, inputs=[*text, *(grammar_text or ())], force=force)
    nlp = blank_pipeline(lang)
    learner, _ = chosen_learner("unsupervised", settings, seed=seed, lang=lang)
    assert isinstance(learner, Unsupervised)
    n_grammars = learner.n_rounds * len(learner.n_classes)
    of_grammars = without_marks(read_sentences(grammar_text)) if grammar_text else None
    with busy("learning", n_grammars, "grammars") as reach:
        learned = learner.fit(without_marks(read_sentences(text)), of_grammars, on_step=lambda step: reach(step.number))
    add_learned(nlp, "lpcfg_parser", learned, {})
    tell(learned.summary)
    save_pipeline(nlp, output, force=force)
