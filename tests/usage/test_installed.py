"""The wheel in an environment of its own, on a path without a compiler, as a user has it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Command = Callable[..., subprocess.CompletedProcess[str]]
# What builds, and what leads to it by another name.
BUILDERS = ("cc", "gcc", "clang", "cargo", "rustc", "make", "git", "maturin")
_BUILDS = re.compile(
    r"(.*-)?(cc|c8?9|[cg]\+\+|gcc|g\+\+|cpp|clang\S*|cargo|rustc|make|git|maturin)(-[\d.]+)?"
)
# Leads to the source tree.
_SOURCES = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME")


def kept(further: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _SOURCES} | {**further}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built for this machine out of what `make` has compiled already."""
    place = tmp_path_factory.mktemp("wheel")
    maturin = Path(sys.executable).parent / "maturin"
    building = (maturin, "build", "--release", "--locked", "--quiet", "--out", place)
    environment = kept({"MAKEFLAGS": "", "PATH": f"{maturin.parent}:{os.environ['PATH']}"})
    subprocess.run(building, cwd=ROOT, env=environment, check=True, timeout=600)
    (path,) = place.glob("redolab-*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Runs a command of the environment that the wheel alone is installed in.

    What Redolab depends on is lent from the environment of the tests.
    """
    place = tmp_path_factory.mktemp("installed")
    venv.create(place / "lab", symlinks=True)
    python = place / "lab" / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", vars={"base": str(place / "lab")}))
    # A folder that a .pth names is searched after the environment's own, and its own .pth files are not read.
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    options = (
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-compile",
        "--prefix",
        place / "lab",
        "--ignore-installed",
    )
    subprocess.run((sys.executable, "-m", "pip", "install", *options, wheel), env=kept({}), check=True)

    path = place / "path"
    path.mkdir()
    for program in Path("/usr/bin").iterdir():
        if not _BUILDS.fullmatch(program.name):
            (path / program.name).symlink_to(program)

    def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = kept(
            {
                "PATH": f"{python.parent}:{path}",
                "XDG_CACHE_HOME": str(place / "cache"),
                "XDG_DATA_HOME": str(place / "data"),
            }
        )
        command = (str(python.parent / program), *arguments)
        return subprocess.run(
            command, cwd=place, env=environment, capture_output=True, text=True, check=False, timeout=600
        )

    return run


def test_it_is_the_wheel_that_runs_and_no_compiler_is_on_its_path(installed: Command) -> None:
    code = (
        "import json, shutil, redolab, redolab._core; "
        f"print(json.dumps([redolab.__file__, redolab._core.__file__, *map(shutil.which, {BUILDERS})]))"
    )
    done = installed("python", "-c", code)
    assert done.returncode == 0, done.stderr
    package, core, *builders = json.loads(done.stdout)
    assert "/lab/lib/" in package
    assert "/lab/lib/" in core
    assert builders == [None] * len(BUILDERS)
    # man(1) looks in share/man next to each bin of the path.
    page = Path(package).parents[4] / "share" / "man" / "man1" / "redolab.1"
    assert page.read_text() == (ROOT / "wheel-data/data/share/man/man1/redolab.1").read_text()


def test_the_installed_program_measures_and_reads_what_it_measured(installed: Command) -> None:
    said = installed("redolab", "--help")
    assert said.returncode == 0, said.stderr
    assert "commit-mode" in installed("redolab", "experiments").stdout
    assert installed("redolab", "doctor").returncode == 0
    shortest = ("--quick", "--settings", "wait,nowait", "--blocks", "2", "--seconds", "0.2", "--out", "run")
    done = installed("redolab", "run", "commit-mode", *shortest)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^Outcome: \w+", done.stdout, re.MULTILINE), done.stdout
    for verb in ("report", "verify"):
        done = installed("redolab", verb, "run")
        assert done.returncode == 0, done.stderr
