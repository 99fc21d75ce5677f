"""The algorithm of Parikh, Cohen and Xing (2014); the baselines are in `benchmarks/papers`."""
