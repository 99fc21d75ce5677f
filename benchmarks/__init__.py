"""Measurements; each is run from the root of the repository: `python -m benchmarks.FOLDER.NAME`."""
