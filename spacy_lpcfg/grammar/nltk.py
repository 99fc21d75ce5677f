"""Grammars as text that NLTK's `PCFG.fromstring` reads, and back.

Each symbol with a state is a nonterminal: `NP^3`, or `NP` where there is one state. The start symbol has the label of
the artificial root, and a unary production for each root. What NLTK cannot have in a name is written otherwise: the |
of a chain as >, any other character as its code between slashes, so that PRP$ is `PRP/24/`, and no name at all as `//`.

Words are those that the grammar knows, as they are within a sentence, and signatures, which stand for all others.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.checks import shown
from spacy_lpcfg.grammar.checking import check
from spacy_lpcfg.grammar.classifier import Classifier
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.lexicon import Lexicon, tag_terminal
from spacy_lpcfg.grammar.tensors import Tensors, offsets
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.trees.transforms import split_chain
from spacy_lpcfg.words.signatures import UNKNOWN

_ESCAPED = re.compile(r"^[-|]|[^\w|-]")
_CODE = re.compile(r"/([0-9a-f]{0,6})/")
_NAME = r"[\w/][\w/^<>-]*"
_LEFT = re.compile(rf"\s*({_NAME})\s*->")
_RIGHT = re.compile(
    rf"""\s*(?: (?P<one>{_NAME}) (?: \s+ (?P<other>{_NAME}) )? | "(?P<word>[^"]*)" | '(?P<quoted>[^']*)' )
    \s* \[ (?P<p>[0-9]+\.?[0-9]*|\.[0-9]+) \] \s* (?: \| | \Z )""",
    re.VERBOSE,
)
_TOLERANCE = 0.01  # as NLTK has it, of what probabilities add up to
_UNKNOWN_WEIGHT = 1e-6  # of each preterminal, where a text has no signature of all unknown words
_END_OF_UNICODE = 0x110000
_N_ROUNDS = 100  # levels of trees over which symbols are counted
_LEAST_SHARE = 1e-9  # of a symbol that no tree has


# To text -----------------------------------------------------------------------------------------


def pcfg_text(grammar: Grammar) -> str:
    """The grammar as the text of a PCFG of NLTK, which has a nonterminal for each state of a symbol.

    grammar (Grammar): A proper one, of `TreebankPCFG`, `EM` and the like.
    RAISES (ModelError): For another grammar, and for a word with both quotation marks, which NLTK cannot have.
    """
    if not grammar.has_tree_probabilities:
        raise ModelError("Expected a grammar of probabilities, got one of other weights: learn it by another method.")
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


class _Production(NamedTuple):
    """A production of two symbols, of one, or of none and a word."""

    left: str
    right: tuple[str, ...]
    word: str
    p: float


def grammar_from_pcfg(text: str) -> Grammar:
    """The grammar of a text of NLTK's: one state a symbol, in Chomsky's normal form.

    text (str): Such as `pcfg_text` makes, with productions A -> B C and A -> 'word'. The first left-hand side is the
        start symbol; where it has nothing but productions A -> B, it is the artificial root.
    RAISES (ModelError): With the line, for what is no such production; for probabilities that do not add up to 1.
    """
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    found = [each for number, line in lines if line.lstrip()[0] != "#" for each in _productions(line, number)]
    if not found:
        raise ModelError("Expected productions such as S -> NP VP [1.0], got none.")
    _check_sums(found)
    start = found[0].left
    unary = [each for each in found if len(each.right) == 1]
    rest = [each for each in found if len(each.right) != 1]
    is_artificial = all(start not in (each.left, *each.right) for each in rest)
    for each in unary:
        if each.left != start or not is_artificial:
            raise ModelError(
                f"Expected pairs and words, as in A -> B C and A -> 'w', got {each.left} -> {each.right[0]}: one "
                "symbol alone is for a start symbol that has nothing else."
            )
    roots = {each.right[0]: each.p for each in unary} or {start: 1.0}
    return _grammar(roots, rest, start if unary else "")


def _productions(line: str, number: int) -> Iterator[_Production]:
    left = _LEFT.match(line)
    first = at = left.end() if left else len(line)
    while left and (right := _RIGHT.match(line, at)):
        symbols = tuple(_symbol(right[name]) for name in ("one", "other") if right[name])
        yield _Production(_symbol(left[1]), symbols, right["word"] or right["quoted"] or "", float(right["p"]))
        at = right.end()
    if at == first or at < len(line):
        expected = "S -> NP VP [0.8] or N -> 'cat' [0.1]"
        raise ModelError(f"Expected a production such as {expected} in line {number}, got {shown(line.strip())}.")


def _symbol(name: str) -> str:
    chain = name if "<" in name else name.replace(">", "|")  # S^<VP> has its parent beside it, as NLTK writes that
    return _CODE.sub(_character, chain)


def _character(code: re.Match[str]) -> str:
    """What a code stands for; itself, if it stands for nothing."""
    number = int(code[1] or "0", 16)
    is_character = number < _END_OF_UNICODE and not 0xD800 <= number < 0xE000
    return (chr(number) if code[1] else "") if is_character else code[0]


def _check_sums(found: Iterable[_Production]) -> None:
    sums: dict[str, float] = defaultdict(float)
    for each in found:
        sums[each.left] += each.p
    for left, p in sums.items():
        if abs(p - 1) > _TOLERANCE:
            raise ModelError(f"Expected probabilities of {shown(left)} that add up to 1, got {p:.6g} in all.")


def _grammar(roots: Mapping[str, float], found: Sequence[_Production], root_label: str) -> Grammar:
    words, rules = _summed(found)
    preterminals, interminals = sorted({a for a, _ in words}), sorted({a for a, *_ in rules})
    both = {*preterminals} & {*interminals}
    undefined = {*roots, *(each for rule in rules for each in rule)} - {*preterminals, *interminals}
    if both or undefined or not words:
        name = shown(min(both or undefined or roots))
        raise ModelError(
            f"Expected either pairs or words below each symbol, got {'both' if both else 'none'} of {name}."
        )
    symbols = (*preterminals, *interminals)
    ids = {name: i for i, name in enumerate(symbols)}
    rule_ids = np.array([[ids[each] for each in rule] for rule in rules], dtype=np.int32).reshape(-1, 3)
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


def _summed(found: Sequence[_Production]) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str, str], float]]:
    """The probabilities of (symbol, word), and of (symbol, left child, right child)."""
    words: dict[tuple[str, str], float] = defaultdict(float)
    rules: dict[tuple[str, str, str], float] = defaultdict(float)
    for left, right, word, p in found:
        if right:
            one, other = right
            rules[left, one, other] += p
        else:
            words[left, word] += p
    return words, dict(sorted(rules.items()))


def _lexicon(words: Mapping[tuple[str, str], float], preterminals: Sequence[str]) -> Lexicon:
    """What symbols emit; a word that was never seen with a tag that is given tells nothing of the tag's symbols."""
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
    """The share of each symbol among the nodes of trees that the grammar makes, down to `_N_ROUNDS` levels."""
    level = total = roots
    for _ in range(_N_ROUNDS):
        below = np.repeat(level[rules[:, 0]] * weights, 2)
        level = np.bincount(rules[:, 1:].ravel(), below, len(roots))
        total = total + level
    shares = total / total.sum() + _LEAST_SHARE
    return shares / shares.sum()
