"""Evidence for a chart: log-odds of labelled spans and log-probabilities of tags, by a pretrained encoder."""
