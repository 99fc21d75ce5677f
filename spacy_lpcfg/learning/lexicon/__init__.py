"""Words and tags: smoothed emissions, rare words, and the classifier of words in context."""
