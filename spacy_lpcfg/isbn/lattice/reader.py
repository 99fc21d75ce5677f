"""Posteriors by a network that looks only where other models' posteriors point."""

from __future__ import annotations

from spacy_lpcfg.isbn.lattice._lattice import Lattice
from spacy_lpcfg.isbn.lattice.guide import allowed_brackets, likely_candidates
from spacy_lpcfg.isbn.network import FEED_FORWARD, ISBN
from spacy_lpcfg.isbn.relations import Relations
from spacy_lpcfg.isbn.search import Networks
from spacy_lpcfg.isbn.settings import MAX_IDLE_BYTES, LatticeSettings
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import MIN_POSTERIOR, Posteriors


def can_guide(isbn: ISBN) -> bool:
    """Whether a lattice can stand for all that a model's networks remember of a derivation."""
    is_plain = all(network.approximation == FEED_FORWARD for network in isbn.networks)
    return is_plain and isbn.relations == Relations()


class LatticeReader:
    """Finds posteriors of brackets and tags under a guide; any number of threads may share one.

    isbn (ISBN): one that `can_guide` holds for.
    networks (Networks): of the same.
    settings (LatticeSettings): of the search.
    unary_cap (int): as in `BeamSettings`.
    max_bytes (float): of a lattice.
    """

    def __init__(
        self, isbn: ISBN, networks: Networks, settings: LatticeSettings, *, unary_cap: int, max_bytes: float
    ) -> None:
        self._vocabulary = isbn.vocabulary
        self._networks = networks
        self._attempts = (settings, settings.wider)
        self._unary_cap, self._max_bytes = unary_cap, max_bytes
        self._labels = {label: i for i, label in enumerate(isbn.labels)}
        self._idle: dict[LatticeSettings, list[Lattice]] = {each: [] for each in self._attempts}

    def posteriors(self, query: Query, guide: Posteriors) -> Posteriors:
        """Those of the derivations in the lattice; those of the guide if no derivation is left in a wider one either.

        query (Query): without constraints.
        guide (Posteriors): of more than one tree.
        RETURNS (Posteriors): of brackets that are at least `MIN_POSTERIOR` likely.
        RAISES (ValueError): If the guide is not of these words.
        """
        if len(guide.tags) != len(query.words):
            raise ValueError(f"Expected a guide of {len(query.words)} words, got one of {len(guide.tags)}.")
        for settings in self._attempts:
            found = self._attempt(query, guide, settings)
            if found is not None:
                return found
        return guide

    def _attempt(self, query: Query, guide: Posteriors, settings: LatticeSettings) -> Posteriors | None:
        lattice = self._borrow(settings)
        candidates = likely_candidates(self._vocabulary, query, guide, settings)
        lattice.begin(candidates, allowed_brackets(guide, self._labels, settings))
        is_whole = all(lattice.advance() and lattice.n_bytes <= self._max_bytes for _ in query.words)
        found = Posteriors(lattice.brackets(MIN_POSTERIOR), lattice.tags()) if is_whole and lattice.finish() else None
        if lattice.n_bytes <= MAX_IDLE_BYTES:
            self._idle[settings].append(lattice)
        return found

    def _borrow(self, settings: LatticeSettings) -> Lattice:
        """A lattice that no thread uses: fresh memory is slow."""
        try:
            return self._idle[settings].pop()
        except IndexError:
            return Lattice(
                self._networks,
                width=settings.width,
                nats=settings.nats,
                unary_cap=self._unary_cap,
            )
