"""Runs that an older Redolab stored."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from redolab import open_run
from redolab.errors import UsageError
from redolab.records.store import write_document, write_report
from redolab.report.page.html import render
from tests.conftest import Redolab
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
    assert redolab("verify", run).code == 0
    store(older | {"verdict": older["verdict"] | {"outcome": "better"}})
    assert "verdict.outcome is 'better'" in redolab("verify", run).err
    # In words of today a sentence counts.
    store(made | {"verdict": older["verdict"]})
    assert "verdict.text is" in redolab("verify", run).err
