"""Long runs in small: nasty texts, threads that share a pipeline, and the same results in any process."""

import sys
import threading
from itertools import islice

import pytest
import spacy
from commands import SAMPLE, process

from fuzz import soak
from spacy_lpcfg.models.loading import pretrained_model

pytestmark = pytest.mark.slow

LEARN = """
import hashlib, sys
from spacy_lpcfg.bracketing import SpectralBracketer
from spacy_lpcfg.bracketing.tagged import TaggedSentence
from spacy_lpcfg.isbn.learning import ISBNLearner
from spacy_lpcfg.learning import Pivot, Spectral
from spacy_lpcfg.trees import read_trees

trees = list(read_trees(sys.argv[1]))[:120]
sentences = [TaggedSentence(tuple(tree.words), tuple(tree.tags)) for tree in trees]
for learner in (Spectral(n_states=2), Pivot(n_states=2), ISBNLearner(n_states=4, n_epochs=1)):
    print(type(learner).__name__, hashlib.sha256(learner.fit(trees).to_bytes()).hexdigest())
print("bracketer", hashlib.sha256(SpectralBracketer().fit(lambda: iter(sentences), seed=0).to_bytes()).hexdigest())
"""


@pytest.fixture(scope="module")
def texts():
    """Texts of every kind but those that take long."""
    return [text for text in islice(soak.Drawn(soak.sample_sentences()), 150) if len(text) < 1000] + soak.ODD


@pytest.mark.parametrize("model", ["pcfg_model", "isbn_model"])
def test_nasty_texts_fail_nowhere_and_leave_the_trees_as_they_were(model, request, texts):
    nlp = soak.pipeline(request.getfixturevalue(model))
    before = soak.trees_of(nlp, texts[:40])
    run = soak.soak(nlp, iter(texts), len(texts), batch=30)
    assert run.failures == []
    assert run.n_docs == len(texts)
    assert len(run.memory) == 10
    assert run.growth < 20  # percent, and at most 7 when this was written
    assert sum(run.statuses.values()) >= len(texts) - texts.count("")
    assert soak.trees_of(nlp, texts[:40]) == before


def test_grammar_that_is_read_late_is_read_once_for_all_threads():
    nlp = spacy.blank("en")
    holder = nlp.add_pipe("lpcfg_parser").model
    made, both_wait = [], threading.Barrier(2)

    def slowly():
        made.append(pretrained_model("en"))
        return made[-1]

    holder.read_by(slowly)
    found = []

    def ask():
        both_wait.wait()
        found.append(nlp.get_pipe("lpcfg_parser").parser)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert found[0] is not None
    assert found[0] is found[1]


def test_learning_gives_the_same_bytes_in_any_process(monkeypatch):
    found = []
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        found.append(process(sys.executable, "-c", LEARN, SAMPLE / "train.mrg").stdout)
    assert found[0] == found[1]
    assert found[0].count("\n") == 4
