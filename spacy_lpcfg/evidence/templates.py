"""Templates of sparse features of words, of fence posts and of spans.

They follow Hall, Durrett and Klein (2014), "Less grammar, more features". Differs: (1) spans also have features of
predicted tags; (2) there are no features of split points and rules, which the grammar models already.

An atom is one property of a word or position, such as the tag of the next word. A template is a set of atoms; their
values at a place make up a feature, whose key is a hash of template and values. A fence post is a position between two
words. Its features have one weight for spans that begin there, and another for spans that end there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_lpcfg.arrays import read_only

REACH = 3
"""Number of words on either side of a fence post that its atoms come from."""
WORD_REACH = 2
"""Number of words on either side of a word that its atoms come from."""
N_SUFFIXES = 4
"""Number of suffixes of a word that are atoms: of one letter, two, and so on."""
MAX_TAGS = 6
"""Greatest number of words of a span whose sequence of tags is an atom."""
LENGTHS = np.array([2, 3, 4, 5, 6, 8, 11, 16, 21, 31])
"""Lower limits of the bins of span length."""

_AROUND = tuple(range(-REACH, 0)) + tuple(range(1, REACH + 1))
POST_ATOMS = tuple(f"{kind}{place:+}" for kind in "wt" for place in _AROUND)
"""Atoms of a fence post: words (w) and tags (t) at 1 to 3 places before (-) and after (+) it."""
SPAN_ATOMS = (
    *(f"start.{atom}" for atom in POST_ATOMS),
    *(f"end.{atom}" for atom in POST_ATOMS),
    "length",
    "tags",
)
"""Atoms of a span: the atoms of its fence posts, its binned length, and the sequence of its tags."""
WORD_ATOMS = (
    *(f"{kind}{place:+}" for kind in ("word", "likely") for place in range(-WORD_REACH, WORD_REACH + 1)),
    *("signature+0", "prefix+0", *(f"suffix{n}+0" for n in range(1, N_SUFFIXES + 1))),
    *("suffix3-1", "suffix3+1"),
)
"""Atoms of a word: itself and its neighbours, their most frequent tags, and the parts of its spelling."""

POST_TEMPLATES = (
    *POST_ATOMS,
    *("w-1 w+1", "w-2 w-1", "w+1 w+2", "t-1 t+1", "t-2 t-1", "t+1 t+2"),
    *("w-1 t+1", "t-1 w+1", "w-1 t-2", "w+1 t+2"),
    *("t-2 t-1 t+1", "t-1 t+1 t+2", "t+1 t+2 t+3", "t-3 t-2 t-1", "t-2 t-1 t+1 t+2"),
    *("w-1 t+1 t+2", "t-2 t-1 w+1"),
)
_FIRST, _LAST, _BEFORE, _AFTER = "start.{}+1", "end.{}-1", "start.{}-1", "end.{}+1"
_EDGES = (_FIRST, _LAST, _BEFORE, _AFTER)
_ACROSS = ((_FIRST, _LAST), (_BEFORE, _AFTER), (_FIRST, _AFTER), (_BEFORE, _LAST))
SPAN_TEMPLATES = (
    "length",
    *(f"{edge.format(kind)} length" for kind in "wt" for edge in _EDGES),
    *(f"{one.format(kind)} {other.format(its)}" for one, other in _ACROSS for kind in "wt" for its in "wt"),
    *(f"{one.format('t')} {other.format('t')} length" for one, other in _ACROSS),
    "start.t-1 start.t+1 length",
    "end.t-1 end.t+1 length",
    "start.t-1 start.t+1 end.t-1 end.t+1",
    "start.t+1 start.t+2 end.t-2 end.t-1",
    "start.t-2 start.t-1 end.t+1 end.t+2",
    "tags",
    "start.t-1 tags end.t+1",
    "start.w-1 tags",
    "tags end.w+1",
)
WORD_TEMPLATES = (
    "",
    *WORD_ATOMS,
    *("word-1 word+0", "word+0 word+1", "word-1 word+1", "likely-1 word+0", "word+0 likely+1"),
    *("likely-1 likely+1", "likely-2 likely-1", "likely+1 likely+2", "likely-1 likely+0 likely+1"),
    *("likely-2 likely-1 likely+0", "likely+0 likely+1 likely+2"),
    *("suffix3+0 likely-1", "suffix3+0 likely+1", "suffix2+0 word-1", "suffix2+0 word+1", "signature+0 likely-1"),
)


def template_table(templates: Sequence[str], atoms: Sequence[str], first: int = 0) -> np.ndarray:
    """Return templates as an array for `feature_keys`, int32 (n_templates, width).

    Each row has the number of the template and then the indices of its atoms, padded with -1.

    templates (sequence of str): The templates: the names of their atoms, separated by blanks.
    atoms (sequence of str): The names of all atoms.
    first (int): The number of the first template.
    """
    rows = [[first + i, *map(atoms.index, template.split())] for i, template in enumerate(templates)]
    width = max(map(len, rows))
    return read_only(np.array([row + [-1] * (width - len(row)) for row in rows], np.int32))


START_TABLE = template_table(POST_TEMPLATES, POST_ATOMS)
END_TABLE = template_table(POST_TEMPLATES, POST_ATOMS, len(POST_TEMPLATES))
SPAN_TABLE = template_table(SPAN_TEMPLATES, SPAN_ATOMS, 2 * len(POST_TEMPLATES))
WORD_TABLE = template_table(WORD_TEMPLATES, WORD_ATOMS)
"""The templates of fence posts at which spans begin and end, of spans, and of words, as `feature_keys` takes them."""
