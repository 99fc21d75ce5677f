"""Descriptions of the labels of the Penn Treebank: phrases, part-of-speech tags, and function labels."""

from __future__ import annotations

import re

from spacy_lpcfg.checks import shown

PHRASES = {
    "S": "clause: a statement, a command, an infinitive",
    "SBAR": "subordinate or relative clause, with the word that begins it",
    "SBARQ": "question with a question word",
    "SQ": "yes-no question, or what follows the question word",
    "SINV": "clause with its subject after the verb",
    "NP": "noun phrase",
    "VP": "verb phrase",
    "PP": "prepositional phrase",
    "ADJP": "adjective phrase",
    "ADVP": "adverb phrase",
    "WHNP": "noun phrase with a question or relative word",
    "WHPP": "prepositional phrase with a question word",
    "WHADJP": "adjective phrase with a question word",
    "WHADVP": "adverb phrase with a question word",
    "QP": "quantity of several words",
    "PRT": "particle of a verb",
    "CONJP": "conjunction of several words",
    "INTJ": "interjection",
    "PRN": "parenthesis",
    "FRAG": "fragment of a clause",
    "UCP": "unlike phrases that and or or joins",
    "NAC": "part of a name or noun phrase, before its noun",
    "NX": "part of a noun phrase that shares its determiner or modifiers",
    "X": "none of these",
    "LST": "number or letter of a list",
    "RRC": "relative clause without verb and relative word",
}
"""The name of each label of phrases."""

TAGS = {
    "NN": "noun, singular or mass",
    "NNS": "noun, plural",
    "NNP": "proper noun, singular",
    "NNPS": "proper noun, plural",
    "PRP": "personal pronoun",
    "PRP$": "possessive pronoun",
    "POS": "possessive ending",
    "DT": "determiner",
    "PDT": "word before a determiner",
    "CD": "number",
    "JJ": "adjective",
    "JJR": "adjective, comparative",
    "JJS": "adjective, superlative",
    "RB": "adverb, also not",
    "RBR": "adverb, comparative",
    "RBS": "adverb, superlative",
    "VB": "verb, base form",
    "VBD": "verb, past tense",
    "VBG": "verb, gerund or present participle",
    "VBN": "verb, past participle",
    "VBP": "verb, present tense, other than third person singular",
    "VBZ": "verb, present tense, third person singular",
    "MD": "modal verb",
    "IN": "preposition or subordinating conjunction",
    "TO": "to",
    "RP": "particle",
    "CC": "coordinating conjunction",
    "EX": "existential there",
    "WDT": "question or relative determiner",
    "WP": "question or relative pronoun",
    "WP$": "possessive question or relative pronoun",
    "WRB": "question or relative adverb",
    "UH": "interjection, emoji",
    "FW": "foreign word",
    "LS": "number or letter of a list",
    "SYM": "symbol",
    "$": "currency",
    ".": "end of a sentence",
    ",": "comma",
    ":": "colon, semicolon, dash",
    "``": "opening quotation mark",
    "''": "closing quotation mark",
    "-LRB-": "opening bracket",
    "-RRB-": "closing bracket",
}
"""The name of each tag of words."""

FUNCTIONS = {
    "ADV": "adverbial",
    "BNF": "benefactive",
    "CLF": "it-cleft",
    "CLR": "closely related",
    "DIR": "direction",
    "DTV": "dative",
    "EXT": "extent",
    "HLN": "headline",
    "LGS": "logical subject",
    "LOC": "location",
    "MNR": "manner",
    "NOM": "nominal",
    "PRD": "predicate",
    "PRP": "purpose or reason",
    "PUT": "locative complement of put",
    "SBJ": "subject",
    "TMP": "time",
    "TPC": "topicalised",
    "TTL": "title",
    "VOC": "vocative",
}
"""The name of each function, as SBJ in NP-SBJ."""


def explain(label: str) -> str | None:
    """Return the description of a label or tag of the Penn Treebank; None for an unknown label.

    label (str): A label such as "SBAR" or "VBZ"; for one with function labels, such as "NP-SBJ", the result is "noun
        phrase, subject".
    RAISES (TypeError): If `label` is not a str.
    """
    if not isinstance(label, str):
        raise TypeError(f"Expected a label such as 'SBAR', got {shown(label)}.")
    names = {**PHRASES, **TAGS}
    if label in names:
        return names[label]
    category, *marks = re.split("[-=]", label)
    functions = [FUNCTIONS[mark] for mark in marks if mark in FUNCTIONS]
    return ", ".join([names[category], *functions]) if category in names else None
