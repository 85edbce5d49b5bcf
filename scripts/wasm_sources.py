"""What the page's WebAssembly was made from: hashes of its sources and of itself, and the compiler."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

_ROOT = Path(__file__).parent.parent
CRATES = ("redolab-sim", "redolab-forecast", "redolab-explore")


def sources_hash() -> str:
    """SHA-256 over the names and contents of every source of the crates it is made from."""
    files = sorted(
        path
        for crate in CRATES
        for path in [
            _ROOT / "crates" / crate / "Cargo.toml",
            *(_ROOT / "crates" / crate / "src").rglob("*.rs"),
        ]
    )
    found = hashlib.sha256()
    for path in files:
        found.update(f"{path.relative_to(_ROOT).as_posix()}\0".encode())
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def asset_hash(asset: Path) -> str:
    """SHA-256 of the asset itself."""
    return hashlib.sha256(asset.read_bytes()).hexdigest()


if __name__ == "__main__":
    made = {"sources": sources_hash(), "asset": asset_hash(Path(sys.argv[1])), "compiler": sys.argv[2]}
    print(json.dumps(made, indent=1))
