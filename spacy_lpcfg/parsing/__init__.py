"""The contract of all parsers: queries, answers, decodings, and how long sentences are cut into pieces."""
