"""Fuzz a target, guided by coverage: `python -m fuzz.run TARGET --seconds N`, from the root of the repository.

What breaks the contract is printed as the case that `tests/fuzz_cases/TARGET/NAME.json` may hold, and ends the run; the
inputs that reached new code are kept in `--corpus`, and are where the next run begins. It needs the extra `fuzz`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["spacy_lpcfg"]):
    from fuzz.choices import Choices
    from fuzz.contract import SECONDS
    from fuzz.targets import TARGETS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz.run", description=__doc__.splitlines()[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60, help="how long to run, at most")
    parser.add_argument("--corpus", type=Path, help="folder of inputs to begin with and to add to")
    parser.add_argument("--seed", type=int, default=1, help="of what is chosen at random")
    settings = parser.parse_args()
    target = TARGETS[settings.target]

    def check(data: bytes) -> None:
        try:
            target.run(data)
        except BaseException:
            print(json.dumps(target.case(Choices(data))), flush=True)
            raise

    with tempfile.TemporaryDirectory() as folder:
        corpus = settings.corpus or Path(folder)
        corpus.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(target.seeds()):
            (corpus / f"seed{number}").write_bytes(seed)
        options = {
            "max_total_time": settings.seconds,
            "seed": settings.seed,
            "timeout": int(3 * SECONDS),
            "rss_limit_mb": 4096,
            "max_len": 1024,
            "print_final_stats": 1,
            "artifact_prefix": f"{folder}/",
        }
        atheris.Setup([sys.argv[0], *(f"-{name}={value}" for name, value in options.items()), str(corpus)], check)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
