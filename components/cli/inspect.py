"""`spacy-lpcfg inspect`: show what a parser has learned."""

import json
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast

import typer

from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.cli.shared import options
from spacy_lpcfg.components.cli.shared.citations import cells
from spacy_lpcfg.components.cli.shared.console import reporting_errors
from spacy_lpcfg.components.cli.shared.pipelines import find_parser, load_pipeline

if TYPE_CHECKING:
    from spacy_lpcfg.grammar import Grammar
    from spacy_lpcfg.isbn import ISBN
    from spacy_lpcfg.parsing.model import ParsingModel

Details: TypeAlias = dict[str, Any]

_COMMONEST = 3  # symbols with and without words whose states are shown if none are named
ALL = "all"


@reporting_errors
def inspect(
    model: options.ParserModel,
    symbol: Annotated[
        list[str] | None,
        typer.Option(
            "--symbol", help="Show the states of this symbol, or all; may be given again. [default: the most frequent]"
        ),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="Number of rules or words to show for each state.")] = 5,
    as_json: options.AsJson = False,
) -> None:
    """Show what a parser has learned.

    For a grammar: its sizes, the states of its symbols, and the most probable rules and words of each latent state. For
    other models: their sizes. If the pipeline's meta.json has the steps of learning, they are shown too, and so are the
    singular values of the spectral method, whose gaps show how many states a symbol needs.

    Symbols are labels, chains of labels such as S|VP and NP|PRP, and symbols from binarisation, which begin with @.

    \b
    Example:
        spacy-lpcfg inspect model/
        spacy-lpcfg inspect model/ --symbol NP --symbol NN --top 10
        spacy-lpcfg inspect model/ --symbol all --json > model.json
    """
    nlp = load_pipeline(model)
    pipe = find_parser(nlp)
    learned = cast("ParsingModel", pipe.learned).without_evidence
    details: Details = {
        "component": pipe.name,
        "model": _sizes(learned),
        "symbols": _symbols(learned, symbol, top),
        "singular_values": nlp.meta.get("singular_values", {}),
        "fit": nlp.meta.get("fit", []),
    }
    if as_json:
        print(json.dumps(details, ensure_ascii=False))
    else:
        print("\n".join(_lines(details)))


# What there is -----------------------------------------------------------------------------------


def _sizes(model: "ParsingModel") -> Details:
    from spacy_lpcfg.grammar import Grammar
    from spacy_lpcfg.isbn import ISBN

    if isinstance(model, ISBN):
        return _sizes_of_networks(model)
    if isinstance(model, Grammar):
        return _sizes_of_grammar(model)
    return {"kind": model.kind, "summary": model.summary, "n_bytes": len(model.to_bytes())}


def _sizes_of_grammar(grammar: "Grammar") -> Details:
    order = (-grammar.symbol_weights).argsort(kind="stable").tolist()
    return {
        "kind": "grammar",
        "is_proper": grammar.is_proper,
        "root_label": grammar.root_label,
        "n_labels": len(grammar.labels),
        "n_tags": len(grammar.tags),
        "n_symbols": grammar.n_symbols,
        "n_preterminals": grammar.n_preterminals,
        "n_rules": grammar.n_rules,
        "n_terminals": len(grammar.lexicon.terminals),
        "n_rare_words": len(grammar.lexicon.rare_words),
        "n_bytes": len(grammar.to_bytes()),
        "states": {grammar.symbols[symbol]: int(grammar.n_states[symbol]) for symbol in order},
        "shares": {grammar.symbols[symbol]: round(float(grammar.symbol_weights[symbol]), 6) for symbol in order},
    }


def _sizes_of_networks(isbn: "ISBN") -> Details:
    vocabulary = isbn.vocabulary
    return {
        "kind": "networks",
        "labels": list(isbn.labels),
        "tags": list(isbn.tags),
        "n_words": len(set(filter(None, vocabulary.words))),
        "n_signatures": len(vocabulary.signatures),
        "n_outcomes": vocabulary.n_outcomes,
        "latent_relations": list(isbn.relations.latent),
        "decision_relations": list(isbn.relations.decisions),
        "networks": [
            {
                "approximation": network.approximation,
                "n_states": network.n_states,
                "parameters": {name: list(array.shape) for name, array in network.parameters.items()},
            }
            for network in isbn.networks
        ],
    }


def _symbols(grammar: "ParsingModel", wanted: list[str] | None, top: int) -> Details:
    """Return the most probable rules, or for tags the most probable words, in each latent state of symbols.

    wanted (list of str, or None): The symbols; "all" for all, None for the most frequent ones.
    top (int): The number of rules or words for each state.
    RETURNS (dict of str to dict): Two entries by symbol; {} for a model that is no grammar.
        kind: "words" or "rules".
        states: For each state the list of its words or rules, each with its weight.
    RAISES (ValueError): If the grammar lacks a symbol, or symbols are wanted from a model that is no grammar.
    """
    from spacy_lpcfg.grammar import Grammar
    from spacy_lpcfg.grammar.summary import top_rules, top_words

    if not isinstance(grammar, Grammar):
        if wanted:
            raise ValueError("the model has no symbols with states, which only grammars of trees have")
        return {}
    symbols = {}
    for name in _names(grammar, wanted):
        symbol = grammar.symbols.index(name)
        is_tag = symbol < grammar.n_preterminals
        states = (top_words if is_tag else top_rules)(grammar, symbol, top)
        symbols[name] = {
            "kind": "words" if is_tag else "rules",
            "states": [[list(one) for one in state] for state in states],
        }
    return symbols


def _names(grammar: "Grammar", wanted: list[str] | None) -> list[str]:
    order = [grammar.symbols[symbol] for symbol in (-grammar.symbol_weights).argsort(kind="stable")]
    if not wanted:
        tags = set(grammar.symbols[: grammar.n_preterminals])
        inner = [name for name in order if name not in tags][:_COMMONEST]
        return inner + [name for name in order if name in tags][:_COMMONEST]
    for name in wanted:
        if name != ALL and name not in order:
            near = ", ".join(_nearest(name, order))
            raise ValueError(
                f"the grammar has no symbol {shown(name)}: expected one such as {near}; `spacy-lpcfg inspect` without "
                f"--symbol lists all {len(order)}"
            )
    return order if ALL in wanted else wanted


def _nearest(name: str, order: list[str]) -> list[str]:
    """Return the three symbols with the most similar names.

    Chains and binarization symbols (with | or @) are included only if `name` has such a character, or if there are no
    other symbols.
    """
    plain = [symbol for symbol in order if not set(symbol) & set("|@")]
    return get_close_matches(name, order if set(name) & set("|@") else plain or order, 3, cutoff=0)


# As text -----------------------------------------------------------------------------------------


def _lines(details: Details) -> Iterator[str]:
    sizes = details["model"]
    yield f"{details['component']}: {sizes['kind']}"
    yield from _size_lines(sizes)
    yield ""
    for name, of_symbol in details["symbols"].items():
        yield from _state_lines(name, of_symbol)
    if details["singular_values"]:
        yield from _singular_lines(details["singular_values"])
    if details["fit"]:
        yield from _fit_lines(details["fit"])


def _size_lines(sizes: Details) -> Iterator[str]:
    for name, value in sizes.items():
        if isinstance(value, (str, int)):
            yield f"{name}: {value}"
        elif name == "networks":
            yield from (f"network: {network['approximation']}, {network['n_states']} states" for network in value)
        elif isinstance(value, list):
            yield f"{name}: {' '.join(value)}"
    if "states" in sizes:
        yield ""
        yield f"{'symbol':<24}{'share':>8}{'states':>8}"
        for name, n_states in sizes["states"].items():
            yield f"{name:<24}{sizes['shares'][name]:>8.4f}{n_states:>8}"


def _state_lines(name: str, of_symbol: Details) -> Iterator[str]:
    for number, best in enumerate(of_symbol["states"], start=1):
        yield f"{name}, state {number}"
        for item, weight in best:
            yield f"  {weight:9.4f}  {item}"
    yield ""


def _singular_lines(values: dict[str, list[float]]) -> Iterator[str]:
    """Yield a table of each symbol with several singular values: position and ratio of the largest gap, and values."""
    yield f"{'symbol':<24}{'gap after':>10}{'ratio':>8}  singular values"
    for name, row in values.items():
        ratios = [high / low for high, low in pairwise(row)]
        if ratios:
            after = ratios.index(max(ratios)) + 1
            yield f"{name:<24}{after:>10}{max(ratios):>8.2f}  {' '.join(f'{value:.3g}' for value in row)}"
    yield ""


def _fit_lines(steps: list[Details]) -> Iterator[str]:
    names = [name for name, value in steps[0].items() if not isinstance(value, (dict, list))]
    yield "\t".join(names)
    for step in steps:
        yield "\t".join(cell or "-" for cell in cells(*map(step.get, names)))
