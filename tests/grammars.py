"""Small grammars for the tests: random L-PCFGs, other bases for them, hidden Markov models."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from oracles.enumeration import Model, all_trees, cancellation, model_of

from spacy_lpcfg.arrays import offsets
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.grammar.classifier import Classifier
from spacy_lpcfg.grammar.grammar import check
from spacy_lpcfg.grammar.lexicon import Lexicon, tag_terminal
from spacy_lpcfg.grammar.tensors import Tensors
from spacy_lpcfg.trees.transforms import split_chain
from spacy_lpcfg.words.signatures import UNKNOWN

PRETERMINALS = ("D", "N", "NP|N", "S|V", "V")
INTERMINALS = ("@S", "NP", "S", "S|VP", "VP")
WORDS = ("ant", "bee", "cat", "dog")


def random_model(
    seed: int, *, most_states: int = 3, interminals: Sequence[str] = INTERMINALS, proper: bool = True
) -> Model:
    """An L-PCFG over a few symbols: ragged numbers of states, several roots, recursion, chains, an "@" symbol.

    Every interminal has five rules at random, every preterminal emits three of four words, and each word is emitted.
    proper (bool): Whether the weights are probabilities; else they are normal, of either sign.
    """
    rng = np.random.default_rng(seed)
    symbols = (*PRETERMINALS, *interminals)
    states = {a: int(rng.integers(1, most_states + 1)) for a in symbols}
    draw = _dirichlet if proper else _normal
    roots = ("NP", "S", "S|VP", "VP", "NP|N", "S|V")
    model = Model(_cut(roots, [states[a] for a in roots], draw(rng, 1, sum(states[a] for a in roots))[0]), {}, {})
    pairs = [(b, c) for b in symbols for c in symbols]
    for a in interminals:
        chosen = [(a, *pairs[i]) for i in rng.choice(len(pairs), 5, replace=False)]
        sizes = [states[b] * states[c] for _, b, c in chosen]
        for rule, block in _cut(chosen, sizes, draw(rng, states[a], sum(sizes))).items():
            model.binary[rule] = block.reshape([states[b] for b in rule])
    emitted: set[str] = set()
    for a in PRETERMINALS:
        words = rng.choice(WORDS, 3, replace=False).tolist()
        if a == PRETERMINALS[-1]:
            words = [*{*WORDS}.difference(emitted, words), *words][:3]
        emitted.update(words)
        weights = _cut([(a, x) for x in words], [1] * 3, draw(rng, states[a], 3))
        model.lexical.update({key: vector[:, 0] for key, vector in weights.items()})
    return model


def _dirichlet(rng: np.random.Generator, n: int, size: int) -> np.ndarray:
    return rng.dirichlet(np.ones(size), n)


def _normal(rng: np.random.Generator, n: int, size: int) -> np.ndarray:
    return rng.normal(0.3, 0.5, (n, size))


def _cut(keys: Iterable, sizes: Sequence[int], values: np.ndarray) -> dict:
    return dict(zip(keys, np.split(values, np.cumsum(sizes)[:-1], axis=-1), strict=True))


def of_low_rank(model: Model) -> Model:
    """The model with every second rule's tensor made a product of its sums, as smoothing makes those of rare rules."""

    def product(tensor: np.ndarray) -> np.ndarray:
        a, b, c = tensor.sum((1, 2)), tensor.sum((0, 2)), tensor.sum((0, 1))
        return np.einsum("a,b,c->abc", a, b, c) / tensor.sum() ** 2

    tensors = enumerate(model.binary.items())
    binary = {rule: product(tensor) if i % 2 else tensor for i, (rule, tensor) in tensors}
    return Model(model.roots, binary, model.lexical)


def skewed(model: Model, seed: int) -> Model:
    """The model with most of its binary rules' weights made very small."""
    rng = np.random.default_rng(seed)
    binary = {rule: tensor * 10.0 ** rng.integers(-6, 1, tensor.shape) for rule, tensor in model.binary.items()}
    return Model(model.roots, binary, model.lexical)


def one_state(model: Model, seed: int) -> Model:
    """A random PCFG with the rules of a model."""
    rng = np.random.default_rng(seed)

    def weights(parts: dict, shape: tuple[int, ...]) -> dict:
        return {key: np.full(shape, rng.uniform(0.2, 1.0)) for key in parts}

    return Model(weights(model.roots, (1,)), weights(model.binary, (1, 1, 1)), weights(model.lexical, (1,)))


def rebased(model: Model, seed: int) -> Model:
    """The same weights of trees in other bases: theorem 1 of Cohen et al. (2012), with a random G of every symbol."""
    rng = np.random.default_rng(seed)
    sizes = {rule[0]: tensor.shape[0] for rule, tensor in model.binary.items()}
    sizes.update({a: len(vector) for (a, _), vector in model.lexical.items()})
    to = {a: _well_conditioned(rng, m) for a, m in sizes.items()}
    back = {a: np.linalg.inv(g) for a, g in to.items()}
    return Model(
        {a: to[a] @ vector for a, vector in model.roots.items()},
        {
            (a, b, c): np.einsum("xyz,xi,jy,kz->ijk", tensor, back[a], to[b], to[c])
            for (a, b, c), tensor in model.binary.items()
        },
        {(a, x): vector @ back[a] for (a, x), vector in model.lexical.items()},
    )


def _well_conditioned(rng: np.random.Generator, m: int) -> np.ndarray:
    rotation, _ = np.linalg.qr(rng.normal(size=(m, m)))
    return rotation * rng.uniform(0.5, 2.0, m)


def grammar_of(
    model: Model, pcfg: Model, *, is_proper: bool, store: Callable[..., Tensors] = Tensors.from_dense
) -> Grammar:
    """A grammar with the latent parameters of a model over a PCFG with the same rules.

    Unknown words and unseen tags have rows of weight 0.001, beside the model's; "emu" and "fox" are rare words.
    store (function): Makes the tensors, of all their entries and their shapes.
    """
    preterminals = sorted({a for a, _ in model.lexical})
    symbols = (*preterminals, *sorted({a for a, _, _ in model.binary}))
    ids = {a: i for i, a in enumerate(symbols)}
    sizes = {rule[0]: len(tensor) for rule, tensor in model.binary.items()}
    sizes.update({a: len(vector) for (a, _), vector in model.lexical.items()})
    n_states = np.array([sizes[a] for a in symbols], dtype=np.int32)
    rules = sorted(model.binary, key=lambda rule: [ids[a] for a in rule])
    lexicon = _lexicon(model, pcfg, preterminals, sizes)
    grammar = Grammar(
        symbols=symbols,
        n_preterminals=len(preterminals),
        n_states=n_states,
        symbol_weights=np.full(len(symbols), 1 / len(symbols)),
        root_weights=np.array([float(pcfg.roots[a][0]) if a in pcfg.roots else 0.0 for a in symbols]),
        root_vectors=_flat([model.roots.get(a, np.zeros(sizes[a])) for a in symbols]),
        rules=np.array([[ids[a] for a in rule] for rule in rules], dtype=np.int32),
        rule_weights=np.array([pcfg.binary[rule].item() for rule in rules]),
        tensors=store(
            _flat([model.binary[rule] for rule in rules]), np.array([[sizes[a] for a in rule] for rule in rules])
        ),
        lexicon=lexicon,
        classifier=Classifier.of(np.empty(0), np.empty((0, 0))),
        root_label="ROOT",
        is_proper=is_proper,
        **_tag_tables(len(symbols), len(lexicon.tags)),
    )
    check(grammar)
    return grammar


def _lexicon(model: Model, pcfg: Model, preterminals: list[str], sizes: dict[str, int]) -> Lexicon:
    tag_of = {a: split_chain(a)[-1] for a in preterminals}
    tags = tuple(sorted(set(tag_of.values())))
    rows = {x: [a for a in preterminals if (a, x) in model.lexical] for x in sorted({x for _, x in model.lexical})}
    rows[UNKNOWN] = preterminals
    rows.update({tag_terminal(tag): [a for a in preterminals if tag_of[a] == tag] for tag in tags})
    keys = [(a, x) for x, symbols in rows.items() for a in symbols]
    ids = {a: i for i, a in enumerate(preterminals)}
    return Lexicon(
        terminals=tuple(rows),
        tags=tags,
        offsets=offsets(np.array([len(symbols) for symbols in rows.values()])).astype(np.int32),
        symbols=np.array([ids[a] for a, _ in keys], dtype=np.int32),
        weights=np.array([pcfg.lexical[key].item() if key in pcfg.lexical else 1e-3 for key in keys]),
        vector_offsets=offsets(np.array([sizes[a] for a, _ in keys])),
        vectors=_flat([model.lexical.get((a, x), np.full(sizes[a], 1e-3)) for a, x in keys]),
        rare_words=("emu", "fox"),
        rare_terminals=np.full(2, [*rows].index(UNKNOWN), dtype=np.int32),
        rare_offsets=np.array([0, 1, len(tags) + 1], dtype=np.int32),
        rare_tags=np.array([0, *range(len(tags))], dtype=np.int32),
        rare_factors=np.linspace(2.0, 3.0, len(tags) + 1, dtype=np.float32),
    )


def _tag_tables(n_symbols: int, n_tags: int) -> dict[str, np.ndarray]:
    """Tables of the words around that say nothing."""
    return {name: np.full((n_symbols, n_tags + 1), 1 / (n_tags + 1)) for name in ("tags_before", "tags_after")}


def _flat(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.ravel(array) for array in arrays]).astype(np.float32)


def random_grammar(seed: int, *, proper: bool = True, **shape: Any) -> Grammar:
    """A random model over a random PCFG with the same rules; `shape` as in `random_model`."""
    model = random_model(seed, proper=proper, **shape)
    return grammar_of(model, one_state(model, seed), is_proper=proper)


def sentences(grammar: Grammar, seed: int, lengths: Sequence[int] = (1, 2, 3, 4, 5, 6)) -> list[list[str]]:
    """Random sentences with a parse, as terminals, three of each length; their weights do not cancel out."""
    rng, model = np.random.default_rng(seed), model_of(grammar)
    drawn = [rng.choice(WORDS, n).tolist() for n in lengths for _ in range(3)]
    return [words for words in drawn if all_trees(model, words) and cancellation(model, words) > 0.01]


def hmm_model(start: np.ndarray, transition: np.ndarray, emission: np.ndarray, stop: float) -> Model:
    """A hidden Markov model that stops after any word with probability `stop`, as right-branching trees (S X (S X X)).

    start (m,), transition (m, m), emission (m, n_words). S holds the state of its first word, which is not the last.
    """
    m = len(start)
    step = np.eye(m)[:, :, None] * transition[:, None, :]
    return Model(
        {"S": (1 - stop) * start, "X": stop * start},
        {("S", "X", "S"): (1 - stop) * step, ("S", "X", "X"): stop * step},
        {("X", WORDS[x]): emission[:, x] for x in range(emission.shape[1])},
    )


def forward(
    start: np.ndarray, transition: np.ndarray, emission: np.ndarray, stop: float, sequence: Sequence[int]
) -> float:
    """The log-probability of a sequence of words under such a model, by the forward algorithm."""
    state, log = start * emission[:, sequence[0]], np.log(stop)
    for x in sequence[1:]:
        log += np.log(state.sum()) + np.log1p(-stop)
        state = (state / state.sum() @ transition) * emission[:, x]
    return float(log + np.log(state.sum()))
