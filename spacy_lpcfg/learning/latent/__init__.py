"""Latent states: expected counts, EM, merging, and the number of states of each symbol."""
