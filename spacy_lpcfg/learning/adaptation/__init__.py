"""Learning that goes on from a grammar: its own expected counts are the prior of new trees."""
