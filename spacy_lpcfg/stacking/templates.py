"""The features of a labelled span: its edges, its length and how likely the grammar thinks it is.

Hall, Durrett and Klein (2014), "Less grammar, more features". Differs: (1) the features score spans of a grammar's
posteriors, and take these as inputs; (2) there are none of rules and splits, which add nothing to such posteriors.

Every template stands for the conjunction of its atoms with the span's label.
"""

from __future__ import annotations

import numpy as np

from spacy_lpcfg.arrays import read_only

PLACES = ("first", "second", "last_but_one", "last", "second_before", "before", "after", "second_after")
"""Words of a sentence as seen from a span; the first four are in the span, if it is so long."""
ATOMS = (
    "odds",
    "length",
    *(f"{place}.word" for place in PLACES),
    *(f"{place}.tag" for place in PLACES),
    "all_tags",
)
"""What templates are made of: the binned log-odds and length of a span, words and tags about it, and all tags in it, of
spans of at most `MAX_TAGS` words."""
MAX_TAGS = 6

_EDGES = ("first", "last", "before", "after")
_PAIRS = (("first", "last"), ("before", "after"), ("before", "first"), ("last", "after"))
_KINDS = ("word", "tag")
TEMPLATES: tuple[str, ...] = (
    "odds",
    "length",
    "odds length",
    *(f"{place}.{kind}" for kind in _KINDS for place in PLACES),
    *(f"{edge}.{kind} length" for kind in _KINDS for edge in _EDGES),
    *(f"{one}.{kind} {other}.{its}" for one, other in _PAIRS for kind in _KINDS for its in _KINDS),
    *(f"{one}.{kind} {other}.{kind}" for one, other in (("first", "after"), ("before", "last")) for kind in _KINDS),
    *(f"{one}.tag {other}.tag length" for one, other in _PAIRS),
    "before.tag first.tag last.tag after.tag",
    "second_before.tag before.tag",
    "after.tag second_after.tag",
    "first.tag second.tag",
    "last_but_one.tag last.tag",
    "all_tags",
    "before.tag all_tags after.tag",
)
"""Atoms of each template, apart by blanks."""


MAX_ATOMS = 8
"""The most atoms of a template."""


def template_table(templates: tuple[str, ...]) -> np.ndarray:
    """Templates as a kernel reads them: places of their atoms in `ATOMS`, -1 for none; int32 (n_templates, n)."""
    rows = [[ATOMS.index(atom) for atom in template.split()] for template in templates]
    width = max(map(len, rows), default=0)
    table = np.array([row + [-1] * (width - len(row)) for row in rows], dtype=np.int32)
    return read_only(table.reshape(len(rows), width))


def are_templates(templates: tuple[str, ...]) -> bool:
    """Whether all are made of atoms."""
    atoms = [template.split(maxsplit=MAX_ATOMS) for template in templates]
    return all(0 < len(some) <= MAX_ATOMS and set(some) <= set(ATOMS) for some in atoms)
