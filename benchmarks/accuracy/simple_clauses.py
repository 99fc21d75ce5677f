"""Measure how many of the clauses that `spacy-lpcfg simplify` splits off are grammatical, and faithful to the sentence.

    python -m benchmarks.accuracy.simple_clauses MODEL [--print] [--json FILE]

MODEL is a folder that spacy.load opens, or a model of the package, such as en. The sentences are those of
simple_clauses.txt, a quarter of each genre; rules were made by the first half only. Below each sentence are clauses as
they were judged by reading: + for yes or - for no, whether the clause is grammatical, and whether the sentence says it,
given the relation. A clause that has not been judged counts for neither; --print prints it with ?? among all others,
to be judged and put into the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks import measure  # isort: skip, before numpy

from spacy_lpcfg.components.cli.shared.pipelines import load_pipeline

FILE = Path(__file__).with_suffix(".txt")
CLAUSE = re.compile(r"  ([-+]{2}) (.+)")
Judged = dict[str, str]


def main() -> None:
    arguments = measure.arguments(__doc__)
    arguments.add_argument("model", metavar="MODEL")
    arguments.add_argument("--print", action="store_true", dest="is_printed")
    args = arguments.parse_args()
    nlp = load_pipeline(args.model)
    marks: list[list[str]] = []
    for genre, sentence, judged in sentences():
        clauses = [f"{clause.relation}: {clause.text}" for clause in nlp(sentence)._.simple_clauses]
        marks.append([judged.get(clause, "??") for clause in clauses])
        if args.is_printed:
            print(f"{genre}: {sentence}")
            print("".join(f"  {mark} {clause}\n" for mark, clause in zip(marks[-1], clauses, strict=True)), end="")
    half = len(marks) // 2
    rows = [row("first", marks[:half]), row("second", marks[half:])]
    measure.report({"clauses of each half of the sentences": rows}, args.json)


def sentences() -> Iterator[tuple[str, str, Judged]]:
    """Yield genre, text and judged clauses of each sentence."""
    for block in re.split(r"(?m)^(?=\S)", FILE.read_text("utf-8"))[1:]:
        first, *rest = block.splitlines()
        genre, _, sentence = first.partition(": ")
        yield genre, sentence, {match[2]: match[1] for match in map(CLAUSE.fullmatch, rest) if match}


def row(name: str, marks: list[list[str]]) -> measure.Row:
    """Return the shares of judged clauses in percent, in sentences that were split: to leave one whole is no merit."""
    clauses = [mark for of_sentence in marks for mark in of_sentence if len(of_sentence) > 1]
    judged = [mark for mark in clauses if mark != "??"]
    n = max(len(judged), 1)
    return {
        "half": name,
        "sentences": len(marks),
        "split": sum(len(of_sentence) > 1 for of_sentence in marks),
        "clauses": len(clauses),
        "judged": len(judged),
        "grammatical, %": 100 * sum(mark[0] == "+" for mark in judged) / n,
        "faithful, %": 100 * sum(mark[1] == "+" for mark in judged) / n,
        "both, %": 100 * judged.count("++") / n,
    }


if __name__ == "__main__":
    main()
