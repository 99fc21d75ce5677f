"""Beam search for the derivations of a sentence under an ISBN (incremental sigmoid belief network).

- `_networks` has the parameters, the words of a sentence and the probabilities of decisions;
- `_positions` has the derivations so far and the means of the latent units;
- `_search` has the beam and the search itself.
"""

from spacy_lpcfg.isbn.search._networks import Networks
from spacy_lpcfg.isbn.search._search import Search

__all__ = ["Networks", "Search"]
