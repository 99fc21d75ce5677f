"""Hostile input: targets that make inputs of arbitrary bytes and check what comes of them against a contract.

The same targets are run by hypothesis and on the cases found so far (`tests/project/test_fuzz.py`), and guided by
coverage (`python -m fuzz.run`, with the extra `fuzz`).
"""
