"""The page's WebAssembly is made from the sources that are here, and forecasts the same bits."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
ASSET = ROOT / "python/redolab/report/page/assets/explore.wasm"
MADE = runpy.run_path(str(ROOT / "scripts/wasm_sources.py"))


def test_the_asset_is_not_stale() -> None:
    made = json.loads(ASSET.with_suffix(".wasm.json").read_text())
    stale = "the simulator, the forecast or the explorer has changed: run `make wasm`"
    assert made["sources"] == MADE["sources_hash"](), stale
    assert made["asset"] == MADE["asset_hash"](ASSET), "explore.wasm is not what `make wasm` wrote"


def test_the_hash_tells_sources_apart(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"\0asm")
    other.write_bytes(b"\0asn")
    assert MADE["asset_hash"](one) != MADE["asset_hash"](other)
    assert len(MADE["sources_hash"]()) == 64


def test_no_place_of_the_machine_that_built_it_is_in_it() -> None:
    content = ASSET.read_bytes()
    # Sources are named from the checkout on, wherever that lay.
    for place in (b"/home/", b"/root/", b"/crates/", b"registry/src", b"index.crates"):
        assert place not in content
