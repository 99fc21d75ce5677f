"""The settings of EVALB and its parameter files (COLLINS.prm, new.prm)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from spacy_lpcfg.checks import shown
from spacy_lpcfg.trees.lines import read_lines

_FIELDS: dict[str, tuple[str, type]] = {  # keywords of files: the field of `Params`, and the type of its values
    "DEBUG": ("debug", int),
    "MAX_ERROR": ("max_error", int),
    "CUTOFF_LEN": ("cutoff", int),
    "LABELED": ("labeled", bool),
    "DELETE_LABEL": ("deleted", str),
    "DELETE_LABEL_FOR_LENGTH": ("deleted_for_length", str),
    "QUOTE_LABEL": ("quotes", str),
    "EQ_LABEL": ("equal_labels", tuple),
    "EQ_WORD": ("equal_words", tuple),
}
_MAX_DIGITS = 9
_EXPECTED = {
    int: f"a whole number of at most {_MAX_DIGITS} digits",
    bool: "0 or 1",
    str: "one label",
    tuple: "two values",
}
_QUOTE_WORDS = frozenset({"'", '"', "/"})


@dataclass(frozen=True)
class Params:
    """Settings of an EVALB comparison. `Params()` counts everything, as EVALB does without a parameter file.

    deleted (frozenset of str): Tags whose words, and labels whose brackets, do not count.
    deleted_for_length (frozenset of str): Tags whose words do not count in the sentence length.
    equal_labels (frozenset of pairs of str): Labels, and tags, that match each other. A pair works
        both ways, but pairs do not chain: with A-B and B-C, A and C still differ.
    equal_words (frozenset of pairs of str): Words that match each other, in the same way.
    quotes (frozenset of str): Tags under which `'`, `"` or `/` may be a quotation mark, which counts if only one
        of the two trees has a deleted tag for it; see `score_sentence`.
    cutoff (int): Sentences of at most this many words also get separate statistics.
    labeled (bool): Whether brackets must have equal labels to match, or only equal spans.
    max_error (int): EVALB exits without totals soon after this many error sentences. Here all
        sentences are scored, and `summary_table` adds a warning.
    functions (bool): Whether NP-SBJ and NP are different labels; EVALB cuts off function labels such as SBJ.
    """

    deleted: frozenset[str] = frozenset()
    deleted_for_length: frozenset[str] = frozenset()
    equal_labels: frozenset[tuple[str, str]] = frozenset()
    equal_words: frozenset[tuple[str, str]] = frozenset()
    quotes: frozenset[str] = frozenset()
    cutoff: int = 40
    labeled: bool = True
    max_error: int = 10
    functions: bool = False

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Params:
        """Read an EVALB parameter file.

        path (path): A line holds a keyword and its values, or is a comment if it begins with `#`.
            Labels and pairs accumulate; a later number replaces an earlier one. DEBUG has no effect.
        RAISES (ValueError): If EVALB does not know a keyword or a value; the message has file and line.
            (OSError): If the file cannot be read.
        """
        settings: dict[str, Any] = {}
        for number, line in enumerate(read_lines(path), start=1):
            if line.strip() and not line.startswith("#"):
                field, value = _read_setting(line, f"{path}:{number}")
                is_number = isinstance(value, int)
                settings[field] = value if is_number else settings.get(field, frozenset()) | {value}
        settings.pop("debug", None)
        return cls(**settings)

    def same_label(self, one: str, other: str) -> bool:
        """Return whether two labels, or two tags, are equal or equivalent."""
        return one == other or bool({(one, other), (other, one)} & self.equal_labels)

    def same_word(self, one: str, other: str) -> bool:
        """Return whether two words are equal or equivalent."""
        return one == other or bool({(one, other), (other, one)} & self.equal_words)

    def deletes_bracket(self, label: str) -> bool:
        """Return whether brackets with a label do not count: the label or an equivalent one is in `deleted`."""
        return any(self.same_label(label, deleted) for deleted in self.deleted)

    def may_be_quote(self, tag: str, word: str) -> bool:
        """Return whether a word may be a quotation mark, which is restored if only one of the two trees deletes it."""
        return tag in self.quotes and word in _QUOTE_WORDS


def _read_setting(line: str, location: str) -> tuple[str, Any]:
    """Parse a line of a parameter file into a field of `Params` and its value."""
    keyword, *values = line.split()
    if keyword not in _FIELDS:
        known = ", ".join(_FIELDS)
        raise ValueError(f"{location}: unknown keyword {shown(keyword)}; the known ones are {known}")
    field, kind = _FIELDS[keyword]
    if kind is tuple and len(values) == 2:
        return field, tuple(values)
    if kind is str and len(values) == 1:
        return field, values[0]
    if issubclass(kind, int) and len(values) == 1 and values[0].isdecimal() and len(values[0]) <= _MAX_DIGITS:
        return field, kind(int(values[0]))
    raise ValueError(f"{location}: {keyword} takes {_EXPECTED[kind]}, got {shown(' '.join(values))}")


COLLINS = Params(
    deleted=frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."}),
    deleted_for_length=frozenset({"-NONE-"}),
    equal_labels=frozenset({("ADVP", "PRT")}),
)
"""The settings of COLLINS.prm, by which parsers of English are compared since Collins (1997)."""
