"""Incremental sigmoid belief networks as frozen parameters, and the model of a parser: networks with a vocabulary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import srsly

from spacy_lpcfg.checks import shown
from spacy_lpcfg.isbn.checking import (
    check_network,
    check_values,
    network_bytes,
    parameter_shapes,
    require,
)
from spacy_lpcfg.isbn.rare_words import RareWords
from spacy_lpcfg.isbn.relations import Relations
from spacy_lpcfg.isbn.vocabulary import NetworkVocabulary
from spacy_lpcfg.parsing.model import ModelError, ParsingModel, check_positive
from spacy_lpcfg.storage.container import read_meta, refuse_others

FEED_FORWARD, MEAN_FIELD, MEAN_FIELD_STEP = "feed-forward", "mean-field", "mean-field-step"
APPROXIMATIONS = (FEED_FORWARD, MEAN_FIELD, MEAN_FIELD_STEP)
PARAMETERS = ("bias", "latent_weights", "decision_weights", "outcome_weights", "outcome_bias")
BIASES = ("bias", "outcome_bias")
"""Parameters that have no prior."""
_SUMMARIZED = ("n_epochs", "batch_size", "learn_rate", "dropout", "min_count")
"""Settings of the learner that a summary names, since they may have been chosen by the size of the treebank."""


@dataclass(frozen=True, eq=False)
class Network:
    """An incremental sigmoid belief network of n_states latent units at each position (Henderson and Titov 2010).

    approximation (str): How the means of a position's latent units are computed.
        "feed-forward": from earlier positions alone (section 5.2).
        "mean-field": after every decision, the means that maximise the lower bound of the likelihood of the decisions
        so far (section 5.3, equation 13).
        "mean-field-step": after every decision, one natural gradient step towards the means of "mean-field".
    bias (float32, (n_states,)): Biases of the latent units.
    latent_weights (float32, (n_latent, n_states, n_states)): [r, i, j] is the weight, for latent relation r, from unit
        j of the earlier position to unit i.
    decision_weights (float32, (n_inputs, n_states)): Weights from decisions at other positions to the latent units; row
        i of decision relation r is input `r * n_rows + i`.
    outcome_weights (float32, (n_outcomes, n_states)), outcome_bias (float32, (n_outcomes,)): Weights of the units, and
        biases, in the logits of the outcomes of decisions.
    RAISES (ValueError): If there is no such approximation, or if an array has another shape.
    """

    approximation: str
    bias: np.ndarray
    latent_weights: np.ndarray
    decision_weights: np.ndarray
    outcome_weights: np.ndarray
    outcome_bias: np.ndarray

    def __post_init__(self) -> None:
        check_approximation(self.approximation)
        sizes = len(self.latent_weights), len(self.decision_weights), len(self.outcome_weights)
        for name, shape in parameter_shapes(self.n_states, *sizes).items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"Expected {name} of shape {shape}, got {getattr(self, name).shape}.")

    @property
    def n_states(self) -> int:
        return len(self.bias)

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """The parameter arrays by name."""
        return {name: getattr(self, name) for name in PARAMETERS}

    @classmethod
    def random(
        cls, approximation: str, *, n_states: int, n_latent: int, n_inputs: int, n_outcomes: int, seed: int = 0
    ) -> Network:
        """Return an untrained network, with small random weights and biases of 0.

        approximation (str): One of `APPROXIMATIONS`.
        n_states, n_latent, n_inputs, n_outcomes (int): The sizes of the arrays, as in `Network`.
        seed (int): Seed of the weights.
        """
        rng = np.random.default_rng(seed)

        def normal(*shape: int, scale: float) -> np.ndarray:
            return (scale * rng.standard_normal(shape)).astype(np.float32)

        return cls(
            approximation,
            bias=np.zeros(n_states, dtype=np.float32),
            latent_weights=normal(n_latent, n_states, n_states, scale=n_states**-0.5),
            decision_weights=normal(n_inputs, n_states, scale=0.1),
            outcome_weights=normal(n_outcomes, n_states, scale=0.1),
            outcome_bias=np.zeros(n_outcomes, dtype=np.float32),
        )

    def of(self, parameters: dict[str, np.ndarray]) -> Network:
        """Return a network of the same approximation with other parameter arrays, converted to float32."""
        return Network(self.approximation, **{k: np.ascontiguousarray(parameters[k], np.float32) for k in PARAMETERS})


def check_approximation(name: str) -> None:
    """Raise ValueError if there is no approximation of that name."""
    if name not in APPROXIMATIONS:
        raise ValueError(f"Expected the approximation to be one of {', '.join(APPROXIMATIONS)}; got {shown(name)}.")


@dataclass(frozen=True, eq=False)
class ISBN(ParsingModel):
    """The model of an incremental parser: one or several sigmoid belief networks with a vocabulary.

    vocabulary (NetworkVocabulary): The labels, tags, words and signatures, with their ids.
    relations (Relations): The relations between positions.
    networks (tuple[Network, ...]): Networks with this vocabulary and these relations. Several are averaged: the
        distribution of a decision is the normalized geometric mean of the networks' distributions.
    meta (dict): A record of how the model was learned.
    tau (float): Power of the probabilities of the derivations in the beam, see `Derivations` and `ISBNLearner.fit`.
    RAISES (ModelError): If there is no network, if the sizes of the networks do not fit, or if tau is not finite and
        above 0.
    """

    vocabulary: NetworkVocabulary
    relations: Relations
    networks: tuple[Network, ...]
    meta: dict[str, Any] = field(default_factory=dict)
    tau: float = 1.0

    kind, version = "isbn", 5
    has_n_best = True

    def __post_init__(self) -> None:
        vocabulary, relations = self.vocabulary, self.relations
        sizes = (len(relations.latent), len(relations.decisions) * vocabulary.n_rows, vocabulary.n_outcomes)
        if not self.networks:
            raise ModelError("Expected at least one network.")
        for network in self.networks:
            found_sizes = (len(network.latent_weights), len(network.decision_weights), len(network.outcome_weights))
            if found_sizes != sizes:
                raise ModelError(
                    f"Expected networks of {sizes} latent relations, inputs and outcomes, as the vocabulary and the "
                    f"relations have, got one of {found_sizes}."
                )
        check_positive("tau", self.tau)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of constituents."""
        return self.vocabulary.labels

    @property
    def summary(self) -> str:
        """A description in English: numbers of labels, tags and states, and settings of the learner."""
        n_states = " + ".join(str(network.n_states) for network in self.networks)
        learner = self.meta.get("learner", {})
        settings = [f"{name} {learner[name]:.4g}" for name in _SUMMARIZED if learner.get(name) is not None]
        sizes = f"{len(self.labels)} categories, {len(self.tags)} tags, {n_states} states"
        return f"{sizes}; learned with {', '.join(settings)}" if settings else sizes

    @property
    def root_label(self) -> str:
        """The label of the artificial root of the training trees; "" if they had none."""
        return self.meta.get("root_label", "")

    @property
    def words(self) -> frozenset[str]:
        """The words of the treebank, including rare ones."""
        return self.vocabulary.known.spellings

    @property
    def tags(self) -> tuple[str, ...]:
        return self.vocabulary.tags

    def to_values(self) -> dict[str, Any]:
        """Return the values to store, by the names of their fields."""
        vocabulary, rare = self.vocabulary, self.vocabulary.rare
        values: dict[str, Any] = {name: getattr(vocabulary, name) for name in _VOCABULARY}
        values |= {f"rare_{name}": getattr(rare, name) for name in _RARE}
        values |= {"latent": self.relations.latent, "decisions": self.relations.decisions}
        values |= {"approximations": [network.approximation for network in self.networks]}
        for i, network in enumerate(self.networks):
            values |= {f"{name}_{i}": array for name, array in network.parameters.items()}
        return {**values, "tau": float(self.tau), "meta": srsly.json_dumps(self.meta)}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> ISBN:
        """Create the model from the fields that `to_values` returned.

        RAISES (ValueError): If fields are unknown or inconsistent. (KeyError): If a field is missing.
        """
        check_values(values)
        rare = RareWords(**{name: values[f"rare_{name}"] for name in _RARE})
        vocabulary = NetworkVocabulary(**{name: values[name] for name in _VOCABULARY}, rare=rare)
        relations = Relations(values["latent"], values["decisions"])
        networks = _networks(values, vocabulary, relations)
        refuse_others(values, _names(len(networks)))
        return cls(vocabulary, relations, networks, _meta(values["meta"]), values["tau"])

    @property
    def parser_bytes(self) -> float:
        """Approximate memory of the model's parser in bytes, for a sentence of one word."""
        sizes = len(self.relations.latent), len(self.relations.decisions) * self.vocabulary.n_rows
        return sum(network_bytes(network.n_states, *sizes, self.vocabulary.n_outcomes) for network in self.networks)


def _networks(values: Mapping[str, Any], vocabulary: NetworkVocabulary, relations: Relations) -> tuple[Network, ...]:
    require("approximations", isinstance(values["approximations"], tuple))
    networks = []
    for i, approximation in enumerate(values["approximations"]):
        parameters = {name: values[f"{name}_{i}"] for name in PARAMETERS}
        check_network(parameters, relations, vocabulary.n_rows, vocabulary.n_outcomes)
        networks.append(Network(approximation, **parameters))
    return tuple(networks)


def _meta(text: Any) -> dict[str, Any]:
    meta = read_meta(text)
    n_trees = meta.get("n_trees", 0)
    require("meta", type(meta.get("root_label", "")) is str and type(n_trees) is int and n_trees >= 0)
    return meta


def _names(n_networks: int) -> Iterator[str]:
    """Yield the names of all stored fields of a model."""
    yield from (*_VOCABULARY, "latent", "decisions", "approximations", "meta", "tau")
    yield from (f"rare_{name}" for name in _RARE)
    yield from (f"{name}_{i}" for name in PARAMETERS for i in range(n_networks))


_VOCABULARY = ("labels", "tags", "word_offsets", "words", "signatures", "frequent")
_RARE = ("names", "offsets", "tags", "counts", "weights", "tag_weights", "signature_weight")


def start_network(
    approximation: str, vocabulary: NetworkVocabulary, relations: Relations, *, n_states: int, seed: int
) -> Network:
    """Return an untrained random network whose arrays fit a vocabulary and relations."""
    return Network.random(
        approximation,
        n_states=n_states,
        n_latent=len(relations.latent),
        n_inputs=len(relations.decisions) * vocabulary.n_rows,
        n_outcomes=vocabulary.n_outcomes,
        seed=seed,
    )
