"""Adaptation of a grammar to new trees: EM with the grammar's own expected counts as the prior.

Read `prior.py` (the expected counts of a grammar), `new_trees.py` (symbols, rules and emissions of grammar and trees),
`map_em.py` (EM on the sum of the expected counts) and `assembly.py` (from parameters to the grammar), in this order.
"""
