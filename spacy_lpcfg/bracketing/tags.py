"""Part-of-speech tags of treebanks as universal tags, and the few distinctions that the bracketer draws from them.

`universal` maps the tags of the Penn Treebank and its relatives (OntoNotes, GUM), of the Brown corpus and of Petrov,
Das and McDonald (2012) to those of Universal Dependencies, which stand for themselves. Whatever else is about a
language is learned.
"""

from __future__ import annotations

from spacy_lpcfg.words.remembered import remembered

UNIVERSAL = (
    "ADJ",
    "ADP",
    "ADV",
    "AUX",
    "CCONJ",
    "DET",
    "INTJ",
    "NOUN",
    "NUM",
    "PART",
    "PRON",
    "PROPN",
    "PUNCT",
    "SCONJ",
    "SYM",
    "VERB",
    "X",
)

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
"""Universal tags as the twelve of Petrov, Das and McDonald (2012), where they have another name."""

_PENN = {
    "ADJ": "AFX JJ JJR JJS",
    "ADP": "IN RP",
    "ADV": "EX RB RBR RBS WRB",
    "AUX": "MD",
    "CCONJ": "CC",
    "DET": "DT PDT WDT",
    "INTJ": "UH",
    "NOUN": "NN NNS",
    "NUM": "CD",
    "PART": "POS TO",
    "PRON": "PRP PRP$ WP WP$",
    "PROPN": "NNP NNPS",
    "PUNCT": "# $ '' `` , . : -LRB- -RRB- HYPH NFP SYM-PUNCT _SP SPACE \" ( )",
    "SCONJ": "",
    "SYM": "SYM",
    "VERB": "VB VBD VBG VBN VBP VBZ",
    "X": "ADD FW GW LS XX",
}
_PETROV = {"CONJ": "CCONJ", "PRT": "PART", ".": "PUNCT"}
_TABLE = {tag: name for name, tags in _PENN.items() for tag in tags.split()}
_TABLE |= _PETROV | {name: name for name in UNIVERSAL}

_BROWN = {
    "'": "''",
    "''": "''",
    "(": "-LRB-",
    ")": "-RRB-",
    "*": "RB",
    ",": ",",
    "--": ":",
    ".": ".",
    ":": ":",
    "``": "``",
    "abl": "PDT",
    "abn": "PDT",
    "abx": "DT",
    "ap": "JJ",
    "at": "DT",
    "be": "VB",
    "bed": "VBD",
    "bedz": "VBD",
    "beg": "VBG",
    "bem": "VBP",
    "ben": "VBN",
    "ber": "VBP",
    "bez": "VBZ",
    "cc": "CC",
    "cd": "CD",
    "cs": "IN",
    "do": "VB",
    "dod": "VBD",
    "doz": "VBZ",
    "dt": "DT",
    "dti": "DT",
    "dts": "DT",
    "dtx": "DT",
    "ex": "EX",
    "hv": "VB",
    "hvd": "VBD",
    "hvg": "VBG",
    "hvn": "VBN",
    "hvz": "VBZ",
    "in": "IN",
    "jj": "JJ",
    "jjr": "JJR",
    "jjs": "JJS",
    "jjt": "JJS",
    "md": "MD",
    "nil": "XX",
    "nn": "NN",
    "nns": "NNS",
    "np": "NNP",
    "nps": "NNPS",
    "nr": "NN",
    "nrs": "NNS",
    "od": "JJ",
    "pn": "NN",
    "pp$": "PRP$",
    "pp$$": "PRP",
    "ppl": "PRP",
    "ppls": "PRP",
    "ppo": "PRP",
    "pps": "PRP",
    "ppss": "PRP",
    "ql": "RB",
    "qlp": "RB",
    "rb": "RB",
    "rbr": "RBR",
    "rbt": "RBS",
    "rn": "RB",
    "rp": "RP",
    "to": "TO",
    "uh": "UH",
    "vb": "VB",
    "vbd": "VBD",
    "vbg": "VBG",
    "vbn": "VBN",
    "vbz": "VBZ",
    "wdt": "WDT",
    "wp$": "WP$",
    "wpo": "WP",
    "wps": "WP",
    "wql": "WRB",
    "wrb": "WRB",
}

FINITE = frozenset({"MD", "VB", "VBD", "VBP", "VBZ"})
"""Fine tags of verbs that are no participles, where tags tell."""

SEPARATORS = frozenset([",", ";", ":", "、", "，", "；", "：", "،", "؛"])
"""Commas, semicolons and colons."""


@remembered(2**16)
def penn(tag: str) -> str:
    """A tag of the Brown corpus as the nearest one of the Penn Treebank; other tags stand for themselves.

    Of several tags in one (`ppss+bem`, `np$`, `md*`) it is the first; hyphens (`nn-tl`, `fw-nn`) are additions.
    """
    if tag in _TABLE or not (tag.islower() or tag in _BROWN):
        return tag
    plain = _brown_parts(tag)[0]
    return _BROWN.get(plain, tag)


@remembered(2**16)
def universal(tag: str) -> str:
    """The universal tag of a treebank tag; "X" of one that is in no table."""
    return _TABLE.get(penn(tag), "X")


def is_punctuation(tag: str, word: str = "") -> bool:
    """Whether a token is no word: by its tag, or by its form where it has no tag that is known.

    Signs of currency with a tag of their own (`$`, `#`) count as punctuation, as in the universal tags of Petrov et al.
    """
    name = universal(tag)
    if name == "X" and penn(tag) not in _TABLE:
        return bool(word) and not any(character.isalnum() for character in word)
    return name == "PUNCT" or (name == "SYM" and word in ("$", "#"))


def split_compounds(words: tuple[str, ...], tags: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tokens with several tags in one, as the Brown corpus has them, as several tokens: `I'm/ppss+bem` as `I` and `'m`.

    What stays together in other treebanks (no apostrophe in the word) keeps the first of its tags.
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
    place = word.rfind("'")
    if place <= 0:
        return [(word, parts[0])]
    return [(word[:place], parts[0]), (word[place:], "POS" if parts[-1] == "$" else parts[-1])]


@remembered(2**12)
def _brown_parts(tag: str) -> list[str]:
    """The simple tags in a tag of the Brown corpus, the genitive as "$"."""
    parts: list[str] = []
    for part in tag.split("+"):
        plain = part.removeprefix("fw-")
        plain = "--" if plain.startswith("--") else plain.split("-")[0]
        if plain.endswith("*") and len(plain) > 1:
            parts += [plain[:-1], "*"]
        elif plain.endswith("$") and plain not in _BROWN:
            parts += [plain[:-1], "$"]
        else:
            parts.append(plain)
    return parts
