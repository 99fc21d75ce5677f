"""`spacy-lpcfg perplexity`: of a text, under a language model."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import busy, reporting_errors

if TYPE_CHECKING:
    from spacy_lpcfg.language_model import LanguageModel, Perplexity


@reporting_errors
def perplexity(
    model: Annotated[Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, help="As of `learn lm`.")],
    text: Annotated[Path, options.file_argument("TEXT", "A sentence a line; also .gz.")],
    as_json: options.AsJson = False,
) -> None:
    """Measure the perplexity of a text under a language model.

    Tokens and ends of sentences count; unknown words do not.

    \b
    Example:
        spacy-lpcfg perplexity lm/ test.txt --json
    """
    from spacy_lpcfg.language_model import read_sentences

    language_model = _load(model)
    with busy("measuring"):
        result = language_model.perplexity(read_sentences(text))
    print(json.dumps(asdict(result)) if as_json else _table(result))


def _load(folder: Path) -> "LanguageModel":
    from spacy_lpcfg.components.language_model import MODEL_FILE
    from spacy_lpcfg.language_model import LanguageModel, LanguageModelError

    path = folder / MODEL_FILE
    if not path.is_file():
        raise ValueError(f"{folder} has no language model. Make one with `spacy-lpcfg learn lm`.")
    try:
        return LanguageModel.from_disk(path)
    except LanguageModelError as error:
        raise ValueError(f"{path}: {error}") from error


def _table(result: "Perplexity") -> str:
    return (
        f"perplexity {result.perplexity:.2f} ({result.bits:.3f} bits a token)\n"
        f"{result.n_tokens} tokens and ends of sentences; {result.n_unknown} unknown words do not count"
    )
