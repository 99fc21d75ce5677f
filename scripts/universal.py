"""Fetch a treebank of Universal Dependencies at a pinned commit.

    python scripts/universal.py NAME FOLDER [--source URL]

NAME is one of `UNIVERSAL`; for other names nothing is done. Writes FOLDER/train.conllu, dev.conllu and test.conllu, as
far as the treebank has them. The files come from URL/NAME/COMMIT/ by their names in the treebank, such as
de_gsd-ud-test.conllu, compressed by gzip or not.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from spacy_lpcfg.storage.files import write_atomically

SOURCE = "https://raw.githubusercontent.com/UniversalDependencies"
PARTS = "train", "dev", "test"
SECONDS = 60.0
"""How long the server may be silent."""


class Pinned(NamedTuple):
    """A treebank: the code of its language, the commit that is fetched, and its licence."""

    lang: str
    commit: str
    license: str


UNIVERSAL = {
    "UD_Afrikaans-AfriBooms": Pinned("af", "a6dd726120c8bf1a0f8fb40f6a9ca15e880a192a", "CC BY-SA 4.0"),
    "UD_Basque-BDT": Pinned("eu", "b103756e7d3dca0130807308c73eb170fdba5394", "CC BY-NC-SA 3.0"),
    "UD_Chinese-GSDSimp": Pinned("zh", "eb3aed31ebb170897405ee5cd1db83a1a0b11864", "CC BY-SA 4.0"),
    "UD_Finnish-TDT": Pinned("fi", "5e3a88a671ea673fa330e10cc59f54da587a95a7", "CC BY-SA 4.0"),
    "UD_French-GSD": Pinned("fr", "830e2782304af08b3cc1c9250475343e04274d81", "CC BY-SA 4.0"),
    "UD_German-GSD": Pinned("de", "297fcf350481058d0737a27f0f8fd03b2eadd67a", "CC BY-SA 4.0"),
    "UD_Greek-GDT": Pinned("el", "1485f849d5ac7fcafa092a75804b41dbb1a3f194", "CC BY-NC-SA 3.0"),
    "UD_Hebrew-HTB": Pinned("he", "a6d496c877d0d07d97bcfdb2de11d245ef94256a", "CC BY-NC-SA 4.0"),
    "UD_Hungarian-Szeged": Pinned("hu", "8f08ba648e6f6345212a721b7cb1ad78c5924f0e", "CC BY-NC-SA 3.0"),
    "UD_Indonesian-CSUI": Pinned("id", "41dd7f23be883382dd111b119fe58b563c5541ee", "CC BY-SA 4.0"),
    "UD_Japanese-GSD": Pinned("ja", "7bc20119f476b552635e0640644e577b6fd3606b", "CC BY-SA 4.0"),
    "UD_Korean-GSD": Pinned("ko", "925eec22693d37a922eb546c6a9500844d271d51", "CC BY-SA 4.0"),
    "UD_Maltese-MUDT": Pinned("mt", "8330fc644d66d62d91e873780c2706c5519f8bfd", "CC BY-SA 4.0"),
    "UD_Persian-Seraji": Pinned("fa", "e53af38f4adc0edcdc056b8a2378cad791dc322a", "CC BY-SA 4.0"),
    "UD_Russian-GSD": Pinned("ru", "5400f2fd7264b7699727bb61b09f53841899df26", "CC BY-SA 4.0"),
    "UD_Tamil-TTB": Pinned("ta", "afe55e0c8ee0e5bfdb2c1cdb287880a22d254b58", "CC BY-NC-SA 3.0"),
    "UD_Telugu-MTG": Pinned("te", "fea14d143ec43ba42b0b82381b55fd509839a1a0", "CC BY-SA 4.0"),
    "UD_Turkish-IMST": Pinned("tr", "bcd48daa9957794a9137d85a4e2a115cdcdd4b1a", "CC BY-NC-SA 4.0"),
    "UD_Uyghur-UDT": Pinned("ug", "24eb080e4832169315ffb5411beb6cbc8f0372c4", "CC BY-SA 4.0"),
    "UD_Vietnamese-VTB": Pinned("vi", "e8fa54835582fb5d0c767f19f0992675726fa084", "CC BY-SA 4.0"),
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("name", metavar="NAME", help=", ".join(UNIVERSAL))
    arguments.add_argument("folder", type=Path, metavar="FOLDER")
    arguments.add_argument("--source", default=SOURCE, metavar="URL")
    args = arguments.parse_args()
    if not args.name.startswith("UD_"):
        return
    if args.name not in UNIVERSAL:
        arguments.error(f"expected one of {', '.join(UNIVERSAL)}, got {args.name}; add the commit of another one here")
    pinned = UNIVERSAL[args.name]
    stem = f"{pinned.lang}_{args.name.rpartition('-')[2].lower()}-ud"
    urls = {part: f"{args.source}/{args.name}/{pinned.commit}/{stem}-{part}.conllu" for part in PARTS}
    try:
        texts = {part: fetched(url) or fetched(f"{url}.gz") for part, url in urls.items()}
    except (OSError, HTTPException, EOFError) as error:  # no answer, half of one, half of a compressed file
        sys.exit(f"Expected the files of {args.name} below {args.source}, got {error}: try again.")
    if not any(texts.values()):
        sys.exit(f"Expected the files of {args.name} below {args.source}, found none: check the address.")
    args.folder.mkdir(parents=True, exist_ok=True)
    for part, text in texts.items():
        if text:
            write_atomically(args.folder / f"{part}.conllu", text)
    print(f"{args.name}: {sum(map(bool, texts.values()))} files")


def fetched(url: str) -> bytes | None:
    """Return what is at an address, unpacked; None if there is nothing.

    RAISES (OSError, HTTPException or EOFError): If it cannot be told, or what comes is cut off.
    """
    try:
        with urlopen(url, timeout=SECONDS) as response:
            data: bytes = response.read()
    except HTTPError as error:
        if error.code == HTTPStatus.NOT_FOUND:
            return None
        raise
    except URLError as error:
        if isinstance(error.reason, FileNotFoundError):
            return None
        raise
    return gzip.decompress(data) if url.endswith(".gz") else data


if __name__ == "__main__":
    main()
