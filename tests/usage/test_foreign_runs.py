"""Runs that were damaged, forged or moved: what `verify`, `report` and `forecast` say of them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from redolab.errors import UsageError
from redolab.experiment import answers
from redolab.files.usage_errors import as_usage_errors
from redolab.records.store import open_run, read_manifest
from redolab.records.writing.writer import write_document, write_report
from tests.conftest import Redolab
from tests.hashes import file_hash
from tests.hostile.runs import make_runs, to_format_1


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_runs(tmp_path_factory.mktemp("kept"), ("session-count", "verify-forecast", "killed"))


@pytest.fixture
def run(kept: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return Path(shutil.copytree(kept["session-count"], tmp_path / "kept"))


def change_manifest(run: Path, **updates: Any) -> None:
    path = run / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | updates))


def forge(run: Path) -> None:
    """Hashes that fit what stands there now."""
    hashes = json.loads((run / "manifest.json").read_text())["hashes"]
    change_manifest(run, hashes={name: file_hash(run / name) for name in hashes})


def one_sentence(text: str) -> bool:
    return text.startswith("redolab: ") and text.count("\n") == 1 and "Traceback" not in text


@pytest.mark.parametrize("content", [b"", b"PAR1", b"x" * 1000, b"PAR1" + b"\0" * 50 + b"PAR1"])
def test_a_changed_table_is_told_before_it_is_read(run: Path, redolab: Redolab, content: bytes) -> None:
    (run / "samples.parquet").write_bytes(content)
    ended = redolab("verify", run)
    assert ended.code == 1
    assert "samples.parquet was changed (its hash differs)" in ended.err
    assert one_sentence(ended.err)
    ended = redolab("verify", run, "--json")
    assert json.loads(ended.out)["differences"] == ["samples.parquet was changed (its hash differs)"]
    ended = redolab("report", run)
    assert ended.code == 2
    assert "samples.parquet" in ended.err
    assert one_sentence(ended.err)


def test_a_table_cut_off_is_told(run: Path, redolab: Redolab) -> None:
    path = run / "waits.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    assert redolab("verify", run).code == 1
    forge(run)
    ended = redolab("verify", run)
    assert (ended.code, "waits.parquet" in ended.err) == (2, True)
    assert one_sentence(ended.err)


@pytest.mark.parametrize(
    "content",
    [b"[]", b"null", b"1", b"", b"{", b'{"a":' * 5000, b"\xff", b'{"format": 1}',
     b'{"format": 1, "format": 1}', b'{"format": ' + b"9" * 400 + b"}", b'{"format": NaN}'],
)  # fmt: skip
def test_a_manifest_that_is_none(run: Path, redolab: Redolab, content: bytes) -> None:
    (run / "manifest.json").write_bytes(content)
    for command in ("verify", "report", "forecast"):
        ended = redolab(command, run)
        assert ended.code == 2
        assert str(run) in ended.err
        assert one_sentence(ended.err)


@pytest.mark.parametrize(
    "key", ["experiment", "design", "settings", "load", "engine", "machine", "sampler", "status", "hashes"]
)
@pytest.mark.parametrize("value", [None, [], "zzz", {"a": 10**30}], ids=str)
def test_a_manifest_that_says_what_no_run_can(run: Path, redolab: Redolab, key: str, value: Any) -> None:
    change_manifest(run, **{key: value})
    ended = redolab("verify", run)
    # What this version does not know may be an experiment of another.
    assert ended.code == 2
    assert one_sentence(ended.err)
    manifest = json.loads((run / "manifest.json").read_text())
    del manifest[key]
    (run / "manifest.json").write_text(json.dumps(manifest))
    ended = redolab("report", run)
    assert ended.code == 2
    assert f"{key} is missing" in ended.err


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../../etc/hostname", "/dev/zero", "parts/x", ".", "", "manifest.json", "a\0"]
)
def test_no_file_outside_of_the_run_is_opened(
    run: Path, redolab: Redolab, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashes = read_manifest(run)["hashes"]
    change_manifest(run, hashes={name: "0" * 64, **hashes})
    opened: list[object] = []
    system_open = os.open

    def watched(path: Any, *arguments: Any, **named: Any) -> int:
        opened.append(path)
        return system_open(path, *arguments, **named)

    monkeypatch.setattr(os, "open", watched)
    ended = redolab("verify", run)
    assert ended.code == 2
    assert "is not a file of a run" in ended.err
    assert set(map(str, opened)) <= {str(run), "manifest.json"}


def _link(path: Path) -> None:
    secret = path.parents[1] / "secret"
    shutil.copyfile(path, secret)
    path.unlink()
    path.symlink_to(secret)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("name", ["samples.parquet", "results.json", "report.html", "manifest.json"])
@pytest.mark.parametrize("change", [_link, _pipe, _directory])
def test_what_is_no_plain_file_is_refused(
    run: Path, redolab: Redolab, name: str, change: Callable[[Path], None]
) -> None:
    change(run / name)
    ended = redolab("verify", run)
    assert ended.code in (1, 2)
    assert name in ended.err
    assert one_sentence(ended.err)


def test_links_in_parts_are_not_followed(kept: dict[str, Path], tmp_path: Path, redolab: Redolab) -> None:
    run = Path(shutil.copytree(kept["killed"], tmp_path / "killed"))
    (run / "parts").rename(tmp_path / "elsewhere")
    (run / "parts").symlink_to(tmp_path / "elsewhere")
    ended = redolab("report", run)
    assert (ended.code, "parts" in ended.err) == (2, True)
    (run / "parts").unlink()
    (tmp_path / "elsewhere").rename(run / "parts")
    part = next((run / "parts").glob("samples-*"))
    _link(part)
    ended = redolab("report", run)
    assert (ended.code, part.name in ended.err) == (2, True)


def test_a_run_named_through_a_link_is_read(run: Path, tmp_path: Path, redolab: Redolab) -> None:
    (tmp_path / "link").symlink_to(run)
    assert redolab("verify", tmp_path / "link").code == 0


def change_samples(run: Path, **columns: Any) -> None:
    table = pq.read_table(run / "samples.parquet")
    for name, value in columns.items():
        place, field = table.column_names.index(name), table.schema.field(name)
        values = [value, *table[name].to_pylist()[1:]]
        table = table.set_column(place, field.name, pa.array(values, field.type))
    pq.write_table(table, run / "samples.parquet")
    forge(run)


@pytest.mark.parametrize(
    "columns",
    [
        {"elapsed_s": float("nan")},
        {"start_s": float("inf")},
        {"log_flush_time_s": 1e300},
        {"elapsed_s": 5e-324},
        {"commits": None},
        {"setting": None},
        {"role": "zzz"},
        {"setting": "no such setting"},
        {"sample": 2},
        {"sample": 10**9},
    ],
    ids=str,
)
def test_numbers_and_texts_that_no_sample_has(run: Path, redolab: Redolab, columns: dict[str, Any]) -> None:
    change_samples(run, **columns)
    for command in ("verify", "report"):
        ended = redolab(command, run)
        assert ended.code == 2
        assert "samples" in ended.err
        assert one_sentence(ended.err)


def test_a_table_that_is_small_on_disk_and_large_in_memory(run: Path, redolab: Redolab) -> None:
    table = pq.read_table(run / "samples.parquet").slice(0, 1)
    large = pa.concat_tables([table.set_column(8, "spoiled", pa.array(["x" * 60_000]))] * 20_000)
    pq.write_table(large, run / "samples.parquet")
    forge(run)
    assert (run / "samples.parquet").stat().st_size < 10_000_000
    ended = redolab("report", run)
    assert ended.code == 2
    assert "in memory" in ended.err


@pytest.mark.parametrize(
    "page", [b"\xff", b"", b'<script type="application/json" id="results">{"a": </script>',
             b'<script type="application/json" id="results">' + b"[" * 100_000 + b"</script>"]
)  # fmt: skip
def test_a_page_that_was_changed(run: Path, redolab: Redolab, page: bytes) -> None:
    (run / "report.html").write_bytes(page)
    ended = redolab("verify", run)
    assert ended.code == 1
    assert "report.html" in ended.err
    assert one_sentence(ended.err)


@pytest.mark.parametrize(
    "change",
    [{"sealed_at": "yesterday"}, {"sealed_at": "2026-11-21T08:00:00"}, {"sealed_at": 7}, {"forecast": []}],
)
def test_a_sealed_forecast_that_is_none(
    kept: dict[str, Path], tmp_path: Path, redolab: Redolab, change: dict[str, Any]
) -> None:
    run = Path(shutil.copytree(kept["verify-forecast"], tmp_path / "checked"))
    sealed = json.loads((run / "forecast.json").read_text())
    for content in (json.dumps(sealed | change), "[]"):
        (run / "forecast.json").write_text(content)
        ended = redolab("verify", run)
        assert ended.code == 1
        assert "forecast.json was changed" in ended.err
        forge(run)
        ended = redolab("verify", run)
        assert ended.code in (1, 2)
        assert "forecast.json" in ended.err
        assert one_sentence(ended.err)


def test_what_the_analysis_did_not_foresee_names_its_type_and_stays_chained(
    run: Path, redolab: Redolab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> dict[str, Any]:
        raise ZeroDivisionError("made up")

    monkeypatch.setattr("redolab.commands.verify.analyse", fails)
    ended = redolab("verify", run)
    assert ended.code == 2
    assert "cannot be analysed" in ended.err
    assert "ZeroDivisionError in test_foreign_runs.py:" in ended.err
    assert one_sentence(ended.err)
    with pytest.raises(UsageError) as raised, as_usage_errors(run):
        fails()
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    # A run of one's own is analysed without that, so that a fault of Redolab's shows as what it is.
    monkeypatch.setattr(answers, "analyse", fails)
    with pytest.raises(ZeroDivisionError):
        answers.analyse(open_run(run))


@pytest.mark.parametrize("name", ["run", "a", "the", "redolab", "setting", "no calibration", "it has"])
def test_the_name_of_a_run_directory_is_no_figure(
    run: Path, redolab: Redolab, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(run.parent)
    assert redolab("report", run).code == 0
    whole = json.loads((run / "results.json").read_text())
    run.rename(name)
    assert redolab("verify", name).code == 0
    assert redolab("report", name).code == 0
    assert json.loads(Path(name, "results.json").read_text()) == whole | {"run": name}
    monkeypatch.chdir(name)
    assert redolab("verify", ".").code == 0
    assert redolab("report", ".").code == 0
    assert json.loads(Path("results.json").read_text()) == whole | {"run": "."}
    assert redolab("verify", Path.cwd()).code == 0


def test_a_report_of_a_run_under_way_brings_back_no_old_manifest(run: Path) -> None:
    whole = json.loads((run / "manifest.json").read_text())
    change_manifest(run, status="running", hashes={}, finished_at=None)
    under_way = open_run(run)
    # The run goes on: a parameter is changed and noted.
    change = {"parameter": "a", "before": "1", "after": "2", "scope": "system", "at": "now", "setting": "4"}
    change_manifest(run, parameter_changes=[change])
    write_document(under_way, "results.json", {"a": 1})
    now = read_manifest(run)
    assert now["parameter_changes"] == [change]
    assert now["hashes"].keys() == {"results.json"}
    # The run ends: nothing of it is taken back, and what was read before is written no more.
    (run / "manifest.json").write_text(json.dumps(whole))
    with pytest.raises(UsageError, match="changed while it was reported"):
        write_document(under_way, "results.json", {})
    with pytest.raises(UsageError, match="changed while it was reported"):
        write_report(under_way, "")
    assert read_manifest(run) == whole


def test_a_run_of_format_1_reports_and_verifies(run: Path, redolab: Redolab) -> None:
    before = json.loads((run / "results.json").read_text())
    to_format_1(run)
    stored = (run / "samples.parquet").read_bytes()
    assert redolab("verify", run).code == 0
    ended = redolab("report", run, "--json")
    assert ended.code == 0
    # The league is taken anew with every report.
    assert json.loads(ended.out) | {key: before[key] for key in ("run", "league")} == before
    assert redolab("verify", run).code == 0
    assert (run / "samples.parquet").read_bytes() == stored
    assert json.loads((run / "manifest.json").read_text())["format"] == 1


def test_a_killed_run_of_format_1_reports_from_its_parts(
    kept: dict[str, Path], tmp_path: Path, redolab: Redolab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    run = Path(shutil.copytree(kept["killed"], tmp_path / "killed"))
    before = json.loads((run / "results.json").read_text())
    to_format_1(run)
    ended = redolab("report", run, "--json")
    assert ended.code == 0
    # The league is taken anew with every report.
    assert json.loads(ended.out) | {key: before[key] for key in ("run", "league")} == before
    assert redolab("verify", run).code == 0


def test_both_names_of_a_column_end_in_a_sentence(run: Path, redolab: Redolab) -> None:
    to_format_1(run)
    table = pq.read_table(run / "samples.parquet")
    pq.write_table(table.append_column("log_bytes", table["wal_bytes"]), run / "samples.parquet")
    ended = redolab("verify", run)
    assert (ended.code, "samples.parquet was changed" in ended.err) == (1, True)
    forge(run)
    for command in ("verify", "report"):
        ended = redolab(command, run)
        assert (ended.code, "column 'log_bytes'" in ended.err) == (2, True)
        assert one_sentence(ended.err)
