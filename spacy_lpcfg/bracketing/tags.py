"""Conversion of treebank tags to universal tags, and distinctions between tags that the bracketer uses.

`universal` maps the tags of the Penn Treebank and its relatives (OntoNotes, GUM), of the Brown corpus, and of Petrov,
Das and McDonald (2012) to the tags of Universal Dependencies. Tags of Universal Dependencies do not change.
"""

from __future__ import annotations

from spacy_lpcfg.trees.tags import PENN
from spacy_lpcfg.words.remembered import remembered

COARSE = {
    "AUX": "VERB",
    "CCONJ": "CONJ",
    "INTJ": "X",
    "PART": "PRT",
    "PROPN": "NOUN",
    "PUNCT": ".",
    "SCONJ": "ADP",
    "SYM": "X",
}
"""The tag of Petrov, Das and McDonald (2012) for each universal tag that has another name there."""

UNIVERSAL = tuple(PENN)  # saved bracketers have their indices
_PETROV = {"CONJ": "CCONJ", "PRT": "PART", ".": "PUNCT"}
_TABLE = {tag: name for name, tags in PENN.items() for tag in tags.split()}
_TABLE |= _PETROV | {name: name for name in UNIVERSAL}

_BROWN = {
    brown: penn
    for penn, tags in {
        "''": "' ''",
        ",": ",",
        "-LRB-": "(",
        "-RRB-": ")",
        ".": ".",
        ":": "-- :",
        "CC": "cc",
        "CD": "cd",
        "DT": "abx at dt dti dts dtx",
        "EX": "ex",
        "IN": "cs in",
        "JJ": "ap jj od",
        "JJR": "jjr",
        "JJS": "jjs jjt",
        "MD": "md",
        "NN": "nn nr pn",
        "NNP": "np",
        "NNPS": "nps",
        "NNS": "nns nrs",
        "PDT": "abl abn",
        "PRP": "pp$$ ppl ppls ppo pps ppss",
        "PRP$": "pp$",
        "RB": "* ql qlp rb rn",
        "RBR": "rbr",
        "RBS": "rbt",
        "RP": "rp",
        "TO": "to",
        "UH": "uh",
        "VB": "be do hv vb",
        "VBD": "bed bedz dod hvd vbd",
        "VBG": "beg hvg vbg",
        "VBN": "ben hvn vbn",
        "VBP": "bem ber",
        "VBZ": "bez doz hvz vbz",
        "WDT": "wdt",
        "WP": "wpo wps",
        "WP$": "wp$",
        "WRB": "wql wrb",
        "XX": "nil",
        "``": "``",
    }.items()
    for brown in tags.split()
}

FINITE = frozenset({"MD", "VB", "VBD", "VBP", "VBZ"})
"""Penn tags of verbs that are not participles."""

SEPARATORS = frozenset([",", ";", ":", "、", "，", "；", "：", "،", "؛"])
"""Commas, semicolons and colons."""


@remembered(2**16)
def penn(tag: str) -> str:
    """Convert a tag of the Brown corpus to the nearest Penn Treebank tag; other tags are returned unchanged.

    Of a compound tag (`ppss+bem`, `np$`, `md*`) the first part counts. Hyphenated parts (`nn-tl`, `fw-nn`) are ignored.
    """
    if tag in _TABLE or not (tag.islower() or tag in _BROWN):
        return tag
    plain = _brown_parts(tag)[0]
    return _BROWN.get(plain, tag)


@remembered(2**16)
def universal(tag: str) -> str:
    """Return the universal part of speech of a treebank tag, such as "NOUN" for `NNS`; "X" if the tag is unknown."""
    return _TABLE.get(penn(tag), "X")


def is_punctuation(tag: str, word: str = "") -> bool:
    """Return whether a token is punctuation: according to its tag, or to its characters if the tag is unknown.

    Tokens with the Penn tags `$` and `#` (currency signs) count as punctuation, as in the universal tags of Petrov et
    al.; so do the words `$` and `#` with the tag SYM.

    tag (str): The tag.
    word (str): The token; only needed for the tag SYM and for unknown tags.
    """
    name = universal(tag)
    if name == "X" and penn(tag) not in _TABLE:
        return bool(word) and not any(character.isalnum() for character in word)
    return name == "PUNCT" or (name == "SYM" and word in ("$", "#"))


def split_compounds(words: tuple[str, ...], tags: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split tokens with a compound tag of the Brown corpus: `I'm/ppss+bem` becomes `I/ppss` and `'m/bem`.

    A token without an apostrophe is not split, as in other treebanks, and keeps the first of its tags.

    words, tags (tuple of str, (n_tokens,)): The tokens of a sentence.
    RETURNS (tuple of str, tuple of str): The new tokens and their tags.
    """
    if not any(_is_compound(tag) for tag in tags):
        return words, tags
    pairs = [pair for word, tag in zip(words, tags, strict=True) for pair in _split(word, tag)]
    return tuple(word for word, _ in pairs), tuple(tag for _, tag in pairs)


def _is_compound(tag: str) -> bool:
    return len(tag) > 2 and tag[0].islower() and tag not in _BROWN and len(_brown_parts(tag)) > 1


def _split(word: str, tag: str) -> list[tuple[str, str]]:
    parts = _brown_parts(tag) if _is_compound(tag) else [tag]
    if len(parts) < 2:
        return [(word, tag)]
    if parts[-1] == "*" and word[-3:].lower() == "n't" and len(word) > 3:
        return [(word[:-3], parts[0]), (word[-3:], "*")]
    position = word.rfind("'")
    if position <= 0:
        return [(word, parts[0])]
    return [(word[:position], parts[0]), (word[position:], "POS" if parts[-1] == "$" else parts[-1])]


@remembered(2**12)
def _brown_parts(tag: str) -> list[str]:
    """Split a tag of the Brown corpus into simple tags, with "$" for the genitive: `np$` gives ["np", "$"]."""
    parts: list[str] = []
    for simple in tag.split("+"):
        plain = simple.removeprefix("fw-")
        plain = "--" if plain.startswith("--") else plain.split("-")[0]
        if plain.endswith("*") and len(plain) > 1:
            parts += [plain[:-1], "*"]
        elif plain.endswith("$") and plain not in _BROWN:
            parts += [plain[:-1], "$"]
        else:
            parts.append(plain)
    return parts
