"""Compression of arrays and texts: the same to the last bit, in the shorter coding, and damaged data refused."""

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lpcfg.storage.coding import PLANES, TABLE, compress_array, compress_texts, decompress_array, decompress_texts
from spacy_lpcfg.storage.container import StorageError, compressed, pack, unpack

TYPES = [np.dtype(name) for name in ("uint8", "uint16", "int32", "int64", "float16", "float32", "float64")]


def decompressed(array: np.ndarray, coded: dict) -> np.ndarray:
    return decompress_array("a", coded, array.dtype, array.size)


@given(st.sampled_from(TYPES), st.integers(0, 70), st.integers(1, 400), st.floats(0, 1), st.integers(0, 99))
def test_both_codings_return_every_bit(dtype, n, n_distinct, share_of_zeros, seed):
    """Any bytes as numbers, among them nan, both zeros and differences that overflow."""
    rng = np.random.default_rng(seed)
    distinct = np.frombuffer(rng.bytes(n_distinct * dtype.itemsize), dtype)
    array = np.where(rng.random(n) < share_of_zeros, dtype.type(0), rng.choice(distinct, n))
    coded = compress_array(array)
    assert decompressed(array, coded).tobytes() == array.tobytes()
    assert coded["coding"] in (PLANES, TABLE)


def test_table_is_for_few_distinct_numbers_and_many_zeros():
    rng = np.random.default_rng(0)
    few = np.where(rng.random(20_000) < 0.7, 0, rng.choice(rng.normal(size=200), 20_000)).astype(np.float32)
    many = rng.normal(size=20_000).astype(np.float32)
    wide = np.repeat(rng.normal(size=1000), 20)  # places of two bytes
    assert [compress_array(array)["coding"] for array in (few, many, wide)] == [TABLE, PLANES, TABLE]
    np.testing.assert_array_equal(decompressed(wide, compress_array(wide)), wide)
    assert len(compress_array(few)["data"]) < 0.3 * few.nbytes


@pytest.mark.parametrize(
    ("data", "table"),
    [
        (b"\xe0\x00\x01\x02", b"12345678"),  # a place outside the table
        (b"\xe0\x00\x01", b"12345678"),  # a place too few
        (b"\xe0\x00\x01\x00\x00", b"12345678"),  # too many
        (b"\x70\x00\x01\x00", b"12345678"),  # a fourth number
        (b"\xe0\x00\x01\x00", b"1234567"),  # numbers of another size
        (b"", b"1234"),
        (b"\x00" * 99, b"1234"),
    ],
)
def test_damaged_table_is_refused(data, table):
    array = {"dtype": "float32", "shape": [3], "coding": TABLE, "data": zlib.compress(data), "table": table}
    with pytest.raises(StorageError, match="'a'"):
        unpack("k", 3, pack("k", 3, {"a": array}))


@pytest.mark.parametrize(
    "change", [{"coding": PLANES}, {"coding": "other"}, {"table": 3}, {"more": b""}, {"data": b"\x00" * 9}]
)
def test_malformed_arrays_are_refused(change):
    array = {"dtype": "float32", "shape": [1], "coding": TABLE, "data": zlib.compress(b"\x80\x00"), "table": b"1234"}
    assert unpack("k", 3, pack("k", 3, {"a": array}))["a"].tobytes() == b"1234"
    with pytest.raises(StorageError, match="a"):
        unpack("k", 3, pack("k", 3, {"a": array | change}))


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=4), max_size=5))
def test_texts_come_back(texts):
    """Empty ones and separators among them."""
    assert unpack("k", 3, compressed(pack("k", 3, {"a": tuple(texts)})))["a"] == tuple(texts)


def test_texts_with_a_separator_are_not_compressed():
    assert compress_texts(["a\nb"]) is None


@pytest.mark.parametrize(
    "change",
    [{"n": 2}, {"n": 0}, {"n": -1}, {"n_bytes": 4}, {"n_bytes": 6}, {"n_bytes": -1}, {"texts": b"\x00"}, {"n": 2.0}],
)
def test_damaged_texts_are_refused(change):
    coded = compress_texts(["é", "", "b"])
    assert coded is not None
    assert decompress_texts("a", coded) == ("é", "", "b")
    with pytest.raises(StorageError, match="a"):
        unpack("k", 3, pack("k", 3, {"a": coded | change}))


def test_parts_with_the_same_texts_share_them():
    part = pack("part", 1, {"words": ("a", "b"), "others": ("c",)})
    whole = unpack("whole", 1, compressed(pack("whole", 1, {"one": part, "other": part})))
    one, other = (unpack("part", 1, whole[name]) for name in ("one", "other"))
    assert one["words"] == ("a", "b")
    assert one["words"] is other["words"]
    assert one["others"] == ("c",)
