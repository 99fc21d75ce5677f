"""Consistency checks of saved networks, before the kernels read them unchecked."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from spacy_lpcfg.arrays import in_blocks
from spacy_lpcfg.isbn.relations import Relations
from spacy_lpcfg.isbn.transitions import PROJECT
from spacy_lpcfg.storage.reader import StorageError, check_room
from spacy_lpcfg.storage.validation import (
    Consistency,
    are_offsets,
    are_texts,
    are_within,
    is_array,
    is_moderate,
    is_number,
)

require = Consistency("isbn", StorageError).require
_TEXTS = ("labels", "tags", "signatures", "frequent", "rare_names", "latent", "decisions")


def check_values(values: Mapping[str, Any]) -> None:
    """Check that the stored fields of an ISBN, except for its networks, are consistent.

    values (mapping of str to value): The fields by name, from `ISBN.to_values`.
    RAISES (StorageError): If a field is inconsistent or takes too much memory; the message names it. (KeyError): If a
        field is missing.
    """
    for name in _TEXTS:
        require(name, are_texts(values[name]))
    n_labels, n_tags = len(values["labels"]), len(values["tags"])
    require("tags", n_tags > 0)
    require("decisions", len(values["decisions"]) > 0)
    check_room(2 * (n_labels + 1) * (PROJECT + n_labels) + 8 * n_tags * len(values["rare_names"]))
    _check_words(values["words"], values["word_offsets"], PROJECT + n_labels + n_tags, n_tags)
    _check_rare_words(values, n_tags)


def check_network(parameters: Mapping[str, Any], relations: Relations, n_rows: int, n_outcomes: int) -> None:
    """Check that the arrays of a network match its relations, input rows and outcomes.

    parameters (mapping of str to array): The parameter arrays by name.
    relations (Relations): The relations of the network.
    n_rows, n_outcomes (int): Numbers of input rows and of outcomes of the vocabulary.
    RAISES (StorageError): If an array does not match, or the network takes too much memory; the message names it.
        (KeyError): If an array is missing.
    """
    bias, n_latent, n_inputs = parameters["bias"], len(relations.latent), len(relations.decisions) * n_rows
    require("bias", isinstance(bias, np.ndarray) and bias.ndim == 1 and len(bias) > 0)
    sizes = len(bias), n_latent, n_inputs, n_outcomes
    check_room(network_bytes(*sizes), what="A parser by this isbn")
    for name, shape in parameter_shapes(*sizes).items():
        require(name, is_array(parameters[name], "float32", *shape) and is_moderate(parameters[name]))


def parameter_shapes(n: int, n_latent: int, n_inputs: int, n_outcomes: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the parameter arrays of a network of n units, by name.

    n_latent (int): Number of latent relations.
    n_inputs (int): Number of decision relations times the number of input rows.
    n_outcomes (int): Number of outcomes of decisions.
    """
    return {
        "bias": (n,),
        "latent_weights": (n_latent, n, n),
        "decision_weights": (n_inputs, n),
        "outcome_weights": (n_outcomes, n),
        "outcome_bias": (n_outcomes,),
    }


def network_bytes(n: int, n_latent: int, n_inputs: int, n_outcomes: int) -> int:
    """Estimate the bytes that a parser needs for a network of n units: parameters, and search states of one word.

    n_latent, n_inputs, n_outcomes (int): As for `parameter_shapes`.
    """
    per_unit = 2 * n_latent * n + n_inputs + n_outcomes + _STATES * (2 + n_latent)
    return 4 * in_blocks(n) * per_unit


_STATES = 4_000  # states of a search for one word, at most with default settings


def _check_words(words: Any, offsets: Any, first: int, n_tags: int) -> None:
    """Raise StorageError unless the words of each tag are distinct, and the first is the unknown word ""."""
    require("words", isinstance(words, tuple) and all(type(word) is str for word in words))
    require("word_offsets", are_offsets(offsets, "int32", n_tags, first + len(words), start=first, least=1))
    for start, end in pairwise((offsets - first).tolist()):
        require("words", words[start] == "" and len(set(words[start:end])) == end - start)


def _check_rare_words(values: Mapping[str, Any], n_tags: int) -> None:
    names, tags, weights = values["rare_names"], values["rare_tags"], values["rare_weights"]
    require("rare_names", "s " in names)
    require("rare_tags", isinstance(tags, np.ndarray) and is_array(tags, "int32", tags.size))
    require("rare_tags", are_within(tags, n_tags))
    require("rare_offsets", are_offsets(values["rare_offsets"], "int32", len(names), len(tags)))
    counts, of_tags = values["rare_counts"], values["rare_tag_weights"]
    require("rare_counts", is_array(counts, "float32", len(tags)) and is_moderate(counts) and bool(np.all(counts >= 0)))
    for name, array, n in (("rare_weights", weights, len(names)), ("rare_tag_weights", of_tags, n_tags)):
        require(name, is_array(array, "float32", n) and is_moderate(array) and bool(np.all(array > 0)))
    signature_weight = values["rare_signature_weight"]
    require("rare_signature_weight", is_number(signature_weight) and signature_weight > 0)
