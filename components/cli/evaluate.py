"""`spacy-lpcfg evaluate`: compute EVALB scores of parsed trees, or of a model, against a treebank."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spacy_lpcfg.checks import counted
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.console import busy, log, progress, reporting_errors
from spacy_lpcfg.components.cli.shared.files import looks_like_path
from spacy_lpcfg.components.cli.shared.pipelines import find_parser_or_bracketer, load_pipeline, queries_of
from spacy_lpcfg.components.cli.shared.tree_sources import DOCS, trees_of_path
from spacy_lpcfg.components.cli.shared.treebanks import no_trees

if TYPE_CHECKING:
    from spacy_lpcfg.evaluation.evalb import PRF, Evaluation, SentenceTrees, Totals
    from spacy_lpcfg.trees import Tree

    Normalize = Callable[[Tree], Tree | None]


_Source = Annotated[str, typer.Argument(metavar="GOLD", help="The gold trees; or a MODEL to score: a pipeline, or en.")]
_Test = Annotated[Path, options.file_argument("TEST", "The trees to score; for a MODEL the gold trees.")]
_Params = Annotated[Path | None, options.file_option("An EVALB parameter file. [default: as COLLINS.prm]")]
_Reference = Annotated[bool, typer.Option("--reference", help="Print the report in the format of evalb.c.")]
_Unlabelled = Annotated[
    bool, typer.Option("--unlabelled", help="Score brackets without labels, except those over whole sentences.")
]
_Align = Annotated[bool, typer.Option("--align", help="Compare brackets by the characters in them: tokens may differ.")]


@reporting_errors
def evaluate(
    source: _Source,
    test: _Test,
    params: _Params = None,
    as_json: options.AsJson = False,
    reference: _Reference = False,
    unlabelled: _Unlabelled = False,
    align: _Align = False,
    dialect: options.Dialect = None,
    functions: options.TreeFunctions = "strip",
    tags: options.TreeTags = "fine",
) -> None:
    """Score parsed trees, or a model, by EVALB.

    Prints scores overall, by label and by length of sentences, and which labels are confused.

    GOLD and TEST are treebanks of any dialect with the same sentences in the same order. An empty line of TEST stands
    for a sentence without a tree. Empty elements, function labels and roots are removed first, and trees without words
    left out. Sentences whose words differ are errors, and not scored.

    With a MODEL instead of GOLD, TEST has the gold trees, whose words the model parses. A bracketer takes their tags
    too, and needs --unlabelled.

    --unlabelled is the measure of unsupervised parsing: F1 of all brackets, and the mean of the F1 of sentences. It
    ignores labels, punctuation, single words and brackets over whole sentences. TEST may have any labels, tags and
    spelling of words, and lack punctuation.

    --align scores trees over other tokens (ca n't, can't) or sentences: words are split where the other side splits
    them, and sentences are joined.

    --json has scores in percent, also by "labels" and "lengths"; "confusions" are brackets with the right words and a
    wrong label.

    \b
    Example:
        spacy-lpcfg parse model/ dev.mrg --input trees -o dev.parsed
        spacy-lpcfg evaluate dev.mrg dev.parsed
        spacy-lpcfg evaluate dev.mrg dev.parsed --json > model.json
        spacy-lpcfg evaluate model/ dev.spacy
    """
    from spacy_lpcfg.evaluation import alignment, evalb, evalb_report

    if reference and (as_json or unlabelled):
        raise typer.BadParameter("--reference is a form of output of its own: leave out --json and --unlabelled")
    is_model, keeps = _is_model(source), functions == "keep"
    normalize = partial(_normalized, functions=keeps, tags=tags)
    gold = test if is_model else Path(source)
    with busy("reading"):
        golds = _read_treebank(gold, dialect, normalize)
    if not golds:
        raise no_trees([gold])
    settings = replace(evalb.Params.from_file(params) if params else evalb.COLLINS, functions=keeps)
    parses = _parsed(source, golds, normalize, unlabelled) if is_model else _read_parses(test, len(golds), normalize)
    if align:
        golds, parses = alignment.align(golds, parses)
    if unlabelled:
        _print_unlabelled(golds, parses, as_json)
        return
    with busy("scoring"):
        evaluation = evalb.evaluate(golds, parses, settings)
    _check_words(gold, test, evaluation)
    if as_json:
        print(json.dumps(as_dict(evaluation), ensure_ascii=False))
    else:
        print(evalb_report.reference_table(evaluation) if reference else evalb_report.summary_table(evaluation))


def _print_unlabelled(golds: Sequence["Tree"], parses: Sequence["SentenceTrees"], as_json: bool) -> None:
    """Print unlabelled F1 (in percent) as text or JSON, and log the number of sentences that could not be scored.

    RAISES (ValueError): If the numbers of gold trees and parses differ, or no sentence can be scored.
    """
    from spacy_lpcfg.bracketing.tags import is_punctuation
    from spacy_lpcfg.evaluation.unlabelled import score_trees, unlabelled_totals

    if len(golds) != len(parses):
        raise ValueError(f"Expected a tree for each of {len(golds):,} gold trees, got {len(parses):,}.")
    trees = [_one_tree(parse) for parse in parses]
    scores = [
        score_trees(
            gold, tree, [not is_punctuation(tag, word) for tag, word in zip(gold.tags, gold.words, strict=True)]
        )
        for gold, tree in zip(golds, trees, strict=True)
    ]
    reasons = [
        f"it has {len(tree or ())} words and gold {len(gold)}" if score is None else ""
        for gold, tree, score in zip(golds, trees, scores, strict=True)
    ]
    if told := _told_of_unscored(reasons):
        if all(reasons):
            raise ValueError(told)
        log(told)
    totals = unlabelled_totals(filter(None, scores))
    if as_json:
        print(json.dumps(totals.as_dict()))
    else:
        means = f"unlabelled F1 {totals.f:.2f}, mean of sentences {totals.sentence_f:.2f}"
        print(f"{means}, on {counted(totals.n_sentences, 'sentence')}")


def _one_tree(parse: "SentenceTrees") -> "Tree | None":
    from spacy_lpcfg.trees import Tree

    if parse is None or isinstance(parse, Tree):
        return parse
    return Tree("", parse) if parse else None


def _is_model(source: str) -> bool:
    """Return whether an argument names a pipeline (a folder, or no existing path), and not a file of trees.

    RAISES (BadParameter): If the argument looks like a path, but does not exist.
    """
    if not Path(source).exists() and looks_like_path(source):
        raise typer.BadParameter(f"there is no file or folder {source!r}", param_hint="GOLD")
    return not Path(source).exists() or Path(source).is_dir()


def _normalized(tree: "Tree", functions: bool, tags: options.TagDetail) -> "Tree | None":
    from spacy_lpcfg.trees import clean
    from spacy_lpcfg.trees.tags import with_coarse_tags

    cleaned = clean(tree, functions=functions)
    return with_coarse_tags(cleaned) if cleaned is not None and tags == "coarse" else cleaned


def _parsed(model: str, golds: Sequence["Tree"], normalize: "Normalize", unlabelled: bool) -> list["Tree | None"]:
    """Parse the words of gold trees with a model, and return normalized trees; a bracketer also gets the gold tags.

    RAISES (BadParameter): If the model is a bracketer, whose brackets have no labels, and `unlabelled` is False.
    """
    from spacy_lpcfg.bracketing.bracketer import bracketed_tree
    from spacy_lpcfg.bracketing.tagged import TaggedSentence
    from spacy_lpcfg.components.spectral_bracketer import SpectralBracketerPipe

    nlp = load_pipeline(model)
    pipe = find_parser_or_bracketer(nlp)
    if not isinstance(pipe, SpectralBracketerPipe):
        parser, queries = pipe.ready_parser(), queries_of(nlp, pipe, [gold.words for gold in golds])
        return [normalize(parser.parse(query).tree) for query in progress(queries, "sentences")]
    if not unlabelled:
        raise typer.BadParameter("the brackets of this model have no labels: add --unlabelled", param_hint="GOLD")
    tagged = ((gold, TaggedSentence.of(gold)) for gold in progress(golds, "sentences"))
    return [bracketed_tree(gold.words, gold.tags, pipe.bracket(*sentence).spans) for gold, sentence in tagged]


def _read_treebank(path: Path, dialect: str | None, normalize: "Normalize") -> list["Tree"]:
    return list(filter(None, map(normalize, trees_of_path(str(path), None, dialect))))


def _read_parses(path: Path, n_golds: int, normalize: "Normalize") -> Sequence["SentenceTrees"]:
    """Read the parses to score: a sentence per line if that gives `n_golds` sentences, otherwise as a treebank."""
    from spacy_lpcfg.evaluation.evalb import read_evalb
    from spacy_lpcfg.trees import TreebankError
    from spacy_lpcfg.trees.reading import bracketed_as_penn, dialect_of

    if path.suffix == DOCS:
        return _read_treebank(path, None, normalize)
    try:
        lines = [[normalize(tree) for tree in trees] for trees in read_evalb(path)]
    except TreebankError:  # which the other way of reading tells better
        lines = []
    sentences = [[tree for tree in trees if tree] for trees in lines if not trees or any(trees)]
    if len(sentences) == n_golds:
        return sentences
    return _read_treebank(path, bracketed_as_penn(dialect_of(path)), normalize)  # as `parse` writes, whatever labels


def _check_words(gold: Path, test: Path, evaluation: "Evaluation") -> None:
    """Log the number of sentences that could not be scored; raise ValueError if none could be scored."""
    reasons = [score.reason or "" for score in evaluation.sentences]
    if reasons and all(reasons):
        raise ValueError(
            f"no sentence of {test} has the words of {gold}; of sentence 1 {reasons[0]}. Expected parses of these very "
            "sentences, in their order."
        )
    if told := _told_of_unscored(reasons):
        log(told)


def _told_of_unscored(reasons: Sequence[str]) -> str:
    """Return a message about the sentences that could not be scored; "" if all were scored.

    reasons (sequence of str): For each sentence the reason why it could not be scored; "" if it was scored.
    """
    numbers = [number for number, reason in enumerate(reasons, start=1) if reason]
    if not numbers:
        return ""
    first = f"such as number {numbers[0]}: {reasons[numbers[0] - 1]}"
    return f"{len(numbers)} of {len(reasons)} sentences are in no score, {first}"


# As JSON -----------------------------------------------------------------------------------------


def as_dict(evaluation: "Evaluation") -> dict[str, Any]:
    """Return an evaluation as a dict for JSON: scores in percent, overall, by label and by length, and confusions."""
    return {
        **evaluation.scores(),
        "labels": {label: _prf(counts) for label, counts in evaluation.per_label().items()},
        "lengths": {name: _of_length(total) for name, total in evaluation.per_length().items()},
        "confusions": [{"gold": gold, "test": test, "n": n} for (gold, test), n in evaluation.confusions().items()],
    }


def _prf(counts: "PRF") -> dict[str, float]:
    scores = {"p": counts.precision, "r": counts.recall, "f": counts.fmeasure}
    return {**scores, "n_gold": counts.n_gold, "n_test": counts.n_test}


def _of_length(total: "Totals") -> dict[str, float]:
    return {**_prf(total.brackets), "complete_match": total.complete_match, "n_sentences": total.n_sentences}
