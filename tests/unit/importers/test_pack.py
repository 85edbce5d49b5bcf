"""What the script of `redolab oracle-pack` spools, read; and the script itself, read word by word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from redolab.engine.oracle.statements import Statement
from redolab.errors import UsageError
from redolab.importers.pack import script
from redolab.importers.reading import read_reports
from redolab.records.report import Entry
from tests.imported_reports import results_of
from tests.unit.engine.oracle.test_statements import LICENSED, unknown_words
from tests.written_reports import awr_html, truth
from tests.written_reports.cases import four_sessions, many_sessions
from tests.written_reports.pack import STATISTICS, oracle_pack


def read(place: Path, text: str) -> dict[tuple[str, str, str], Entry]:
    path = place / "redolab-pack.txt"
    path.write_text(text)
    (report,) = read_reports(path, "oracle-pack")
    return {(item.section, item.name, item.measure): item for item in report.entries}


def test_every_figure_is_the_difference_of_the_readings(tmp_path: Path) -> None:
    facts = truth()
    found = read(tmp_path, oracle_pack(facts))
    assert found["statistic", "user commits", "total"].value == facts.commits
    assert found["statistic", "redo size", "total"].value == facts.redo_bytes
    assert found["time model", "DB CPU", "seconds"].value == pytest.approx(facts.db_cpu_s)
    assert found["os", "BUSY_TIME", "value"].value == facts.busy_cs
    assert found["host", "cpus", "value"].value == facts.cpus
    for section, events in (("foreground event", facts.foreground), ("background event", facts.background)):
        for event in events:
            assert found[section, event.name, "waits"].value == event.waits
            assert found[section, event.name, "seconds"].value == pytest.approx(event.seconds)
            assert found[section, event.name, "class"].text == event.wait_class
    assert found["parameter", "commit_wait", "begin"].text == "WAIT"
    assert found["histogram", "log file sync", "0.002048 to 0.004096"].value == pytest.approx(27.2, abs=0.01)


@pytest.mark.parametrize("facts", [truth(), four_sessions(), many_sessions()])
def test_a_pack_and_an_awr_report_of_the_same_say_the_same(facts: object, tmp_path: Path) -> None:
    """Two readers of the same truth, up to what the report rounds."""
    assert isinstance(facts, type(truth()))
    ours = results_of(tmp_path / "pack", [oracle_pack(facts)], "oracle-pack")
    theirs = results_of(tmp_path / "awr", [awr_html(facts, "19c")])
    assert ours["verdict"]["outcome"] == theirs["verdict"]["outcome"]
    digits = re.compile(r"\d[\d.,]*")
    for mine, other in zip(
        digits.findall(ours["verdict"]["text"]), digits.findall(theirs["verdict"]["text"]), strict=True
    ):
        assert float(mine.rstrip(".,").replace(",", "")) == pytest.approx(
            float(other.rstrip(".,").replace(",", "")), rel=0.03
        )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: text.replace("REDOLAB-PACK END", ""), "is not whole"),
        (lambda text: text.replace("REDOLAB-PACK 1", "PACK"), "was not written by Redolab's script"),
        (lambda text: text.replace("I|end", "ORA-00942"), r"V\$INSTANCE could not be read"),
        (lambda text: text.replace("2025-02-03", "2025-03-03", 1), "two readings that do not belong"),
        (
            lambda text: re.sub(r"(I\|end.*)\|\d{4}-03-14 1.*?\|", r"\1|2025-03-14 10:00:07.100|", text),
            "0.1 s apart",
        ),
        (lambda text: text.replace("S|end|user commits", "S|end|other"), "no 'user commits'"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_a_sentence(change: object, why: str, tmp_path: Path) -> None:
    assert callable(change)
    with pytest.raises(UsageError, match=why):
        read(tmp_path, change(oracle_pack(truth())))


def test_errors_between_the_lines_and_what_went_back_are_no_figures(tmp_path: Path) -> None:
    text = oracle_pack(truth()).replace("T|begin|DB CPU", "ORA-00942: table or view does not exist|")
    text = re.sub(r"S\|end\|redo writes\|\d+", "S|end|redo writes|1", text)
    found = read(tmp_path, text)
    assert found["time model", "DB CPU", "seconds"].value is None
    assert (
        found["statistic", "redo writes", "total"].reason
        == "this counter was lower in the second reading than in the first"
    )


def test_each_kind_of_report_is_told_from_the_others(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_text(oracle_pack(truth()))
    with pytest.raises(UsageError, match="use `redolab import oracle-pack`"):
        read_reports(path, "awr")
    path.write_text(awr_html(truth(), "19c"))
    with pytest.raises(UsageError, match="not written by Redolab's script"):
        read_reports(path, "oracle-pack")


def statements() -> list[str]:
    return [text.strip() for text in re.findall(r"^select.*?;", script(), re.DOTALL | re.MULTILINE)]


def test_the_script_reads_documented_columns_and_changes_nothing() -> None:
    for text in statements():
        assert unknown_words(Statement("select", 1201, "", text.rstrip(";").replace("&phase", "begin"))) == []
    assert LICENSED.findall(script()) == []
    commands = {
        line.split()[0] for line in re.sub(r"select.*?;", "", script(), flags=re.DOTALL).splitlines() if line
    }
    assert commands <= {"--", "define", "set", "whenever", "alter", "spool", "prompt", "host", "exit"}
    assert re.findall(r"^alter.*", script(), re.MULTILINE) == [
        "alter session set nls_numeric_characters = '.,';"
    ]


def test_both_readings_ask_the_same() -> None:
    found = statements()
    assert len(found) == 14
    assert found[:7] == found[7:]
    assert all(f"'{name}'" in script() for name in STATISTICS)


def test_a_clock_that_was_set_back_is_named(tmp_path: Path) -> None:
    begin, end = "2025-03-14 10:00:07.000", "2025-03-14 11:00:07.000"
    path = tmp_path / "pack.txt"
    path.write_text(oracle_pack(truth()).replace(begin, "@").replace(end, begin).replace("@", end))
    with pytest.raises(UsageError, match="3600 s earlier than its first: the server's clock was set back"):
        read_reports(path, "oracle-pack")
