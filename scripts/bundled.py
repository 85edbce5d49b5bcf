"""What a package of Redolab holds that others wrote: its licences and its bill of materials.

`make licences` writes licenses/rust.txt anew, after a change of Cargo.lock. `make dist` adds the bill of
materials (CycloneDX) to every wheel. That of the Rust packages comes from maturin.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
LICENCES = ROOT / "licenses" / "rust.txt"
ASSETS = Path("python/redolab/report/page/assets")
# The extension for each machine, and the module that pages carry.
BUILT = (
    ("redolab-py", "x86_64-unknown-linux-gnu"),
    ("redolab-py", "aarch64-unknown-linux-gnu"),
    ("redolab-explore", "wasm32-unknown-unknown"),
)
_TEXT = re.compile(r"(licen[sc]e|copying|copyright|notice)([-._].*)?", re.IGNORECASE)
_HEAD = """\
Rust packages that are compiled into Redolab: into redolab/_core*.so, and into
redolab/report/page/assets/explore.wasm. Written by `make licences`.

The Rust standard library is compiled in too. It is Copyright (c) The Rust Project Contributors, and licensed
"MIT OR Apache-2.0"; the text of Apache-2.0 is Redolab's own LICENSE.
"""


class Package(NamedTuple):
    """A Rust package by its name and version, with its licence as an SPDX expression."""

    name: str
    version: str
    licence: str
    place: Path
    compiles_c: bool = False
    """Whether its build has a C compiler at work."""


def rust_packages() -> list[Package]:
    """Everything that is compiled in and not Redolab's own."""
    described = json.loads(_cargo("metadata", "--format-version", "1"))
    known = {(one["name"], one["version"]): one for one in described["packages"]}
    ours = {known_id for known_id, one in known.items() if one["source"] is None}
    wanted = {identity for package, target in BUILT for identity in _compiled_in(package, target)} - ours
    return [
        Package(
            *identity,
            licence=known[identity]["license"],
            place=Path(known[identity]["manifest_path"]).parent,
            compiles_c=any(
                needed["name"] == "cc" and needed["kind"] == "build"
                for needed in known[identity]["dependencies"]
            ),
        )
        for identity in sorted(wanted)
    ]


def _compiled_in(package: str, target: str) -> Iterator[tuple[str, str]]:
    tree = ("tree", "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}")
    for line in _cargo(*tree, "--package", package, "--target", target).splitlines():
        name, version, *_ = line.split()
        yield name, version.removeprefix("v")


def _cargo(*arguments: str) -> str:
    command = ("cargo", *arguments, "--locked")
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def licences(packages: Sequence[Package]) -> str:
    """Every package, and every text once with the packages that it comes with."""
    texts: dict[str, tuple[str, list[str]]] = {}
    listed = []
    for package in packages:
        found = sorted(
            path for path in package.place.iterdir() if path.is_file() and _TEXT.fullmatch(path.name)
        )
        note = "" if found else " (it comes without a text)"
        listed.append(f"{package.name} {package.version}: {package.licence}{note}")
        for path in found:
            text = path.read_text(errors="replace").replace("\r\n", "\n").strip()
            same = " ".join(text.split())
            texts.setdefault(same, (text, []))[1].append(f"{package.name} ({path.name})")
    parts = [_HEAD, "\n".join(listed) + "\n"]
    for text, names in texts.values():
        lines = (line.rstrip() for line in text.splitlines())
        parts.append(f"{'=' * 78}\n{', '.join(names)}\n{'=' * 78}\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def sbom(source: Path, moment: int) -> str:
    """List what is not in Cargo.lock, as CycloneDX: page assets, WebAssembly, C, standard library, linker.

    `source` is the tree that is built; `moment` is the second since 1970 that the document bears.
    """
    packages = rust_packages()
    components = [
        *_scripts(source / ASSETS),
        _webassembly(source / ASSETS, packages),
        *_compiled_c(source, packages),
        _component(
            "rust-std",
            _version(r"rustc (\S+)", os.environ.get("RUSTC", "rustc"), "--version"),
            "MIT OR Apache-2.0",
        ),
        _component("zig", _version(r"(\S+)", sys.executable, "-m", "ziglang", "version"), "MIT")
        | {"description": "Compiler and linker of C; its runtime is linked in where a function needs it."},
    ]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z"),
            "component": _component("redolab", _version_of(source), "Apache-2.0") | {"type": "application"},
        },
        "components": components,
    }
    return json.dumps(document, indent=1) + "\n"


def _scripts(assets: Path) -> Iterator[dict[str, Any]]:
    """The libraries of the page; each names itself and its version in its first line."""
    for path in sorted([*(assets / "d3").glob("*.js"), *assets.glob("*.min.js")]):
        line = path.read_text().partition("\n")[0]
        found = re.match(r"// (?:https://d3js\.org/([\w-]+)/|(@[\w-]+/[\w-]+)) v(\S+)", line)
        if found is None:
            raise ValueError(f"{path.name}: the first line names neither library nor version: {line[:100]}")
        name = found[1] or found[2]
        purl = f"pkg:npm/{name.replace('@', '%40')}@{found[3]}"
        yield _component(name, found[3], "ISC") | {"purl": purl} | _file(path, path.relative_to(assets))


def _webassembly(assets: Path, packages: Sequence[Package]) -> dict[str, Any]:
    inside = set(_compiled_in("redolab-explore", "wasm32-unknown-unknown"))
    made = json.loads((assets / "explore.wasm.json").read_text())
    compiler = made["compiler"].split()[1]
    return (
        _component("explore.wasm", None, "Apache-2.0")
        | _file(assets / "explore.wasm", Path("explore.wasm"))
        | {
            "components": [
                *(_crate(package) for package in packages if package[:2] in inside),
                _component("rust-std", compiler, "MIT OR Apache-2.0"),
            ]
        }
    )


def _compiled_c(source: Path, packages: Sequence[Package]) -> Iterator[dict[str, Any]]:
    for path in sorted((source / "crates").glob("*/*.c")):
        yield _component(path.name, None, "Apache-2.0") | _file(path, path.relative_to(source))
    for package in packages:
        count = sum(1 for path in package.place.rglob("*") if path.suffix in (".c", ".S"))
        if package.compiles_c and count:
            yield _crate(package) | {
                "name": f"C and assembly of {package.name}",
                "description": f"Compiled from the package's own sources; it has {count}, for all machines.",
            }


def _crate(package: Package) -> dict[str, Any]:
    found = _component(package.name, package.version, package.licence)
    return found | {"purl": f"pkg:cargo/{package.name}@{package.version}"}


def _component(name: str, version: str | None, licence: str) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "library", "name": name, "licenses": [{"expression": licence}]}
    return found if version is None else found | {"version": version}


def _file(path: Path, shown: Path) -> dict[str, Any]:
    return {
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}],
        "properties": [{"name": "redolab:file", "value": shown.as_posix()}],
    }


def _version(pattern: str, *command: str) -> str:
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(pattern, said)
    if found is None:
        raise ValueError(f"{' '.join(command)} says no version: {said}")
    return found[1]


def _version_of(source: Path) -> str:
    found = re.search(r'^version = "(.+)"', (source / "Cargo.toml").read_text(), re.MULTILINE)
    if found is None:
        raise ValueError("Cargo.toml has no version")
    return found[1]


if __name__ == "__main__":
    LICENCES.parent.mkdir(exist_ok=True)
    LICENCES.write_text(licences(rust_packages()))
    print(f"written: {LICENCES.relative_to(ROOT)}")
