"""Expectation maximisation for L-PCFGs on skeletal trees (Matsuzaki et al. 2005).

Differs from the paper: (1) a symbol gets no more states than its count supports; (2) the states of a symbol share a
little of their probabilities, as in the Berkeley Parser; (3) the emissions of words are smoothed further
(`lexical.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spacy_lpcfg.chart.parser import Parser
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.learning.assembly import Treebank
from spacy_lpcfg.learning.latent import Expected, Latent, Split, StateSmoothing
from spacy_lpcfg.learning.lexical import LexicalSettings
from spacy_lpcfg.learning.shards import read_skeletons
from spacy_lpcfg.trees.evalb import evaluate
from spacy_lpcfg.trees.transforms import normalize
from spacy_lpcfg.trees.tree import Tree


class Step(NamedTuple):
    """What one iteration of EM found and cost.

    iteration (int): 1 for the first; 0 for parameters before any.
    log_likelihood (float): of the treebank, under the parameters that came into the iteration; nan before any.
    f1 (float): on the held-out trees, in percent, of the grammar that came out of it; nan if it was not looked at.
    seconds (float): CPU seconds of this process, those of parsing the held-out trees not counted.
    """

    iteration: int
    log_likelihood: float
    f1: float
    seconds: float


OnStep = Callable[[Step], None]


@dataclass(frozen=True)
class EM:
    """Learner of a proper L-PCFG by expectation maximisation from a random start.

    n_states (int): the most latent states of a symbol (m).
    n_iterations (int): of EM; with held-out trees the most.
    seed (int): of the random start.
    n_jobs (int): processes that read the trees, and threads of the E step.
    smoothing (StateSmoothing): of the states of a symbol towards each other.
    lexical (LexicalSettings): terminals and smoothing of the emissions.
    tokens_per_state (float): a symbol seen n times gets at most n / tokens_per_state states.
    noise (float): the start is the treebank PCFG with every probability times e^u, u uniform in [-noise, noise].
    check_every (int): iterations between two looks at the held-out trees.
    lang (str): language of the head rules; markov (int): siblings that an "@" symbol remembers.
    """

    n_states: int = 16
    n_iterations: int = 20
    seed: int = 0
    n_jobs: int = 1
    smoothing: StateSmoothing = StateSmoothing()
    lexical: LexicalSettings = LexicalSettings()
    tokens_per_state: float = 20.0
    noise: float = float(np.log(3.0))
    check_every: int = 5
    lang: str = "en"
    markov: int = 0

    def fit(
        self, trees: Iterable[Tree], held_out: Iterable[Tree] | None = None, *, on_step: OnStep | None = None
    ) -> Grammar:
        """Learn from trees.

        trees (Iterable[Tree]): read once; raw or normalised.
        held_out (Iterable[Tree] or None): trees by which the number of iterations is chosen, from raw words.
        on_step (callable or None): called after every iteration; `list.append` keeps the history.
        RAISES (ValueError): If there are no trees, or for settings that cannot be.
        """
        if self.n_iterations < 1:
            raise ValueError(f"Expected at least one iteration of EM from a random start, got {self.n_iterations}.")
        if self.n_states < 1 or self.tokens_per_state <= 0:
            raise ValueError(
                f"Expected n_states of at least 1 and tokens_per_state above 0, got {self.n_states} and "
                f"{self.tokens_per_state}."
            )
        nodes = read_skeletons(trees, lang=self.lang, markov=self.markov, n_jobs=self.n_jobs)
        split = Split.of(Treebank.of(nodes, self.lexical), self.n_states, self.tokens_per_state)
        first = split.expect(random_start(split, self.noise, self.seed), self.n_jobs)
        return best_grammar(
            iterations(split, first, self.smoothing, self.n_iterations - 1, self.n_jobs),
            lambda expected: split.grammar(expected, self.smoothing),
            held_out=held_out,
            check_every=self.check_every,
            on_step=on_step,
        )


def random_start(split: Split, noise: float, seed: int) -> Latent:
    """The treebank PCFG, shared among states of which each has its own random noise."""
    rng = np.random.default_rng(seed)
    counts, sizes = split.treebank.counts, np.diff(split.starts)
    rules = np.repeat(counts.rule_counts / sizes, sizes).astype(np.float32)
    rules *= np.exp(rng.uniform(-noise, noise, len(rules)))
    pairs, m = split.events.own.sum(axis=1), split.n_states
    emissions = pairs[:, None] * split.is_state[split.events.pairs[:, 0]] * _noisy(rng, noise, (len(pairs), m.max()))
    roots = (counts.roots / m)[:, None] * split.is_state * _noisy(rng, noise, split.is_state.shape)
    return split.normalized(roots, rules, emissions, StateSmoothing(0.0, 0.0, 0.0, 0.0))


def _noisy(rng: np.random.Generator, noise: float, shape: tuple[int, ...]) -> np.ndarray:
    return np.exp(rng.uniform(-noise, noise, shape))


def iterations(
    split: Split, expected: Expected, smoothing: StateSmoothing, n: int, n_jobs: int = 1
) -> Iterator[Expected]:
    """Expected counts to begin with, and those of n more iterations of EM, each under the parameters of the last."""
    yield expected
    for _ in range(n):
        expected = split.expect(split.maximize(expected, smoothing), n_jobs)
        yield expected


def best_grammar(
    found: Iterator[Expected],
    to_grammar: Callable[[Expected], Grammar],
    *,
    held_out: Iterable[Tree] | None,
    check_every: int = 1,
    first: int = 1,
    on_step: OnStep | None = None,
) -> Grammar:
    """The grammar of the last expected counts, or of those with the best F1 on held-out trees.

    found (Iterator[Expected]): of each iteration, of which `first` is the number of the first one.
    others: as of `EM.fit`.
    """
    golds = [tree for tree in map(normalize, held_out or ()) if tree is not None]
    best, best_f1 = None, -np.inf
    clock = time.process_time()
    for iteration, expected in enumerate(found, first):
        seconds, f1 = time.process_time() - clock, float("nan")
        if golds and iteration % check_every == 0:
            grammar = to_grammar(expected)
            f1 = held_out_f1(grammar, golds)
            if f1 > best_f1:
                best, best_f1 = grammar, f1
        if on_step is not None:
            on_step(Step(iteration, expected.log_likelihood, f1, seconds))
        clock = time.process_time()
    return best or to_grammar(expected)


def held_out_f1(grammar: Grammar, golds: Sequence[Tree]) -> float:
    """F1 in percent of normalised trees parsed from raw words."""
    parser = Parser(grammar)
    return evaluate(golds, [parser.parse(gold.words).tree for gold in golds]).scores()["evalb_f"]
