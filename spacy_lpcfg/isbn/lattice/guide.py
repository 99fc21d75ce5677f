"""What a guide leaves a network to look at: likely tags, and brackets that may be built."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spacy_lpcfg.isbn.settings import LatticeSettings
from spacy_lpcfg.isbn.vocabulary import Candidates, NetworkVocabulary
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import Posteriors

_ANY = -1


def likely_candidates(
    vocabulary: NetworkVocabulary, query: Query, guide: Posteriors, settings: LatticeSettings
) -> Candidates:
    """The candidates of words under their given tags, or those that are likely.

    Differs from `NetworkVocabulary.candidates`: of a word without a given tag the guide alone says what tags it may
    have, if the network knows any of them.
    """
    likely = [[tag for tag, p in of_word.items() if p >= settings.min_tag] for of_word in guide.tags]
    for i, tag in enumerate(query.certain_tags or ()):
        if tag in vocabulary.tags:
            likely[i] = [tag]
    return vocabulary.candidates_among(query.words, likely)


def allowed_brackets(guide: Posteriors, labels: Mapping[str, int], settings: LatticeSettings) -> np.ndarray:
    """Start, end and label of the brackets that may be built, int32 (n, 3); a label of -1 is any.

    labels (mapping of str to int): numbers of those that the network knows.
    """
    likely = [span for span, p in guide.brackets.items() if p >= settings.min_bracket]
    if settings.guide == "labels":
        found = [(start, end, labels[label]) for start, end, label in likely if label in labels]
        return np.array(found, dtype=np.int32).reshape(-1, 3)
    starts, ends = (np.array([*{span[side] for span in likely}], dtype=np.int32) for side in (0, 1))
    first, last = np.nonzero(starts[:, None] < ends)
    return np.stack([starts[first], ends[last], np.full(len(first), _ANY, dtype=np.int32)], axis=1)
