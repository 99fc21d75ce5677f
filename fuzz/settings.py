"""Target: the settings of a component, as a config has them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import spacy
from confection import ConfigValidationError
from spacy.tokens import Doc
from spacy.training import Example

from fuzz.choices import Choices
from fuzz.contract import Target, expect
from spacy_lpcfg.components.training.corpus import Treebank
from spacy_lpcfg.parsing.decodings import DECODINGS

_SAMPLE = Path(__file__).resolve().parents[1] / "assets" / "sample" / "train.mrg"
_WORDS = ["The", "ferry", "was", "late", ",", "and", "nobody", "waited", "."]
_CHEAP: dict[str, dict[str, Any]] = {
    "lpcfg_parser": {"learner": {"@misc": "spacy-lpcfg.Learner.v1", "name": "em", "settings": {"n_states": 2}}},
    "isbn_parser": {
        "learner": {"@misc": "spacy-lpcfg.Learner.v1", "name": "isbn", "settings": {"n_states": 2, "n_epochs": 2}}
    },
    "spectral_bracketer": {
        "attr": "tag",
        "learner": {
            "@misc": "spacy-lpcfg.Learner.v1",
            "name": "bracketer",
            "settings": {"embedding": {"size": 10}},
        },
    },
}
_NUMBERS = [1, 0, 2, -1, 3, 0.5, 1e-300, 1e300, 10**30, True]
_OTHERS = [None, "", "x", "1", [], ["NP"], {}, {"@misc": "no such entry"}]
_USUAL: dict[str, list[Any]] = {
    "tags": ["model", "given", "prior"],
    "decoding": [*DECODINGS, "tree"],
    "set_tags": ["missing", True, False],
    "attr": ["pos", "tag", "lower", "ent_type"],
    "spans_key": ["constituents", "sc", ""],
    "gold_key": ["constituents", "sc", ""],
    "constraints": [{"@misc": "spacy-lpcfg.entities.v1"}],
}
_GROUPS = {
    "pruning": ["beam", "branching", "edge_threshold"],
    "limits": ["max_words", "max_seconds", "max_memory"],
    "output": ["set_tags", "surprisal", "threshold", "tau"],
}
_SPACYS = "[E"  # errors of spaCy itself have a number


@cache
def _names(factory: str) -> list[str]:
    nlp = spacy.blank("xx")
    nlp.add_pipe(factory)
    return [name for name in nlp.get_pipe_config(factory) if name not in ("factory", "learner", "model", "scorer")]


def case(choices: Choices) -> dict[str, Any]:
    """Choose a component and up to four of its settings."""
    factory = choices.one_of([*_CHEAP])
    drawn = choices.some(lambda: choices.one_of(_names(factory)), 4)
    return {"factory": factory, "settings": {name: _value(name, choices) for name in drawn}}


def _value(name: str, choices: Choices) -> Any:
    if name in _GROUPS and choices.number(0, 3):
        drawn = choices.some(lambda: choices.one_of(_GROUPS[name]), 2)
        return {each: _value(each, choices) for each in drawn}
    kind = choices.number(0, 3)
    if kind == 3:
        return choices.one_of(_OTHERS)
    return choices.one_of(_USUAL[name] if name in _USUAL and kind else _NUMBERS)


@cache
def _examples() -> list[Example]:
    return list(Treebank(_SAMPLE, limit=100)(spacy.blank("xx")))


@cache
def _learned(factory: str) -> bytes:
    """Return the model that the component learns under its own settings."""
    nlp = spacy.blank("xx")
    nlp.add_pipe(factory, config=_CHEAP[factory])
    nlp.initialize(_examples)
    return nlp.get_pipe(factory).to_bytes()


def check(case: dict[str, Any]) -> None:
    """Expect a message about a setting, or a component that parses a Doc of usual words, and of one, and of none."""
    factory, settings = case["factory"], case["settings"]
    nlp = spacy.blank("xx")
    try:
        component = nlp.add_pipe(factory, config={**_CHEAP[factory], **settings})
        component.from_bytes(_learned(factory))  # which one grammar cannot vote by, for example
    except ConfigValidationError:
        return
    except ValueError as error:
        expect("xpected" in str(error) or str(error).startswith(_SPACYS), f"what was expected? {error!r}")
        return
    for words in (_WORDS, ["late"], []):
        doc = Doc(nlp.vocab, words, tags=["NN"] * len(words), pos=["NOUN"] * len(words))
        if words:
            doc[0].is_sent_start = True
        doc = component(doc)
        ends = [(span.start, span.end) for span in doc.spans.get(component.spans_key, [])]
        expect(all(0 <= start < end <= len(words) for start, end in ends), f"spans {ends}")


def seeds() -> list[bytes]:
    """Return each component with each of the first values for its settings."""
    places = [(n, place, value) for n in range(len(_CHEAP)) for place in range(10) for value in range(12)]
    alone = [bytes([n, 1, place, 0, value]) for n, place, value in places]
    return alone + [bytes([n, 1, place, 1, 1, value % 5, 0, value]) for n, place, value in places]


TARGETS = {"settings": Target(case, check, seeds)}
