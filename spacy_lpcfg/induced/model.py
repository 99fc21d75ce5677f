"""A model that was learned from raw text: several grammars with their own word classes and averaged span posteriors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import srsly

from spacy_lpcfg.bracketing.bracketer import BRACKET, SENTENCE
from spacy_lpcfg.bracketing.extensions.induced_tags import InducedTags
from spacy_lpcfg.induced.lexical import LexicalPCFG, Vocabulary
from spacy_lpcfg.induced.simple_pcfg import SimplePCFG
from spacy_lpcfg.parsing.model import ModelError, ParsingModel
from spacy_lpcfg.storage.container import read_meta, refuse_others
from spacy_lpcfg.storage.validation import Consistency, are_texts, is_array
from spacy_lpcfg.words.classes import OTHER, WordClasses

_require = Consistency("induced model", ModelError).require
_TEXTS = ("words", "endings", "frequent", "tags")
_FIELDS = (*_TEXTS, "classes", "names", *SimplePCFG._fields)


@dataclass(frozen=True, eq=False)
class InducedGrammar:
    """A simple PCFG, with the induced tags (from raw text) that stand for infrequent words.

    tags (InducedTags): Tags that were learned from raw text.
    grammar (LexicalPCFG): A grammar over frequent words, and over the classes of all other words.
    """

    tags: InducedTags
    grammar: LexicalPCFG

    def posteriors(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """Compute the posterior probabilities of the spans of sentences, whose words get the induced tags.

        sentences (sequence of sequence of str): The words of each sentence, two or more, without punctuation.
        RETURNS (list of float64 (n + 1, n + 1)): As for `LexicalPCFG.posteriors`, with the same errors.
        """
        return self.grammar.posteriors([(words, self.tags.fine(words)) for words in sentences])

    def to_values(self) -> dict[str, Any]:
        """Return the fields as a dict, by the names under which they are stored."""
        tags, vocabulary = self.tags, self.grammar.vocabulary
        return {
            "words": tags.classes.words,
            "classes": tags.classes.classes,
            "endings": tuple(sorted(tags.endings)),
            "names": srsly.json_dumps(dict(tags.names)),
            "frequent": tuple(vocabulary.words),
            "tags": tuple(vocabulary.tags),
            **self.grammar.pcfg._asdict(),
        }

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> InducedGrammar:
        """Create the grammar from the fields that `to_values` returned.

        RAISES (ValueError): If fields are unknown or inconsistent. (KeyError): If a field is missing.
        """
        refuse_others(values, _FIELDS)
        for name in _TEXTS:
            _require(name, are_texts(values[name]))
        words, classes, names = values["words"], values["classes"], read_meta(values["names"])
        has_classes = is_array(classes, "int32", len(words))
        _require("classes", has_classes and bool(np.all((classes > OTHER) & (classes <= OTHER + len(words)))))
        _require("names", all(type(name) is str for name in names.values()))
        tags = InducedTags(WordClasses(words, classes), frozenset(values["endings"]), names)
        vocabulary = Vocabulary.listed(values["frequent"], values["tags"])
        return cls(tags, LexicalPCFG(vocabulary, _pcfg(values, vocabulary.size)))


def _pcfg(values: Mapping[str, Any], n_words: int) -> SimplePCFG:
    root = values["root"]
    _require("root", isinstance(root, np.ndarray) and root.ndim == 1 and root.size > 0)
    pcfg = SimplePCFG(root, values["left"], values["right"])
    for name, array, *shape in (
        ("root", pcfg.root, root.size),
        ("left", pcfg.left, root.size, root.size + n_words),
        ("right", pcfg.right, root.size, root.size + n_words),
    ):
        _require(name, is_array(array, "float64", *shape) and _are_distributions(array))
    return pcfg


def _are_distributions(values: np.ndarray) -> bool:
    """Return whether all rows sum to 1 and have no probability of 0, so that every sentence has a tree."""
    return bool(values.min() > 0) and np.allclose(values.sum(axis=-1), 1)


@dataclass(frozen=True, eq=False)
class Induced(ParsingModel):
    """A model that parses with the mean span posteriors of several grammars learned from raw text.

    members (tuple of InducedGrammar): The grammars, at least one.
    """

    members: tuple[InducedGrammar, ...]
    kind, version = "induced", 1
    labels = (BRACKET, SENTENCE)
    root_label = ""

    @property
    def summary(self) -> str:
        """A line of text with the numbers of grammars, states and word classes."""
        n_states = len(self.members[0].grammar.pcfg.root)
        classes = ", ".join(str(member.tags.classes.n_classes - 1) for member in self.members)
        return f"{len(self.members)} simple PCFGs of {n_states} states, of {classes} classes of words"

    @property
    def words(self) -> frozenset[str]:
        """All words that have a class in any grammar."""
        return frozenset(word for member in self.members for word in member.tags.classes.words)

    @property
    def parser_bytes(self) -> float:
        """Memory of the grammars' parameters, in bytes."""
        return float(sum(array.nbytes for member in self.members for array in member.grammar.pcfg))

    def posteriors(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """Compute the mean, over all members, of the posterior probabilities of the spans of sentences.

        sentences (sequence of sequence of str): The words of each sentence, two or more, without punctuation.
        RETURNS (list of float64 (n + 1, n + 1)): As for `LexicalPCFG.posteriors`, with the same errors.
        """
        of_members = zip(*(member.posteriors(sentences) for member in self.members), strict=True)
        return [np.asarray(np.mean(posteriors, axis=0)) for posteriors in of_members]

    def to_values(self) -> dict[str, Any]:
        """Return the fields of all members as a dict, with names such as "0.words" for member 0; and "n_members"."""
        fields = {f"{i}.{name}": value for i, one in enumerate(self.members) for name, value in one.to_values().items()}
        return {"n_members": len(self.members), **fields}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Induced:
        """Create the model from the fields that `to_values` returned.

        RAISES (ValueError): If fields are unknown or inconsistent. (KeyError): If a field is missing.
        """
        n = values["n_members"]
        _require("n_members", type(n) is int and 1 <= n <= len(values))
        refuse_others(values, ("n_members", *(f"{i}.{name}" for i in range(n) for name in _FIELDS)))
        return cls(
            tuple(InducedGrammar.from_values({name: values[f"{i}.{name}"] for name in _FIELDS}) for i in range(n))
        )
