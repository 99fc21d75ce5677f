"""Adaptation of a grammar to new trees: MAP-EM (EM with a prior), whose prior is the grammar's own expected counts.

Read the modules in this order:

1. `prior.py`: the expected counts of a grammar;
2. `new_trees.py`: symbols, rules and emissions of the grammar and of the new trees, under common ids;
3. `map_em.py`: EM on the sum of the prior's counts and the counts of the new trees;
4. `assembly.py`: the adapted grammar from the resulting parameters.
"""
