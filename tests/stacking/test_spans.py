"""The kernel of span features against one that spells them out."""

import pickle
import random
from itertools import chain

import numpy as np
import pytest
from oracles import span_features as slow

from spacy_lpcfg.parsing.result import Posteriors
from spacy_lpcfg.stacking._spans import SpanDescent, SpanScorer
from spacy_lpcfg.stacking.candidates import candidates_of, signature
from spacy_lpcfg.stacking.templates import ATOMS, PLACES, TEMPLATES, are_templates, template_table

WORDS = ("the", "The", "dog", "dogs", "1998", "U.S.", "well-known", "ran", ",", "\ud800")
KNOWN = {"the", "dog", ","}
TAGS = ("DT", "NN", "NNS", "VBD", ",")
LABELS = ("NP", "VP", "S")
TABLE = template_table(TEMPLATES)


def random_sentence(seed: int) -> tuple[list[str], Posteriors]:
    rng = random.Random(seed)
    n_words = rng.choice((1, 2, 3, 5, 9, 40))
    words = rng.choices(WORDS, k=n_words)
    tags = [{tag: rng.random() for tag in rng.sample(TAGS, rng.randint(1, 3))} for _ in words]
    brackets = {}
    for _ in range(30):
        start, end = sorted(rng.sample(range(n_words + 1), 2))
        brackets[start, end, rng.choice(LABELS)] = rng.choice((0.0, 1.0, rng.random(), rng.random() ** 6))
    return words, Posteriors(brackets, tags)


def test_spans_have_the_features_that_texts_spell_out():
    """The same key wherever the text is the same, and another wherever it is not."""
    text_of: dict[int, str] = {}
    key_of: dict[str, int] = {}
    for seed in range(60):
        words, posteriors = random_sentence(seed)
        keys = candidates_of(words, posteriors, KNOWN, TABLE).keys
        texts = slow.features(words, posteriors, KNOWN)
        assert keys.shape == (len(posteriors.brackets), len(TEMPLATES))
        for key, text in zip(keys.ravel().tolist(), (text for some in texts for text in some), strict=True):
            assert (key < 0) == (text is None)
            if text is not None:
                assert text_of.setdefault(key, text) == text
                assert key_of.setdefault(text, key) == key
    assert len(text_of) > 10_000


def test_spans_have_the_dense_inputs_of_the_reference():
    for seed in range(30):
        words, posteriors = random_sentence(seed)
        assert candidates_of(words, posteriors, KNOWN, TABLE).dense == pytest.approx(
            np.array(slow.dense(posteriors)), rel=1e-5, abs=1e-6
        )


def test_spans_of_no_brackets_are_none():
    found = candidates_of(["the"], Posteriors({}, [{"DT": 1.0}]), KNOWN, TABLE)
    assert (found.keys.shape, found.dense.shape) == ((0, len(TEMPLATES)), (0, 3))


@pytest.mark.parametrize("n_known", [0, 1, 5000])
def test_spans_score_what_dictionaries_score(n_known):
    """Some features have a weight, and the others none."""
    rng = np.random.default_rng(n_known)
    sentences = [random_sentence(seed) for seed in range(20)]
    found = [(candidates_of(*sentence, KNOWN, TABLE).keys, slow.features(*sentence, KNOWN)) for sentence in sentences]
    pairs = ((text, key) for keys, texts in found for text, key in zip(chain(*texts), keys.ravel(), strict=True))
    key_of = {text: int(key) for text, key in pairs if text}
    kinds = [{text: float(np.float32(rng.normal())) for text in list(key_of)[:n_known]} for _ in range(2)]
    keys = np.array(sorted(key_of[text] for text in kinds[0]), dtype=np.int32)
    of_key = {key_of[text]: [weights[text] for weights in kinds] for text in kinds[0]}
    weights = np.array([of_key[key] for key in keys.tolist()], dtype=np.float32).reshape(-1, 2)
    scorer = SpanScorer(keys, weights)
    for keys, texts in found:
        expected = [[slow.score(of_candidate, weights) for weights in kinds] for of_candidate in texts]
        assert scorer.scores(keys) == pytest.approx(np.array(expected), abs=1e-5)
        assert (pickle.loads(pickle.dumps(scorer)).scores(keys) == scorer.scores(keys)).all()


def test_spans_are_learned_by_gradients():
    """Scores, steps and averages of either kind are those of a descent of its own."""
    lessons = [candidates_of(*random_sentence(seed), KNOWN, TABLE) for seed in (1, 2, 3)]
    keys = np.unique(np.concatenate([lesson.keys[lesson.keys >= 0] for lesson in lessons]))[::2].copy()
    penalties, start = np.linspace(0, 0.5, len(keys)), np.array([[1.0, 0.0, 0.2], [0.5, 0.1, 0.0]])
    fast = SpanDescent(keys, penalties, start, 0.3, 0.7)
    of_key = dict(zip(keys.tolist(), penalties.tolist(), strict=True))
    kinds = [
        slow.Descent(of_key, {**dict.fromkeys(of_key, 0.0), **{("dense", i): w for i, w in enumerate(row)}}, 0.3, 0.7)
        for row in start.tolist()
    ]
    rng = np.random.default_rng(0)
    for lesson in lessons:
        places, gradients = lesson.keys.copy(), rng.uniform(-1, 1, (len(lesson.keys), 2))
        fast.places(places)
        inputs = [
            {**{key: 1.0 for key in of_one if key in of_key}, **{("dense", i): x for i, x in enumerate(row)}}
            for of_one, row in zip(lesson.keys.tolist(), lesson.dense.tolist(), strict=True)
        ]
        expected = [[kind.score(of_one) for kind in kinds] for of_one in inputs]
        assert fast.scores(places, lesson.dense) == pytest.approx(np.array(expected), abs=1e-6)
        fast.step(places, lesson.dense, gradients)
        for of_one, row in zip(inputs, gradients.tolist(), strict=True):
            for kind, gradient in zip(kinds, row, strict=True):
                kind.step(of_one, gradient)
    of_features, dense = fast.averages()
    for k, kind in enumerate(kinds):
        expected = kind.averages()
        assert of_features[:, k] == pytest.approx([expected[key] for key in keys.tolist()], abs=1e-6)
        assert dense[k] == pytest.approx([expected["dense", i] for i in range(3)], abs=1e-6)
    assert np.abs(of_features).max(axis=0).min() > 0.1


def test_spans_templates_are_of_atoms_each_once():
    assert are_templates(TEMPLATES)
    assert len({frozenset(template.split()) for template in TEMPLATES}) == len(TEMPLATES)
    assert not are_templates(("first.word nowhere",))
    assert not are_templates(("",))
    assert not are_templates((" ".join(ATOMS[:9]),))
    assert {f"{place}.{kind}" for place in PLACES for kind in ("word", "tag")} <= set(TEMPLATES)


@pytest.mark.parametrize(
    ("word", "expected"),
    [("Zebras", "Cap -ras"), ("1998", " num -998"), ("x", " "), ("ox", " -x"), ("U.S.", "CAPS dot -.s.")],
)
def test_spans_see_unknown_words_by_shape_and_ending(word, expected):
    assert signature(word, False).split() == expected.split()
