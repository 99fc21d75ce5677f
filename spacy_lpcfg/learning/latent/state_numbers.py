"""The number of latent states of each symbol, and a warning if symbols get fewer than the learner's `n_states`."""

from __future__ import annotations

import logging

import numpy as np

from spacy_lpcfg.checks import COUNT, at_least, counted
from spacy_lpcfg.learning.treebank.assembly import IndexedTreebank

logger = logging.getLogger(__name__)

_NAMED = 5  # symbols in the message, the most frequent ones


def check_states(n_states: int, tokens_per_state: float) -> None:
    """Check the settings that limit the number of states of a symbol.

    RAISES (ValueError): If `n_states` is no whole number of at least 1, or `tokens_per_state` no number of at least 0.
    """
    COUNT(n_states=n_states)
    at_least(0)(tokens_per_state=tokens_per_state)


def max_states(counts: np.ndarray, n_states: int, tokens_per_state: float) -> np.ndarray:
    """Return the maximum number of states of each symbol, int32 (n_symbols,).

    For a symbol seen n times it is n / tokens_per_state, rounded down and clipped to [1, n_states]; if tokens_per_state
    is 0, it is `n_states` for every symbol.

    counts (float64, (n_symbols,)): Number of nodes of each symbol.
    """
    if tokens_per_state == 0:
        return np.full(len(counts), n_states, dtype=np.int32)
    return np.clip(counts / tokens_per_state, 1, n_states).astype(np.int32)


def log_fewer_states(treebank: IndexedTreebank, n_found: np.ndarray, n_states: int, tokens_per_state: float) -> None:
    """Log how many symbols have fewer states than the learner's `n_states`, and why; nothing if no symbol has fewer.

    The level is WARNING if these symbols make up more than half of the treebank's nodes, otherwise INFO, since any
    treebank has some rare symbols.

    treebank (IndexedTreebank): The treebank.
    n_found (int, (n_symbols,)): States of each symbol.
    n_states (int), tokens_per_state (float): The learner's settings.
    """
    counts, names = treebank.counts.symbols, treebank.nodes.symbols
    fewer = np.flatnonzero(n_found < n_states)
    if not len(fewer):
        return
    n_alike = int(np.sum(n_found < max_states(counts, n_states, tokens_per_state)))
    reasons = {
        f"seen fewer than {tokens_per_state:g} times for each state (tokens_per_state)": len(fewer) - n_alike,
        "with features that tell no more states apart": n_alike,
    }
    frequent = sorted(fewer.tolist(), key=lambda symbol: -counts[symbol])[:_NAMED]
    logger.log(
        logging.WARNING if counts[fewer].sum() > counts.sum() / 2 else logging.INFO,
        "%d of %d symbols have fewer than %d states: %s. The most frequent of them: %s. This is right for a "
        "small treebank: nothing has to be changed, and more trees give more states.",
        len(fewer),
        len(names),
        n_states,
        ", ".join(f"{n} {reason}" for reason, n in reasons.items() if n),
        ", ".join(
            f"{names[symbol]!r} {n_found[symbol]} (seen {counted(round(counts[symbol]), 'time')})"
            for symbol in frequent
        ),
    )
