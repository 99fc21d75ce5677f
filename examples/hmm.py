"""A hidden Markov model learned spectrally: its sequences are right-branching trees of an L-PCFG.

Section 8 of Cohen et al. (2012). The sequence a b c becomes (S (a a) (S (b b) (S (c c) (END .)))): S holds the hidden
state, and the tensor of S -> x S, with its emission of x, is the observable operator of x in Hsu et al. (2009). All
that this file does is to write trees, and to read operators from the grammar that `Spectral` makes of them.

    python examples/hmm.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.learning import Smoothing, Spectral
from spacy_lpcfg.trees import Tree

SYMBOLS = "abcd"
START = np.array([0.6, 0.3, 0.1])
TRANSITION = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.1, 0.6]])
EMISSION = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.1, 0.1, 0.2, 0.6]])
STOP = 0.1  # after every symbol
END = "END"

Operators = dict[str, np.ndarray]


def sample(n: int, seed: int = 0) -> Iterator[list[str]]:
    """Sequences of the true model."""
    rng = np.random.default_rng(seed)

    def draw(probabilities: np.ndarray) -> int:
        return int(probabilities[:-1].cumsum().searchsorted(rng.random()))

    for _ in range(n):
        state = draw(START)
        sequence: list[str] = []
        while not sequence or rng.random() > STOP:
            sequence.append(SYMBOLS[draw(EMISSION[state])])
            state = draw(TRANSITION[state])
        yield sequence


def tree_of(sequence: Sequence[str]) -> Tree:
    """A sequence as a right-branching tree, with an end of its own."""
    tree = Tree(END, word=".")
    for symbol in reversed(sequence):
        tree = Tree("S", (Tree(symbol, word=symbol), tree))
    return tree


def true_operators() -> tuple[np.ndarray, Operators]:
    """The vector of the start, and the operator of every symbol; END's takes a state to a weight, (m, 1)."""
    operators = {x: EMISSION[:, [i]] * TRANSITION * (1 - STOP) for i, x in enumerate(SYMBOLS)}
    ends = {x + END: EMISSION[:, [i]] * STOP for i, x in enumerate(SYMBOLS)}
    return START, {**operators, **ends}


def learned_operators(grammar: Grammar) -> tuple[np.ndarray, Operators]:
    """The same of a grammar, in other coordinates of the hidden state."""
    lexicon, names = grammar.lexicon, grammar.symbols

    def emission(symbol: str, word: str) -> np.ndarray:
        terminal, a = lexicon.terminal(word, False), names.index(symbol)
        row = lexicon.offsets[terminal] + lexicon.symbols[slice(*lexicon.offsets[terminal:][:2])].tolist().index(a)
        return lexicon.vectors[slice(*lexicon.vector_offsets[row:][:2])]

    operators = {}
    for rule, (_, b, c) in enumerate(grammar.rules):
        x, rest = names[b], names[c]
        operator = np.einsum("ijk,j->ik", grammar.tensor(rule), emission(x, x))
        operators[x if rest == "S" else x + END] = operator if rest == "S" else operator @ emission(END, ".")[:, None]
    return grammar.root_vector(names.index("S")), operators


def predict(start: np.ndarray, operators: Operators, history: Sequence[str]) -> np.ndarray:
    """P(next symbol | history, and that one follows), float (n_symbols,)."""
    step = sum(operators[x] for x in SYMBOLS)
    ends = sum(operators[x + END] for x in SYMBOLS)
    total = np.linalg.solve(np.eye(len(start)) - step, ends)  # weight of all sequences from a state
    state = start
    for symbol in history:
        state = state @ operators[symbol]
    weights = np.array([(state @ (operators[x] @ total + operators[x + END])).item() for x in SYMBOLS])
    return weights / weights.sum()


def learn(sequences: Sequence[Sequence[str]], n_states: int = 3) -> Grammar:
    """The grammar of sequences, without smoothing: there are few parameters and many sequences."""
    unsmoothed = Smoothing(c=0.0, nu=1.0, max_lexical=0.0)
    return Spectral(n_states=n_states, smoothing=unsmoothed).fit(map(tree_of, sequences))


def main() -> None:
    sequences = list(sample(3000))
    truth, learned = true_operators(), learned_operators(learn(sequences))
    print(f"P(next symbol | history), true and learned from {len(sequences)} sequences; symbols {' '.join(SYMBOLS)}")
    for history in ("", "a", "d", "dd", "abba", "bcdcb"):
        rows = [" ".join(f"{p:.3f}" for p in predict(*model, history)) for model in (truth, learned)]
        print(f"{history or '(start)':8} {rows[0]}   {rows[1]}")


if __name__ == "__main__":
    main()
