"""Assembly of the adapted grammar from its latent parameters, the old grammar and the new trees."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from spacy_lpcfg.arrays import offsets
from spacy_lpcfg.grammar.classifier import Classifier
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.grammar.lexicon import Lexicon, tag_terminal
from spacy_lpcfg.grammar.tensors import Tensors
from spacy_lpcfg.learning.adaptation.new_trees import NewTrees
from spacy_lpcfg.learning.adaptation.prior import Prior
from spacy_lpcfg.learning.latent.expectations import Latent
from spacy_lpcfg.learning.lexicon.lexical import GIVEN_TAG_WEIGHT
from spacy_lpcfg.learning.treebank.counts import boundary_tags
from spacy_lpcfg.words.signatures import is_signature


def build_adapted(prior: Prior, new: NewTrees, latent: Latent, strength: float) -> Grammar:
    """Build the adapted grammar; its weights without states come from the counts of the prior and of the new trees.

    prior (Prior): The old grammar, with its expected counts.
    new (NewTrees): The new trees.
    latent (Latent): The latent parameters after MAP-EM, for the symbols, rules and emissions of `new`.
    strength (float): The number of trees that the old grammar counts as.
    """
    old, counts = prior.grammar, new.counts
    visits = strength * new.of_symbols(prior.symbols)
    n_symbols, n_trees = visits + counts.symbols, len(new.nodes.roots)
    rule_counts = counts.rule_counts.copy()
    rule_counts[new.inherited.rules] += strength * prior.symbols[old.rules[:, 0]] * old.rule_weights
    root_weights = (strength * new.of_symbols(old.root_weights) + counts.roots) / (strength + n_trees)
    before, after = _boundary_tags(new, visits)
    is_state = np.arange(latent.roots.shape[1]) < latent.n_states[:, None]
    return Grammar(
        symbols=new.nodes.symbols,
        n_preterminals=len(new.nodes.preterminals),
        n_states=latent.n_states,
        symbol_weights=n_symbols / n_symbols.sum(),
        root_weights=root_weights,
        root_vectors=latent.roots[is_state].astype(np.float32),
        rules=counts.rules,
        rule_weights=_normalized(rule_counts, counts.rules[:, 0], len(n_symbols)),
        tensors=Tensors.sparsify(latent.tensors, new.layout.shapes),
        lexicon=_lexicon(new, visits, latent.emissions),
        root_label=old.root_label,
        is_proper=True,
        classifier=_classifier(old, len(new.nodes.preterminals)),
        tags_before=before,
        tags_after=after,
        tau=old.tau,
    )


def _normalized(counts: np.ndarray, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Return each count divided by the sum of the counts in its group; `groups` are group ids, int (n,)."""
    sums = np.bincount(groups, counts, n_groups)
    return counts / np.where(sums > 0, sums, 1.0)[groups]


def _classifier(old: Grammar, n_preterminals: int) -> Classifier:
    """Return the old grammar's classifier, renumbered for more preterminals; the new preterminals have no weights.

    n_preterminals (int): Number of old and new preterminals.
    """
    outputs = old.classifier.outputs.astype(np.int64)
    outputs[outputs >= old.n_preterminals] += n_preterminals - old.n_preterminals  # beginnings and ends of spans
    return replace(old.classifier, outputs=outputs.astype(np.uint16))


def _boundary_tags(new: NewTrees, visits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return P(tag before | symbol) and P(tag after | symbol), each (n_symbols, n_tags + 1).

    visits (float64, (n_symbols,)): Expected count of each symbol in the prior, which weights the old grammar's tables.
    """
    old, n_old, n = new.grammar, len(new.grammar.tags), new.counts.symbols + 1
    symbols, tables = new.inherited.symbols, []
    of_trees = boundary_tags(new.nodes, new.tag_of, len(new.tags))
    for of_grammar, table in zip((old.tags_before, old.tags_after), of_trees, strict=True):
        wide = np.zeros_like(table)
        wide[symbols, :n_old], wide[symbols, -1] = of_grammar[:, :-1], of_grammar[:, -1]
        tables.append((visits[:, None] * wide + n[:, None] * table) / (visits + n)[:, None])
    return tables[0], tables[1]


# The lexicon -------------------------------------------------------------------------------------


def _lexicon(new: NewTrees, visits: np.ndarray, emissions: np.ndarray) -> Lexicon:
    """Return the adapted lexicon, in which the emissions of each signature are divided among its words.

    visits (float64, (n_symbols,)): Expected count of each symbol in the prior.
    emissions (float64, (n_pairs, m)): q(x | a, h).
    """
    old = new.grammar.lexicon
    rows, symbols = new.inherited.rows, new.layout.pairs[:, 0]
    counts = new.tokens + new.emitted.backoff
    per_row = old.words_per_row(new.grammar.tag_of)
    counts[new.inherited.pairs] += visits[old.symbols[rows]] * (old.weights * per_row)[rows]
    table = _table(new, _normalized(counts, symbols, len(visits)), emissions)
    return _with_rare_words(table, new, visits).shared_out(new.tag_of)


def _table(new: NewTrees, weights: np.ndarray, emissions: np.ndarray) -> Lexicon:
    """Return a lexicon without rare words: a row for each emission in `new`, and the rows of the `<tag TAG>` terminals.

    weights (float64, (n_pairs,)): q(x | a) of each emission.
    emissions (float64, (n_pairs, m)): q(x | a, h) of each emission.
    """
    old, grammar, m = new.grammar.lexicon, new.grammar, emissions.shape[1]
    terminal_of_tag = np.append(old.tag_terminals, len(old.terminals) + np.arange(len(new.tags) - len(old.tags)))
    of_tags = np.setdiff1d(np.arange(len(old.symbols)), new.inherited.rows)
    added = np.arange(grammar.n_preterminals, len(new.nodes.preterminals))
    vectors = np.zeros((len(weights) + len(of_tags) + len(added), m))
    vectors[: len(weights)] = emissions
    for place, row in enumerate(of_tags.tolist(), start=len(weights)):
        vector = old.vectors[slice(*old.vector_offsets[row : row + 2])]
        vectors[place, : len(vector)] = vector
    vectors[len(weights) + len(of_tags) :, 0] = GIVEN_TAG_WEIGHT
    terminals = np.concatenate([new.layout.pairs[:, 1], old.row_terminals[of_tags], terminal_of_tag[new.tag_of[added]]])
    symbols = np.concatenate([new.layout.pairs[:, 0], old.symbols[of_tags], added])
    order = np.lexsort([symbols, terminals])
    names = old.terminals + tuple(map(tag_terminal, new.tags[len(old.tags) :]))
    n_states = new.layout.n_states[symbols[order]]
    return Lexicon(
        terminals=names,
        tags=new.tags,
        offsets=offsets(np.bincount(terminals, minlength=len(names))).astype(np.int32),
        symbols=symbols[order].astype(np.int32),
        weights=np.concatenate([weights, old.weights[of_tags], np.full(len(added), GIVEN_TAG_WEIGHT)])[order],
        vector_offsets=offsets(n_states),
        vectors=vectors[order][np.arange(m) < n_states[:, None]].astype(np.float32),
    )


def _with_rare_words(table: Lexicon, new: NewTrees, visits: np.ndarray) -> Lexicon:
    """Add rare words of the old grammar and new words to a lexicon; their factors for a tag grow with their tokens.

    The old grammar expects a number of tokens of one rare word of a signature under each tag. Each token in the new
    trees adds the inverse of this number to the word's factor for the tag. A new word starts with the factors of
    unknown words.

    table (Lexicon): The lexicon without rare words.
    visits (float64, (n_symbols,)): Expected count of each symbol in `strength` trees drawn from the old grammar.
    """
    old = new.grammar.lexicon
    if not old.rare_words:
        return table
    tokens = old.tag_weights(visits, new.grammar.tag_of)
    rare = {name: (terminal, _factors(old, i)) for i, (name, terminal) in enumerate(_names(old))}
    for (name, terminal, tag), n in sorted(_rare_tokens(new).items()):
        if tag < len(old.tags) and tokens[terminal, tag] > 0:
            if name not in rare:
                unknown = rare.get(old.terminals[terminal], (terminal, {}))[1]
                rare[name] = terminal, _of_one_word(unknown, tokens[terminal])
            factors = rare[name][1]
            factors[tag] = factors.get(tag, 1.0) + min(n / tokens[terminal, tag], _LARGEST)
    names = sorted(rare)
    entries = [sorted(rare[name][1].items()) for name in names]
    return replace(
        table,
        rare_words=tuple(names),
        rare_terminals=np.array([rare[name][0] for name in names], dtype=np.int32),
        rare_offsets=offsets(np.array(list(map(len, entries)))).astype(np.int32),
        rare_tags=np.array([tag for of_word in entries for tag, _ in of_word], dtype=np.int32),
        rare_factors=np.array([factor for of_word in entries for _, factor in of_word], dtype=np.float32),
    )


_LARGEST = 1e6  # factor of a tag of a rare word


def _names(lexicon: Lexicon) -> list[tuple[str, int]]:
    return list(zip(lexicon.rare_words, lexicon.rare_terminals.tolist(), strict=True))


def _factors(lexicon: Lexicon, rare: int) -> dict[int, float]:
    """Return the factors of the rare word with index `rare`, by tag id."""
    entries = slice(lexicon.rare_offsets[rare], lexicon.rare_offsets[rare + 1])
    return dict(zip(lexicon.rare_tags[entries].tolist(), lexicon.rare_factors[entries].tolist(), strict=True))


def _of_one_word(unknown: dict[int, float], tokens: np.ndarray) -> dict[int, float]:
    """Return the factors of a new word by tag id: the factors of unknown words, scaled to the mass of one rare word.

    unknown (dict from int to float): Factors of the signature's unknown words by tag id.
    tokens (float64, (n_tags,)): Expected tokens of one rare word under each tag.
    """
    factors = np.ones(len(tokens))
    factors[[*unknown]] = [*unknown.values()]
    factors *= tokens.sum() / (factors * tokens).sum()
    return {tag: float(factors[tag]) for tag in np.flatnonzero(tokens > 0).tolist()}


def _rare_tokens(new: NewTrees) -> Counter[tuple[str, int, int]]:
    """Count the tokens that signatures emit in the new trees, by (word, signature id, tag id).

    A known rare word is spelled as in the old grammar's lexicon.
    """
    lexicon, nodes, tag_of = new.grammar.lexicon, new.nodes, new.tag_of
    counts: Counter[tuple[str, int, int]] = Counter()
    for leaf, terminal in zip(nodes.leaves.tolist(), new.emitted.terminals.tolist(), strict=True):
        if is_signature(lexicon.terminals[terminal]):
            word = nodes.words[nodes.word[leaf]]
            emitter = lexicon.emitter(word, bool(nodes.start[leaf] == 0))
            name = word if emitter.is_unknown else lexicon.rare_words[emitter.rare]
            counts[name, terminal, int(tag_of[nodes.symbol[leaf]])] += 1
    return counts
