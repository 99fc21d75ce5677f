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

from encoder_graph import encoder_model
from safetensors.numpy import load_file


def export(hub: Path, folder: Path, *, quantized: bool = True) -> None:
    """Write encoder.onnx, vocab.txt and card.json for the encoder in a hub folder."""
    config = json.loads((hub / "config.json").read_text("utf-8"))
    weights = load_file(hub / "model.safetensors")
    n_heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]
    folder.mkdir(parents=True, exist_ok=True)
    model = encoder_model(weights, n_heads=n_heads, epsilon=epsilon, quantized=quantized)
    (folder / "encoder.onnx").write_bytes(model)
    pieces = "".join(f"{piece}\n" for piece in vocabulary(hub))
    (folder / "vocab.txt").write_text(pieces, encoding="utf-8", newline="\n")
    (folder / "card.json").write_text(json.dumps(card_of(hub), indent=2) + "\n", encoding="utf-8")


def vocabulary(hub: Path) -> list[str]:
    """Return the word pieces of a hub folder, by their ids."""
    ids = json.loads((hub / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    return sorted(ids, key=ids.__getitem__)


def card_of(hub: Path) -> dict[str, str]:
    """Return the card of a hub folder, with the checksum of its weights unless the card has one of their source."""
    path = hub / "card.json"
    card = json.loads(path.read_text("utf-8")) if path.exists() else {"name": hub.name}
    return {"sha256": hashlib.sha256((hub / "model.safetensors").read_bytes()).hexdigest(), **card}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("hub", type=Path, metavar="HUB_FOLDER")
    arguments.add_argument("folder", type=Path, metavar="FOLDER")
    arguments.add_argument("--float", action="store_true", dest="is_float")
    args = arguments.parse_args()
    export(args.hub, args.folder, quantized=not args.is_float)
    print(f"encoder.onnx: {(args.folder / 'encoder.onnx').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
