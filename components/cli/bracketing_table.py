"""`spacy-lpcfg bracketing-table`: a bracketer beside baselines, on trees."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import progress, reporting_errors
from spacy_lpcfg.components.cli.shared.pipelines import find_bracketer, load_pipeline
from spacy_lpcfg.components.cli.shared.treebanks import read_treebank

if TYPE_CHECKING:
    from spacy_lpcfg.bracketing.baselines.comparison import Table

_SCORES = {
    "F1 of all brackets together": ("f", "f_with_sentence"),
    "mean F1 of sentences": ("sentence_f", "sentence_f_with_sentence"),
}
_TO_BEAT = ("right_branching_inside_top", "ccm")


@reporting_errors
def bracketing_table(
    model: Annotated[
        str, typer.Argument(metavar="DIR", help="Folder or package of a pipeline with a spectral_bracketer.")
    ],
    trees: Annotated[list[Path], options.file_argument("TREES...", "Files with the right trees.")],
    text: Annotated[
        list[Path] | None, options.file_option("Tagged text for CCM, beside TREES; may be given again.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=options.LARGEST_SEED, help="Of the random trees.")] = 0,
    dialect: options.Dialect = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as one JSON object.")] = False,
) -> None:
    """Score a bracketer beside others, on trees.

    These are baselines, CCM (Klein and Manning 2002) and the upper bound. Unlabelled F1 over sentences of at most 10,
    20 and 40 words and over all, without punctuation: of the brackets of all sentences together, and as the mean over
    sentences; both without the brackets of whole sentences, and with them as in Klein and Manning (2002) and Parikh et
    al. (2014). CCM learns from the tags of TREES, and of --text.

    \b
    Example:
        spacy-lpcfg bracketing-table model/ dev.mrg --text train.mrg
    """
    from spacy_lpcfg.bracketing.baselines.comparison import compare, gold_sentences
    from spacy_lpcfg.components.training.tagged_text import read_sentences

    component = find_bracketer(load_pipeline(model))
    golds = list(gold_sentences(read_treebank(trees, False, dialect)))
    tagged = read_sentences(text or [], dialect=dialect)
    table = compare(component.bracket, golds, text=tagged, seed=seed, progress=progress)
    if as_json:
        scores = {system: {limit: totals.as_dict() for limit, totals in row.items()} for system, row in table.items()}
        print(json.dumps(scores))
    else:
        print("\n".join(_lines(table)))


def _lines(table: "Table") -> Iterator[str]:
    """Yield two tables, and below each the lead of the bracketer over the best baseline."""
    from spacy_lpcfg.bracketing.baselines.comparison import BRACKETER

    first = next(iter(table.values()))
    for title, names in _SCORES.items():
        yield f"{title}: without / with the brackets of whole sentences"
        yield _line("words", [limit if limit == "all" else f"<= {limit}" for limit in first])
        for system, row in table.items():
            yield _line(
                system, [" / ".join(f"{getattr(totals, name):.1f}" for name in names) for totals in row.values()]
            )
        for rival in _TO_BEAT if BRACKETER in table else ():
            pairs = zip(table[BRACKETER].values(), table[rival].values(), strict=True)
            margins = [[getattr(best, name) - getattr(other, name) for name in names] for best, other in pairs]
            yield _line(f"above {rival}", [" / ".join(f"{margin:+.1f}" for margin in of_limit) for of_limit in margins])
        yield ""
    yield _line("sentences", [str(totals.n_sentences) for totals in first.values()])


def _line(head: str, cells: list[str]) -> str:
    return f"{head:<34}" + "".join(f"{cell:>15}" for cell in cells)
