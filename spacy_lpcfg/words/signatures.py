"""Signatures of unknown words: letter case, shape and suffix.

A signature stands for all unknown words that look alike. Every word has several signatures, from the most specific to
the one that all words share. A model backs off from one to the next until it knows one.

- `signature_backoff` is for grammars: capitals, digits, hyphens, suffix and position in the sentence, in the manner of
  the Berkeley Parser's signatures.
- `affix_backoff` is for grammars of any language: script, letter case, shape, and suffixes. Which suffixes a grammar
  distinguishes is learned from its treebank.
- `suffix_signatures` is for networks: letter case and shape, then suffixes of growing length (Samuelsson 1993, Brants
  2000).

All three look at a word as it is in text: `-RRB-.` is a parenthesis and a full stop, not a word in capitals. If a word
has more than `LONGEST` characters, only its beginning and end are looked at.

Saved models contain the names of signatures, so that changing a name changes the file format.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from spacy_lpcfg.trees.transforms import unescape_token
from spacy_lpcfg.words.remembered import LONGEST, is_remembered

UNKNOWN = "<form>"
"""The most general signature, which all words share."""
MAX_SUFFIX = 4
MAX_AFFIX = 5
_AFFIX = "<form:"
_LITTLE = 3  # maximum number of letters of the words that may be in lower case in a headline
_FEWEST = 3  # minimum number of capitalized words of a headline
_SUFFIX_MARK = " -"
_SUFFIXES = [  # the longest first
    suffix
    for suffixes in (
        "izing",
        "able ible ment ness less ical ance ence",
        "ing ion est ity ous ive ist ism ize ate ful ish ian ant ent",
        "ed er ly al ic an en or th",
        "s y",
    )
    for suffix in suffixes.split()
]


def signature_backoff(word: str, sentence_initial: bool) -> list[str]:
    """Return the terminals under which a grammar may know an English word, from the word itself to `UNKNOWN`.

    word (str): The token.
    sentence_initial (bool): Whether the token opens its sentence, where a capital is not informative.
    RETURNS (list[str]): In this order:
        - the word;
        - its unescaped form if that differs, such as `"` for a treebank's two-character quotes;
        - its lower case if it opens the sentence and begins with a capital;
        - its signatures, from specific to general;
        - `UNKNOWN`.
    """
    plain, names = _spellings(word, sentence_initial)
    case, shape, suffix = letter_case(plain, sentence_initial), token_shape(plain), _suffix(plain.lower())
    for features in ((case, shape, suffix), (case, shape), (shape or case,)):
        name = "<" + " ".join(("form", *filter(None, features))) + ">"
        if name not in (names[-1], UNKNOWN):
            names.append(name)
    return [*names, UNKNOWN]


def affix_backoff(word: str, sentence_initial: bool) -> list[str]:
    """Return the terminals of a word as `signature_backoff` does, but with signatures for any language.

    The signatures combine letter case, shape (`token_shape`), the scripts of the letters and a suffix: of up to
    `MAX_AFFIX` characters, then of fewer, then none. The last signature of a word with capitals ignores letter case.
    """
    plain, names = _spellings(word, sentence_initial)
    lower = plain.lower()
    case = letter_case(plain, sentence_initial)
    shape = " ".join(filter(None, (token_shape(plain), *_scripts(plain))))
    kind = " ".join(filter(None, (case, shape)))
    longest = min(MAX_AFFIX, len(plain) - 1)
    for length in range(longest, 0, -1):
        names.append(f"{_AFFIX}{kind}{_SUFFIX_MARK}{lower[-length:]}>")
    names.append(f"{_AFFIX}{kind}>")
    if case:
        names.append(f"{_AFFIX}any case {shape}>")
    return [*names, UNKNOWN]


def _spellings(word: str, sentence_initial: bool) -> tuple[str, list[str]]:
    """Return a word as it is in text, and its terminals for `signature_backoff` that are not signatures."""
    plain = _plain(word)
    names = [word, plain] if plain != word and is_remembered(word) else [word]
    return plain, [*names, word.lower()] if sentence_initial and word[:1].isupper() else names


def _plain(word: str) -> str:
    """Return a word as it is in text; a word longer than `LONGEST` is reduced to its beginning and end."""
    return unescape_token(word if is_remembered(word) else word[: LONGEST // 2] + word[-LONGEST // 2 :])


def _scripts(word: str) -> list[str]:
    return sorted({_script(char) for char in word if char.isalpha()})


@lru_cache(maxsize=2**14)
def _script(char: str) -> str:
    return unicodedata.name(char, "OTHER").split(" ")[0].split("-")[0]


def backoff_of(terminals: Iterable[str]) -> Callable[[str, bool], list[str]]:
    """Return `affix_backoff` or `signature_backoff`: the one that made the signatures among a grammar's terminals."""
    return affix_backoff if any(name.startswith(_AFFIX) for name in terminals) else signature_backoff


def is_signature(name: str) -> bool:
    """Return whether a terminal of a grammar is a signature of unknown words, and not a word."""
    return name == UNKNOWN or name.startswith(("<form ", _AFFIX))


def suffix_signatures(word: str, sentence_initial: bool) -> list[str]:
    """Return a word's signatures for a network, from the most general to the one with the longest suffix.

    word (str): The token.
    sentence_initial (bool): Whether the token opens its sentence, where a capital is not informative.
    RETURNS (list[str]): "", which all words share; letter case and shape; then letter case and shape with suffixes of 1
        to `MAX_SUFFIX` letters.
    """
    plain = _plain(word)
    lower = plain.lower()
    kind = f"{letter_case(plain, sentence_initial)} {token_shape(plain)}"
    longest = min(MAX_SUFFIX, len(plain) - 1)
    return ["", kind, *(f"{kind}{_SUFFIX_MARK}{lower[-length:]}" for length in range(1, longest + 1))]


def shorter_signature(signature: str) -> str:
    """Return the next more general of a word's `suffix_signatures`: a suffix shorter by a letter, no suffix, or ""."""
    kind, _, suffix = signature.partition(_SUFFIX_MARK)
    if len(suffix) > 1:
        return f"{kind}{_SUFFIX_MARK}{suffix[1:]}"
    return kind if suffix else ""


def letter_case(word: str, sentence_initial: bool) -> str:
    """Return the letter case of a word: "CAPS", "Cap", "Init", "miXed", or "" for a word without capitals.

    - "CAPS": A word of two or more characters in capitals.
    - "Init": Any other word with an initial capital that opens the sentence.
    - "Cap": Any other word with an initial capital elsewhere.
    - "miXed": A word with capitals only after its first character.
    """
    if word[:1].isupper():
        if len(word) > 1 and word.isupper():
            return "CAPS"
        return "Init" if sentence_initial else "Cap"
    return "miXed" if any(char.isupper() for char in word) else ""


def is_in_capitals(words: Sequence[str]) -> bool:
    """Return whether a sentence is in capitals or a headline, so that a capital is not informative in any word.

    Only words that begin with a letter count. In a sentence in capitals, there are at least two words, all upper-case.
    In a headline, at least three words begin with a capital, and so does every word of more than three letters.
    """
    alphabetic = [word for word in words if word[:1].isalpha()]
    if len(alphabetic) > 1 and all(map(str.isupper, alphabetic)):
        return True
    capitals = [word for word in alphabetic if word[0].isupper()]
    return len(capitals) >= _FEWEST and not any(len(word) > _LITTLE and not word[0].isupper() for word in alphabetic)


def token_shape(word: str) -> str:
    """Return the shape of a word, the first of these that applies; "" if none does.

    - "punct": It has no letter or digit.
    - "alnum": It has digits and letters.
    - "num": It has digits, but no letters.
    - "dash": It has a hyphen inside.
    - "dot": It has a full stop, @ or slash.
    """
    if not any(char.isalnum() for char in word):
        return "punct"
    if any(char.isdigit() for char in word):
        return "alnum" if any(char.isalpha() for char in word) else "num"
    if "-" in word[1:-1]:
        return "dash"
    return "dot" if "." in word or "@" in word or "/" in word else ""


def _suffix(lower: str) -> str:
    """Return the longest known suffix of a word in lower case; "low" if none is known."""
    if lower.isalpha() or "-" in lower:
        for suffix in _SUFFIXES:
            if lower.endswith(suffix) and len(lower) >= len(suffix) + 3:
                return suffix
    return "low"
