"""Probabilities on the components that parse: what their methods say, and the settings that use them."""

import numpy as np
import pytest
import spacy
from paths import SAMPLE
from spacy.cli.find_threshold import find_threshold
from spacy.tokens import Doc, DocBin, Span

from spacy_lpcfg.components.doc.constraints import constraints_within
from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.doc.surprisal import doc_surprisal
from spacy_lpcfg.components.doc.tree_group import KEY
from spacy_lpcfg.components.training.corpus import Treebank
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.learning import Spectral, TreebankPCFG
from spacy_lpcfg.parsing.constraints import Constraints, crosses
from spacy_lpcfg.trees import clean, read_trees

pytestmark = pytest.mark.filterwarnings("ignore:.*without sentence boundaries")

TEXT = "The ferry was late again. \n Did you lock the old shed?"
PIPES = ["lpcfg_parser", "isbn_parser"]


@pytest.fixture(scope="module")
def learned():
    golds = [clean(tree) for tree in read_trees(SAMPLE / "train.mrg")][:150]
    isbn = ISBNLearner(n_states=8, n_epochs=3).fit(golds)
    return {"lpcfg_parser": TreebankPCFG().fit(golds), "isbn_parser": isbn, "spectral": Spectral(n_states=2).fit(golds)}


def pipeline(learned, name, **config):
    nlp = spacy.blank("en")
    nlp.add_pipe("lpcfg_sentencizer")
    nlp.add_pipe(name, config=config).learned = learned[name]
    return nlp


def tokenized(nlp, text=TEXT):
    """The Doc as the component gets it."""
    return nlp.get_pipe("lpcfg_sentencizer")(nlp.make_doc(text))


def key_of(name):
    return KEY if name == "lpcfg_parser" else "isbn_constituents"


@pytest.mark.parametrize("name", PIPES)
def test_methods_agree_with_each_other(learned, name):
    nlp = pipeline(learned, name)
    doc, pipe = tokenized(nlp), nlp.get_pipe(name)
    before = doc.to_bytes()
    best, logs = pipe.n_best(doc, 3), pipe.log_probabilities(doc)
    assert len(best) == len(logs) == len(list(doc.sents)) == 2
    for analyses, log_probability in zip(best, logs, strict=True):
        assert [each.probability for each in analyses] == sorted((e.probability for e in analyses), reverse=True)
        for each in analyses:
            assert each.log_probability <= log_probability + 1e-3
    assert pipe.entropies(doc) == [pytest.approx(bits, abs=1e-9) for bits in pipe.entropies(doc)]
    assert all(bits >= 0 for bits in pipe.entropies(doc))
    assert pipe.samples(doc, 3, seed=1) == pipe.samples(doc, 3, seed=1)
    asked = pipe.samples(doc, 3), pipe.surprisals(doc), logs
    for sent, drawn, bits, log_probability in zip(doc.sents, *asked, strict=True):
        words = [token.text for token in sent if not token.is_space]
        assert all(tree.words == words for tree in drawn)
        assert bits.shape == (len(words) + 1,)
        assert bits.sum() == pytest.approx(-log_probability / np.log(2), abs=1e-6)
    found = pipe.posteriors(doc)
    assert all(set(posteriors.brackets) for posteriors in found)
    assert doc.to_bytes() == before


@pytest.mark.parametrize("name", PIPES)
def test_log_probabilities_of_given_trees(learned, name):
    nlp = pipeline(learned, name)
    doc, pipe = tokenized(nlp), nlp.get_pipe(name)
    best = [analyses[0] for analyses in pipe.n_best(doc, 1)]
    found = pipe.log_probabilities(doc, [each.tree for each in best])
    for log_probability, each in zip(found, best, strict=True):
        if name == "lpcfg_parser":
            assert log_probability == pytest.approx(each.log_probability, abs=1e-3)
        else:  # the beam's trees are summed over their tags
            assert each.log_probability - 3 < log_probability < each.log_probability + 1e-3
    with pytest.raises(ValueError, match="for each of 2 sentences, got 1"):
        pipe.log_probabilities(doc, [best[0].tree])
    with pytest.raises(ValueError, match=r"each of the sentence's 6 words, got a tree of 7 leaves"):
        pipe.log_probabilities(doc, [best[1].tree, best[0].tree])


@pytest.mark.parametrize("name", PIPES)
def test_sentences_without_words_have_none(learned, name):
    nlp = pipeline(learned, name)
    doc = Doc(nlp.vocab, words=["\n", "Did", "you", "lock", "it", "?"], sent_starts=[True, True] + [False] * 4)
    pipe = nlp.get_pipe(name)
    for found in (
        pipe.posteriors(doc),
        pipe.n_best(doc, 1),
        pipe.samples(doc, 1),
        pipe.entropies(doc),
        pipe.log_probabilities(doc),
        pipe.log_probabilities(doc, [None, pipe.n_best(doc, 1)[1][0].tree]),
        pipe.surprisals(doc),
    ):
        assert found[0] is None
        assert found[1] is not None
    assert pipe.n_best(Doc(nlp.vocab), 1) in ([], [None])


def test_states_are_of_the_trees_that_the_pipe_writes(learned):
    nlp = pipeline(learned, "lpcfg_parser")
    doc = nlp(TEXT)
    for vectors, tree in zip(nlp.get_pipe("lpcfg_parser").states(doc), trees(doc), strict=True):
        brackets = {(start, end) for start, end, _ in tree.spans()}
        assert {(each.start, each.end) for each in vectors} == brackets | {(i, i + 1) for i in range(len(tree))}
        for each in vectors:
            assert 0 < float(each.inside @ each.outside) <= 1 + 1e-5
    isbn = pipeline(learned, "isbn_parser")
    with pytest.raises(ValueError, match="No state vectors from a belief network"):
        isbn.get_pipe("isbn_parser").states(tokenized(isbn))


@pytest.mark.parametrize("tau", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("name", PIPES)
def test_posteriors_of_chosen_brackets_are_their_scores(learned, name, tau):
    nlp = pipeline(learned, name, output={"tau": tau})
    raw = pipeline(learned, name, output={"tau": 1.0}).get_pipe(name).posteriors(tokenized(nlp))[0]
    doc, pipe = tokenized(nlp), nlp.get_pipe(name)
    first = pipe.posteriors(doc)[0]
    group = pipe(doc).spans[key_of(name)]
    scores = [score for span, score in zip(group, group.attrs["scores"], strict=True) if span.sent.start == 0]
    chosen = [(span.start, span.end, span.label_) for span in group if span.sent.start == 0]
    assert [first.brackets[bracket] for bracket in chosen] == pytest.approx(scores, abs=1e-4)
    differ = [p for bracket, p in raw.brackets.items() if first.brackets.get(bracket, 0) != pytest.approx(p, abs=1e-4)]
    assert bool(differ) == (tau != 1)


@pytest.mark.parametrize("name", PIPES)
def test_alternatives_of_a_node_are_posteriors_of_its_words(learned, name):
    nlp = pipeline(learned, name)
    doc = nlp(TEXT)
    for root in doc._.constituency:
        for node in root.nodes():
            found = node.alternatives
            assert list(found.values()) == sorted(found.values(), reverse=True)
            assert set(node.labels) <= set(found)
            if node.labels:
                assert found[node.labels[0]] == pytest.approx(node.label_probability, abs=1e-5)
    elsewhere = Doc(spacy.blank("en").vocab).from_bytes(doc.to_bytes())
    with pytest.raises(ValueError, match="not there to be asked"):
        _ = elsewhere._.constituency[0].alternatives


def test_models_without_a_distribution_say_so(learned):
    nlp = pipeline({"lpcfg_parser": learned["spectral"]}, "lpcfg_parser")
    pipe, doc = nlp.get_pipe("lpcfg_parser"), tokenized(nlp)
    assert pipe.posteriors(doc)[0].brackets
    tree = pipe.predict([doc])[0].parses[0].tree
    for ask in (
        lambda: pipe.n_best(doc, 1),
        lambda: pipe.samples(doc, 1),
        lambda: pipe.entropies(doc),
        lambda: pipe.log_probabilities(doc),
        lambda: pipe.log_probabilities(doc, [tree, tree]),
        lambda: pipe.surprisals(doc),
        lambda: nlp(TEXT)[0]._.surprisal,
    ):
        with pytest.raises(ValueError, match="proper"):
            ask()
    assert pipe.states(doc)[0]


@pytest.mark.parametrize("name", PIPES)
def test_methods_say_that_a_text_is_no_doc(learned, name):
    nlp = pipeline(learned, name)
    pipe, sent = nlp.get_pipe(name), next(nlp("We left.").sents)
    ask = [pipe.posteriors, pipe.entropies, pipe.log_probabilities, pipe.surprisals, pipe.states]
    ask += [lambda doc: pipe.n_best(doc, 2), lambda doc: pipe.samples(doc, 2), lambda doc: pipe.predict([doc])]
    ask += [trees, lambda doc: doc_surprisal(doc, pipe.ready_parser())[0]]
    for method in ask:
        with pytest.raises(TypeError, match=r"^Expected a Doc, got 'We left\.': use doc = nlp\(text\)\.$"):
            method("We left.")
        with pytest.raises(TypeError, match=r"^Expected a Doc, got We left\.: use the span's Doc, span\.doc\.$"):
            method(sent)


def test_methods_refuse_to_answer_before_training():
    nlp = spacy.blank("de")
    pipe = nlp.add_pipe("lpcfg_parser")
    with pytest.raises(ValueError, match="Train"):
        pipe.entropies(nlp.make_doc("Los."))


# ------------------------------------------------------------------------------------------- surprisal


@pytest.mark.parametrize("name", PIPES)
def test_surprisal_of_tokens_is_written_or_asked_for(learned, name):
    nlp = pipeline(learned, name)
    doc = nlp(TEXT)
    assert "surprisal" not in doc.spans[key_of(name)].attrs
    asked = [token._.surprisal for token in doc]
    written = pipeline(learned, name, output={"surprisal": True})(TEXT).spans[key_of(name)].attrs
    np.testing.assert_allclose(written["surprisal"], asked)
    assert [bool(np.isnan(bits)) for bits in asked] == [token.is_space for token in doc]
    pipe = nlp.get_pipe(name)
    np.testing.assert_allclose(doc_surprisal(doc, pipe.ready_parser())[0], asked)
    bits = [found for found in pipe.surprisals(doc)]
    np.testing.assert_allclose(np.concatenate([b[:-1] for b in bits]), [b for b in asked if not np.isnan(b)])
    np.testing.assert_allclose([b[-1] for b in bits], written["end_surprisal"])


# ------------------------------------------------------------------------------------------ abstention


@pytest.mark.parametrize("name", PIPES)
def test_find_threshold_trades_recall_for_precision(learned, name, tmp_path):
    nlp = pipeline(learned, name, **({"pruning": {"beam": 5}} if name == "isbn_parser" else {}))
    nlp.to_disk(tmp_path / "model")
    golds = [eg.reference for eg in Treebank(SAMPLE / "dev.mrg", limit=15)(nlp)]
    DocBin(docs=golds, store_user_data=True).to_disk(tmp_path / "dev.spacy")
    of = {}
    for score in ("evalb_p", "evalb_r"):
        best, value, of[score] = find_threshold(
            str(tmp_path / "model"), tmp_path / "dev.spacy", name, "output.threshold", score, n_trials=3
        )
        assert value == max(of[score].values())
        assert of[score][best] == value
    recalls = list(of["evalb_r"].values())
    assert recalls == sorted(recalls, reverse=True)
    assert recalls[0] > recalls[-1]
    assert of["evalb_p"][0.5] >= of["evalb_p"][0.0]


# ----------------------------------------------------------------------------------------- constraints


def required_everywhere(doc):
    return Constraints(required=((1, 3, "NP"),))


@pytest.mark.parametrize("name", PIPES)
def test_constraints_of_a_pipe_hold_for_trees_and_distributions(learned, name):
    nlp = pipeline(learned, name)
    pipe = nlp.get_pipe(name)
    free = nlp("The ferry was late.")
    assert (1, 3, "NP") not in {(span.start, span.end, span.label_) for span in free.spans[key_of(name)]}
    pipe.constraints = required_everywhere
    doc = nlp("The ferry was late.")
    spans = {(span.start, span.end, span.label_) for span in doc.spans[key_of(name)]}
    status = doc.spans[key_of(name)].attrs["status"]
    assert ((1, 3, "NP") in spans) == (status != ["unconstrained"])
    for each in pipe.n_best(doc, 5)[0]:
        assert (1, 3, "NP") in each.tree.spans()


@pytest.mark.parametrize("name", PIPES)
def test_entities_are_kept_whole(learned, name, tmp_path):
    nlp = pipeline(learned, name, constraints={"@misc": "spacy-lpcfg.entities.v1"})
    doc = tokenized(nlp, "The old man the boat. They sleep.")
    doc.ents = [Span(doc, 1, 3, "PERSON"), Span(doc, 3, 5, "BOAT")]
    doc = nlp.get_pipe(name)(doc)
    if doc.spans[key_of(name)].attrs["status"][0] != "unconstrained":
        for span in doc.spans[key_of(name)]:
            for ent in doc.ents:
                assert not crosses(span.start, span.end, ent.start, ent.end)
    nlp.to_disk(tmp_path)
    assert spacy.load(tmp_path).get_pipe(name).constraints is nlp.get_pipe(name).constraints


def test_constraints_on_a_doc_are_cut_to_its_sentences():
    found = constraints_within(
        Constraints(required=((2, 5, "NP"), (0, 3, "X")), forbidden=((6, 7, ""),), whole=((4, 5), (5, 9))), [2, 4, 6, 7]
    )
    assert found == Constraints(required=((0, 2, "NP"),), forbidden=((2, 3, ""),), whole=((1, 2),))
