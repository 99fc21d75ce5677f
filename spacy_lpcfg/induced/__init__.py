"""Parsers learned from raw text: simple PCFGs that are learned from unsupervised brackets."""
