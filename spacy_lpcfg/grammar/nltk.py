"""Conversion of grammars to and from the text format of NLTK's `PCFG.fromstring`.

Each state of a symbol is a nonterminal: `NP^3`, or `NP` if there is only one state. The start symbol has the label of
the artificial root, and a unary production for each root. Characters that NLTK does not allow in a name are escaped:
the | of a chain as >, any other character by its code between slashes, so that PRP$ is `PRP/24/`, and an empty name as
`//`.

The words of the text are the grammar's known words, with their probabilities within a sentence (not at its beginning),
and the signatures, which stand for unknown words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan

import numpy as np

from spacy_lpcfg.arrays import offsets
from spacy_lpcfg.checks import shown
from spacy_lpcfg.grammar.checking import check
from spacy_lpcfg.grammar.classifier import Classifier
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.lexicon import Lexicon, tag_terminal
from spacy_lpcfg.grammar.normal_form import NormalForm, Production, normal_form
from spacy_lpcfg.grammar.tensors import Tensors
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.trees.transforms import split_chain
from spacy_lpcfg.words.signatures import UNKNOWN

_ESCAPED = re.compile(r"^[-|]|[^\w|-]")
_CODE = re.compile(r"/([0-9a-f]{0,6})/")
_HEADER = re.compile(r"\s*Grammar with [0-9]+ productions \(start state = (\S+)\)\s*")
_LEFT = re.compile(r"\s*(''|[^\s'\"\[\]]+?)\s*->")
_PART = re.compile(
    r"""\s*(?: "(?P<word>[^"]+)" | '(?P<quoted>[^']+)' | \[ (?P<p>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e-?[0-9]+)?) \]
    | (?P<bar>\|(?!<)) | (?P<name>''|[^\s'"\[\]|]+(?:\|<[^\s'"\[\]|]*)*) )""",
    re.VERBOSE,
)
_TOLERANCE = 0.01  # of sums of probabilities, as in NLTK
_UNKNOWN_WEIGHT = 1e-6  # emission of unknown words by each preterminal, if a text has none
_END_OF_UNICODE = 0x110000
_N_ROUNDS = 100  # levels of trees over which expected symbol counts are summed
_LEAST_SHARE = 1e-9  # share of a symbol that is in no tree


# To text -----------------------------------------------------------------------------------------


def pcfg_text(grammar: Grammar) -> str:
    """Convert a grammar to the text of an NLTK PCFG, with a nonterminal for each state of a symbol.

    grammar (Grammar): A grammar with `has_tree_probabilities`, such as `TreebankPCFG` or `EM` learn.
    RETURNS (str): A production a line, with its probability.
    RAISES (ModelError): If the grammar's weights are not probabilities, or a word contains both kinds of quotation
        marks.
    """
    if not grammar.has_tree_probabilities:
        raise ModelError("Expected a grammar of probabilities, got other weights: learn it by TreebankPCFG or EM.")
    names = [_state_names(name, n) for name, n in zip(grammar.symbols, grammar.n_states.tolist(), strict=True)]
    lines = [*_root_lines(grammar, names), *_rule_lines(grammar, names), *_word_lines(grammar, names)]
    return "\n".join(lines) + "\n"


def _state_names(symbol: str, n_states: int) -> list[str]:
    name = _name(symbol)
    return [f"{name}^{state}" for state in range(n_states)] if n_states > 1 else [name]


def _name(symbol: str) -> str:
    escaped = _ESCAPED.sub(lambda match: f"/{ord(match[0]):x}/", symbol)
    return escaped.replace("|", ">") or "//"


def _root_lines(grammar: Grammar, names: list[list[str]]) -> Iterator[str]:
    start = _name(grammar.root_label)
    while any(start in of_symbol for of_symbol in names):
        start += "//"
    for symbol, of_symbol in enumerate(names):
        for name, p in zip(of_symbol, grammar.root_vector(symbol).tolist(), strict=True):
            yield from _line(start, name, p)


def _rule_lines(grammar: Grammar, names: list[list[str]]) -> Iterator[str]:
    for rule, (a, b, c) in enumerate(grammar.rules.tolist()):
        for (i, j, k), p in np.ndenumerate(grammar.tensor(rule)):
            yield from _line(names[a][i], f"{names[b][j]} {names[c][k]}", p)


def _word_lines(grammar: Grammar, names: list[list[str]]) -> Iterator[str]:
    lexicon = grammar.lexicon
    for terminal in range(len(lexicon.terminals)):
        words, factors = lexicon.names_of(terminal, sentence_initial=False)
        for row in range(*lexicon.offsets[terminal : terminal + 2]):
            symbol = lexicon.symbols[row]
            weights = lexicon.vectors[slice(*lexicon.vector_offsets[row : row + 2])]
            for word, factor in zip(words, factors[:, grammar.tag_of[symbol]], strict=True):
                for name, weight in zip(names[symbol], weights, strict=True):
                    yield from _line(name, _quoted(word), weight * factor)


def _quoted(word: str) -> str:
    mark = '"' if "'" in word else "'"
    if mark in word:
        raise ModelError(f"Expected words with one kind of quotation marks, as NLTK has them, got {shown(word)}.")
    return f"{mark}{word}{mark}"


def _line(left: str, right: str, p: float) -> list[str]:
    return [f"{left} -> {right} [{np.format_float_positional(min(float(p), 1.0), trim='0')}]"] if p > 0 else []


# From text ---------------------------------------------------------------------------------------


def grammar_from_pcfg(text: str) -> Grammar:
    """Convert the text of an NLTK PCFG to a grammar with one state a symbol, in Chomsky normal form (`normal_form`).

    text (str): Productions such as A -> B C [0.5] | 'word' [0.5], as NLTK's PCFG.fromstring takes them, or str() of an
        NLTK grammar. Lines that begin with # are skipped. If no production has a probability, the productions of a
        symbol are equally likely. The first left-hand side is the start symbol, unless a heading of NLTK names it; it
        becomes the artificial root if it has only productions A -> B and is on no right-hand side.
    RETURNS (Grammar): If the text has no word `<form>`, every preterminal also emits unknown words, with weight 1e-6.
    RAISES (ModelError): If a line is not a production, only some productions have a probability, the probabilities of a
        symbol do not sum to 1 (within 0.01), or the grammar has no normal form within the limits of `normal_form`.
    """
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    headers = [header for _, line in lines if (header := _HEADER.fullmatch(line))]
    rules = [(number, line) for number, line in lines if line.lstrip()[0] != "#" and not _HEADER.fullmatch(line)]
    productions = _with_probabilities([rule for number, line in rules for rule in _productions(line, number)])
    if not productions:
        raise ModelError("Expected productions such as S -> NP VP [1.0], got none.")
    _check_sums(productions)
    start = _symbol(headers[0][1]) if headers else productions[0].left
    of_start = [rule for rule in productions if rule.left == start]
    is_artificial = all(_is_unary(rule) for rule in of_start) and all(start not in rule.right for rule in productions)
    roots = [(rule.right[0], rule.p) for rule in of_start] if is_artificial and of_start else [(start, 1.0)]
    others = [rule for rule in productions if not is_artificial or rule.left != start]
    return _grammar(normal_form(others, roots), start if is_artificial and of_start else "")


def _is_unary(rule: Production) -> bool:
    return len(rule.right) == 1 and not rule.is_word[0]


def _productions(line: str, number: int) -> Iterator[Production]:
    """Yield the productions of a line of text; a production without a probability gets nan.

    number (int): Number of the line, for the error message.
    RAISES (ModelError): If the line is not a production.
    """
    left = _LEFT.match(line)
    alternatives: list[list[re.Match[str]]] = [[]]
    at = left.end() if left else 0
    while left and (part := _PART.match(line, at)):
        if part["bar"]:
            alternatives.append([])
        else:
            alternatives[-1].append(part)
        at = part.end()
    for parts in alternatives:
        n_p = sum(part["p"] is not None for part in parts)
        is_whole = bool(parts) and n_p < len(parts) and n_p <= 1 and (not n_p or parts[-1]["p"] is not None)
        if left is None or not is_whole or line[at:].strip():
            expected = "S -> NP VP [0.8] or N -> 'cat' [0.1]"
            raise ModelError(f"Expected a production such as {expected} in line {number}, got {shown(line.strip())}.")
        right = parts[: len(parts) - n_p]
        symbols = tuple(_symbol(part["name"]) if part["name"] else part["word"] or part["quoted"] for part in right)
        p = float(parts[-1]["p"]) if n_p else float("nan")
        yield Production(_symbol(left[1]), symbols, tuple(part["name"] is None for part in right), p)


def _with_probabilities(productions: list[Production]) -> list[Production]:
    """Return the productions; if no production has a probability, all productions of a symbol become equally likely.

    RAISES (ModelError): If only some productions have a probability.
    """
    without = [rule for rule in productions if isnan(rule.p)]
    if without and len(without) < len(productions):
        rule = f"{without[0].left} -> {' '.join(without[0].right)}"
        raise ModelError(f"Expected a probability for each production or for none, got none for {shown(rule)}.")
    counts = Counter(rule.left for rule in without)
    return [rule._replace(p=1 / counts[rule.left]) for rule in without] or productions


def _symbol(name: str) -> str:
    if "<" in name:  # NLTK's parent annotation S^<VP> and binarization S|<NP-VP> are no chains
        return _CODE.sub(_character, name.replace("|", r"\|"))
    chain = name.replace(">", "|")
    return _CODE.sub(_character, chain)


def _character(code: re.Match[str]) -> str:
    """Return the character of an escape code such as /24/; the code itself if there is no such character."""
    number = int(code[1] or "0", 16)
    is_character = number < _END_OF_UNICODE and not 0xD800 <= number < 0xE000
    return (chr(number) if code[1] else "") if is_character else code[0]


def _check_sums(productions: Iterable[Production]) -> None:
    sums: dict[str, float] = defaultdict(float)
    for rule in productions:
        sums[rule.left] += rule.p
    for left, p in sums.items():
        if abs(p - 1) > _TOLERANCE:
            raise ModelError(f"Expected probabilities of {shown(left)} that add up to 1, got {p:.6g} in all.")


def _grammar(form: NormalForm, root_label: str) -> Grammar:
    roots, words, rules = form
    preterminals, interminals = sorted({a for a, _ in words}), sorted({a for a, *_ in rules})
    symbols = (*preterminals, *interminals)
    ids = {name: i for i, name in enumerate(symbols)}
    rule_ids = np.array([[ids[name] for name in rule] for rule in rules], dtype=np.int32).reshape(-1, 3)
    weights = np.array([*rules.values()], dtype=np.float64)
    root_weights = np.array([roots.get(name, 0.0) for name in symbols])
    lexicon = _lexicon(words, preterminals)
    n_tags = len(lexicon.tags) + 1
    grammar = Grammar(
        symbols=symbols,
        n_preterminals=len(preterminals),
        n_states=np.ones(len(symbols), dtype=np.int32),
        symbol_weights=_shares(root_weights, rule_ids, weights),
        root_weights=root_weights,
        root_vectors=root_weights.astype(np.float32),
        rules=rule_ids,
        rule_weights=weights,
        tensors=Tensors.from_dense(weights.astype(np.float32), np.ones((len(rules), 3), dtype=np.int32)),
        lexicon=lexicon,
        root_label=root_label,
        is_proper=True,
        classifier=Classifier.of(np.empty(0), np.empty((0, 0))),
        tags_before=np.full((len(symbols), n_tags), 1 / n_tags),
        tags_after=np.full((len(symbols), n_tags), 1 / n_tags),
    )
    check(grammar)
    return grammar


def _lexicon(words: Mapping[tuple[str, str], float], preterminals: Sequence[str]) -> Lexicon:
    """Return the lexicon of P(word | symbol).

    A word with a given tag that it never has is equally likely under all symbols of the tag.
    """
    tag_of = {name: split_chain(name)[-1] for name in preterminals}
    tags = tuple(sorted({*tag_of.values()}))
    rows: dict[str, dict[str, float]] = defaultdict(dict)
    for (symbol, word), p in words.items():
        rows[word][symbol] = p
    rows.setdefault(UNKNOWN, dict.fromkeys(preterminals, _UNKNOWN_WEIGHT))
    for tag in tags:
        rows[tag_terminal(tag)] = {name: 1.0 for name in preterminals if tag_of[name] == tag}
    ids = {name: i for i, name in enumerate(preterminals)}
    weights = np.array([p for row in rows.values() for p in row.values()])
    return Lexicon(
        terminals=tuple(rows),
        tags=tags,
        offsets=offsets(np.array([len(row) for row in rows.values()])).astype(np.int32),
        symbols=np.array([ids[name] for row in rows.values() for name in row], dtype=np.int32),
        weights=weights,
        vector_offsets=np.arange(len(weights) + 1),
        vectors=weights.astype(np.float32),
    )


def _shares(roots: np.ndarray, rules: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the expected share of each symbol among the nodes of the grammar's trees, float64 (n_symbols,).

    Only nodes at most `_N_ROUNDS` levels below the root count.

    roots (float64, (n_symbols,)): Probability of each symbol at the root.
    rules (int, (n_rules, 3)), weights (float64, (n_rules,)): The rules and their probabilities.
    """
    level = total = roots
    for _ in range(_N_ROUNDS):
        below = np.repeat(level[rules[:, 0]] * weights, 2)
        level = np.bincount(rules[:, 1:].ravel(), below, len(roots))
        total = total + level
    shares = total / total.sum() + _LEAST_SHARE
    return shares / shares.sum()
