"""The targets of `fuzz/` on what hypothesis makes up, and on every case that was found so far."""

from __future__ import annotations

import itertools
import json
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paths import ROOT

if not (ROOT / "fuzz").is_dir():
    pytest.skip("fuzz/ is not beside these tests", allow_module_level=True)
sys.path.append(str(ROOT))

from fuzz.contract import TooSlow, bounded
from fuzz.targets import TARGETS

CASES = sorted((ROOT / "tests" / "fuzz_cases").glob("*/*.json"))
EXAMPLES = {"models": 40, "settings": 40, "constraints": 50, "commands": 10}
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("name", TARGETS)
def test_fuzz_targets_keep_their_contract(name):
    @settings(max_examples=EXAMPLES.get(name, 60), suppress_health_check=list(HealthCheck))
    @given(st.binary(max_size=200))
    def check(data: bytes) -> None:
        TARGETS[name].run(data)

    check()


@pytest.mark.parametrize("name", TARGETS)
def test_fuzz_seeds_keep_the_contract(name):
    for seed in TARGETS[name].seeds():
        TARGETS[name].run(seed)


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_fuzz_cases_keep_the_contract(path):
    TARGETS[path.parent.name].replay(json.loads(path.read_text("ascii")))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are those of Linux")
def test_fuzz_bounds_end_what_takes_too_much():
    with pytest.raises(TooSlow), bounded(seconds=0.05):
        sum(1 for _ in itertools.repeat(None))
    with pytest.raises(MemoryError), bounded(memory=2**26):
        bytearray(2**28)  # so much is never had from what was freed before
    assert len(bytearray(2**28)) == 2**28


def test_fuzz_commands_take_nested_json_for_what_it_is():
    arguments = ["convert", "trees.jsonl", "-o", "out.mrg"]
    TARGETS["commands"].replay({"arguments": arguments, "stdin": "", "files": {"trees.jsonl": "[" * 100_000}})


def test_fuzz_nested_settings_of_a_saved_bracketer_are_refused():
    nested = [["meta"], "set", 0, "[" * 100_000]
    TARGETS["models"].replay({"kind": "metric", "zipped": False, "changes": [nested], "bytes": []})
