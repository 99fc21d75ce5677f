"""The frozen grammar: views, storage, damage of every kind; tensors and their factors."""

import zlib
from dataclasses import FrozenInstanceError, fields, replace
from itertools import islice

import numpy as np
import pytest
from grammars import random_grammar, random_model
from oracles.enumeration import model_of
from paths import SAMPLE

from spacy_lpcfg.arrays import LANES, in_blocks, offsets
from spacy_lpcfg.chart import Parser
from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.grammar import tensors as stored
from spacy_lpcfg.grammar.checking import check
from spacy_lpcfg.grammar.layout import layout
from spacy_lpcfg.grammar.tensors import EXACT, FACTORED, SPARSE, Tensors
from spacy_lpcfg.learning import EM, Spectral, TreebankPCFG
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.storage.container import StorageError, compressed, pack, unpack
from spacy_lpcfg.trees import parse_trees, read_trees


@pytest.fixture(scope="module")
def learned() -> Grammar:
    """Some tensors factored, some exact; every kind of symbol."""
    return Spectral(n_states=6, tokens_per_state=10).fit(islice(read_trees([SAMPLE / "train.mrg"]), 150))


@pytest.fixture(scope="module", params=["learned", "proper", "pcfg", "random"])
def grammar(request, learned) -> Grammar:
    if request.param == "proper":
        return EM(n_states=6, n_iterations=3, tokens_per_state=10).fit(islice(read_trees([SAMPLE / "train.mrg"]), 100))
    if request.param == "pcfg":
        return TreebankPCFG().fit(islice(read_trees([SAMPLE / "train.mrg"]), 50))
    return learned if request.param == "learned" else random_grammar(1)


# ------------------------------------------------------------------------------------------------- views


def test_views_are_the_parameters_they_were_made_of():
    model = random_model(0)
    found = model_of(random_grammar(0))
    for rule, tensor in model.binary.items():
        np.testing.assert_allclose(found.binary[rule], tensor, rtol=1e-6)
    for a, vector in model.roots.items():
        np.testing.assert_allclose(found.roots[a], vector, rtol=1e-6)


def test_labels_tags_and_chains():
    (tree,) = parse_trees(["(TOP (S (NP (PRP it)) (VP (VB is) (NP (A a) (B b) (ADVP|PRT (RB c) (D d))))))"])
    grammar = TreebankPCFG().fit([tree])
    chains = dict(zip(grammar.symbols, grammar.chains, strict=True))
    assert chains["NP|PRP"] == ("NP", "PRP")
    assert chains["@NP"] == ()
    assert chains["ADVP\\|PRT"] == ("ADVP|PRT",)
    assert grammar.labels == ("ADVP|PRT", "NP", "S", "VP")
    assert grammar.tags == ("A", "B", "D", "PRP", "RB", "VB")
    assert [grammar.tags[tag] for tag in grammar.tag_of] == [
        chains[name][-1] for name in grammar.symbols[: grammar.n_preterminals]
    ]
    assert [name for a, name in enumerate(grammar.symbols) if grammar.is_intermediate(a)] == ["@NP"]
    assert grammar.root_label == "TOP"


def test_grammar_is_frozen(learned):
    with pytest.raises(FrozenInstanceError):
        learned.root_label = "ROOT"


# ----------------------------------------------------------------------------------------------- storage


def assert_same(one, two):
    for field in fields(one):
        mine, other = getattr(one, field.name), getattr(two, field.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == other.dtype
            np.testing.assert_array_equal(mine, other)
        elif isinstance(mine, (tuple, str, int)):
            assert mine == other
            assert type(mine) is type(other)


def test_bytes_round_trip(grammar):
    check(grammar)
    again = Grammar.from_bytes(grammar.to_bytes())
    for part in (lambda g: g, lambda g: g.tensors, lambda g: g.lexicon, lambda g: g.classifier):
        assert_same(part(grammar), part(again))
    assert again.to_bytes() == grammar.to_bytes()
    words = ["the", "dog", "saw", "it", "."]
    one, two = (Parser(g).parse(words) for g in (grammar, again))
    assert (one.spans, one.tags, one.span_scores.tolist()) == (two.spans, two.tags, two.span_scores.tolist())


def test_check_names_the_part():
    grammar = random_grammar(0)
    rules = grammar.rules.copy()
    rules[0, 1] = grammar.n_symbols
    for part, other in (
        ("rules", rules),
        ("n_states", grammar.n_states * 0),
        ("root_vectors", np.full_like(grammar.root_vectors, np.inf)),
        ("rule_weights", -grammar.rule_weights),
        ("tags_before", grammar.tags_before[:-1]),
    ):
        with pytest.raises(ModelError, match=f"inconsistent in its {part}"):
            check(replace(grammar, **{part: other}))


def test_pack_knows_its_types_only():
    values = {"a": np.arange(6, dtype=np.int32).reshape(2, 3), "b": ("x", "y"), "c": True, "d": 1, "e": "é"}
    found = unpack("k", 3, pack("k", 3, values))
    np.testing.assert_array_equal(found.pop("a"), values.pop("a"))
    assert found == values
    for array in (np.array(["a"], dtype=object), np.zeros(2, dtype=complex), np.zeros(2, dtype="datetime64[s]")):
        with pytest.raises(StorageError, match="under 'a', of one of the types"):
            unpack("k", 3, pack("k", 3, {"a": array}))


def test_compressed_grammar_is_smaller_and_the_same(learned):
    data = learned.to_bytes()
    small = compressed(data)
    assert len(small) < 0.7 * len(data)
    assert Grammar.from_bytes(small).to_bytes() == data


def test_compressed_members_too():
    inner = pack("inner", 1, {"a": np.zeros(1000)})
    small = compressed(pack("outer", 1, {"inner": inner}))
    assert len(small) < 0.1 * len(inner)
    np.testing.assert_array_equal(unpack("inner", 1, unpack("outer", 1, small)["inner"])["a"], np.zeros(1000))


@pytest.mark.parametrize("data", [b"", b"\x00" * 9, zlib.compress(bytes(7)), zlib.compress(bytes(9)), 3])
def test_compressed_arrays_are_not_trusted(data):
    array = {"dtype": "int32", "shape": [2], "coding": "planes", "data": data}
    with pytest.raises(StorageError, match="'a'"):
        unpack("k", 3, pack("k", 3, {"a": array}))


# ----------------------------------------------------------------------------------------------- tensors


def random_tensors(seed: int, ranks: list[int], size: int = 8) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Tensors of several shapes and multilinear ranks: flat, shapes, one by one."""
    rng = np.random.default_rng(seed)
    tensors = []
    for rank in ranks:
        core = rng.normal(size=(rank, rank, rank)) * 10.0 ** rng.integers(-6, 6)
        factors = [rng.normal(size=(size + int(rng.integers(-2, 3)), rank)) for _ in range(3)]
        tensors.append(np.einsum("xyz,ix,jy,kz->ijk", core, *factors))
    return np.concatenate([t.ravel() for t in tensors]), np.array([t.shape for t in tensors]), tensors


def views(store: Tensors) -> list[np.ndarray]:
    return [
        store.dense[start:end].reshape(shape)
        for start, end, shape in zip(store.offsets[:-1], store.offsets[1:], store.shapes, strict=True)
    ]


def relative_error(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


def test_tensors_from_dense_are_exact():
    dense, shapes, tensors = random_tensors(0, [1, 2, 8, 3])
    store = Tensors.from_dense(dense, shapes)
    assert (store.forms == EXACT).all()
    for found, expected in zip(views(store), tensors, strict=True):
        np.testing.assert_array_equal(found, expected.astype(np.float32))


@pytest.mark.parametrize("seed", range(3))
def test_factors_recover_tensors_of_low_rank(seed, monkeypatch):
    """Rank-deficient tensors of any scale and shape, to the rounding of half floats; the others as they are."""
    ranks = [1, 2, 3, 20, 1, 2, 20]
    dense, shapes, tensors = random_tensors(seed, ranks)
    monkeypatch.setattr(stored, "TOLERANCE", 1e-6)
    store = Tensors.factorize(dense, shapes)
    for found, expected, rank, form, kept in zip(views(store), tensors, ranks, store.forms, store.ranks, strict=True):
        assert form == (EXACT if rank == 20 else FACTORED)
        assert relative_error(found, expected) < (1e-6 if form == EXACT else 2e-3)
        assert kept.tolist() == ([0, 0, 0] if form == EXACT else [rank] * 3)
    assert len(store.exact) + len(store.factors) < len(dense)


@pytest.mark.parametrize("tolerance", [0.01, 0.5])
def test_factors_respect_the_tolerance(tolerance, monkeypatch):
    """Relative error in the Frobenius norm, and the smaller of the two forms."""
    monkeypatch.setattr(stored, "TOLERANCE", tolerance)
    rng = np.random.default_rng(3)
    _, shapes, tensors = random_tensors(5, [2, 3] * 10)
    noisy = [t + rng.normal(size=t.shape) * tolerance / 3 * np.linalg.norm(t) / np.sqrt(t.size) for t in tensors]
    store = Tensors.factorize(np.concatenate([t.ravel() for t in noisy]), shapes)
    sizes = store.ranks.prod(axis=1) + (store.ranks * shapes).sum(axis=1)
    assert (sizes < shapes.prod(axis=1)).all()
    assert np.count_nonzero(store.forms == EXACT) < 3
    for found, expected in zip(views(store), noisy, strict=True):
        assert relative_error(found, expected) < tolerance + 1e-3


def test_tensors_of_rare_rules_are_small():
    """A tensor estimated from n occurrences and smoothed has no more than n + 1 independent slices."""
    grammar = Spectral(n_states=8, tokens_per_state=2).fit(islice(read_trees([SAMPLE / "train.mrg"]), 150))
    tensors = grammar.tensors
    rare = grammar.rule_weights * grammar.symbol_weights[grammar.rules[:, 0]]
    once = rare < rare.min() * 1.5
    assert once.any()
    assert tensors.ranks[once].max() <= 2
    assert len(tensors.exact) * 4 + len(tensors.factors) * 2 < tensors.shapes.prod(axis=1).sum() * 4 / 3


def skewed_tensors(seed: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Tensors of probabilities over many orders of magnitude, of many shapes: flat, shapes, one by one."""
    rng = np.random.default_rng(seed)
    shapes = [(1, 1, 1), (1, 1, 16), (9, 8, 7), (16, 1, 1), (1, 17, 2), *rng.integers(1, 20, (10, 3))]
    tensors = [np.exp(rng.normal(-9, 6, shape)).clip(0, 1) * 10.0 ** rng.integers(-6, 1) for shape in shapes]
    tensors[3] *= rng.random((16, 1, 1)) < 0.5
    tensors = [tensor.astype(np.float32) for tensor in tensors]
    return np.concatenate([t.ravel() for t in tensors]), np.array([t.shape for t in tensors]), tensors


@pytest.mark.parametrize("negligible", [0.0, stored.NEGLIGIBLE, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_sparse_tensors_keep_what_matters(seed, negligible, monkeypatch):
    """Large entries to the rounding of half floats, up to a share of the rest; the sums of the parent's states."""
    dense, shapes, tensors = skewed_tensors(seed)
    monkeypatch.setattr(stored, "NEGLIGIBLE", negligible)
    store = Tensors.sparsify(dense, shapes)
    assert set(store.forms) == {EXACT, SPARSE}
    for found, expected, form in zip(views(store), tensors, store.forms, strict=True):
        np.testing.assert_allclose(found.sum(axis=(1, 2)), expected.sum(axis=(1, 2)), rtol=2e-6)
        is_kept = expected > max(negligible, 1e-4) * expected.max()
        assert (found[is_kept] > 0.998 * expected[is_kept]).all()
        assert (found >= 0).all()
        lost = np.where(is_kept, 0.002, 1.0) * expected
        assert np.abs(found - expected).sum() <= 2 * lost.sum() if form == SPARSE else (found == expected).all()
    assert len(store.entries) == np.unpackbits(store.kept).sum() <= store.sizes[store.forms == SPARSE].sum()
    monkeypatch.setattr(stored, "NEGLIGIBLE", 0.5)
    assert Tensors.sparsify(dense, shapes).entries.nbytes < store.entries.nbytes


def test_sparse_tensors_are_smaller_than_exact_ones():
    dense, shapes, _ = skewed_tensors(0)
    store = Tensors.sparsify(dense, shapes)
    n_bytes = [store.exact.nbytes, store.kept.nbytes, store.entries.nbytes, store.rests.nbytes]
    assert sum(n_bytes) < 4 * dense.size / 3
    uniform = Tensors.sparsify(np.full(8, 0.5), np.array([[2, 2, 2]]))
    assert uniform.forms.tolist() == [EXACT]


def test_sparse_tensors_are_of_probabilities():
    with pytest.raises(ValueError, match=r"take Tensors\.factorize"):
        Tensors.sparsify(np.array([0.5, -0.1]), np.array([[1, 1, 2]]))


def matrix(data: np.ndarray, start: int, n_rows: int, n_cols: int) -> np.ndarray:
    """A matrix of a layout, whose rows are padded with zeros."""
    padded = data[start : start + n_rows * in_blocks(n_cols)].reshape(n_rows, -1)
    assert not padded[:, n_cols:].any()
    return padded[:, :n_cols]


@pytest.mark.parametrize("store", ["factors", "sparse"])
def test_layout_multiplies_out_to_the_dense_tensors(store, learned):
    """The arrays that kernels read, against `dense`."""
    tensors = learned.tensors if store == "factors" else Tensors.sparsify(*skewed_tensors(0)[:2])
    assert len(set(tensors.forms)) == 2
    data, starts, blocks, places, first_block = layout(tensors)
    assert blocks.any(axis=1).all()
    for rule, expected in enumerate(views(tensors)):
        (m_a, m_b, m_c), (p, q, r) = expected.shape, tensors.ranks[rule]
        core, *factors = starts[rule]
        if tensors.forms[rule] == EXACT:
            found = matrix(data, core, m_a * m_b, m_c).reshape(expected.shape)
        elif tensors.forms[rule] == FACTORED:
            sizes = zip(factors, expected.shape, (p, q, r), strict=True)
            a, b, c = (matrix(data, start, m, rank) for start, m, rank in sizes)
            found = np.einsum("xyz,ix,jy,kz->ijk", matrix(data, core, p * q, r).reshape(p, q, r), a, b, c)
        else:
            a, b, c = (data[start:][:m] for start, m in zip(factors, (m_a, m_b, in_blocks(m_c)), strict=True))
            found = np.einsum("i,j,k->ijk", a, b, c).reshape(m_a, -1, LANES)
            mine = slice(*first_block[rule : rule + 2])
            found[places[mine, 0], places[mine, 1]] += blocks[mine]
            found = found.reshape(m_a, m_b, -1)[:, :, :m_c]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())


def test_tensors_of_nothing():
    empty = np.empty((0, 3), dtype=np.int32)
    for store in (Tensors.from_dense, Tensors.factorize, Tensors.sparsify):
        assert store(np.empty(0), empty).dense.shape == (0,)
        assert not store(np.zeros(8**3), np.array([[8, 8, 8]])).dense.any()
    assert offsets(np.array([2, 0, 3])).tolist() == [0, 2, 2, 5]
