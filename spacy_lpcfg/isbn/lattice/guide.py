"""Restriction of a lattice by a guide: likely tags, and brackets that may be built."""

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
    """Return the candidates of words under their given tags, or else under tags that are likely by the guide.

    Differs from `NetworkVocabulary.candidates`: the tags of a word without a given tag come from the guide alone, if
    the network knows any of them.
    """
    likely = [[tag for tag, p in of_word.items() if p >= settings.min_tag] for of_word in guide.tags]
    for i, tag in enumerate(query.certain_tags or ()):
        if tag in vocabulary.tags:
            likely[i] = [tag]
    return vocabulary.candidates_among(query.words, likely)


def allowed_brackets(guide: Posteriors, labels: Mapping[str, int], settings: LatticeSettings) -> np.ndarray:
    """Return start, end and label of the brackets that may be built, int32 (n, 3); the label -1 stands for any.

    labels (mapping of str to int): Numbers of the network's labels.
    """
    likely = [span for span, p in guide.brackets.items() if p >= settings.min_bracket]
    if settings.guide == "labels":
        brackets = [(start, end, labels[label]) for start, end, label in likely if label in labels]
        return np.array(brackets, dtype=np.int32).reshape(-1, 3)
    starts, ends = (np.array([*{span[side] for span in likely}], dtype=np.int32) for side in (0, 1))
    first, last = np.nonzero(starts[:, None] < ends)
    return np.stack([starts[first], ends[last], np.full(len(first), _ANY, dtype=np.int32)], axis=1)
