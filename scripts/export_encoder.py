"""Export an encoder of BERT's kind to ONNX in 8 bits, as `learn lpcfg --encoder FOLDER` takes it.

    python scripts/export_encoder.py HUB_FOLDER FOLDER [--float]

HUB_FOLDER has an uncased encoder as hubs publish it: config.json, tokenizer.json and model.safetensors, and if you
write one, card.json with its name, source and licence. FOLDER gets encoder.onnx, vocab.txt (a word piece a line, by its
id) and card.json with the SHA-256 of the weights. With --float weights keep 32 bits.

Needs the extra `encoder`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from encoder_graph import encoder_model
from safetensors.numpy import load_file

FILES = ("config.json", "tokenizer.json", "model.safetensors")
WORDS = "embeddings.word_embeddings.weight"


def export(hub: Path, folder: Path, *, quantized: bool = True) -> None:
    """Write encoder.onnx, vocab.txt and card.json for the encoder in a hub folder."""
    config, weights = config_of(hub), weights_of(hub)
    n_heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]
    folder.mkdir(parents=True, exist_ok=True)
    model = encoder_model(weights, n_heads=n_heads, epsilon=epsilon, quantized=quantized)
    (folder / "encoder.onnx").write_bytes(model)
    pieces = "".join(f"{piece}\n" for piece in vocabulary(hub))
    (folder / "vocab.txt").write_text(pieces, encoding="utf-8", newline="\n")
    (folder / "card.json").write_text(json.dumps(card_of(hub), indent=2) + "\n", encoding="utf-8")


def config_of(hub: Path) -> dict[str, Any]:
    """Return the sizes of the encoder in a hub folder."""
    return json.loads((hub / "config.json").read_text("utf-8"))


def weights_of(hub: Path) -> dict[str, np.ndarray]:
    """Return the weights in a hub folder, float32, by BERT's names without a prefix.

    RAISES (ValueError): If it is no encoder of BERT's kind.
    """
    weights = {name.removeprefix("bert."): weight for name, weight in load_file(hub / "model.safetensors").items()}
    if WORDS not in weights:
        raise ValueError(f"Expected an encoder of BERT's kind, with {WORDS}, got {', '.join(sorted(weights)[:3])}, ...")
    return {name: weight.astype(np.float32) for name, weight in weights.items() if weight.dtype.kind == "f"}


def vocabulary(hub: Path) -> list[str]:
    """Return the word pieces of a hub folder, by their ids."""
    ids = json.loads((hub / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    return sorted(ids, key=ids.__getitem__)


def card_of(hub: Path) -> dict[str, str]:
    """Return the card of a hub folder, with the checksum of its weights unless the card has one of their source."""
    path = hub / "card.json"
    card = json.loads(path.read_text("utf-8")) if path.exists() else {"name": hub.name}
    return {"sha256": hashlib.sha256((hub / "model.safetensors").read_bytes()).hexdigest(), **card}


def hub_folder(path: str) -> Path:
    """Return the path of a hub folder; an argument of another kind is an error."""
    missing = [name for name in FILES if not (Path(path) / name).is_file()]
    if missing:
        raise argparse.ArgumentTypeError(f"expected a folder with {', '.join(FILES)}; {path} lacks {missing[0]}")
    return Path(path)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("hub", type=hub_folder, metavar="HUB_FOLDER")
    arguments.add_argument("folder", type=Path, metavar="FOLDER")
    arguments.add_argument("--float", action="store_true", dest="is_float")
    args = arguments.parse_args()
    export(args.hub, args.folder, quantized=not args.is_float)
    print(f"encoder.onnx: {(args.folder / 'encoder.onnx').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
