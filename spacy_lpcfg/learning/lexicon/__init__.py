"""Words and tags of a grammar: smoothed emissions, rare words, and the classifier of words in context."""
