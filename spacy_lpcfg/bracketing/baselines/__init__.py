"""Baselines and bounds for bracketers: branching, random trees, CCM, and the best binary trees."""
