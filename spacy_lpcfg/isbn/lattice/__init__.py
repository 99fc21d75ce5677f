"""Networks that look only where a guide points: a lattice of derivations, by stage.

Masks, stacks, graph, scores, expansion, shifting, posteriors, and the whole.
"""

from spacy_lpcfg.isbn.lattice._lattice import Lattice

__all__ = ["Lattice"]
