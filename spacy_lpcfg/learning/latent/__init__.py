"""Latent states: expected counts, EM, merging, and how many states each symbol has."""
