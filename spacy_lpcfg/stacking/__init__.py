"""A discriminative layer over the posteriors of a grammar."""
