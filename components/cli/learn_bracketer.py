"""`spacy-lpcfg learn bracketer`: learn unlabelled constituents from tagged text, without a treebank."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from spacy_lpcfg.checks import counted
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.clusters import on_cluster
from spacy_lpcfg.components.cli.shared.console import busy, log_skipped, reporting_errors, tell
from spacy_lpcfg.components.cli.shared.learner_options import chosen_learner
from spacy_lpcfg.components.cli.shared.pipelines import blank_pipeline, check_folder, save_pipeline
from spacy_lpcfg.components.cli.shared.treebanks import log_dialect, names_of

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_lpcfg.bracketing.tagged import TaggedSentence
    from spacy_lpcfg.components.spectral_bracketer import SpectralBracketerPipe
    from spacy_lpcfg.trees import TreebankError


Attribute = Literal["tag", "pos"]


@reporting_errors
def learn_bracketer(
    tagged: options.TaggedText,
    output: options.Output,
    settings: options.Settings = None,
    attr: Annotated[
        Attribute, typer.Option(help="Read token.tag_ or token.pos_, in .spacy files and when bracketing.")
    ] = "tag",
    tag_map: Annotated[
        Path | None, options.file_option("A file with a tag and its universal tag on each line.")
    ] = None,
    seed: options.Seed = 0,
    scheduler: options.Scheduler = None,
    lang: options.TokenizerLang = "en",
    dialect: options.Dialect = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out broken trees and lines, and say how many.")
    ] = False,
    force: options.Force = False,
) -> None:
    """Learn a spectral_bracketer from tagged text, without trees.

    Only words and tags are read, never the brackets of trees. The text is read several times, and not kept in memory;
    with --scheduler its covariances are summed on the cluster.

    --set changes settings of `SpectralBracketer`, such as m=7, or variant=paper for the published method.

    Tags of Universal Dependencies, the Penn Treebank or the Brown corpus are known; other tags need a --tag-map.

    \b
    Example:
        spacy-lpcfg learn bracketer text.tagged.gz train.mrg -o model/
        spacy-lpcfg parse model/ dev.mrg
    """
    from spacy_lpcfg.components.training.tagged_text import read_tag_map

    output = check_folder(output, inputs=[*tagged, tag_map], force=force)
    nlp = blank_pipeline(lang)
    component = _add_bracketer(nlp, settings, attr, seed)
    component.mapping = read_tag_map(tag_map) if tag_map else {}
    text = _Text(tagged, attr, dialect, skip_bad)
    with on_cluster(scheduler), busy("learning"):
        component.learn(text)
    text.log_dialects()
    log_skipped(list(text.errors.values()))
    counts = f"{counted(text.n_sentences, 'sentence')}, {counted(text.n_tokens, 'token')}"
    tell(f"learned from {counts} of {names_of(tagged)}")
    save_pipeline(nlp, output, force=force)


def _add_bracketer(nlp: "Language", settings: list[str] | None, attr: Attribute, seed: int) -> "SpectralBracketerPipe":
    from spacy_lpcfg.components.spectral_bracketer import SpectralBracketerPipe

    _, learner = chosen_learner("bracketer", settings, seed=seed, lang=nlp.lang or "en")
    config = {"learner": learner, "attr": attr, "seed": seed}
    component = nlp.add_pipe("spectral_bracketer", config=config)
    assert isinstance(component, SpectralBracketerPipe)
    return component


class _Text:
    """Training text that can be read several times: each call reads the tagged sentences anew, and counts them."""

    def __init__(self, paths: list[Path], attr: Attribute, dialect: str | None, skip_bad: bool) -> None:
        self.paths = paths
        self.attr = attr
        self.dialect = dialect
        self.skip_bad = skip_bad
        self.errors: dict[tuple[str, int], TreebankError] = {}
        self.n_sentences = self.n_tokens = 0

    def __call__(self) -> "Iterator[TaggedSentence]":
        from spacy_lpcfg.components.training.tagged_text import read_sentences

        self.n_sentences = self.n_tokens = 0
        on_error = self._note if self.skip_bad else None
        form: dict[str, Any] = {"attr": self.attr, "dialect": self.dialect}
        for sentence in read_sentences(self.paths, on_error=on_error, **form):
            self.n_sentences += 1
            self.n_tokens += len(sentence.words)
            yield sentence

    def log_dialects(self) -> None:
        from spacy_lpcfg.trees.reading import dialect_of

        dialects = {dialect_of(path) for path in self.paths if path.suffix != ".spacy"} if self.dialect is None else ()
        for name in sorted(dialects or {self.dialect or "penn"}):
            log_dialect(name, self.dialect, Counter())

    def _note(self, error: "TreebankError") -> None:
        self.errors[error.path, error.line] = error
