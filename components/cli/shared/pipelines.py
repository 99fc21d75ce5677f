"""Pipelines: load them, find components in them, and save new ones without overwriting other files."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from itertools import count
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, cast

import typer

from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.cli.shared.console import busy, log, one_line, usage_errors
from spacy_lpcfg.components.cli.shared.files import is_within
from spacy_lpcfg.storage.files import replacing_folder
from spacy_lpcfg.storage.manifest import reason_not_replaceable, write_manifest

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_lpcfg.components.language_model import LanguageModelPipe
    from spacy_lpcfg.components.lpcfg_parser import LPCFGParser
    from spacy_lpcfg.components.parsing_pipe import ParsingPipe
    from spacy_lpcfg.components.spectral_bracketer import SpectralBracketerPipe
    from spacy_lpcfg.parsing.model import ParsingModel
    from spacy_lpcfg.parsing.query import Query

_MOST_JOBS = 1_000
_LONGEST = 400  # characters of a message by spaCy, which may list all there is
_OTHER_SPACY = r"\[W095\]"  # spaCy warns of a model for another version of it


# To load -----------------------------------------------------------------------------------------


@contextmanager
def _uncollected() -> Iterator[None]:
    """Disable the garbage collector in the block: loading makes hardly any garbage, and a collection takes 0.2 s."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_uncollected()
def load_pipeline(model: str) -> Language:
    """Load a pipeline.

    model (str): The name of a pretrained model, such as "en", the path of a pipeline's folder, or an installed package.
    RAISES (ValueError): If there is no such pipeline, or it is damaged, lacks a dependency, or was made for an
        incompatible version of spaCy.
    """
    import spacy
    from spacy.util import is_package

    from spacy_lpcfg.models import has_pretrained

    if has_pretrained(model) and not (Path(model) / "config.cfg").is_file():
        return _pretrained_pipeline(model)
    if not Path(model).exists() and not is_package(model):
        raise ValueError(_no_model(model))
    if Path(model).exists() and not (Path(model) / "config.cfg").is_file():
        raise ValueError(f"{model} is no pipeline: expected a folder with config.cfg, as `spacy-lpcfg learn` saves it")
    with warnings.catch_warnings(), busy(f"loading {model}"):
        warnings.filterwarnings("error", _OTHER_SPACY)
        try:
            return spacy.load(model)
        except Exception as error:
            raise ValueError(
                f"{model} cannot be loaded ({type(error).__name__}): {shorten(one_line(error), _LONGEST)} Copy or "
                "learn it again, and check that it is the folder or package of a pipeline."
            ) from error


def _no_model(name: str) -> str:
    from spacy_lpcfg.models import pretrained_names

    names = pretrained_names()
    near = get_close_matches(name, names, 1) or get_close_matches(name.partition("_")[0], names, 1)
    return (
        f"there is no MODEL {shown(name)}: expected {', '.join(names)}, a folder that `spacy-lpcfg learn` saved, or an "
        f"installed package{f'; did you mean {near[0]}?' if near else ''}"
    )


def _pretrained_pipeline(name: str) -> Language:
    nlp = blank_pipeline(name.partition("-")[0])
    parser = cast("ParsingPipe", nlp.add_pipe("lpcfg_parser", config={"pretrained": name}))
    parser.ready_parser()
    return nlp


def find_parser(nlp: Language) -> ParsingPipe:
    """Return the first trained parser of a pipeline.

    RAISES (ValueError): If the pipeline has none.
    """
    from spacy_lpcfg.components.parsing_pipe import ParsingPipe

    return _find(nlp, "lpcfg_parser or isbn_parser", ParsingPipe)


def find_lpcfg_parser(nlp: Language) -> tuple[LPCFGParser, ParsingModel]:
    """Return the first trained lpcfg_parser of a pipeline, and its model.

    RAISES (ValueError): If the pipeline has none.
    """
    from spacy_lpcfg.components.lpcfg_parser import LPCFGParser

    pipe = _find(nlp, "lpcfg_parser", LPCFGParser)
    return pipe, pipe.learned


def find_parser_or_bracketer(nlp: Language) -> ParsingPipe | SpectralBracketerPipe:
    """Return the first trained parser or spectral_bracketer of a pipeline.

    RAISES (ValueError): If the pipeline has none.
    """
    from spacy_lpcfg.components.parsing_pipe import ParsingPipe
    from spacy_lpcfg.components.spectral_bracketer import SpectralBracketerPipe

    return _find(nlp, "lpcfg_parser, isbn_parser or spectral_bracketer", ParsingPipe, SpectralBracketerPipe)


def find_surprisal(nlp: Language) -> ParsingPipe | LanguageModelPipe:
    """Return the component that computes surprisals.

    It is the first trained language_model, or else the first trained parser.

    RAISES (ValueError): If the pipeline has neither.
    """
    from spacy_lpcfg.components.language_model import LanguageModelPipe
    from spacy_lpcfg.components.parsing_pipe import ParsingPipe

    has_model = any(isinstance(pipe, LanguageModelPipe) and pipe.learned for _, pipe in nlp.pipeline)
    return _find(nlp, "lpcfg_parser, isbn_parser or language_model", LanguageModelPipe if has_model else ParsingPipe)


def _find(nlp: Language, what: str, *kinds: type[Any]) -> Any:
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, kinds) and pipe.learned is not None:
            return pipe
    raise ValueError(
        f"the pipeline has no {what} that has learned, but {', '.join(nlp.pipe_names) or 'nothing'}. Make one with "
        "`spacy-lpcfg learn`."
    )


def listened_to(nlp: Language, pipe: Any) -> list[str]:
    """Return the names of the components, such as a tok2vec, that the component `pipe` listens to."""
    return [name for name, other in nlp.pipeline if pipe.name in getattr(other, "listening_components", ())]


def queries_of(nlp: Language, pipe: ParsingPipe, sentences: Sequence[Sequence[str]]) -> list[Query]:
    """Return a parser query for each sentence, with evidence from the vectors of other components, if there are any.

    nlp (Language): The pipeline.
    pipe (ParsingPipe): The parser; components that it listens to, such as a tok2vec, are run first.
    sentences (sequence of sequence of str): The words of each sentence, as in text or in treebank spelling.
    """
    from spacy.tokens import Doc

    from spacy_lpcfg.components.doc.write import text_of

    docs = [Doc(nlp.vocab, words=[text_of(word) for word in words]) for words in sentences]
    for component in (cast("Any", nlp.get_pipe(name)) for name in listened_to(nlp, pipe)):
        docs = [*component.pipe(docs)]
    of_docs = zip(map(pipe.query, sentences), pipe.evidence_of(docs), strict=True)
    return [
        query if evidence_of is None else replace(query, evidence=evidence_of(range(len(query.words)), query.words))
        for query, evidence_of in of_docs
    ]


# To save -----------------------------------------------------------------------------------------


def check_folder(output: Path, *, inputs: Iterable[str | Path | None] = (), force: bool) -> Path:
    """Check, before any work, that a pipeline can be saved to a folder; return its path with symbolic links resolved.

    output (Path): The folder.
    inputs (iterable of str, Path or None): Files and folders that the command reads, and that must not be replaced.
    force (bool): Whether to replace the folder even if it holds files that were not saved by this package.
    RAISES (BadParameter): If the folder must not be replaced, or cannot be created.
    """
    target = Path(os.path.realpath(output))
    if os.path.lexists(target) and not target.is_dir():
        raise typer.BadParameter(f"{output} is not a folder", param_hint="--output")
    if message := _refusal(target, force=force):
        raise typer.BadParameter(message, param_hint="--output")
    held = next(
        (source for source in inputs if source and os.path.exists(source) and is_within(Path(source), target)), None
    )
    if held is not None and target.exists():
        reason = f"{str(output)!r} holds {str(held)!r}, which is read, and would be replaced: name another folder"
        raise typer.BadParameter(reason, param_hint="--output")
    check_can_be_made(target.parent)
    return target


def check_can_be_made(folder: Path) -> None:
    """Raise BadParameter unless a folder is writable, or can be created in its nearest existing ancestor."""
    above = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise typer.BadParameter(f"{above} is no folder that can be written to", param_hint="--output")


def _refusal(folder: Path, *, force: bool) -> str | None:
    """Return the error message if a folder must not be replaced; None if it may be replaced."""
    reason = reason_not_replaceable(folder, force=force)
    return reason and f"{str(folder)!r} {reason}"


@contextmanager
def saving_folder(output: Path, *, force: bool) -> Iterator[Path]:
    """Yield a temporary folder, and move it to `output` when the block succeeds.

    force (bool): Whether to replace `output` even if it holds files that were not saved by this package.
    RAISES (ValueError): If `output` meanwhile holds something that must not be replaced. The new folder is then saved
        beside it, with a number after its name.
    """

    def check(folder: Path) -> None:
        if message := _refusal(output, force=force):
            beside = next(path for n in count(1) if not os.path.lexists(path := f"{output}-{n}"))
            folder.rename(beside)
            raise ValueError(f"{message}. What was to be saved there is in {beside!r}")

    output.parent.mkdir(parents=True, exist_ok=True)
    with replacing_folder(output, check=check) as folder:
        yield folder
        write_manifest(folder)


def blank_pipeline(lang: str) -> Language:
    """Create a pipeline with a tokenizer and an lpcfg_sentencizer; emoticons such as `8)` are split by the tokenizer.

    lang (str): The code of the language, such as "en".
    RAISES (BadParameter): If spaCy does not have the language.
    """
    import spacy

    from spacy_lpcfg.components.tokenization import drop_smileys

    with usage_errors("--lang", kinds=(ImportError,)):
        nlp = spacy.blank(lang)
    drop_smileys(nlp)
    nlp.add_pipe("lpcfg_sentencizer")
    return nlp


def add_learned(nlp: Language, factory: str, learned: Any, config: dict[str, Any]) -> Any:
    """Add a component with a trained model to a pipeline, and return the component.

    factory (str): The name of the component's factory.
    learned (any): The trained model.
    config (dict): The config of the component, with the learner of the model.
    """
    component: Any = nlp.add_pipe(factory, config=config)
    component.learned = learned
    return component


def n_jobs(jobs: int, hint: str = "--jobs") -> int:
    """Return the number of parallel jobs for the value of an option; -1 stands for one job per processor.

    jobs (int): The value.
    hint (str): The name of the option, for the error.
    RAISES (BadParameter): If `jobs` is 0 or larger than `_MOST_JOBS`.
    """
    if jobs == 0 or jobs > _MOST_JOBS:
        raise typer.BadParameter(
            f"expected 1 to {_MOST_JOBS:,}, or -1 for one for each processor; got {jobs}", param_hint=hint
        )
    if jobs == 1:
        return 1
    from joblib import effective_n_jobs

    return effective_n_jobs(jobs)


def save_pipeline(nlp: Language, output: Path, *, force: bool) -> None:
    """Save a pipeline atomically to a folder, and log its path; arguments and errors as for `saving_folder`."""
    with saving_folder(output, force=force) as folder:
        nlp.to_disk(folder)
    log(f"saved to {output}")
