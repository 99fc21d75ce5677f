"""Keys of sparse features, one by one, and the scores and steps that follow from them, in plain numpy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from spacy_lpcfg.evidence.atoms import text_hash
from spacy_lpcfg.evidence.templates import LENGTHS, MAX_TAGS, POST_TEMPLATES, SPAN_TEMPLATES, WORD_TEMPLATES
from spacy_lpcfg.words.signatures import suffix_signatures

OUTSIDE, FIRST_TAG = 1, 2
ODD = 0x9E3779B97F4A7C15
Atoms = dict[str, int]


def key(number: int, atoms: Sequence[int]) -> int:
    """The key of a feature of the template of this number, from 31 bits of a hash."""
    state = mixed(ODD, number)
    for atom in atoms:
        state = mixed(state, atom)
    return state >> 33


def mixed(state: int, atom: int) -> int:
    state = (state ^ atom) * ODD % 2**64
    return state ^ (state >> 32)


def keys(templates: Sequence[str], atoms: Atoms, first: int = 0) -> list[int]:
    """The keys of all features that an item has, by the numbers of templates from `first` on."""
    return [
        key(number, [atoms[name] for name in template.split()])
        for number, template in enumerate(templates, start=first)
        if all(name in atoms for name in template.split())
    ]


def word_keys(words: Sequence[str], likely: dict[str, int]) -> Iterator[list[int]]:
    """The keys of each word, by the likely tags of the words of the lexicon."""

    def at(i: int, kind: str) -> int:
        if not 0 <= i < len(words):
            return OUTSIDE
        word, lower = words[i], words[i].lower()
        signature = text_hash(suffix_signatures(word, i == 0)[:5][-1])
        return {
            "word": text_hash(word) if word in likely else signature,
            "likely": FIRST_TAG + likely[word] if word in likely else signature,
            "signature": signature,
            "prefix": text_hash(f"{lower[:3]}-"),
            **{f"suffix{n}": text_hash(f"-{lower[-n:]}") for n in (1, 2, 3, 4)},
        }[kind]

    for i in range(len(words)):
        names = {name for template in WORD_TEMPLATES for name in template.split()}
        yield keys(WORD_TEMPLATES, {name: at(i + int(name[-2:]), name[:-2]) for name in names})


def all_span_keys(names: Sequence[int], tags: Sequence[int]) -> list[list[int]]:
    """The keys of each span of a sentence, in the order of `Evidence.spans`."""
    n = len(names)
    return [span_keys(names, tags, start, end) for start in range(n) for end in range(start + 1, n + 1)]


def span_keys(names: Sequence[int], tags: Sequence[int], start: int, end: int) -> list[int]:
    """The keys of a span, those of its fence posts among them."""

    def around(post: int) -> Atoms:
        atoms = {}
        for place in (-3, -2, -1, 1, 2, 3):
            i = post + place - (place > 0)
            inside = 0 <= i < len(names)
            atoms[f"w{place:+}"] = names[i] if inside else OUTSIDE
            atoms[f"t{place:+}"] = FIRST_TAG + tags[i] if inside else OUTSIDE
        return atoms

    before, after = around(start), around(end)
    atoms = {f"start.{name}": atom for name, atom in before.items()}
    atoms |= {f"end.{name}": atom for name, atom in after.items()}
    atoms["length"] = 1 + sum(end - start >= limit for limit in LENGTHS.tolist())
    if end - start <= MAX_TAGS:
        state = 0
        for tag in tags[start:end]:
            state = (state * ODD + tag + 1) % 2**64
        atoms["tags"] = state >> 33 | 1
    n = len(POST_TEMPLATES)
    return [*keys(POST_TEMPLATES, before), *keys(POST_TEMPLATES, after, n), *keys(SPAN_TEMPLATES, atoms, 2 * n)]


def scores(of_item: Sequence[int], weights: dict[int, np.ndarray]) -> np.ndarray:
    """The sum of the weights of an item's features; unknown ones weigh nothing."""
    return sum((weights[each] for each in of_item if each in weights), np.zeros(len(next(iter(weights.values())))))
