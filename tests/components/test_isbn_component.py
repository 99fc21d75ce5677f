"""The component `isbn_parser`: learning by thinc's optimizers, parsing anything, saving, and the settings."""

import warnings
from itertools import islice

import numpy as np
import pytest
import spacy
from pipelines import SAMPLE, annotations, pipeline_of, treebank
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import fix_random_seed
from texts import TEXTS
from thinc.api import Adam

from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.doc.surprisal import doc_surprisal, token_surprisal
from spacy_lpcfg.components.isbn_model import isbn_of, make_isbn, set_isbn
from spacy_lpcfg.components.training.corpus import tree_to_doc
from spacy_lpcfg.isbn.events import events_of
from spacy_lpcfg.isbn.network import PARAMETERS
from spacy_lpcfg.isbn.parser import IncrementalParser
from spacy_lpcfg.isbn.settings import BeamSettings
from spacy_lpcfg.trees import normalize, parse_trees, read_trees

NAME, ISBN_KEY = "isbn_parser", "isbn_constituents"
TINY = {"@architectures": "spacy-lpcfg.ISBN.v1", "n_states": 4}
N_EPOCHS = 6


def pipeline(model=None, **config):
    return pipeline_of(NAME, **{"pruning": {"beam": 3}, **config, "model": {**TINY, **(model or {})}})


def start(nlp, limit: int = 60, seed: int = 0) -> list[Example]:
    """Initialize a pipeline; the examples."""
    examples = list(treebank(limit)(nlp))
    fix_random_seed(seed)
    nlp.initialize(lambda: examples)
    return examples


def learn(nlp, examples: list[Example], optimizer=None, n_epochs: int = 1, drop: float = 0.0) -> list[float]:
    """Learn by batches; the losses of the epochs."""
    optimizer = optimizer or Adam(0.02)
    epochs = []
    for _ in range(n_epochs):
        losses: dict[str, float] = {}
        for first in range(0, len(examples), 10):
            nlp.update(examples[first : first + 10], sgd=optimizer, losses=losses, drop=drop)
        epochs.append(losses[NAME])
    return epochs


def parameters(nlp) -> list[np.ndarray]:
    model = nlp.get_pipe(NAME).model
    return [layer.get_param(name).copy() for layer in model.layers for name in PARAMETERS]


def are_same(some: list[np.ndarray], others: list[np.ndarray]) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(some, others, strict=True))


@pytest.fixture(scope="module")
def nlp():
    """A pipeline that has learned a little."""
    nlp = pipeline()
    learn(nlp, start(nlp), n_epochs=N_EPOCHS)
    return nlp


@pytest.fixture(scope="module")
def golds():
    return [normalize(tree) for tree in islice(read_trees(SAMPLE / "dev.mrg"), 5)]


def test_isbn_model_has_the_parameters_and_the_likelihoods_of_its_networks(golds):
    model = make_isbn(3, "mean-field-step", n_networks=2, min_count=2)
    assert isbn_of(model) is None
    model.initialize(X=golds)
    isbn = isbn_of(model)
    assert [network.n_states for network in isbn.networks] == [3, 3]
    events = events_of(golds, isbn.vocabulary, isbn.relations)
    found = model.predict(events)
    assert found.shape == (2, 5)
    assert (found < 0).all()
    set_isbn(model, isbn)
    assert np.array_equal(model.predict(events), found)
    assert not np.array_equal(found[0], found[1])


def test_isbn_model_gradients_are_those_of_the_loss(golds):
    """By differences, of the sum over two batches, as with accumulated gradients, and a prior of all but biases."""
    fix_random_seed(0)
    model = make_isbn(3, "mean-field", weight_decay=5.0)
    model.initialize(X=golds)
    (layer,), isbn = model.layers, isbn_of(model)
    batches = [events_of(part, isbn.vocabulary, isbn.relations) for part in (golds[:1], golds[1:])]
    for events in batches:
        _, backprop = model.begin_update(events)
        backprop(-0.5)
    for name in PARAMETERS:
        parameter, gradient = layer.get_param(name), layer.get_grad(name)
        at = np.unravel_index(np.abs(gradient).argmax(), gradient.shape)
        values = []
        for step in (1e-2, -2e-2):
            parameter[at] += step
            prior = 0.0 if "bias" in name else 5.0 / 2 * (parameter**2).sum()
            values.append(sum(model.predict(events).sum() for events in batches) - prior)
        parameter[at] += 1e-2
        assert -0.5 * (values[0] - values[1]) / 2e-2 == pytest.approx(gradient[at], rel=0.02)


def test_isbn_model_refuses_settings_and_networks_that_do_not_fit(golds):
    sizes = {"n_states": 0, "n_networks": 0, "min_count": 0}
    for name, value in {"approximation": "exact", "latent": ["above.context"], **sizes}.items():
        with pytest.raises(ValueError, match="Expected"):
            make_isbn(**{name: value})
    model = make_isbn(3)
    model.initialize(X=golds)
    other_settings = ({"n_states": 2}, {"approximation": "mean-field"}, {"n_networks": 2}, {"latent": ["top.context"]})
    for settings in other_settings:
        with pytest.raises(ValueError, match="n_states, approximation, n_networks and relations"):
            set_isbn(make_isbn(**{"n_states": 3, **settings}), isbn_of(model))


def test_isbn_parser_learns(nlp):
    again = pipeline()
    losses = learn(again, start(again), n_epochs=N_EPOCHS)
    assert losses[0] > losses[1] > losses[2] > losses[-1] > 0
    assert are_same(parameters(again), parameters(nlp))


def test_isbn_parser_losses_are_per_word_and_batch():
    nlp = pipeline({"n_networks": 2})
    examples = start(nlp, 12)
    golds = [tree for eg in examples for tree in nlp.get_pipe(NAME).gold_trees([eg])]
    isbn = nlp.get_pipe(NAME).isbn
    events = events_of(map(normalize, golds), isbn.vocabulary, isbn.relations)
    log_likelihood = nlp.get_pipe(NAME).model.predict(events).sum() / 2
    losses = nlp.get_pipe(NAME).update(examples)
    assert losses == {NAME: pytest.approx(-log_likelihood / sum(map(len, golds)))}
    nlp.get_pipe(NAME).update(examples, losses=losses)
    assert losses == {NAME: pytest.approx(-2 * log_likelihood / sum(map(len, golds)))}


def test_isbn_parser_the_seed_and_dropout_decide_what_is_learned():
    found = []
    for seed, drop, n_jobs in ((1, 0.3, 1), (1, 0.3, 2), (2, 0.3, 1), (1, 0.0, 1)):
        nlp = pipeline({"n_jobs": n_jobs})
        learn(nlp, start(nlp, 20, seed), drop=drop)
        found.append(parameters(nlp))
    assert are_same(found[0], found[1])
    assert not are_same(found[0], found[2])
    assert not are_same(found[0], found[3])


def test_isbn_parser_without_an_optimizer_only_adds_up_gradients():
    nlp = pipeline()
    examples = start(nlp, 20)
    before = parameters(nlp)
    nlp.update(examples[:10], sgd=False)
    assert are_same(parameters(nlp), before)
    (layer,) = nlp.get_pipe(NAME).model.layers
    first = layer.get_grad("bias").copy()
    nlp.update(examples[:10], sgd=False)
    assert layer.get_grad("bias") == pytest.approx(2 * first, rel=1e-5)
    nlp.get_pipe(NAME).finish_update(Adam(0.01))
    assert not are_same(parameters(nlp), before)
    assert not layer.get_grad("bias").any()


def test_isbn_parser_parses_by_averages_as_long_as_they_are_used():
    nlp = pipeline()
    examples = start(nlp, 30)
    optimizer = Adam(0.02, use_averages=True)
    learn(nlp, examples, optimizer)
    text = TEXTS[0]
    own = annotations(nlp(text))
    learned = parameters(nlp)
    with nlp.use_params(optimizer.averages):
        assert not are_same(parameters(nlp), learned)
        averaged = annotations(nlp(text))
        isbn = nlp.get_pipe(NAME).isbn
    assert are_same(parameters(nlp), learned)
    assert annotations(nlp(text)) == own != averaged
    other = pipeline()
    other.get_pipe(NAME).isbn = isbn
    assert annotations(other(text)) == averaged


def test_isbn_parser_goes_on_learning_when_loaded(nlp):
    """From the same place, and with the same vocabulary."""
    loaded = pipeline().from_bytes(nlp.to_bytes())
    optimizer = loaded.resume_training()
    examples = list(treebank()(loaded))
    fix_random_seed(0)
    learn(loaded, examples, optimizer)
    fresh = pipeline()
    fresh_losses = learn(fresh, start(fresh))
    assert not are_same(parameters(loaded), parameters(nlp))
    fix_random_seed(0)
    again = pipeline().from_bytes(nlp.to_bytes())
    assert learn(again, examples)[0] < fresh_losses[0]


def test_isbn_parser_leaves_out_trees_that_it_cannot_learn(nlp):
    loaded = pipeline().from_bytes(nlp.to_bytes())
    known = "(S (NP (DT The) (NN ferry)) (VP (VBD left)) (. .))"
    docs = [tree_to_doc(loaded.vocab, list(parse_trees(text))) for text in (known, known.replace("VP", "NEW"))]
    examples = [Example(doc.copy(), doc) for doc in docs]
    parser = loaded.get_pipe(NAME)
    with pytest.warns(UserWarning, match="leaves out trees with labels or tags"):
        losses = parser.update(examples)
    assert losses == pytest.approx(parser.update(examples[:1]))
    assert parser.update(examples[1:], sgd=Adam(0.01)) == {NAME: 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parser.update(examples)


def test_isbn_parser_learns_from_one_tree():
    nlp = pipeline({"weight_decay": 0.0})
    gold = tree_to_doc(nlp.vocab, list(parse_trees("(S (NP (DT The) (NN ferry)) (VP (VBD left)))")))
    examples = [Example(gold.copy(), gold)]
    nlp.initialize(lambda: examples)
    losses = learn(nlp, examples, Adam(0.1), n_epochs=40)
    assert losses[-1] < 0.2 * losses[0]
    assert str(trees(nlp("The ferry left"), ISBN_KEY)[0]) == "(S (NP (DT The) (NN ferry)) (VP (VBD left)))"
    assert trees(nlp("Who sold it?"), ISBN_KEY)


def test_isbn_parser_updates_nothing_before_it_has_seen_trees():
    nlp = pipeline()
    with pytest.raises(ValueError, match="found no trees"):
        nlp.get_pipe(NAME).update(list(treebank(3)(nlp)))


def test_isbn_parser_parses_as_the_library_does(nlp, golds):
    parser = nlp.get_pipe(NAME)
    library = IncrementalParser(parser.isbn, settings=BeamSettings(beam=3))
    for gold in golds:
        doc = parser(tree_to_doc(nlp.vocab, [gold]))
        wanted = library.parse(gold.words)
        assert trees(doc, ISBN_KEY) == [wanted.tree]
        attrs = doc.spans[ISBN_KEY].attrs
        assert attrs["scores"].tolist() == wanted.span_scores.tolist()
        assert attrs["log_probabilities"].tolist() == [wanted.log_probability]


def test_isbn_parser_leaves_given_tags_where_they_are(nlp):
    """By default it tags for itself, in its trees; words without a tag get its own."""
    doc = nlp.get_pipe(NAME)(Doc(nlp.vocab, words=["Go", "fast"], tags=["NOSUCHTAG", ""], sent_starts=[1, 0]))
    free = nlp.get_pipe(NAME)(Doc(nlp.vocab, words=["Go", "fast"], sent_starts=[1, 0]))
    assert trees(doc, ISBN_KEY) == trees(free, ISBN_KEY)
    assert [token.tag_ for token in doc] == ["NOSUCHTAG", free[1].tag_]
    assert free[1].tag_ == doc.spans[ISBN_KEY].attrs["tags"][1]


def test_isbn_parser_settings_change_what_it_does(nlp, with_settings):
    doc = with_settings(output={"set_tags": False}, spans_key="mine")(TEXTS[0])
    assert not doc.has_annotation("TAG")
    assert trees(doc, "mine") == trees(nlp(TEXTS[0]), ISBN_KEY)
    assert (with_settings(output={"threshold": 1})(TEXTS[0]).spans[ISBN_KEY].attrs["scores"] >= 1).all()
    parser = with_settings().get_pipe(NAME)
    searches = [(parser.pruning, parser.decoding), (BeamSettings(beam=1, branching=1), "most-probable")]
    found = []
    for parser.pruning, parser.decoding in searches:
        assert parser.parser is parser.parser
        by_model = parser.parser.parser
        assert (by_model.settings, by_model.decoding.name) == (parser.pruning, parser.decoding)
        found.append(parser(nlp.make_doc(TEXTS[0])).spans[ISBN_KEY].attrs["log_probabilities"][0])
    assert found[1] < found[0]


def test_isbn_parser_surprisal_sums_up_to_the_probability_of_the_sentence(nlp, with_settings):
    for made, setting in ((nlp, False), (with_settings(output={"surprisal": True}), True)):
        doc = made("Ilse opened  the bakery. Did you lock it?\n")
        attrs = doc.spans[ISBN_KEY].attrs
        assert ("surprisal" in attrs) == setting
        bits = np.array([token._.surprisal for token in doc])
        assert np.isnan(bits).tolist() == [token.is_space for token in doc]
        assert (bits[~np.isnan(bits)] >= 0).all()
        for sent, end, log_probability in zip(
            doc.sents, attrs["end_surprisal"], attrs["log_probabilities"], strict=True
        ):
            total = np.nansum(bits[sent.start : sent.end]) + end
            assert total == pytest.approx(-log_probability / np.log(2), abs=1e-6, nan_ok=True)
        parser = made.get_pipe(NAME).ready_parser()
        assert np.array_equal(token_surprisal(doc, parser), bits, equal_nan=True)
        assert np.array_equal(doc_surprisal(doc, parser)[1], attrs["end_surprisal"], equal_nan=True)


def test_isbn_parser_surprisal_needs_a_parser_that_knows(nlp):
    bytes_ = DocBin(docs=[nlp("Go")]).to_bytes()
    doc = nlp("Go")
    bits = [token._.surprisal for token in doc]
    (asked,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(spacy.blank("en").vocab)
    assert [token._.surprisal for token in asked] == bits
    (same,) = DocBin().from_bytes(bytes_).get_docs(nlp.vocab)
    assert same[0]._.surprisal == nlp("Go")[0]._.surprisal
    (strange,) = DocBin().from_bytes(bytes_).get_docs(spacy.blank("en").vocab)
    for doc in (strange, nlp.make_doc("Go")):
        with pytest.raises(ValueError, match="has no surprisal"):
            _ = doc[0]._.surprisal
    doc = nlp("Go home")
    doc.spans[ISBN_KEY].attrs["surprisal"] = np.zeros(5)
    with pytest.raises(ValueError, match="tokens changed"):
        _ = doc[0]._.surprisal
