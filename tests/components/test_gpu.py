"""Components under `spacy.prefer_gpu()` work on the CPU. Operations that stand for a GPU's fail when they are used.

spaCy itself keeps the vectors of the vocabulary where the ops say, and is let do so.
"""

import sys
from collections.abc import Iterator

import numpy as np
import pytest
import spacy
from pipelines import SAMPLE, TINY_ISBN
from spacy.language import Language
from spacy.vocab import Vocab
from thinc.api import NumpyOps, get_current_ops, set_current_ops

from spacy_lpcfg.components.training import vocab_vectors
from spacy_lpcfg.components.training.corpus import Treebank
from spacy_lpcfg.components.training.vocab_vectors import VocabVectors

PIPES = ("lpcfg_parser", "isbn_parser", "spectral_bracketer")
CONFIGS = {
    "lpcfg_parser": {"learner": "pcfg"},
    "isbn_parser": {"learner": TINY_ISBN},
    "spectral_bracketer": {"attr": "tag"},
}


class GPUOps(NumpyOps):
    """Ops that nothing but spaCy's and thinc's own code may use."""

    name = "cupy"
    device_type = "gpu"

    def __getattribute__(self, name: str) -> object:
        caller = sys._getframe(1).f_globals["__name__"]
        if caller.startswith("spacy_lpcfg"):
            raise AssertionError(f"{caller} uses {name} of the GPU")
        return super().__getattribute__(name)


@pytest.fixture
def gpu() -> Iterator[None]:
    before = get_current_ops()
    set_current_ops(GPUOps())
    yield
    set_current_ops(before)


def trained() -> tuple[Language, dict[str, list[tuple[int, int, str]]]]:
    """A pipeline of all components, and what they find."""
    nlp = spacy.blank("en")
    for name in PIPES:
        nlp.add_pipe(name, config=CONFIGS[name])
    examples = list(Treebank(SAMPLE / "train.mrg", limit=100, gold_tags=True)(nlp))
    spacy.util.fix_random_seed(0)
    optimizer = nlp.initialize(lambda: examples)
    nlp.update(examples[:10], sgd=optimizer)
    with nlp.use_params(optimizer.averages):
        doc = nlp(examples[0].predicted.copy())
    return nlp, {key: [(span.start, span.end, span.label_) for span in group] for key, group in doc.spans.items()}


@pytest.mark.slow
def test_components_work_on_the_cpu_whatever_others_do(gpu):
    nlp, found = trained()
    for name in PIPES:
        ops = {type(node.ops) for node in nlp.get_pipe(name).model.walk()}
        assert ops == {NumpyOps}
    assert spacy.blank("en", config=nlp.config).from_bytes(nlp.to_bytes()).pipe_names == list(PIPES)
    set_current_ops(NumpyOps())
    assert trained()[1] == found
    assert all(found.values())


class DeviceArray:
    """An array that numpy may not touch, as that of a GPU."""

    def __init__(self, array: np.ndarray) -> None:
        self.get = lambda: array

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")


def test_vectors_of_a_vocabulary_on_a_gpu_are_copied(monkeypatch):
    vocab = Vocab(strings=["ferry"])
    vocab.set_vector("ferry", np.ones(3, dtype=np.float32))
    vocab.vectors.data = DeviceArray(vocab.vectors.data)
    monkeypatch.setattr(vocab_vectors, "to_numpy", lambda array: array.get())
    assert VocabVectors(2).of(vocab).vectors.tolist() == [[1, 1, 1]]
