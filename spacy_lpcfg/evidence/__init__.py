"""Evidence for the chart parser: log-odds of labelled spans and log-probabilities of tags, from an encoder or features.
"""
