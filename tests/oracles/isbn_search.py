"""The oracle of the search: all derivations of a short sentence, one after the other, in plain numpy and float64.

Slow and obvious on purpose: the networks' equations (5 to 15 of Henderson and Titov 2010) position by position, as in
`isbn_reference`, and every transition that is allowed, but for more than `unary_cap` nodes projected in a row.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from oracles.isbn_reference import UPDATES
from oracles.transitions import tree_of
from scipy.special import expit

from spacy_lpcfg.isbn import ISBN
from spacy_lpcfg.isbn.network import Network
from spacy_lpcfg.isbn.relations import NONE, ROOT, Cell, codes, related
from spacy_lpcfg.isbn.transitions import ATTACH, ATTACHED, MODIFIED, MODIFY, PROJECT, SHIFT, Transition
from spacy_lpcfg.isbn.vocabulary import Candidates, mask_of
from spacy_lpcfg.trees import Tree


@dataclass(frozen=True)
class State:
    """Where a derivation stands: the stack, bottom first; of each position the means of each network, and its rows."""

    stack: tuple[Cell, ...] = (Cell(ROOT),)
    last_shift: int = NONE
    n_projected: int = 0
    n_words: int = 0
    means: tuple[list[np.ndarray], ...] = ()
    rows: tuple[list[int], ...] = ()
    transitions: tuple[Transition, ...] = ()
    log_probability: float = 0.0


class Enumeration:
    """All derivations of words.

    derivations (list[tuple[Tree, float]]): Trees with tags, and log-probabilities.
    prefixes (list[list[State]]): Those that have just shifted each word.
    """

    def __init__(self, isbn: ISBN, candidates: Candidates, words: list[str], unary_cap: int) -> None:
        self.isbn, self.candidates, self.words, self.unary_cap = isbn, candidates, words, unary_cap
        self.codes = codes(isbn.relations.latent).tolist(), codes(isbn.relations.decisions).tolist()
        self.derivations: list[tuple[Tree, float]] = []
        self.prefixes: list[list[State]] = [[] for _ in words]
        agenda = [State()]
        while agenda:
            state = agenda.pop()
            for after in self.successors(state):
                if len(after.stack) == 1:
                    self.derivations.append((tree_of(after.transitions), after.log_probability))
                else:
                    agenda.append(after)
                    if after.n_words > state.n_words:
                        self.prefixes[state.n_words].append(after)

    def prefix_log_probability(self, n_words: int) -> float:
        """log P(words[:n_words] ...)."""
        return float(np.logaddexp.reduce([state.log_probability for state in self.prefixes[n_words - 1]]))

    def trees(self) -> dict[Tree, float]:
        """log-probability of each tree, apart from its tags, best first."""
        found: dict[Tree, list[float]] = {}
        for tree, log_probability in self.derivations:
            found.setdefault(Tree.from_spans(tree.words, [""] * len(tree), tree.spans()), []).append(log_probability)
        sums = {tree: float(np.logaddexp.reduce(logs)) for tree, logs in found.items()}
        return dict(sorted(sums.items(), key=lambda item: -item[1]))

    def successors(self, state: State) -> Iterator[State]:
        thetas = [self.theta(k, network, state) for k, network in enumerate(self.isbn.networks)]
        vocabulary = self.isbn.vocabulary
        top = state.stack[-1]
        if top.label == ROOT:
            yield from self.shifts(state, thetas, 0.0)
            return
        mask = vocabulary.masks[mask_of(top.label, state.stack[-2].label)].astype(bool)
        logs = self.decide(thetas, 0, vocabulary.n_actions, mask)
        is_last = state.stack[-2].label == ROOT
        for action in np.flatnonzero(mask).tolist():
            after = [self.update(*pair, 0, vocabulary.n_actions, mask, action) for pair in self.pairs(thetas)]
            if action == SHIFT:
                if state.n_words < len(self.words):
                    yield from self.shifts(state, after, logs[action])
            elif action >= PROJECT and state.n_projected == self.unary_cap:
                continue
            elif action != ATTACH or not is_last or state.n_words == len(self.words):
                yield self.act(state, after, action, logs[action])

    def shifts(self, state: State, thetas: list[np.ndarray], log_shift: float) -> Iterator[State]:
        vocabulary, own = self.isbn.vocabulary, self.candidates
        tag_logs = self.decide(thetas, vocabulary.n_actions, vocabulary.first_word)
        for c in range(own.offsets[state.n_words], own.offsets[state.n_words + 1]):
            tag, outcome = int(own.tags[c]), int(own.outcomes[c])
            first, end = (int(x) for x in vocabulary.word_offsets[tag : tag + 2])
            log_probability = log_shift + tag_logs[tag] + own.log_factors[c]
            chosen = vocabulary.n_actions + tag
            after = [
                self.update(*pair, vocabulary.n_actions, vocabulary.first_word, None, chosen)
                for pair in self.pairs(thetas)
            ]
            if end > first + 1:
                log_probability += self.decide(after, first, end)[outcome - first]
                after = [self.update(*pair, first, end, None, outcome) for pair in self.pairs(after)]
            own_rows = slice(*own.signature_offsets[state.n_words : state.n_words + 2])
            signatures = own.signature_rows[own_rows].tolist()
            t = len(state.means)
            yield State(
                stack=(*state.stack[:-1], state.stack[-1]._replace(context=t), Cell(-1, NONE, NONE, NONE, t, t)),
                last_shift=t,
                n_words=state.n_words + 1,
                means=(*state.means, [expit(theta) for theta in after]),
                rows=(*state.rows, [SHIFT, chosen, outcome, *(signatures if own.has_signatures[c] else [])]),
                transitions=(*state.transitions, Transition(SHIFT, vocabulary.tags[tag], self.words[state.n_words])),
                log_probability=state.log_probability + log_probability,
            )

    def act(self, state: State, thetas: list[np.ndarray], action: int, log_probability: float) -> State:
        """The state after Attach, Modify or Project."""
        t, stack = len(state.means), list(state.stack)
        child = stack.pop()
        if action >= PROJECT:
            stack.append(Cell(action - PROJECT, NONE, t, t, t, child.left_terminal))
        else:
            left_child = t if stack[-1].left_child == NONE else stack[-1].left_child
            stack[-1] = stack[-1]._replace(left_child=left_child, right_child=t)
        transition = {ATTACH: ATTACHED, MODIFY: MODIFIED}.get(action)
        return State(
            stack=tuple(stack),
            last_shift=state.last_shift,
            n_projected=state.n_projected + 1 if action >= PROJECT else 0,
            n_words=state.n_words,
            means=(*state.means, [expit(theta) for theta in thetas]),
            rows=(*state.rows, [action]),
            transitions=(*state.transitions, transition or Transition(PROJECT, self.isbn.labels[action - PROJECT])),
            log_probability=state.log_probability + log_probability,
        )

    def theta(self, k: int, network: Network, state: State) -> np.ndarray:
        """Logits of the means at a new position (equations 9 and 10)."""
        theta = network.bias.astype(float)
        where = state.stack[::-1], len(state.means) - 1, state.last_shift
        for r, t in enumerate(related(*where, self.codes[0])):
            if t != NONE:
                theta = theta + network.latent_weights[r].astype(float) @ state.means[t][k]
        for r, t in enumerate(related(*where, self.codes[1])):
            if t != NONE:
                rows = r * self.isbn.vocabulary.n_rows + np.array(state.rows[t])
                theta = theta + network.decision_weights[rows].astype(float).sum(axis=0)
        return theta

    def pairs(self, thetas: list[np.ndarray]) -> list[tuple[Network, np.ndarray]]:
        return list(zip(self.isbn.networks, thetas, strict=True))

    def decide(self, thetas: list[np.ndarray], first: int, end: int, mask: np.ndarray | None = None) -> np.ndarray:
        """log P of the outcomes of a range: of several networks the geometric mean, normalised."""
        with np.errstate(divide="ignore"):
            logs = np.mean([np.log(choose(*pair, first, end, mask)) for pair in self.pairs(thetas)], axis=0)
        return logs - np.logaddexp.reduce(logs)

    @staticmethod
    def update(network: Network, theta: np.ndarray, first: int, end: int, mask: Any, chosen: int) -> np.ndarray:
        """Return theta after a decision (equation 13)."""
        allowed = np.ones(end - first, dtype=bool) if mask is None else mask
        rows = network.outcome_weights[first:end][allowed].astype(float), network.outcome_bias[first:end][allowed]
        return UPDATES[network.approximation](theta, *rows, allowed[: chosen - first].sum())


def choose(network: Network, theta: np.ndarray, first: int, end: int, mask: np.ndarray | None) -> np.ndarray:
    """P of the outcomes of a range by one network."""
    logits = network.outcome_weights[first:end].astype(float) @ expit(theta) + network.outcome_bias[first:end]
    weights = np.exp(logits - logits.max()) * (1 if mask is None else mask)
    return weights / weights.sum()
