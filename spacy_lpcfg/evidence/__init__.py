"""Evidence for the chart parser: log-odds of labelled spans, log-probabilities of tags, from an encoder or features."""
