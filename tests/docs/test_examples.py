"""The lists and stored runs of examples/, and the commands of the first answers that need a server."""

from __future__ import annotations

import json
import re
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from redolab.experiment import EXPERIMENTS
from redolab.records.store import open_folder, open_run, read_manifest
from tests.docs.pages import ROOT, Step, steps
from tests.mariadb import running_mariadb
from tests.servers import PASSWORD, Server, in_this_process, made

LISTS = sorted((ROOT / "examples" / "lists").glob("*.toml"))
RUNS = sorted(path for path in (ROOT / "examples" / "runs").iterdir() if path.is_dir())
MOST_BYTES, MOST_BYTES_OF_ALL = 300_000, 3_000_000
SHORT = ("--blocks", "1", "--seconds", "0.3")
ON_MARIADB = {"sync-binlog"}


def made_by() -> Any:
    """The module `examples/make`, whose name does not say that it is one."""
    loader = SourceFileLoader("examples_make", str(ROOT / "examples" / "make"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def names_of(paths: list[Path]) -> list[str]:
    return [path.stem for path in paths]


# Stored runs


def test_there_is_a_run_of_every_experiment_and_every_list() -> None:
    assert set(names_of(RUNS)) == set(made_by().RUNS)
    assert EXPERIMENTS.keys() <= {read_manifest(run)["experiment"] for run in RUNS}


@pytest.mark.parametrize("file", LISTS, ids=names_of(LISTS))
def test_the_stored_run_of_a_list_is_of_the_list_as_it_is(file: Path) -> None:
    content = tomllib.loads(file.read_text())
    manifest = read_manifest(ROOT / "examples" / "runs" / file.stem)
    assert manifest["question"] == content["question"]
    load = manifest["load"]
    assert load["file"] == f"examples/lists/{file.name}"
    assert {name: load[name] for name in content["sql"]} == content["sql"]
    for factor, levels in content["levels"].items():
        for level, brings in levels.items():
            stored = load["levels"][factor][level]
            parameters = {name: str(value) for name, value in brings.get("parameters", {}).items()}
            assert stored == {"enter": "", "leave": "", **brings, "parameters": parameters}


@pytest.mark.parametrize("run", RUNS, ids=names_of(RUNS))
def test_a_stored_run_is_what_the_script_measures(run: Path) -> None:
    manifest = read_manifest(run)
    asked = made_by().RUNS[run.name]
    assert manifest["command"] == f"redolab run {asked} --out examples/runs/{run.name}"
    assert manifest["status"] == "finished"
    with open_folder(run) as folder:
        hashes = {name: folder.hash(name) for name in manifest["hashes"] if name.endswith(".parquet")}
    assert hashes
    assert manifest["hashes"].items() >= hashes.items()
    samples = open_run(run).samples
    if manifest["design"].get("at_most_s") is None:
        assert samples.num_rows == len(manifest["order"])
    else:
        # It ended with a block, when everything was decided.
        blocks = samples["block"].to_pylist()
        assert samples.num_rows == sum(trial["block"] <= max(blocks) for trial in manifest["order"])


@pytest.mark.parametrize("run", RUNS, ids=names_of(RUNS))
def test_a_stored_run_names_nobody(run: Path) -> None:
    """Neither a host, a user nor a directory: what it says of its machine are these keys."""
    texts = [json.dumps(read_manifest(run))]
    for table in run.glob("*.parquet"):
        columns = pq.read_table(table).to_pydict().values()
        texts += [value for column in columns for value in column if isinstance(value, str)]
    assert not re.search(r"(?<![\w.])/(root|home|tmp|var|work|usr|Users|mnt|srv)\b", "\n".join(texts))
    allowed = {"cpus", "cpu_model", "memory_bytes", "kernel", "os", "python", "processors", "disk_queues"}
    assert read_manifest(run)["machine"].keys() <= allowed


def test_stored_runs_are_small() -> None:
    sizes = [sum(file.stat().st_size for file in run.glob("*") if file.name not in made_by().LEFT_OUT) for run in RUNS]
    assert max(sizes) <= MOST_BYTES
    assert sum(sizes) <= MOST_BYTES_OF_ALL


# Lists


@pytest.mark.parametrize("file", LISTS, ids=names_of(LISTS))
def test_a_list_measures_every_setting(file: Path, tmp_path: Path) -> None:
    engine = ("--engine", "mariadb") if file.stem in ON_MARIADB else ()
    out = tmp_path / "run"
    words = ("run", "--list", str(file), *engine, *SHORT, "--log-device-ms", "1", "--json", "--out", str(out))
    done = in_this_process(tmp_path, *words, environment={"XDG_DATA_HOME": str(tmp_path / "data")})
    assert done.code == 0, done.err
    samples = open_run(out).samples.to_pylist()
    assert all(sample["spoiled"] is None and sample["units"] > 0 for sample in samples)
    assert [s["name"] for s in json.loads(done.out)["settings"]] == read_manifest(out)["design"]["settings"]


# Commands that need a server


@pytest.fixture(scope="module")
def urls(servers: Callable[[str], Server]) -> Iterator[dict[str, str]]:
    """By scheme, the server that stands for the one that a page names."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="redolab-docs-")))
        place.chmod(0o755)
        yield {
            "postgresql": stack.enter_context(made(servers("18"), "first_answer")),
            "mysql": stack.enter_context(running_mariadb(place / "s", "--log-bin=b", "--server-id=1")).url,
        }


@pytest.mark.parametrize("step", [s for s in steps() if s.server], ids=str)
def test_a_command_of_the_pages_runs_on_a_server(step: Step, urls: dict[str, str], tmp_path: Path) -> None:
    assert step.server is not None
    url = urls[step.server.partition("://")[0]]
    words = [url if word == step.server else word for word in step.words]
    # The last one wins: as short as can be.
    words += {"run": [*SHORT, "--yes"], "profile": ["--seconds", "0.5"]}.get(words[0], [])
    environment = {"XDG_DATA_HOME": str(tmp_path / "data"), "PGPASSWORD": PASSWORD}
    done = in_this_process(tmp_path, *words, environment=environment)
    assert done.code == 0, done.err
    assert done.out.strip()
