"""Tag dictionaries: files of words with the tags that they may have."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from os import fspath

from spacy_lpcfg.checks import shown
from spacy_lpcfg.storage.files import PathLike
from spacy_lpcfg.trees.lines import read_lines
from spacy_lpcfg.trees.transforms import unescape_token

_ITEM = re.compile(r"\S+", re.ASCII)  # other white space may be part of a word
_N_NEAR = 3  # tags that the error for an unknown one names


@dataclass(frozen=True, eq=False)
class TagDictionary:
    """The tags that words may have, as evidence for a parser: any other tags of these words become unlikely.

    tags (mapping of str to sequence of str): The tags of each word, at least one. A word of a text that is not listed
        is looked up in lower case.
    places (mapping of str to str): Where each word is defined, such as "words.txt:3", for error messages.
    RAISES (ValueError): If a word has no tags, or a word or tag is empty or has ASCII white space.
    """

    tags: Mapping[str, Sequence[str]]
    places: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for word, tags in self.tags.items():
            if isinstance(tags, str) or not tags or not all(map(_ITEM.fullmatch, (word, *tags))):
                raise ValueError(
                    f"Expected a word and a list of its tags, without blanks, got {shown(word)} and {shown(tags)}."
                )

    @classmethod
    def read(cls, path: PathLike) -> TagDictionary:
        """Read a dictionary from a file in UTF-8, plain or gzipped, in the format of `of_lines`.

        RAISES (ValueError): As for `of_lines`, and if the file is not in UTF-8.
            (OSError): If the file cannot be opened.
        """
        return cls.of_lines(read_lines(path), fspath(path))

    @classmethod
    def of_lines(cls, lines: Iterable[str], path: str) -> TagDictionary:
        """Parse a dictionary from lines that each hold a word and its tags, such as `Book VB NN`.

        Empty lines are skipped. The tags of a word may be spread over several lines.

        lines (iterable of str): The lines.
        path (str): What error messages call the lines, such as the name of their file.
        RAISES (ValueError): If a word has no tags; the message has path and line.
        """
        tags: dict[str, list[str]] = {}
        places: dict[str, str] = {}
        for number, line in enumerate(lines, start=1):
            items = _ITEM.findall(line)
            if len(items) == 1:
                raise ValueError(
                    f"{path}:{number}: Expected a word and its tags, such as Book VB NN, got only {shown(items[0])}."
                )
            if items:
                tags.setdefault(items[0], []).extend(items[1:])
                places.setdefault(items[0], f"{path}:{number}")
        return cls(tags, places)

    def __str__(self) -> str:
        """Return the dictionary as the text of a file for `read`."""
        return "".join(f"{word} {' '.join(tags)}\n" for word, tags in self.tags.items())

    def check(self, known: Collection[str]) -> None:
        """Check that a model has all tags of the dictionary.

        known (collection of str): The tags of the model.
        RAISES (ValueError): For the first word with an unknown tag; the message names the nearest known tags.
        """
        for word, tags in self.tags.items():
            for tag in tags:
                if tag not in known:
                    near = get_close_matches(tag, known, _N_NEAR, cutoff=0.0)
                    place = f"{self.places[word]}: " if word in self.places else ""
                    raise ValueError(
                        f"{place}Expected tags of the model for {shown(word)}, got {shown(tag)}; the nearest of its "
                        f"{len(known)} tags are {', '.join(near)}."
                    )

    def tags_of(self, words: Sequence[str]) -> list[Sequence[str]] | None:
        """Return the tags of each word of a sentence; None if no word is listed.

        words (sequence of str, (n_words,)): The words in treebank spelling.
        RETURNS (list of sequence of str, (n_words,), or None): The tags; () for a word that is not listed.
        """
        texts = map(unescape_token, words)
        found = [self.tags.get(text) or self.tags.get(text.lower(), ()) for text in texts]
        return found if any(found) else None


NO_TAGS = TagDictionary({})
"""The dictionary of no words."""
