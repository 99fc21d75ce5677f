"""Atomic writing of files and folders, and the checked file format of all models."""
