"""Runs that an older Redolab stored."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from redolab import open_run
from redolab.errors import UsageError
from redolab.records.run import Run
from redolab.records.writing.writer import RunWriter, write_document, write_report
from redolab.report.page.html import render
from tests.conftest import Redolab
from tests.hashes import file_hash
from tests.hostile.runs import make_runs, to_format_1
from tests.unit.analysis import synthetic
from tests.validation.cut_run import MEASURED


def test_the_columns_of_format_1_have_their_names_of_today(tmp_path: Path) -> None:
    run = open_run(MEASURED)
    stored = pq.read_table(MEASURED / "samples.parquet")
    assert run.manifest["format"] == 1
    for name in ("bytes", "full_page_images", "writes", "write_time_s", "flushes", "flush_time_s"):
        assert run.samples[f"log_{name}"].to_pylist() == stored[f"wal_{name}"].to_pylist()
        assert f"wal_{name}" not in run.samples.column_names


def test_what_is_written_beside_a_run_of_format_1_leaves_its_format(tmp_path: Path) -> None:
    shutil.copytree(MEASURED, tmp_path / "run")
    write_document(open_run(tmp_path / "run"), "league.json", {})
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["format"] == 1
    assert open_run(tmp_path / "run").samples.equals(open_run(MEASURED).samples)


@pytest.mark.parametrize("stored", [0, 3, True, 1.0, "1", None, [1]])
def test_other_formats_are_refused(tmp_path: Path, stored: object) -> None:
    shutil.copytree(MEASURED, tmp_path / "run")
    manifest = json.loads((MEASURED / "manifest.json").read_text())
    (tmp_path / "run" / "manifest.json").write_text(json.dumps(manifest | {"format": stored}))
    with pytest.raises(UsageError, match="reads the formats 1 and 2"):
        open_run(tmp_path / "run")


def test_the_columns_of_one_format_do_not_pass_for_another(tmp_path: Path) -> None:
    shutil.copytree(MEASURED, tmp_path / "run")
    manifest = json.loads((MEASURED / "manifest.json").read_text())
    (tmp_path / "run" / "manifest.json").write_text(json.dumps(manifest | {"format": 2}))
    with pytest.raises(UsageError, match="wal_bytes"):
        open_run(tmp_path / "run")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed run of commit-mode in today's format."""
    place = tmp_path_factory.mktemp("kept") / "run"
    synthetic.build_run(place, plan=synthetic.design(blocks=2))
    return place


def interrupted(place: Path) -> Run:
    """A run whose process was killed after five samples: parts alone."""
    plan = synthetic.design(blocks=2)
    writer = RunWriter(place, synthetic.manifest(plan))
    for trial in plan.order()[:5]:
        writer.append(*synthetic.one_sample(trial, synthetic.LOG_BOUND[trial.setting]))
    return open_run(place)


def test_a_closed_run_of_format_1_is_the_same_run(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept, tmp_path / "old")
    to_format_1(tmp_path / "old")
    assert "wal_bytes" in pq.read_schema(tmp_path / "old" / "samples.parquet").names
    found, new = open_run(tmp_path / "old"), open_run(kept)
    assert found.samples.equals(new.samples)
    assert found.samples.schema.equals(new.samples.schema)


def test_the_parts_of_an_interrupted_run_of_format_1_are_read(tmp_path: Path) -> None:
    new = interrupted(tmp_path / "run")
    to_format_1(tmp_path / "run")
    assert "wal_bytes" in pq.read_schema(tmp_path / "run" / "parts" / "samples-000001.parquet").names
    found = open_run(tmp_path / "run")
    assert (found.manifest["format"], found.manifest["status"]) == (1, "running")
    assert found.samples.equals(new.samples)
    assert found.samples.num_rows == 5
    assert found.waits.equals(new.waits)


def test_parts_of_two_formats_are_no_run(tmp_path: Path) -> None:
    interrupted(tmp_path / "run")
    one = tmp_path / "run" / "parts" / "samples-000003.parquet"
    new = one.read_bytes()
    to_format_1(tmp_path / "run")
    one.write_bytes(new)
    with pytest.raises(UsageError, match=r"samples-000003\.parquet cannot be read: .*'log_bytes'"):
        open_run(tmp_path / "run")


def change_samples(run: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change the table of samples, as a forger does it: its hash fits."""
    pq.write_table(change(pq.read_table(run / "samples.parquet")), run / "samples.parquet")
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["hashes"]["samples.parquet"] = file_hash(run / "samples.parquet")
    (run / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda it: it.append_column("log_bytes", it["wal_bytes"]), "does not know its column 'log_bytes'"),
        (
            lambda it: it.append_column("wal_bytes", pc.add(it["wal_bytes"], 1)),
            "two columns of the name 'wal_bytes'",
        ),
        (lambda it: it.drop_columns(["wal_flushes"]), "lacks the column 'wal_flushes'"),
        (
            lambda it: it.drop_columns(["wal_flushes"]).append_column("log_flushes", it["wal_flushes"]),
            "does not know its column 'log_flushes'",
        ),
        (
            lambda it: it.set_column(
                it.column_names.index("wal_bytes"), "wal_bytes", it["wal_bytes"].cast(pa.string())
            ),
            "its column 'wal_bytes' is string, but must be int64",
        ),
    ],
    ids=["both names", "one twice", "none", "the other", "another type"],
)
def test_columns_that_format_1_never_had_are_refused_by_their_names_in_it(
    kept: Path, tmp_path: Path, change: Callable[[pa.Table], pa.Table], why: str
) -> None:
    shutil.copytree(kept, tmp_path / "old")
    to_format_1(tmp_path / "old")
    change_samples(tmp_path / "old", change)
    with pytest.raises(UsageError, match=why) as refused:
        open_run(tmp_path / "old")
    assert str(tmp_path / "old" / "samples.parquet") in str(refused.value)


def test_both_names_in_a_run_of_today_are_refused(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept, tmp_path / "new")
    change_samples(tmp_path / "new", lambda it: it.append_column("wal_bytes", it["log_bytes"]))
    with pytest.raises(UsageError, match="does not know its column 'wal_bytes'"):
        open_run(tmp_path / "new")


def test_what_is_written_beside_a_run_of_format_1_leaves_its_tables(kept: Path, tmp_path: Path) -> None:
    run = tmp_path / "old"
    shutil.copytree(kept, run)
    to_format_1(run)
    before = {path.name: path.read_bytes() for path in run.glob("*.parquet")}
    hashes = json.loads((run / "manifest.json").read_text())["hashes"]
    opened = open_run(run)
    write_document(opened, "results.json", {"format": 1})
    write_report(opened, "<html></html>")
    manifest = json.loads((run / "manifest.json").read_text())
    assert {path.name: path.read_bytes() for path in run.glob("*.parquet")} == before
    assert manifest["format"] == 1
    assert manifest["hashes"] == hashes | {"results.json": file_hash(run / "results.json")}


def test_kills_of_format_1_have_the_columns_of_today(tmp_path: Path) -> None:
    run = make_runs(tmp_path, ["durability"])["durability"]
    new = open_run(run)
    to_format_1(run)
    assert open_run(run).samples.equals(new.samples)


def test_a_report_in_other_words_verifies_and_one_with_another_figure_does_not(
    tmp_path: Path, redolab: Redolab
) -> None:
    run = tmp_path / "run"
    shutil.copytree(MEASURED, run)
    assert redolab("report", run).code == 0
    made = json.loads((run / "results.json").read_text())

    def store(results: dict[str, Any]) -> None:
        write_document(open_run(run), "results.json", results)
        write_report(open_run(run), render(results))

    # As an older Redolab told it, whose words had no number.
    older = {name: value for name, value in made.items() if name != "wording"}
    older["verdict"] = made["verdict"] | {"text": "A flush of the log takes long here. Forecasts can start."}
    store(older)
    done = redolab("verify", run)
    assert done.code == 0
    assert (
        "older version of Redolab wrote the sentences of results.json, so the sentences were not compared"
        in done.out
    )
    store(older | {"verdict": older["verdict"] | {"outcome": "better"}})
    assert "verdict.outcome is 'better'" in redolab("verify", run).err
    # In words of today a sentence counts.
    store(made | {"verdict": older["verdict"]})
    assert "verdict.text is" in redolab("verify", run).err
