"""`spacy-lpcfg simplify`: split sentences into clauses that stand alone."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.citations import CHARACTERS, EXTENT, PLACE, CitedSentence
from spacy_lpcfg.components.cli.shared.console import begun, progress, reporting_errors
from spacy_lpcfg.components.cli.shared.formats import checked_target
from spacy_lpcfg.components.cli.shared.runs import loaded_run

if TYPE_CHECKING:
    from spacy_lpcfg.components.cli.shared.runs import Parsed
    from spacy_lpcfg.components.doc.simple_clauses import ClauseToken, SimpleClause
    from spacy_lpcfg.queries import EditRule

_COLUMNS = (*PLACE, "relation", "probability", "clause", *EXTENT)

ClauseFormat = Literal["text", "tsv", "csv", "jsonl"]


class CitedClause(NamedTuple):
    """A simple clause with the location of its sentence.

    citation (CitedSentence): The source location of the sentence.
    number (int): The number of the sentence in the file, among those with words, from 1.
    positions (list of int): The token indices in the Doc of the sentence's words.
    clause (SimpleClause): The clause.
    """

    citation: CitedSentence
    number: int
    positions: list[int]
    clause: "SimpleClause"


@reporting_errors
def simplify(
    model: options.ParserModel,
    file: options.File,
    kind: options.Kind = None,
    rules: Annotated[
        Path | None, options.file_option("Rules that split sentences, in Tsurgeon's format. [default: for English]")
    ] = None,
    form: Annotated[
        ClauseFormat | None,
        options.format_option("A clause a line, a table, or an object for each clause. [default: text]"),
    ] = None,
    output: options.OutputFile = None,
    force: options.Replace = False,
) -> None:
    """Split sentences into clauses that stand alone.

    Coordinated clauses and verb phrases are separated, with the subject copied; relative and participial clauses,
    appositions and adverbial clauses become sentences. Quotations and conditions stay whole.

    A table has the place of the sentence, the relation of the clause ("main", "relative", "participle", "apposition",
    "parataxis", or its conjunction), a probability, the clause, and the sentence. The probability is the lowest of the
    brackets by which the rules found the clause. A JSON object also has the words of the clause: their position in the
    sentence and their characters (null for words that were added), and `is_copy`, which is true for words that an
    earlier clause has already.

    \b
    Example:
        spacy-lpcfg simplify en "Matt made eggs and had breakfast."
        spacy-lpcfg simplify en report.txt -o clauses.jsonl
        spacy-lpcfg simplify en report.txt --rules my.tsurgeon --format tsv
    """
    from spacy_lpcfg.queries import read_rules

    target = checked_target(output, form, get_args(ClauseFormat), inputs=[file, model], force=force)
    clause_rules = None if rules is None else read_rules(rules)
    documents = progress(loaded_run(model, file, kind).parsed(), "documents")
    target.write(begun(_WRITTEN[target.form](_cited(documents, clause_rules))))


def _cited(documents: "Iterable[Parsed]", rules: "Sequence[EditRule] | None") -> Iterator[CitedClause]:
    from spacy_lpcfg.components.doc.sentences import words_of
    from spacy_lpcfg.components.doc.simple_clauses import doc_simple_clauses

    numbers = count(1)
    for parsed in documents:
        clauses = iter(doc_simple_clauses(parsed.doc, rules))
        clause = next(clauses, None)
        for citation, bounds in parsed.bounds():
            positions = words_of(parsed.doc, *bounds)
            number = next(numbers) if positions else 0
            while clause is not None and clause.sent.start in positions:
                yield CitedClause(citation, number, positions, clause)
                clause = next(clauses, None)


def _rows(clauses: Iterable[CitedClause]) -> Iterator[tuple[Any, ...]]:
    yield _COLUMNS
    for citation, number, _, clause in clauses:
        yield citation.row(number, clause.relation, clause.probability, clause.text)


def _objects(clauses: Iterable[CitedClause]) -> Iterator[dict[str, Any]]:
    for citation, number, positions, clause in clauses:
        p = clause.probability
        yield {
            **citation.place(number),
            **citation.extent(),
            "relation": clause.relation,
            "probability": None if p is None else round(p, 6),
            "clause": clause.text,
            "words": [_word(citation, positions, word) for word in clause.words],
        }


def _word(citation: CitedSentence, positions: "Sequence[int]", word: "ClauseToken") -> dict[str, Any]:
    position = None if word.token is None else positions.index(word.token.i)
    characters = (None, None) if position is None else citation.characters(position, position + 1)
    place = dict(zip(CHARACTERS, characters, strict=True))
    return {"text": word.text, "position": position, **place, "is_copy": word.is_copy}


def _lines(clauses: Iterable[CitedClause]) -> Iterator[str]:
    return (" ".join(cited.clause.text.split()) for cited in clauses)


_WRITTEN = {"text": _lines, "tsv": _rows, "csv": _rows, "jsonl": _objects}
