"""Sigmoid belief networks as a thinc Model: their parameters are thinc's, for its optimizers, averages and files.

The Model `isbn` has a layer for each network of an ensemble, with the parameters of `Network`. It holds the vocabulary,
which is no parameter.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model, NumpyOps

from spacy_lpcfg.components.model_holder import MODEL, Made, ModelHolder
from spacy_lpcfg.isbn import ISBN, Relations
from spacy_lpcfg.isbn.events import DecisionEvents
from spacy_lpcfg.isbn.learning import ISBNLearner, normalized_trees
from spacy_lpcfg.isbn.learning_settings import ISBNLexical, ISBNTraining
from spacy_lpcfg.isbn.likelihood import draw_keep, gradient_of, log_likelihoods
from spacy_lpcfg.isbn.network import BIASES, FEED_FORWARD, PARAMETERS, Network, check_approximation, start_network
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.variants import DEFAULT

_MIN_COUNT = 3
_DERIVED = "derivations"


def make_isbn(
    n_states: int | None = None,
    approximation: str = FEED_FORWARD,
    n_networks: int = 1,
    min_count: int | None = None,
    latent: Sequence[str] = Relations.latent,
    decisions: Sequence[str] = Relations.decisions,
    weight_decay: float = ISBNTraining.weight_decay,
    n_jobs: int = 1,
    signatures: bool | None = None,
    variant: str | int = DEFAULT,
    functions: bool = False,
) -> Model:
    """Make the architecture `spacy-lpcfg.ISBN.v1`.

    n_states (int or None): Number of latent units of each position; None for the variant's, 120 or 40.
    approximation (str): "feed-forward", "mean-field" or "mean-field-step"; see `spacy_lpcfg.isbn.network.Network`.
    n_networks (int): Number of networks, which decide together by the geometric mean of their distributions.
    min_count (int or None): A word that is seen fewer times with a tag counts as unknown under the tag; None for the
        variant's, 3 or 20.
    latent, decisions (sequence of str): Relations between positions; see `spacy_lpcfg.isbn.Relations`.
    weight_decay (float): The precision of a normal prior of all weights but the biases, as in `ISBNTraining`. A batch
        has the share of its trees among those of `initialize`. An optimizer's L2 is added.
    n_jobs (int): Number of threads that learn; the result is the same for any number.
    signatures (bool or None): Whether signatures of unknown words are inputs; None for the variant's choice.
    variant (str or int): "default", or "paper" or its year, for the settings above that are None. The number of steps,
        dropout and averaging, which differ too (see `ISBNLearner`), are settings of the config's `training`.
    functions (bool): Whether categories keep their functions, as NP-SBJ.
    RETURNS (Model): A Model from `DecisionEvents` to log-likelihoods, to be initialized with trees.
    RAISES (ValueError): If a setting is out of range.
    """
    defaults = ISBNLearner.variant(variant)
    n_states = defaults.n_states_of(0) if n_states is None else n_states  # the number of trees is not known yet
    min_count = (defaults.lexical.min_count or _MIN_COUNT) if min_count is None else min_count
    signatures = defaults.lexical.signatures if signatures is None else signatures
    check_approximation(approximation)
    if weight_decay < 0:
        raise ValueError(f"Expected weight_decay of at least 0, got {weight_decay}.")
    if min(n_states, n_networks, min_count, n_jobs) < 1:
        raise ValueError(f"Expected at least 1, got {n_states=}, {n_networks=}, {min_count=}, {n_jobs=}.")
    relations = Relations(tuple(latent), tuple(decisions))
    return ISBNModel(
        "isbn",
        ISBN.from_bytes,
        _forward,
        init=partial(_init, lexical=ISBNLexical(min_count, signatures)),
        layers=[_make_network(n_states, approximation, weight_decay, n_jobs) for _ in range(n_networks)],
        attrs={
            "min_count": min_count,
            "latent": [*relations.latent],
            "decisions": [*relations.decisions],
            "functions": functions,
        },
    )


def _make_network(n_states: int, approximation: str, weight_decay: float, n_jobs: int) -> Model:
    return Model(
        "isbn_network",
        partial(_forward_network, weight_decay=weight_decay, n_jobs=n_jobs),
        params=dict.fromkeys(PARAMETERS),
        dims={"nS": n_states},
        attrs={"approximation": approximation, "dropout_rate": 0.0, "n_trees": 0},
        ops=NumpyOps(),
    )


class ISBNModel(ModelHolder[ISBN]):
    """A holder whose networks have their parameters in its layers, where thinc's optimizers find them.

    What is `learned` is the outline of an ISBN, without parameters.
    """

    @property
    def content(self) -> ISBN | None:
        """The networks with their parameters; None if the Model was not initialized."""
        return isbn_of(self)

    @content.setter
    def content(self, content: ISBN | None) -> None:
        set_isbn(self, content)

    def from_bytes(self, bytes_data: bytes) -> Model:
        """Load the Model.

        RAISES (ModelError): If bytes are damaged, foreign or of other settings; this Model stays as it was.
        """
        try:
            return super().from_bytes(bytes_data)
        except ValueError as error:
            raise ModelError(f"These bytes are no saved Model of the same settings: {error}") from error

    def outline(self) -> ISBN:
        """Return the vocabulary and relations, with a network without units.

        RAISES (ValueError): If the Model was not initialized.
        """
        if self.learned is None:
            raise ValueError("Expected networks that know a treebank's labels, got none yet: call nlp.initialize.")
        return self.learned

    def derived(self, doc: Doc, derive: Callable[[], Made]) -> Made:
        """Return the derivations that `derive` returns, cached while the Doc lives and the vocabulary stays."""
        cache: Any = self.made(_DERIVED, lambda outline: WeakKeyDictionary())
        assert cache is not None  # the Model was initialized
        if doc not in cache:
            cache[doc] = derive()
        derivations: Made = cache[doc]
        return derivations

    def _forget_parsers(self) -> None:
        """Keep of all that was made of the outline what does not depend on parameters."""
        read, values = self.held
        self.held = (read, {key: values[key] for key in (MODEL, _DERIVED) if key in values})

    def finish_update(self, optimizer: Any) -> None:
        super().finish_update(optimizer)
        self._forget_parsers()

    @contextmanager
    def use_params(self, params: Any) -> Iterator[None]:
        with super().use_params(params):
            self._forget_parsers()
            yield
        self._forget_parsers()


# Parameters --------------------------------------------------------------------------------------


def isbn_of(model: ISBNModel) -> ISBN | None:
    """Return the networks of a Model, with copies of its parameters; None if it was not initialized.

    RAISES (ModelError): If the Model has a vocabulary, but no parameters.
    """
    with model.lock("parameters"):  # so that no thread sees parameters of two networks
        return _isbn_of(model)


def _isbn_of(model: ISBNModel) -> ISBN | None:
    outline = model.learned
    if outline is None:
        return None
    networks = []
    for layer in model.layers:
        if not all(layer.has_param(name) for name in PARAMETERS):
            raise ModelError("Expected parameters for each network, got a vocabulary without them.")
        copies = {name: np.array(array, dtype=np.float32) for name, array in _parameters(layer).items()}
        networks.append(Network(layer.attrs["approximation"], **copies))
    return replace(outline, networks=tuple(networks))


def _parameters(layer: Model) -> dict[str, Any]:
    return {name: layer.get_param(name) for name in PARAMETERS}


def set_isbn(model: ISBNModel, isbn: ISBN | None) -> None:
    """Put networks into a Model of the same settings; None makes it uninitialized.

    RAISES (ValueError): If the settings differ.
    """
    if isbn is not None:
        _check_settings(model, isbn)
    with model.lock("parameters"):
        if isbn is None:
            model.learned = None
            return
        _set_parameters(model, isbn)
        model.learned = replace(isbn, networks=(_without_units(isbn.networks[0]),))


def _set_parameters(model: Model, isbn: ISBN) -> None:
    for layer, network in zip(model.layers, isbn.networks, strict=True):
        layer.attrs["n_trees"] = isbn.meta.get("n_trees", 0)
        for name, array in network.parameters.items():
            copy: Any = np.array(array, dtype=np.float32)
            layer.set_param(name, copy)


def _check_settings(model: Model, isbn: ISBN) -> None:
    sizes = [(network.n_states, network.approximation) for network in isbn.networks]
    wanted = [(layer.get_dim("nS"), layer.attrs["approximation"]) for layer in model.layers]
    if sizes != wanted or isbn.relations != _relations(model):
        raise ValueError(
            f"Expected networks of the settings of the model, {wanted} with {_relations(model)}, but got {sizes} with "
            f"{isbn.relations}. Set n_states, approximation, n_networks and relations in the model's config."
        )


def _relations(model: Model) -> Relations:
    return Relations(tuple(model.attrs["latent"]), tuple(model.attrs["decisions"]))


def _without_units(network: Network) -> Network:
    """Return a network of the same approximation, inputs and outcomes without latent units."""
    n_latent, n_inputs, n_outcomes = map(
        len, (network.latent_weights, network.decision_weights, network.outcome_weights)
    )
    shapes = {
        "bias": (0,),
        "latent_weights": (n_latent, 0, 0),
        "decision_weights": (n_inputs, 0),
        "outcome_weights": (n_outcomes, 0),
        "outcome_bias": (n_outcomes,),
    }
    return Network(network.approximation, **{name: np.zeros(shapes[name], np.float32) for name in PARAMETERS})


def _init(
    model: Model,
    X: Sequence[Tree] | None = None,
    Y: None = None,
    *,
    lexical: ISBNLexical,
) -> None:
    """Initialize a Model with the vocabulary of trees, rooted or not, and with parameters drawn by module `random`."""
    if X is None:
        return
    relations = _relations(model)
    trees, root_label = normalized_trees(X, functions=model.attrs["functions"])
    vocabulary = lexical.vocabulary(trees, model.attrs["min_count"])
    networks = tuple(
        start_network(
            layer.attrs["approximation"],
            vocabulary,
            relations,
            n_states=layer.get_dim("nS"),
            seed=random.randrange(2**31),
        )
        for layer in model.layers
    )
    isbn = ISBN(vocabulary, relations, networks, meta={"root_label": root_label, "n_trees": len(trees)})
    set_isbn(cast(ISBNModel, model), isbn)


# Likelihoods -------------------------------------------------------------------------------------

Backprop = Callable[[float], None]


def _forward(model: Model, X: DecisionEvents, is_train: bool) -> tuple[np.ndarray, Backprop]:
    """Return the log-likelihoods of sequences by each network, float64 (n_networks, n_sequences).

    The callback takes the derivative of the loss with respect to a log-likelihood, which is the same for all of them.
    """
    values, backprops = zip(*(layer(X, is_train) for layer in model.layers), strict=True)

    def backprop(derivative: float) -> None:
        for backprop_of_network in backprops:
            backprop_of_network(derivative)

    return np.stack(values), backprop


def _forward_network(
    model: Model, X: DecisionEvents, is_train: bool, *, weight_decay: float, n_jobs: int
) -> tuple[np.ndarray, Backprop]:
    """Return the log-likelihoods of sequences by one network, float64 (n_sequences,)."""
    parameters = _parameters(model)
    approximation = model.attrs["approximation"]
    if not is_train:
        return log_likelihoods(Network(approximation, **parameters), X, n_jobs=n_jobs), _no_backprop
    rng = np.random.default_rng(random.randrange(2**31))
    keep = draw_keep(rng, X.n_positions, model.get_dim("nS"), model.attrs["dropout_rate"])
    computed = gradient_of(parameters, approximation, X, keep=keep, n_jobs=n_jobs)

    def backprop(derivative: float) -> None:
        gradients: dict[str, Any] = computed.by
        share = X.n_sequences / model.attrs["n_trees"] if model.attrs["n_trees"] else 0.0
        for name, gradient in gradients.items():
            if name not in BIASES:
                gradient -= share * weight_decay * parameters[name]
            gradient *= derivative
            model.inc_grad(name, gradient)

    return computed.log_likelihoods, backprop


def _no_backprop(derivative: float) -> None:
    raise ValueError("Expected a backward pass after one forward in training: call the Model's `begin_update` first.")
