"""Where the repository is, and its sample treebank."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "assets" / "sample"
