"""Evidence for a chart: log-odds of labelled spans and log-probabilities of tags, by an encoder or sparse features."""
