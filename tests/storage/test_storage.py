"""Saved models of every kind: damaged, hostile, of other versions, too large. An error says so, and nothing crashes.

How many faults there were is printed: pytest -rP tests/storage/test_storage.py
"""

import json
import math
import os
import random
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import srsly
from stored_models import KINDS, model

from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.storage.container import StorageError, compressed, kind_of, pack, read_meta, unpack
from spacy_lpcfg.storage.reader import LIMIT_NAME, ContainerReader, MemoryBudget

pytestmark = pytest.mark.slow

DTYPES = ("uint8", "uint16", "int32", "int64", "float16", "float32", "float64")
N_FLIPS = 150
NO_IDS = ("tensors.kept", "keys", "evidence.word.weights", "evidence.span.weights")  # any number is one
ANY_GREAT = (  # any that is not negative
    *("classifier.features", "counts", "layer.keys"),
    *("evidence.word.keys", "evidence.span.keys"),
)
SAME_AGAIN = ("words", "approximations", "lexicon.terminals", "lexicon.rare_words")  # need not be distinct


def version_of(data: bytes) -> int:
    return srsly.msgpack_loads(data)["version"]


def values_of(data: bytes) -> dict[str, Any]:
    return unpack(kind_of(data), version_of(data), data)


def repacked(data: bytes, **changes: Any) -> bytes:
    """The same model with other parts, and a right checksum."""
    return pack(kind_of(data), version_of(data), {**values_of(data), **changes})


def put(array: np.ndarray, place: int, value: float) -> np.ndarray:
    changed = array.copy().ravel()
    changed[place] = value
    return changed.reshape(array.shape)


@pytest.mark.parametrize("kind", KINDS)
def test_storage_refuses_changed_bytes(kind):
    """A bit another, the end cut off, something behind it, at places all over the file and in its header."""
    rng = random.Random(kind)
    read, _ = KINDS[kind]
    plain = model(kind).to_bytes()
    faults = 0
    for good in (plain, compressed(plain)):
        assert read(good).to_bytes() == plain
        places = [*range(150), *(rng.randrange(len(good)) for _ in range(N_FLIPS))]
        damaged = [good[:at] + bytes([good[at] ^ 1 << rng.randrange(8)]) + good[at + 1 :] for at in places]
        damaged += [good[:at] for at in [*range(50), *(rng.randrange(len(good)) for _ in range(50))]]
        damaged += [good + bytes(rng.randrange(256) for _ in range(n)) for n in range(1, 20)]
        damaged += [good + good, good[1:], good[len(good) // 2 :] + good[: len(good) // 2], bytes(len(good))]
        for bad in damaged:
            with pytest.raises(ValueError, match=r"\w"):
                read(bad)
        faults += len(damaged)
    with pytest.raises(ValueError, match=r"damaged: its checksum differs\. Copy or learn it again"):
        read(plain[:-9] + bytes([plain[-9] ^ 1]) + plain[-8:])
    print(f"{kind}: {faults} changed files, all refused")


def damaged_arrays(name: str, array: np.ndarray, rng: random.Random) -> Iterator[tuple[bool, Any]]:
    """Arrays in the place of one, with whether they have to be refused; others are only not to crash anything."""
    with np.errstate(all="ignore"):
        yield from ((True, array.astype(dtype)) for dtype in DTYPES if dtype != array.dtype)
    row = array[-1:] if len(array) else np.zeros((1, *array.shape[1:]), array.dtype)
    yield from ((True, other) for other in (np.concatenate([array, row]), array[None], np.concatenate([row, array])))
    if not array.size:
        return
    yield from ((name != "top_values", array[other]) for other in (slice(-1), slice(1, None), slice(0, 0)))
    places = {rng.choice((0, array.size - 1)), rng.randrange(array.size)}
    if array.dtype.kind == "f":
        yield from ((True, put(array, at, value)) for at in places for value in (math.nan, math.inf, -math.inf))
        most = float(np.finfo(array.dtype).max)
        yield from ((False, put(array, at, value)) for at in places for value in (most, -most, 0.0, -1.0, 1e-30))
    else:
        most, least = np.iinfo(array.dtype).max, np.iinfo(array.dtype).min
        yield from ((name not in NO_IDS + ANY_GREAT, put(array, at, most)) for at in places)
        if least < 0:
            yield from ((name not in NO_IDS, put(array, at, value)) for at in places for value in (least, -1))
        yield from ((False, put(array, at, 0)) for at in places)
    yield False, array[::-1]
    order = list(range(array.size))
    rng.shuffle(order)
    yield False, array.ravel()[order].reshape(array.shape)


def damaged_texts(name: str, texts: tuple[str, ...]) -> Iterator[tuple[bool, Any]]:
    yield from ((True, other) for other in ((*texts, 3), (*texts, None), "text", None, 1.5, (("x",),)))
    yield from ((False, other) for other in ((), texts[:-1], texts[1:], (*texts, "another \x00"), texts[::-1]))
    if len(texts) > 1:
        yield name not in SAME_AGAIN, (texts[0], *texts[:-1])


OTHERS = (None, True, 0, -1, 1, 2**40, 2.5, math.nan, math.inf, 1e300, "", "x", "[]", "{", b"", (), {"dtype": "int32"})


def damaged_plain(value: Any) -> Iterator[tuple[bool, Any]]:
    is_number = type(value) in (int, float)
    for other in OTHERS:
        if type(other) is not type(value) or other != value:
            yield type(other) is not type(value) and not (is_number and type(other) in (int, float)), other


def damaged_parts(values: dict[str, Any], rng: random.Random) -> Iterator[tuple[str, bool, Any]]:
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            found = damaged_arrays(name.lstrip("01."), value, rng)
        else:
            found = damaged_texts(name, value) if isinstance(value, tuple) else damaged_plain(value)
        yield from ((name, *each) for each in found)


@pytest.mark.parametrize("kind", KINDS)
def test_storage_refuses_damaged_parts(kind):
    """Each part in turn is another one, with a right checksum: refused, or a model that can be used."""
    read, use = KINDS[kind]
    data = model(kind).to_bytes()
    counts: Counter[str] = Counter()
    for name, is_refused, other in damaged_parts(values_of(data), random.Random(kind)):
        bad = repacked(data, **{name: other})
        try:
            found = read(bad)
        except ValueError:
            counts["refused"] += 1
            continue
        if name == "evidence.encoder.model":  # an ONNX model is checked when it is first run
            with suppress(ModelError):
                use(found)
            continue
        assert not is_refused, (name, other)
        with np.errstate(all="ignore"):
            use(found)
        counts["usable"] += 1
    print(f"{kind}: {counts.total()} damaged parts, {counts['refused']} refused, {counts['usable']} usable")
    assert counts["refused"] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_storage_names_what_lacks(kind):
    data = model(kind).to_bytes()
    values = values_of(data)
    for name in values:
        others = {other: value for other, value in values.items() if other != name}
        with pytest.raises(ValueError, match=r"\w"):
            KINDS[kind].read(pack(kind_of(data), version_of(data), others))


@pytest.mark.parametrize("kind", ["grammar", "isbn"])
def test_storage_keeps_the_tau(kind):
    """Numbers of numpy are numbers."""
    read, data = KINDS[kind].read, model(kind).to_bytes()
    assert read(replace(model(kind), tau=np.float32(1.5)).to_bytes()).tau == 1.5
    for bad in (0, -1.0, math.nan, math.inf, "1.5", None):
        with pytest.raises(ValueError, match="tau"):
            replace(model(kind), tau=bad)
        with pytest.raises(ModelError, match="tau"):
            read(repacked(data, tau=bad))


@pytest.mark.parametrize("kind", KINDS)
def test_storage_names_what_it_does_not_know(kind):
    data = model(kind).to_bytes()
    for value in (1, "text", np.zeros(3), model("grammar").to_bytes()):
        with pytest.raises(ValueError, match=r"fields that this spacy-lpcfg does not know, got '9\.another'|members"):
            KINDS[kind].read(repacked(data, **{"9.another": value}))


@pytest.mark.parametrize("kind", KINDS)
def test_storage_refuses_what_is_no_bytes(kind):
    for other in (None, "text", 3):
        with pytest.raises(ValueError, match=f"Expected the bytes of a saved .*, got {type(other).__name__}"):
            KINDS[kind].read(other)


@pytest.mark.parametrize("kind", KINDS)
def test_storage_tells_other_versions_apart(kind):
    data = model(kind).to_bytes()
    version, values = version_of(data), values_of(data)
    for other, remedy in ((version + 1, "newer.*--upgrade"), (version - 1, "learn it again, or install the version")):
        with pytest.raises(ValueError, match=f"has format {other}.*reads format {version}.*{remedy}"):
            KINDS[kind].read(pack(kind_of(data), other, values))


@pytest.mark.parametrize("kind", KINDS)
def test_storage_tells_other_kinds_apart(kind):
    for other in set(KINDS) - {kind}:
        data = model(other).to_bytes()
        if kind_of(data) != kind_of(model(kind).to_bytes()):
            with pytest.raises(ValueError, match=f"saved '?{kind_of(data)}"):
                KINDS[kind].read(data)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "[" * 100_000, '{"a":' * 100_000, "x" * 2**21, None, 3])
def test_storage_refuses_metadata_that_are_none(text):
    with pytest.raises(StorageError):
        read_meta(text)
    assert read_meta(json.dumps({"a": [1, "b"]})) == {"a": [1, "b"]}


def test_storage_reader_reads_what_msgpack_writes():
    powers = [2**n - 1 for n in (1, 7, 8, 16, 32, 64)]
    texts = ["", "a", "é" * 20, *("x" * n for n in (31, 32, 255, 256, 70_000)), "\U0001f600"]
    values = {
        "none": None,
        "flags": [True, False],
        "numbers": [0, *powers, *(n + 1 for n in powers[:-1]), -1, -32, -33, -128, -129, -(2**63)],
        "floats": [0.0, -1.5, 1e300, math.inf],
        "texts": texts,
        "bytes": bytes(range(256)),
        **{f"{i}": i for i in range(20)},
        "map": {text: [len(text)] for text in texts},
        "long": ["x"] * 70_000,
    }
    found = ContainerReader(srsly.msgpack_dumps(values), MemoryBudget()).read()
    assert bytes(found.pop("bytes")) == values.pop("bytes")
    assert found == values


@pytest.mark.parametrize("n_bytes", [0, 1, 31, 32, 255, 256, 5000])
def test_storage_reader_reads_lists_of_texts_of_any_length(n_bytes):
    values = {
        "texts": ["ü" * (n_bytes // 2), "a" * n_bytes, "short", "x" * 40] * 400,
        "mixed": ["a", 1, "b" * 40, None],
    }
    data = srsly.msgpack_dumps(values)
    assert ContainerReader(data, MemoryBudget()).read() == values
    with pytest.raises(StorageError):
        ContainerReader(data[:-60], MemoryBudget()).read()


NO_CONTAINERS = [
    *(b"", b"\x81", b"\x81\xa1a", b"\xc0", b"\x93\x01\x02\x03", b"\x81\xa1a\xc1"),
    b"\x82\xa1a\x01\xa1a\x02",  # a name twice
    b"\x81\x01\x01",  # a name that is none
    *(b"\x81\xa1a\xd4\x01\x00", b"\x81\xa1a\xc7\x01\x01\x00"),  # a type of others
    *(b"\x81\xa1\xff\x01", b"\x81\xa1a\x91\xa1\xff"),  # no UTF-8
    b"\x81\xa1a\x01\x00",  # something behind it
    b"\x81\xa1a\x91\x91\x91\x91\x01",  # too deep
    *(b"\x81\xa1a" + bytes([kind]) + b"\xff\xff\xff\xff" for kind in (0xDD, 0xDF, 0xDB, 0xC6)),
    b"\xdf\xff\xff\xff\xff",
]


@pytest.mark.parametrize("data", NO_CONTAINERS)
def test_storage_reader_refuses(data):
    with pytest.raises(StorageError):
        ContainerReader(data, MemoryBudget()).read()


def array(dtype: str, shape: list[int], data: bytes, **more: str) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data": data, **more}


def bomb(n: int, declared: int) -> bytes:
    """An array of n zeros, compressed, that is said to have another number."""
    coded = array("uint8", [declared], zlib.compress(bytes(n), 9), coding="planes")
    return pack("grammar", 5, {"symbols": ["a"], "n_states": coded})


def nested(data: bytes, n: int) -> bytes:
    for _ in range(n):
        data = pack("stacked", 2, {"model": data})
    return data


BOMBS = {
    "a terabyte is declared": lambda: bomb(10**7, 2**40),
    "two gigabytes in two megabytes": lambda: bomb(2**31, 2**31),
    "more than is declared": lambda: bomb(2**30, 10),
    "many that are small enough": lambda: pack(
        "grammar", 5, {f"{i}": array("uint8", [2**26], b"", coding="planes") for i in range(20)}
    ),
    "a list of lists": lambda: pack("grammar", 5, {"symbols": [[]] * 20_000_000}),
    "lists within lists": lambda: b"\x81\xa4body" + b"\xdd\x00\x00\xff\xff" * 9999 + bytes(2**20),
    "models within models": lambda: pack(
        "stacked", 2, {"temperature": 1.0, "bracket_cost": 0.4, "model": nested(pack("grammar", 5, {}), 500)}
    ),
    "members that are small enough": lambda: pack(
        "stacked", 2, {"temperature": 1.0, "bracket_cost": 0.4, **{f"model_{i}": bomb(10, 2**29) for i in range(3)}}
    ),
}
READ_BOMBS = """
import resource, sys

from spacy_lpcfg.models.kinds import model_from_disk

size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 300_000_000,) * 2)
def most():
    status = open("/proc/self/status").read().split()
    return int(status[status.index("VmHWM:") + 1]) * 1024
before = most()
for path in sys.argv[1:]:
    try:
        model_from_disk(path)
    except ValueError as error:
        print(most() - before, error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")
def test_storage_refuses_what_takes_too_much_memory(tmp_path):
    """In a process that may take 300 MB more than it has, and in fact by 150 MB at most."""
    paths = [tmp_path / name for name in BOMBS]
    for path in paths:
        path.write_bytes(BOMBS[path.name]())
    done = subprocess.run([sys.executable, "-c", READ_BOMBS, *paths], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert len(found) == len(BOMBS)
    for path, (grown, message) in zip(paths, found, strict=True):
        assert int(grown) < 150e6
        print(f"{path.name}: {path.stat().st_size:,} bytes, at most {int(grown):,} more bytes of memory: {message}")


@pytest.mark.skipif(sys.platform != "linux", reason="has the devices of Linux")
@pytest.mark.parametrize("kind", KINDS)
def test_storage_refuses_what_might_not_end(kind, tmp_path):
    """A link to a pipe that nobody writes to, and to zeros without an end."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    (tmp_path / "link").symlink_to(tmp_path / "fifo")
    for name in ("zeros", "link"):
        with pytest.raises(ValueError, match=rf"Expected a file, got '.*{name}', a pipe or a device"):
            type(model(kind)).from_disk(tmp_path / name)


def test_storage_limit_may_be_another(monkeypatch, new_file):
    data = model("grammar").to_bytes()
    path = new_file("grammar", data)
    read = KINDS["grammar"].read
    monkeypatch.setenv(LIMIT_NAME, "100000")
    with pytest.raises(ValueError, match=f"100,000 are allowed.*{LIMIT_NAME}"):
        read(data)
    with pytest.raises(ValueError, match=f"{LIMIT_NAME}"):
        type(model("grammar")).from_disk(path)
    monkeypatch.setenv(LIMIT_NAME, str(10**9))
    assert read(data).to_bytes() == data
    monkeypatch.setenv(LIMIT_NAME, "much")
    with pytest.raises(ValueError, match="Expected SPACY_LPCFG_MAX_BYTES to be a number of bytes, got 'much'"):
        read(data)


def test_storage_members_share_the_memory_of_the_whole(monkeypatch):
    """Each member may be read alone within a limit that all of them together exceed."""
    n_bytes = 10**6
    member = pack("grammar", 5, {"symbols": np.zeros(n_bytes, np.uint8)})
    whole = unpack("stacked", 2, pack("stacked", 2, {f"member_{i}": member for i in range(3)}))
    monkeypatch.setenv(LIMIT_NAME, str(6 * n_bytes))
    first, second, third = unpack("stacked", 2, pack("stacked", 2, whole)).values()
    for data in (first, second):
        assert len(unpack("grammar", 5, data)["symbols"]) == n_bytes
    with pytest.raises(StorageError, match="6,000,000 are allowed"):
        unpack("grammar", 5, third)
    assert len(unpack("grammar", 5, member)["symbols"]) == n_bytes


def test_storage_says_how_many_symbols_are_too_many(monkeypatch):
    """A parser has a table of all their pairs."""
    monkeypatch.setenv(LIMIT_NAME, str(10**7))
    many = tuple(f"X{i}" for i in range(10_000))
    with pytest.raises(ValueError, match="This grammar is too large"):
        KINDS["grammar"].read(repacked(model("grammar").to_bytes(), symbols=many))
