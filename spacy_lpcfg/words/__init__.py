"""Signatures of unknown words, word classes, and tag dictionaries."""
