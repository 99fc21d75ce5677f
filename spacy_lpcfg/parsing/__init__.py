"""The contract of all parsers: queries, answers, and the division of long sentences."""
