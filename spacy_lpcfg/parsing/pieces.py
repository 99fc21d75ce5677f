"""Sentences too long to be parsed in one: cut into pieces, and their trees side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_lpcfg.parsing.result import Parse


def cuts_of(words: Sequence[str], longest: int) -> list[int]:
    """Where to cut a sentence into pieces of at most `longest` words: at the last punctuation in their second half."""
    cuts, start = [], 0
    while len(words) - start > longest:
        marks = [
            i + 1 for i in range(start + longest // 2, start + longest) if not any(char.isalnum() for char in words[i])
        ]
        start = marks[-1] if marks else start + longest
        cuts.append(start)
    return cuts


def joined(words: Sequence[str], parses: Sequence[Parse], label: str, status: str) -> Parse:
    """Parses of the pieces of a sentence, in order, as one under a bracket with this label, of score 0."""
    spans, start = [(0, len(words), label)], 0
    for parse in parses:
        spans += [(start + i, start + j, name) for i, j, name in parse.spans]
        start += len(parse.tags)
    return Parse(
        words=words,
        tags=[tag for parse in parses for tag in parse.tags],
        spans=spans,
        span_scores=np.concatenate([np.zeros(1, np.float32), *(parse.span_scores for parse in parses)]),
        tag_scores=np.concatenate([parse.tag_scores for parse in parses]),
        log_probability=float("nan"),
        status=status,
    )
