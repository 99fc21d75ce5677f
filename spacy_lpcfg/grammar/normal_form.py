"""Chomsky normal form of a PCFG with the same distribution over trees: binarization and collapsed unary chains.

- A -> B C D becomes A -> X D, where the new symbol X, named "@A->_B C", covers B and C; `unbinarize` splices it out.
- A -> B is removed: wherever A occurs in a production, the symbol becomes either A or the chain `A|B`, which
  `expand_unaries` expands.
- A symbol with both words and pairs of children becomes the chain `A|A` above its words.
- Cyclic chains are left out, and their probability goes to the other chains of their symbol.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from spacy_lpcfg.checks import shown
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.trees.transforms import NEW_NODE

MOST_RULES = 500_000
"""Limit on the binary productions of the normal form."""
MOST_CHAINS = 1_000
"""Limit on the unary chains of a symbol."""
_ADVICE = "leave out rare unary productions"


class Production(NamedTuple):
    """A production of a PCFG with its probability.

    left (str): Symbol on the left-hand side.
    right (tuple of str): Symbols and words on the right-hand side.
    is_word (tuple of bool): Whether each element of `right` is a word.
    p (float): Probability given the left-hand side; nan if the text has none.
    """

    left: str
    right: tuple[str, ...]
    is_word: tuple[bool, ...]
    p: float


class Chain(NamedTuple):
    """A unary chain of symbols, above words or above pairs of children.

    name (str): The symbols of the chain, joined by "|".
    end (str): The last symbol of the chain.
    has_words (bool): Whether the chain ends above a word, rather than above a pair of children.
    p (float): Probability of the chain given its first symbol.
    """

    name: str
    end: str
    has_words: bool
    p: float


class NormalForm(NamedTuple):
    """A PCFG in Chomsky normal form, as dicts of probabilities.

    roots (dict of str to float): Probability of each root symbol.
    words (dict of (symbol, word) to float): Probability of each word given its symbol.
    rules (dict of (symbol, left child, right child) to float): Probability of each pair of children given their parent.
    """

    roots: dict[str, float]
    words: dict[tuple[str, str], float]
    rules: dict[tuple[str, str, str], float]


def normal_form(productions: Sequence[Production], roots: Iterable[tuple[str, float]]) -> NormalForm:
    """Return the Chomsky normal form of a PCFG.

    productions (sequence of Production): All productions, with probabilities that sum to 1 for each left-hand side.
    roots (iterable of (str, float)): Root symbols and their probabilities, which are summed if a symbol is repeated.
    RAISES (ModelError): If a symbol has no productions, its unary productions end only in a cycle, or the normal form
        has more than `MOST_RULES` rules or a symbol more than `MOST_CHAINS` chains.
    """
    chains = _Chains([*_binarized(_with_tags(productions))])
    form = NormalForm(defaultdict(float), defaultdict(float), defaultdict(float))
    agenda = [(chain, p * chain.p) for root, p in roots for chain in chains.of(root)]
    for chain, p in agenda:
        form.roots[chain.name] += p
    waiting, done = [chain for chain, _ in agenda], set[str]()
    if not chains.unary:  # symbols that no tree has stay
        waiting += [chain for symbol in {**chains.words, **chains.pairs} for chain in chains.of(symbol)]
    while waiting:
        chain = waiting.pop()
        if chain.name in done:
            continue
        done.add(chain.name)
        if chain.has_words:
            for word, p in chains.words[chain.end].items():
                form.words[chain.name, word] += p / chains.share(chain)
            continue
        for (left, right), p in chains.pairs[chain.end].items():
            for one in chains.of(left):
                for other in chains.of(right):
                    form.rules[chain.name, one.name, other.name] += p / chains.share(chain) * one.p * other.p
            waiting += [*chains.of(left), *chains.of(right)]
        if len(form.rules) > MOST_RULES:
            raise ModelError(f"Expected a grammar of at most {MOST_RULES:,} binary rules, got more: {_ADVICE}.")
    return NormalForm(form.roots, form.words, dict(sorted(form.rules.items())))


def _with_tags(productions: Iterable[Production]) -> Iterator[Production]:
    """Yield the productions with a new preterminal for each word that has siblings, then the new productions."""
    tags: dict[str, Production] = {}
    for production in productions:
        right = list(production.right)
        for i, is_word in enumerate(production.is_word):
            if is_word and len(right) > 1:
                tag = f"'{right[i]}'"
                tags[tag] = Production(tag, (right[i],), (True,), 1.0)
                right[i] = tag
        is_word_alone = production.is_word if len(right) == 1 else (False,) * len(right)
        yield Production(production.left, tuple(right), is_word_alone, production.p)
    yield from tags.values()


def _binarized(productions: Iterable[Production]) -> Iterator[Production]:
    """Yield binarized productions: new symbols stand for the first two, three, ... symbols of a right-hand side."""
    new: dict[str, Production] = {}
    for left, right, is_word, p in productions:
        first = right[0]
        for end in range(2, len(right)):
            name = f"{NEW_NODE}{left}->_{' '.join(right[:end])}"  # a space, as symbols have "_"
            new[name] = Production(name, (first, right[end - 1]), (False, False), 1.0)
            first = name
        yield Production(left, right if len(right) < 3 else (first, right[-1]), is_word[:2], p)
    yield from new.values()


class _Chains:
    """The unary chains of a binarized grammar.

    words (dict of str to dict): For each symbol the words that it produces, with their probabilities.
    pairs (dict of str to dict): For each symbol its pairs of children, with their probabilities.
    unary (dict of str to dict): For each symbol its single children, with their probabilities.
    """

    def __init__(self, productions: Iterable[Production]) -> None:
        self.words: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        self.pairs: dict[str, dict[tuple[str, str], float]] = defaultdict(lambda: defaultdict(float))
        self.unary: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for left, right, is_word, p in productions:
            if len(right) == 2:
                self.pairs[left][right[0], right[1]] += p
            elif is_word[0]:
                self.words[left][right[0]] += p
            else:
                self.unary[left][right[0]] += p
        self._of: dict[str, list[Chain]] = {}

    def of(self, symbol: str) -> list[Chain]:
        """Return the chains that start with a symbol, with probabilities that sum to 1.

        RAISES (ModelError): If the symbol or another symbol of a chain has no productions, there are more than
            `MOST_CHAINS` chains, or all of them are cyclic.
        """
        if symbol not in self._of:
            chains = [*islice(self._ends((symbol,), 1.0), MOST_CHAINS + 1)]
            if len(chains) > MOST_CHAINS:
                raise ModelError(
                    f"Expected at most {MOST_CHAINS:,} unary chains of {shown(symbol)}, got more: {_ADVICE}."
                )
            total = sum(chain.p for chain in chains)
            if not total:
                raise ModelError(f"Expected an end of the unary productions of {shown(symbol)}, got only a cycle.")
            is_complete = abs(total - 1) < 1e-9
            self._of[symbol] = chains if is_complete else [chain._replace(p=chain.p / total) for chain in chains]
        return self._of[symbol]

    def share(self, chain: Chain) -> float:
        """Return the probability that a chain's last symbol has any word (or any pair of children) below it."""
        of_end = (self.words, self.pairs, self.unary)
        if sum(chain.end in part for part in of_end) == 1:
            return 1.0
        return sum((self.words if chain.has_words else self.pairs)[chain.end].values())

    def _ends(self, symbols: tuple[str, ...], p: float) -> Iterator[Chain]:
        """Yield the acyclic chains that begin with `symbols`, the prefix of a chain, whose probability is `p`."""
        end = symbols[-1]
        if not (end in self.words or end in self.pairs or end in self.unary):
            raise ModelError(f"Expected productions of each symbol, got none of {shown(end)}.")
        for has_words, part in ((True, self.words), (False, self.pairs)):
            if end in part:
                chain = Chain("", end, has_words, 1.0)
                names = (*symbols, end) if has_words and end in self.pairs else symbols
                yield chain._replace(name="|".join(names), p=p * self.share(chain))
        for symbol, q in self.unary[end].items() if end in self.unary else ():
            if symbol not in symbols:
                yield from self._ends((*symbols, symbol), p * q)
