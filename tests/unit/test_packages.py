"""What is published holds what it must, and nothing of who built it."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

import redolab

ROOT = Path(__file__).parents[2]
_INFO = "redolab-1.0.dist-info"


def script(name: str) -> ModuleType:
    """A module of scripts/."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


CHECKS = script("package_checks")
BUNDLED = script("bundled")
NEUTRAL = script("neutral")


def wheel(folder: Path, further: Mapping[str, bytes] | None = None, without: str = "") -> Path:
    """A wheel with everything that it must hold, and something further or without something."""
    bill = json.dumps({"components": [{"name": "libm"}]}).encode()
    files = {
        "redolab/cli.py": b"print()",
        "redolab/_core.abi3.so": b"\x7fELF redolab/crates/redolab-py/src/lib.rs",
        f"{_INFO}/sboms/redolab-py.cyclonedx.json": bill,
        f"{_INFO}/sboms/bundled.cdx.json": bill,
        f"{_INFO}/licenses/LICENSE": b"Apache",
        f"{_INFO}/licenses/licenses/rust.txt": b"libm",
        f"{_INFO}/licenses/python/redolab/report/page/assets/d3.LICENSE": b"ISC",
        f"{_INFO}/licenses/python/redolab/report/page/assets/plot.LICENSE": b"ISC",
        **(further or {}),
    }
    path = folder / "redolab-1.0-cp311-abi3-manylinux_2_28_x86_64.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            if not without or without not in name:
                archive.writestr(name, content)
    return path


def faults(path: Path) -> list[str]:
    return list(CHECKS.wheel_faults(path, [Path("/srv/build of mine/redolab"), Path("/")]))


def test_a_wheel_with_everything_is_fit(tmp_path: Path) -> None:
    assert faults(wheel(tmp_path)) == []


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("tests/test_cli.py", b"", "outside of redolab/"),
        ("redolab/tests/__init__.py", b"", "no part of the program"),
        ("redolab/stats/test_means.py", b"", "no part of the program"),
        ("redolab/__pycache__/cli.cpython-311.pyc", b"", "no part of the program"),
        ("redolab/conftest.py", b"", "no part of the program"),
        ("conftest.py", b"", "outside of redolab/"),
        ("redolab/_core.abi3.so", b"\x7fELF /home/jo/.cargo/registry/src/x/lib.rs", "/home/jo/.cargo"),
        ("redolab/_core.abi3.so", b"\x7fELF /root/.cargo/registry/src/x/lib.rs", "/root/.cargo"),
        ("redolab/_core.abi3.so", b"\x7fELF\0/srv/build of mine/redolab/crates", "/srv/build of mine"),
        (f"{_INFO}/sboms/bundled.cdx.json", b'{"components": []}', "lists nothing"),
        (
            f"{_INFO}/sboms/redolab-py.cyclonedx.json",
            b'{"components": [{"purl": "file:///srv/build of mine/redolab"}]}',
            "names a path of the machine",
        ),
    ],
)
def test_what_a_wheel_must_not_hold_is_named(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    found = faults(wheel(tmp_path, {name: content}))
    assert any(name in fault and said in fault for fault in found), found


@pytest.mark.parametrize("without", ["cyclonedx", "bundled", "/LICENSE", "rust.txt", "d3.", "plot."])
def test_what_a_wheel_lacks_is_named(tmp_path: Path, without: str) -> None:
    found = faults(wheel(tmp_path, without=without))
    assert len(found) == 1
    assert found[0].endswith("is missing")
    assert without.strip("/") in found[0]


def test_a_path_that_only_begins_like_one_of_the_builder_is_none(tmp_path: Path) -> None:
    assert faults(wheel(tmp_path, {"redolab/a.py": b"/srv/build of mine/redolab-runs"})) == []


def test_a_wheel_runs_where_auditwheel_says_so() -> None:
    name, policy = Path("redolab.whl"), "manylinux_2_28"
    fine = 'redolab.whl is consistent with the following platform tag: "manylinux_2_28_x86_64".'
    assert CHECKS.policy_faults(name, fine, policy) == []
    assert len(CHECKS.policy_faults(name, fine.replace("2_28", "2_34"), policy)) == 1
    assert len(CHECKS.policy_faults(name, "", policy)) == 1


# Licences and the bill of materials


def test_every_rust_package_that_is_compiled_in_has_its_licence_in_the_wheel() -> None:
    listed = (ROOT / "licenses" / "rust.txt").read_text()
    packages = BUNDLED.rust_packages()
    assert {"libm", "pyo3", "ring", "tokio"} <= {package.name for package in packages}
    assert not [package for package in packages if package.name.startswith("redolab")]
    for package in packages:
        assert f"\n{package.name} {package.version}: {package.licence}" in listed, "make licences"
    assert listed == BUNDLED.licences(packages), "make licences"


def test_a_package_that_comes_without_a_text_is_said_to(tmp_path: Path) -> None:
    (tmp_path / "with").mkdir()
    (tmp_path / "with" / "LICENSE-MIT").write_text("do as you like\r\n")
    (tmp_path / "without").mkdir()
    found = BUNDLED.licences(
        [
            BUNDLED.Package("one", "1.0", "MIT", tmp_path / "with"),
            BUNDLED.Package("two", "2.0", "ISC", tmp_path / "without"),
        ]
    )
    assert "one 1.0: MIT\n" in found
    assert "two 2.0: ISC (it comes without a text)\n" in found
    assert "one (LICENSE-MIT)" in found
    assert "do as you like\n" in found


def test_every_script_that_pages_carry_is_in_the_bill_of_materials() -> None:
    assets = ROOT / BUNDLED.ASSETS
    listed = {
        entry["properties"][0]["value"]: (entry["name"], entry["version"])
        for entry in BUNDLED._scripts(assets)
    }
    assert set(listed) == {
        path.relative_to(assets).as_posix()
        for path in assets.rglob("*.js")
        if "Copyright" in path.read_text()[:200]
    }
    assert listed["plot.umd.min.js"][0] == "@observablehq/plot"
    assert all(name == Path(path).name.split(".")[0] for path, (name, _) in listed.items() if "d3" in path)


def test_the_only_c_of_others_is_in_the_bill_of_materials() -> None:
    compiled = [entry["name"] for entry in BUNDLED._compiled_c(ROOT, BUNDLED.rust_packages())]
    assert compiled == ["flush_delay.c", "C and assembly of ring"]


def bill_of(folder: Path, source: str, moment: str, number: int) -> bytes:
    """A wheel's bytes, after it was made neutral, that was built in a folder at a time."""
    bill = {
        "serialNumber": f"urn:uuid:{number}",
        "metadata": {"timestamp": moment, "component": {"bom-ref": f"path+file://{source}/crates/a#0.1.0"}},
        "components": [{"bom-ref": f"path+file://{source}/crates/b#0.1.0"}],
    }
    name = f"{_INFO}/sboms/redolab-py.cyclonedx.json"
    record = f"{name},sha256=of-another,1\nredolab/cli.py,sha256=kept,7\n{_INFO}/RECORD,,\n"
    path = wheel(folder, {name: json.dumps(bill).encode(), f"{_INFO}/RECORD": record.encode()})
    NEUTRAL.neutralise(path, Path(source), 1_700_000_000)
    return path.read_bytes()


def test_where_and_when_a_wheel_was_built_is_not_in_its_bytes(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        patch.setattr("time.time", lambda: 1_700_000_000.0)
        first = bill_of(tmp_path, "/srv/one", "2026-11-27T17:31:34Z", 1)
        second = bill_of(tmp_path, "/srv/two of mine", "2027-01-01T00:00:00Z", 2)
    assert b"/srv/" not in first
    (path,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        name = f"{_INFO}/sboms/redolab-py.cyclonedx.json"
        content = archive.read(name)
        record = archive.read(f"{_INFO}/RECORD").decode()
        document = json.loads(content)
    assert document["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    assert document["components"] == [{"bom-ref": "path+file:///redolab/crates/b#0.1.0"}]
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    assert f"{name},sha256={digest},{len(content)}\n" in record
    assert "redolab/cli.py,sha256=kept,7\n" in record
    assert first == second


# The version


def test_the_version_stands_in_one_place() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    version = cargo["workspace"]["package"]["version"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "version" not in project
    assert project["dynamic"] == ["version"]
    for path in ROOT.glob("crates/*/Cargo.toml"):
        assert tomllib.loads(path.read_text())["package"]["version"] == {"workspace": True}, path
    for package in tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]:
        if package["name"].startswith("redolab-"):
            assert package["version"] == version, package["name"]
    assert redolab.__version__ == version, "make install"
    assert BUNDLED._version_of(ROOT) == version


def test_the_command_line_starts_without_looking_up_the_version() -> None:
    code = "import sys, redolab; print('importlib.metadata' in sys.modules); print(redolab.__version__)"
    said = subprocess.run((sys.executable, "-c", code), check=True, capture_output=True, text=True).stdout
    loaded, version = said.split()
    assert loaded == "False"
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
