"""The algorithm of Parikh, Cohen and Xing (2014), and the baselines that it is compared with."""
