"""Whether what would be published holds the files of the repository, what is compiled from them, and nothing else.

Usage: python .ci/contents.py WHEEL_OR_SDIST ...   (from the root of a checkout; nothing is printed if all is well)
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

COMPILED = re.compile(r"\.(cpython|cp|abi3)[^/]*\.(so|pyd)$")
PACKAGED = {".py", ".js", ".pyx", ".pxd", ".h", ".typed", ".model", ".md", ".heads", ".tsurgeon"}
SHARED_KERNEL = "spacy_lpcfg/_memoryviews.pyx"  # which Cython writes
LICENCES = {"LICENSE", "THIRD_PARTY_NOTICES.md"}


def tracked() -> set[str]:
    """The files of the repository."""
    return set(subprocess.check_output(["git", "ls-files"], encoding="utf-8").splitlines())


def of_wheel(path: Path) -> tuple[set[str], set[str]]:
    """What a wheel must hold and what it holds, by the names that the files have in the repository."""
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
    metadata = {name for name in names if name.partition("/")[0].endswith(".dist-info")}
    found = {name.replace("spacy_lpcfg/components/", "components/") for name in names - metadata}
    found = {COMPILED.sub(".pyx", name) for name in found} - {SHARED_KERNEL}
    found |= {name.rpartition("/")[2] for name in metadata if name.rpartition("/")[2] in LICENCES}
    packaged = {name for name in tracked() if name.startswith(("spacy_lpcfg/", "components/"))}
    return {name for name in packaged if Path(name).suffix in PACKAGED} | LICENCES, found


def of_sdist(path: Path) -> tuple[set[str], set[str]]:
    """What a source distribution must hold, and what it holds."""
    with tarfile.open(path) as sdist:
        names = {member.name.partition("/")[2] for member in sdist if member.isfile()}
    found = {name for name in names if name != "PKG-INFO" and ".egg-info/" not in name}
    return {name for name in tracked() if not name.startswith(".")}, found


def main(paths: list[str]) -> int:
    wrong = 0
    for path in map(Path, paths):
        expected, found = of_wheel(path) if path.suffix == ".whl" else of_sdist(path)
        for word, names in (("lacks", expected - found), ("holds", found - expected)):
            for name in sorted(names):
                print(f"{path.name} {word} {name}", file=sys.stderr)
                wrong += 1
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
