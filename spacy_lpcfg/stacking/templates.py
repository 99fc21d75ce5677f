"""Feature templates of a labelled span: its edges, its length and its posterior under the grammar.

They follow Hall, Durrett and Klein (2014), "Less grammar, more features". Differs: (1) the features score brackets of a
grammar's posteriors, and take these as inputs; (2) there are no features of rules and splits, which add nothing.

Every template is the conjunction of its atoms with the span's label.
"""

from __future__ import annotations

import numpy as np

from spacy_lpcfg.arrays import read_only

PLACES = ("first", "second", "last_but_one", "last", "second_before", "before", "after", "second_after")
"""Positions of words relative to a span; the first four are inside the span, if it is long enough."""
ATOMS = (
    "odds",
    "length",
    *(f"{position}.word" for position in PLACES),
    *(f"{position}.tag" for position in PLACES),
    "all_tags",
)
"""Atoms of templates: the binned log-odds and length of a span, words and tags at its edges, and all tags in it for
spans of at most `MAX_TAGS` words."""
MAX_TAGS = 6

_EDGES = ("first", "last", "before", "after")
_PAIRS = (("first", "last"), ("before", "after"), ("before", "first"), ("last", "after"))
_KINDS = ("word", "tag")
TEMPLATES: tuple[str, ...] = (
    "odds",
    "length",
    "odds length",
    *(f"{position}.{kind}" for kind in _KINDS for position in PLACES),
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
"""Templates, as atoms separated by blanks."""


MAX_ATOMS = 8
"""Maximum number of atoms in a template."""


def template_table(templates: tuple[str, ...]) -> np.ndarray:
    """Convert templates to indices of their atoms in `ATOMS`, padded by -1, int32 (n_templates, n)."""
    rows = [[ATOMS.index(atom) for atom in template.split()] for template in templates]
    width = max(map(len, rows), default=0)
    table = np.array([row + [-1] * (width - len(row)) for row in rows], dtype=np.int32)
    return read_only(table.reshape(len(rows), width))


def are_templates(templates: tuple[str, ...]) -> bool:
    """Return whether all templates consist of known atoms."""
    atoms = [template.split(maxsplit=MAX_ATOMS) for template in templates]
    return all(0 < len(of_template) <= MAX_ATOMS and set(of_template) <= set(ATOMS) for of_template in atoms)
