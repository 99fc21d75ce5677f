"""One distribution: the tree on a Doc, the n best trees, samples and brackets agree on probabilities.

For every kind of model that has a distribution over trees, on short sentences, by the components.
"""

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from pipelines import pipeline_by, pipeline_of
from spacy.tokens import Doc
from stored_models import model, some_evidence, trees

from spacy_lpcfg.components.settings import Output
from spacy_lpcfg.evidence.grammar import EvidenceGrammar
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.isbn.settings import BeamSettings
from spacy_lpcfg.learning import Spectral

SENTENCES = (["They", "missed", "it"], ["The", "ship", "was", "late"])
N = 400  # trees that are listed, and hypotheses in the beam of a network
N_SAMPLES = 2000


@cache
def spectral():
    return Spectral(n_states=2, tokens_per_state=10).fit(trees(60))


@cache
def network():
    return ISBNLearner(n_states=8, n_epochs=3).fit(trees(150))


GRAMMARS = {
    "grammar": lambda: model("grammar"),
    "grammar, tau": lambda: replace(model("grammar"), tau=0.6),
    "spectral, tau": lambda: replace(spectral(), tau=0.6),
    "spectral, evidence": lambda: EvidenceGrammar(spectral(), some_evidence()),
    "evidence": lambda: model("evidence"),
}
KINDS = [*GRAMMARS, "network", "network, tau"]


@cache
def pipe_of(kind):
    """A component by a model of a kind, and its pipeline."""
    if kind in GRAMMARS:
        return pipeline_by(GRAMMARS[kind]())
    nlp = pipeline_of("isbn_parser")
    pipe = nlp.get_pipe("isbn_parser")
    pipe.learned = network()
    pipe.pruning = BeamSettings(beam=N)
    pipe.output = Output(tau=0.6 if "tau" in kind else None)
    return nlp, pipe


def parsed(kind, words):
    nlp, pipe = pipe_of(kind)
    return pipe(Doc(nlp.vocab, words=words)), pipe


@pytest.mark.parametrize("words", SENTENCES, ids=" ".join)
@pytest.mark.parametrize("kind", KINDS)
def test_the_tree_on_a_doc_has_the_probability_that_it_has_in_the_list(kind, words):
    doc, pipe = parsed(kind, words)
    root = doc._.constituency[0]
    listed = {(tuple(each.tree.spans()), *each.tree.tags): each.probability for each in pipe.n_best(doc, N)[0]}
    if "network" in kind:  # whose trees are their brackets
        listed = {(brackets,): p for (brackets, *_), p in listed.items()}
    key = (tuple(root.tree.spans()), *([] if "network" in kind else root.tree.tags))
    assert root.probability == pytest.approx(listed.get(key, 0.0), abs=1e-5)
    assert 0 < root.probability <= 1


@pytest.mark.parametrize("words", SENTENCES, ids=" ".join)
@pytest.mark.parametrize("kind", KINDS)
def test_brackets_have_the_summed_probability_of_the_trees_that_have_them(kind, words):
    doc, pipe = parsed(kind, words)
    (listed,), (posteriors,) = pipe.n_best(doc, N), pipe.posteriors(doc)
    rest = 1 - sum(each.probability for each in listed)
    assert -1e-4 < rest < 0.1
    for bracket, p in posteriors.brackets.items():
        listed_share = sum(each.probability for each in listed if bracket in each.tree.spans())
        assert listed_share - 1e-3 < p < listed_share + rest + 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_samples_have_the_shares_of_their_probabilities(kind):
    doc, pipe = parsed(kind, SENTENCES[0])
    drawn = Counter(map(str, pipe.samples(doc, N_SAMPLES, seed=1)[0]))
    for each in pipe.n_best(doc, 10)[0]:
        error = np.sqrt(each.probability * (1 - each.probability) / N_SAMPLES)
        assert drawn[str(each.tree)] / N_SAMPLES == pytest.approx(each.probability, abs=4 * error + 1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_tau_below_1_is_less_sure_and_keeps_the_tree(kind):
    doc, pipe = parsed(kind, SENTENCES[1])
    before, output = doc._.constituency[0], pipe.output
    entropy = pipe.entropies(doc)[0]
    try:
        pipe.output = replace(output, tau=0.3)
        after = parsed(kind, SENTENCES[1])[0]._.constituency[0]
        assert after.tree == before.tree
        assert after.probability < before.probability
        assert pipe.entropies(doc)[0] > entropy
    finally:
        pipe.output = output


@pytest.mark.parametrize("kind", ["grammar, tau", "evidence", "network, tau"])
def test_most_probable_is_the_first_of_the_list(kind):
    _, pipe = pipe_of(kind)
    decoding = pipe.decoding
    try:
        pipe.decoding = "most-probable"
        doc, _ = parsed(kind, SENTENCES[1])
        (best,) = pipe.n_best(doc, 1)[0]
        assert doc._.constituency[0].tree.spans() == best.tree.spans()
        assert doc._.constituency[0].probability == pytest.approx(best.probability)
    finally:
        pipe.decoding = decoding


def test_models_without_a_distribution_have_no_probability_of_a_tree():
    nlp, pipe = pipeline_by(spectral())
    doc = pipe(Doc(nlp.vocab, words=SENTENCES[0]))
    assert doc._.constituency[0].probability is None
    assert 0 < doc._.constituency[0].label_probability <= 1
