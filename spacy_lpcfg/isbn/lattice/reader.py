"""Posteriors by a network's search in a lattice, guided by another model's posteriors."""

from __future__ import annotations

from spacy_lpcfg.isbn.lattice._lattice import Lattice
from spacy_lpcfg.isbn.lattice.guide import allowed_brackets, likely_candidates
from spacy_lpcfg.isbn.network import FEED_FORWARD, ISBN
from spacy_lpcfg.isbn.relations import Relations
from spacy_lpcfg.isbn.search import Networks
from spacy_lpcfg.isbn.settings import MAX_IDLE_BYTES, LatticeSettings
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import MIN_POSTERIOR, Posteriors


def is_guidable(isbn: ISBN) -> bool:
    """Return whether a lattice can represent all that a model's networks remember of a derivation."""
    is_plain = all(network.approximation == FEED_FORWARD for network in isbn.networks)
    return is_plain and isbn.relations == Relations()


class LatticeReader:
    """A reader of posteriors under a guide; it may be shared by threads.

    isbn (ISBN): A model for which `is_guidable` holds.
    networks (Networks): The model's networks.
    settings (LatticeSettings): Settings of the search.
    unary_cap (int): As in `BeamSettings`.
    max_bytes (float): Memory limit of a lattice, in bytes.
    """

    def __init__(
        self, isbn: ISBN, networks: Networks, settings: LatticeSettings, *, unary_cap: int, max_bytes: float
    ) -> None:
        self._vocabulary = isbn.vocabulary
        self._networks = networks
        self._attempts = (settings, settings.wider)
        self._unary_cap, self._max_bytes = unary_cap, max_bytes
        self._labels = {label: i for i, label in enumerate(isbn.labels)}
        self._idle: dict[LatticeSettings, list[Lattice]] = {attempt: [] for attempt in self._attempts}

    def posteriors(self, query: Query, guide: Posteriors) -> Posteriors:
        """Return posteriors over the derivations in a lattice, or in a wider one if it has none; else the guide's.

        query (Query): A sentence without constraints.
        guide (Posteriors): Posteriors of the sentence from another model.
        RETURNS (Posteriors): Posteriors of brackets of at least `MIN_POSTERIOR`, and of tags.
        RAISES (ValueError): If the guide has another number of words.
        """
        if len(guide.tags) != len(query.words):
            raise ValueError(f"Expected a guide of {len(query.words)} words, got one of {len(guide.tags)}.")
        for settings in self._attempts:
            posteriors = self._attempt(query, guide, settings)
            if posteriors is not None:
                return posteriors
        return guide

    def _attempt(self, query: Query, guide: Posteriors, settings: LatticeSettings) -> Posteriors | None:
        lattice = self._borrow(settings)
        candidates = likely_candidates(self._vocabulary, query, guide, settings)
        lattice.begin(candidates, allowed_brackets(guide, self._labels, settings))
        is_whole = all(lattice.advance() and lattice.n_bytes <= self._max_bytes for _ in query.words)
        posteriors = (
            Posteriors(lattice.brackets(MIN_POSTERIOR), lattice.tags()) if is_whole and lattice.finish() else None
        )
        if lattice.n_bytes <= MAX_IDLE_BYTES:
            self._idle[settings].append(lattice)
        return posteriors

    def _borrow(self, settings: LatticeSettings) -> Lattice:
        """Take an idle lattice, since allocating memory is slow, or create one."""
        try:
            return self._idle[settings].pop()
        except IndexError:
            return Lattice(self._networks, settings, unary_cap=self._unary_cap)
