"""What a wheel of Redolab must hold and must not hold, read out of the file itself."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

# A path of whoever built it: a home, root's, a build folder of a CI machine.
_HOMES = re.compile(rb"/(?:home/[\w.-]+|root|github/workspace|builds?/[\w.-]+)/[\w./-]*")
_SBOMS = ("redolab-py.cyclonedx.json", "bundled.cdx.json")
_LICENCES = ("LICENSE", "licenses/rust.txt", "d3.LICENSE", "plot.LICENSE")


def wheel_faults(wheel: Path, build_paths: Iterable[Path]) -> list[str]:
    """What is wrong with the files of a wheel, a sentence each: none if it is fit to publish.

    `build_paths` are folders of the machine that built it.
    """
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    faults = [
        *_what_is_no_part(files),
        *_paths(files, [str(path).encode() for path in build_paths if len(path.parts) > 1]),
        *_missing(files, () if is_for_any_machine(wheel) else _SBOMS),
    ]
    return [f"{wheel.name}: {fault}" for fault in faults]


def is_for_any_machine(wheel: Path) -> bool:
    """Whether a wheel has no compiled part, and so no bill of materials of one."""
    return wheel.name.endswith("-none-any.whl")


def policy_faults(wheel: Path, said: str, policy: str) -> list[str]:
    """What is wrong with the platform of a wheel, by auditwheel's answer with its white space made single."""
    if f'is consistent with the following platform tag: "{policy}_' in said:
        return []
    return [f"{wheel.name}: auditwheel does not find it consistent with {policy}: {said}"]


def _what_is_no_part(files: Iterable[str]) -> Iterator[str]:
    for name in files:
        top, *inner = name.split("/")
        manual = top.endswith(".data") and inner == ["data", "share", "man", "man1", "redolab.1"]
        if top != "redolab" and not top.endswith(".dist-info") and not manual:
            yield f"{name} is outside of redolab/"
        if {"tests", "test", "benches", "conftest.py", "__pycache__"} & {*inner} or re.search(
            r"/test_[^/]*$", name
        ):
            yield f"{name} is no part of the program"


def _paths(files: dict[str, bytes], build_paths: list[bytes]) -> Iterator[str]:
    for name, content in files.items():
        found = {match[0] for match in _HOMES.finditer(content)} if name.endswith((".so", ".wasm")) else set()
        found |= {path for path in build_paths if re.search(re.escape(path) + rb"(?![\w-])", content)}
        for path in sorted(found):
            yield f"{name} names a path of the machine that built it: {path.decode(errors='replace')}"


def _missing(files: dict[str, bytes], sboms: Iterable[str]) -> Iterator[str]:
    for folder, wanted in (("sboms", sboms), ("licenses", _LICENCES)):
        for name in wanted:
            if not any(f".dist-info/{folder}/" in path and path.endswith(f"/{name}") for path in files):
                yield f"{folder}/{name} is missing"
    for path, content in files.items():
        if ".dist-info/sboms/" in path and not json.loads(content).get("components"):
            yield f"{path} lists nothing"
