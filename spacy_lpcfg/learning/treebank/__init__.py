"""From trees to arrays, and from arrays to a grammar: counts, features, and the assembly of rules."""
