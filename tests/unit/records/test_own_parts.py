"""Closing a run reads its parts: those that are as they were written, and those changed by others since."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from redolab.errors import UsageError
from redolab.files.tables import parse_table as parse
from redolab.records import store
from redolab.records.run import Run
from redolab.records.writing.writer import RunWriter
from tests.unit.analysis.synthetic import LOG_BOUND, design, manifest, one_sample


def written(path: Path) -> RunWriter:
    plan = design(blocks=2)
    writer = RunWriter(path, manifest(plan))
    for trial in plan.order():
        sample, seen, processes = one_sample(trial, LOG_BOUND[trial.setting])
        writer.append(sample, seen, processes)
    return writer


def closed(path: Path) -> Run:
    return written(path).finish("finished")


def test_a_part_that_is_as_it_was_written_is_not_checked_a_second_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[str] = []

    def parse_table(content: bytes, what: str, *others: object) -> pa.Table:
        looked_at.append(Path(what).name)
        return parse(content, what, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "parse_table", parse_table)
    run = closed(tmp_path / "run")
    # The tables are, as a whole.
    assert sorted(looked_at) == sorted(path.name for path in run.path.glob("*.parquet"))
    assert run.samples.num_rows == len(run.manifest["order"])


def test_parts_of_one_hash_make_the_tables_that_checked_ones_do(tmp_path: Path) -> None:
    closed(tmp_path / "trusted")
    writer = written(tmp_path / "checked")
    writer._own.clear()
    writer.finish("finished")
    for table in (tmp_path / "trusted").glob("*.parquet"):
        assert table.read_bytes() == (tmp_path / "checked" / table.name).read_bytes()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_a_part_that_somebody_changed_is_refused_by_its_name(tmp_path: Path, value: float) -> None:
    writer = written(tmp_path / "run")
    part = min((tmp_path / "run" / "parts").glob("samples-*.parquet"))
    table = pq.read_table(part)
    place = table.column_names.index("elapsed_s")
    changed = pa.array([value], table.schema.field(place).type)
    pq.write_table(table.set_column(place, table.schema.field(place), changed), part)
    with pytest.raises(UsageError, match=part.name):
        writer.finish("finished")
