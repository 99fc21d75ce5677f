"""The lattice of derivations that a network searches under the guidance of another model's posteriors."""

from spacy_lpcfg.isbn.lattice._lattice import Lattice

__all__ = ["Lattice"]
