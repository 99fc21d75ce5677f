"""Learning that goes on from a grammar, whose own expected counts are the prior of new trees.

Read `prior.py` (the expected counts of a grammar), `new_trees.py` (the symbols, rules and emissions of both),
`map_em.py` (EM on the sum of both counts) and `assembly.py` (from parameters to the grammar), in this order.
"""
