"""Signatures of unknown words, and classes of words."""
