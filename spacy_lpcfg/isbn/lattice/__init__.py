"""The lattice of derivations that a network searches under the guidance of another model's posteriors."""
