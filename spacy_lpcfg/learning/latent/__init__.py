"""Latent states of symbols: expected counts, EM, merging of states, and the number of states of each symbol."""
