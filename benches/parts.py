"""What each package that Redolab runs on costs: megabytes on disk, and CPU time of its import.

`python -m benches.parts` prints both as tables. `python -m benches.parts COMMIT` instead compares what
`redolab --help` takes with what it took at that commit, in turns, and writes the raw numbers to
benches/results/parts_help.json.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RAW = ROOT / "benches" / "results" / "parts_help.json"
IMPORTS = (
    "pyarrow.parquet",
    "scipy.stats",
    "pandas",
    "statsmodels.stats.multitest",
    "statsmodels.stats.meta_analysis",
    "statsmodels.stats.nonparametric",
    "statsmodels.stats.power",
    "statsmodels.stats.diagnostic",
    "statsmodels.tsa.stattools",
    "statsmodels.nonparametric.kde",
    "numpy",
    "babel",
    "psycopg",
    "pymysql",
    "oracledb",
    "jinja2",
    "textual.app",
    "rich.console",
    "typer",
    "clevercsv",
    "redolab._core",
)
"""What is imported where it is needed, by package."""
TURNS = 40
LARGE_MB = 2.0
"""Smaller packages are one row."""


def needed(requirements: Iterable[str]) -> set[str]:
    """The packages that these requirements bring here, theirs included, by their canonical names."""
    found: set[tuple[str, str]] = set()
    waiting = [Requirement(each) for each in requirements]
    while waiting:
        wanted = waiting.pop()
        for extra in {"", *wanted.extras}:
            key = (canonicalize_name(wanted.name), extra)
            if key in found:
                continue
            found.add(key)
            for text in metadata.requires(wanted.name) or ():
                other = Requirement(text)
                if other.marker is None or other.marker.evaluate({"extra": extra}):
                    waiting.append(other)
    return {name for name, _ in found}


def megabytes(package: str) -> tuple[float, float]:
    """What a package takes on disk, and of that what Python compiled, in MB of 10^6 bytes."""
    total = compiled = 0
    for file in metadata.distribution(package).files or ():
        place = Path(str(file.locate()))
        if place.exists():
            taken = place.stat().st_blocks * 512
            total += taken
            compiled += taken if place.suffix == ".pyc" else 0
    return total / 1e6, compiled / 1e6


def cpu_s(command: list[str], environment: Mapping[str, str]) -> float:
    """CPU time of a command, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def print_sizes() -> None:
    """The packages of the base, then those that each extra adds."""
    base = needed(PROJECT["dependencies"])
    parts = {"base": base}
    for extra in ("servers", "oracle"):
        parts[extra] = needed(PROJECT["optional-dependencies"][extra]) - base
    print("| part | package | MB | of it compiled Python |\n| --- | --- | --- | --- |")
    for part, packages in parts.items():
        sizes = sorted(((*megabytes(name), name) for name in packages), reverse=True)
        small = [each for each in sizes if each[0] < LARGE_MB]
        for total, compiled, name in sizes:
            if total >= LARGE_MB:
                print(f"| {part} | {name} | {total:.0f} | {compiled:.0f} |")
        if small:
            total, compiled = (sum(each[place] for each in small) for place in (0, 1))
            print(f"| {part} | {len(small)} smaller | {total:.0f} | {compiled:.0f} |")
        total, compiled = (sum(each[place] for each in sizes) for place in (0, 1))
        print(f"| {part} | together | {total:.0f} | {compiled:.0f} |")


def print_imports() -> None:
    """CPU time of each import beyond that of a bare Python: the least of some turns."""
    commands = {name: [sys.executable, "-c", f"import {name}"] for name in IMPORTS}
    commands[""] = [sys.executable, "-c", "pass"]
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(5):
        for name, command in commands.items():
            times[name].append(cpu_s(command, os.environ))
    print("\n| import | CPU time, ms |\n| --- | --- |")
    for name in IMPORTS:
        print(f"| {name} | {1e3 * (min(times[name]) - min(times[''])):.0f} |")


def compare_help(commit: str) -> None:
    """What `redolab --help` takes here and at a commit, in turns; raw numbers are kept."""
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place) / "before"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            sides = {"before": tree / "python", "now": ROOT / "python"}
            times: dict[str, list[float]] = {name: [] for name in sides}
            for turn in range(TURNS + 1):
                for name, source in sides.items():
                    taken = cpu_s(
                        [sys.executable, "-m", "redolab.cli", "--help"],
                        {**os.environ, "PYTHONPATH": str(source)},
                    )
                    # The first turn compiles what is imported.
                    if turn:
                        times[name].append(taken)
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)
    RAW.write_text(json.dumps({"commit": commit, "cpu_s": times}, indent=1) + "\n")
    medians = {name: statistics.median(each) for name, each in times.items()}
    ratio = medians["now"] / medians["before"]
    print(f"{1e3 * medians['before']:.0f} ms before, {1e3 * medians['now']:.0f} ms now: {ratio:.3f} times")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        compare_help(sys.argv[1])
    else:
        print_sizes()
        print_imports()
