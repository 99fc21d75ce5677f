"""The tables of an EVALB evaluation: a summary for people, and the report that evalb.c prints."""

from __future__ import annotations

from spacy_lpcfg.evaluation.evalb import Evaluation
from spacy_lpcfg.evaluation.evalb_sentence import PRF, SentenceScore, Status, percent
from spacy_lpcfg.evaluation.evalb_totals import Totals

_RULE = "=" * 76
_MAX_CONFUSIONS = 10
_REFERENCE_HEAD = f"""\
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
{_RULE}"""


def reference_table(evaluation: Evaluation) -> str:
    """Format an evaluation as evalb.c does: a line for each sentence, a line of sums, two summaries.

    evaluation (Evaluation): The scores.
    RETURNS (str): Lines without a newline at the end. The messages about error sentences, which
        evalb.c prints on stderr, are in `Evaluation.sentences`.
    """
    cutoff = evaluation.params.cutoff
    total = evaluation.total()
    return "\n".join(
        [
            _REFERENCE_HEAD,
            *(_reference_line(i, s) for i, s in enumerate(evaluation.sentences, start=1)),
            _RULE,
            _reference_sums(total),
            "=== Summary ===",
            "",
            "-- All --",
            *_reference_summary(total),
            "",
            f"-- len<={cutoff} --",
            *_reference_summary(evaluation.total(cutoff)),
        ]
    )


def _reference_line(number: int, score: SentenceScore) -> str:
    counts = score.brackets
    return (
        f"{number:4d}  {score.length:3d}    {score.status:d}  "
        f"{counts.recall:6.2f} {counts.precision:6.2f}   {counts.matched:3d}    "
        f"{counts.n_gold:3d}  {counts.n_test:3d}    {score.n_crossing:3d}   "
        f"{score.n_words:4d}  {score.n_correct_tags:4d}   "
        f"{percent(score.n_correct_tags, score.n_words):6.2f}"
    )


def _reference_sums(total: Totals) -> str:
    """Format the line of sums; like evalb.c, only its second half if gold or test has no brackets at all."""
    counts = total.brackets
    tags = f"  {total.n_words:5d} {total.n_correct_tags:5d}   {total.tag_accuracy:6.2f}"
    if not (counts.n_gold and counts.n_test):
        return tags
    return (
        f"{'':16}{counts.recall:6.2f} {counts.precision:6.2f} {counts.matched:6d} "
        f"{counts.n_gold:5d} {counts.n_test:5d}  {total.n_crossing:5d}{tags}"
    )


def _reference_summary(total: Totals) -> list[str]:
    fmeasure = total.fmeasure if total.precision + total.recall else float("nan")
    return [
        f"Number of sentence        = {total.n_sentences:6d}",
        f"Number of Error sentence  = {total.n_error:6d}",
        f"Number of Skip  sentence  = {total.n_skipped:6d}",
        f"Number of Valid sentence  = {total.n_valid:6d}",
        f"Bracketing Recall         = {total.recall:6.2f}",
        f"Bracketing Precision      = {total.precision:6.2f}",
        f"Bracketing FMeasure       = {fmeasure:6.2f}",
        f"Complete match            = {total.complete_match:6.2f}",
        f"Average crossing          = {total.average_crossing:6.2f}",
        f"No crossing               = {total.no_crossing:6.2f}",
        f"2 or less crossing        = {total.few_crossing:6.2f}",
        f"Tagging accuracy          = {total.tag_accuracy:6.2f}",
    ]


def summary_table(evaluation: Evaluation) -> str:
    """Format a summary for people: percentages over all and short sentences, per label and length, and confusions.

    evaluation (Evaluation): The scores.
    RETURNS (str): Lines without a newline at the end.
    """
    cutoff = evaluation.params.cutoff
    columns = [evaluation.total(), evaluation.total(cutoff)]
    return "\n".join(
        [
            f"{'':<22}{'all':>10}{f'<= {cutoff} words':>14}",
            *(f"{name:<22}{_number(values[0]):>10}{_number(values[1]):>14}" for name, values in _summary_rows(columns)),
            "",
            f"{'label':<12}{'gold':>8}{'test':>8}{'matched':>9}{'recall':>9}{'prec.':>9}{'F1':>9}",
            *(_label_line(label, counts) for label, counts in _by_frequency(evaluation)),
            "",
            f"{'words':<12}{'sentences':>10}{'recall':>9}{'prec.':>9}{'F1':>9}{'complete':>10}",
            *(_length_line(name, total) for name, total in evaluation.per_length().items()),
            *_confusion_lines(evaluation),
            *_remarks(evaluation, columns[0]),
        ]
    )


def _summary_rows(columns: list[Totals]) -> list[tuple[str, list[float]]]:
    return [
        ("sentences", [total.n_sentences for total in columns]),
        ("errors", [total.n_error for total in columns]),
        ("skipped", [total.n_skipped for total in columns]),
        ("bracketing recall", [total.recall for total in columns]),
        ("bracketing precision", [total.precision for total in columns]),
        ("bracketing F1", [total.fmeasure for total in columns]),
        ("complete match", [total.complete_match for total in columns]),
        ("average crossing", [total.average_crossing for total in columns]),
        ("no crossing", [total.no_crossing for total in columns]),
        ("2 or fewer crossing", [total.few_crossing for total in columns]),
        ("tagging accuracy", [total.tag_accuracy for total in columns]),
    ]


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.2f}"


def _by_frequency(evaluation: Evaluation) -> list[tuple[str, PRF]]:
    return sorted(evaluation.per_label().items(), key=lambda item: -item[1].n_gold)


def _label_line(label: str, counts: PRF) -> str:
    return (
        f"{label:<12}{counts.n_gold:>8}{counts.n_test:>8}{counts.matched:>9}"
        f"{counts.recall:>9.2f}{counts.precision:>9.2f}{counts.fmeasure:>9.2f}"
    )


def _length_line(name: str, total: Totals) -> str:
    return (
        f"{name:<12}{total.n_sentences:>10}{total.recall:>9.2f}{total.precision:>9.2f}{total.fmeasure:>9.2f}"
        f"{total.complete_match:>10.2f}"
    )


def _confusion_lines(evaluation: Evaluation) -> list[str]:
    commonest = list(evaluation.confusions().items())[:_MAX_CONFUSIONS]
    lines = [f"{gold:<12}{test:<12}{n:>8}" for (gold, test), n in commonest]
    return ["", f"{'gold':<12}{'taken for':<12}{'times':>8}", *lines] if lines else []


def _remarks(evaluation: Evaluation, total: Totals) -> list[str]:
    """Format a warning if the scores leave out more than `max_error` error sentences."""
    if total.n_error <= evaluation.params.max_error:
        return []
    number, first = next(
        (i, score) for i, score in enumerate(evaluation.sentences, start=1) if score.status == Status.ERROR
    )
    return [
        "",
        f"{total.n_error} error sentences are in none of the scores above. Do gold and test have "
        f"the same words? Sentence {number}: {first.reason}.",
    ]
