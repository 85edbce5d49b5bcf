"""The words of a report that depend on its run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from redolab.analysis.statements.labels import joined
from redolab.report.tables import (
    care,
    cells,
    contents,
    equal_workload,
    method,
    naming,
    published,
    tables,
    time_tables,
    wording,
)

from .fixtures import stored


def described(load: dict[str, Any], *levels: dict[str, str]) -> str:
    return tables.load({"load": load, "settings": [{"levels": item} for item in levels]})


@pytest.mark.parametrize(
    ("load", "levels", "text"),
    [
        ({"name": "io", "sessions": 5}, {"commit_wait": "wait"}, "io, 5 sessions, one row per commit"),
        ({"kind": "inserts", "name": "inserts", "sessions": 1}, {}, "1 session, single-row inserts"),
        (
            {"kind": "inserts", "name": "inserts", "sessions": 32, "loop": "client"},
            {"sessions": "4"},
            "up to 32 sessions, single-row inserts, from a client",
        ),
        (
            {"kind": "inserts", "name": "", "sessions": 1},
            {"loop": "client"},
            "1 session, single-row inserts, from a client",
        ),
        (
            {"kind": "spins", "name": "spins", "sessions": 4},
            {"processes": "2"},
            "up to 4 processes, fixed CPU work",
        ),
        (
            {"kind": "scans", "name": "", "sessions": 1, "rows": 18_000},
            {},
            "1 session, whole scans of 18,000 rows",
        ),
        ({"kind": "draws", "name": "uniform", "sessions": 1, "mean": 5.0}, {}, "uniform values with mean 5"),
        ({"kind": "script", "name": "orders", "sessions": 4}, {}, "orders, 4 sessions"),
    ],
)
def test_a_load_is_said_in_words(load: dict[str, Any], levels: dict[str, str], text: str) -> None:
    assert described(load, levels) == text


@pytest.mark.parametrize(
    ("unit", "many", "one"),
    [("commit", "commits", "a commit"), ("query", "queries", "a query"), ("insert", "inserts", "an insert"),
     ("unit", "units", "a unit"), ("process", "processes", "a process"), (None, "commits", "a commit")],
)  # fmt: skip
def test_the_unit_of_work_in_words(unit: str | None, many: str, one: str) -> None:
    assert wording.units({"unit": unit}) == many
    assert wording.one({"unit": unit}) == one


def test_results_are_counted_in_samples_or_kills() -> None:
    assert dict(tables.facts(stored("wide")))["Samples"] == "102 of 20,000 rows"
    assert dict(tables.facts(stored("log_bound")))["Samples"] == "39 of 1.20 s, 1 more spoiled"
    assert dict(tables.facts(stored("durability")))["Kills"] == "40"
    bare = stored("bare")
    assert dict(tables.facts(bare)) == {
        "Measured on": "machine, 2 CPUs, Made-up CPU",
        "Load": "up to 4 processes, fixed CPU work",
        "Samples": "40 of 500 ms",
    }


def test_comparisons_of_all_pairs_name_both() -> None:
    results = stored("cpu_bound")
    pair = results["comparisons"][0] | {"a": "nowait/batch", "b": "wait/batch", "metric": "elapsed_s"}
    shown = tables.comparisons(results | {"comparisons": [*results["comparisons"], pair]})
    assert [column.title for column in shown.columns][:3] == ["Setting", "against", "Figure"]
    assert [cell.text for cell in shown.rows[-1]][:3] == ["nowait/batch", "wait/batch", "elapsed s"]
    assert tables.comparison(results | {"comparisons": [pair]}, "nowait/batch", "elapsed_s") is None


def test_the_times_of_many_settings_stand_in_tables_of_six() -> None:
    results = stored("wide")
    wide = time_tables.profile_times(results)
    assert [len(table.columns) for table in wide] == [8, 8, 6]
    assert wide[1].caption.endswith(", part 2 of 3")
    assert [table.key for table in wide] == ["profile-times", "profile-times-2", "profile-times-3"]
    for place, setting in enumerate(results["settings"]):
        table, column = wide[place // 6], 1 + place % 6
        assert table.columns[column].title == setting["name"]
        parts = {entry["row"]: 1e3 * entry["per_unit_ms"]["point"] for entry in setting["profile"]}
        texts = [row[column].text for row in table.rows[:-1]]
        shown = [float(text.replace("−", "-")) for text in texts if text != "–"]
        assert sum(shown) == pytest.approx(sum(parts.values()), rel=0.03)
    (few,) = time_tables.profile_times(stored("log_bound"))
    assert few.rows[-1][0].text == "response time R"


def test_the_design_is_said_in_words() -> None:
    assert method.in_words(stored("wide")) == (
        "6 blocks; each block measures every setting once in random order (seed 11) and the baseline "
        "a second time, "
        "as the A/A pair. A sample is 20,000 rows after 0.4 s of warm-up under the same setting."
    )
    assert method.in_words(stored("durability")).endswith("Each kill comes after 1 s of load.")
    assert method.in_words({"method": {}, "settings": []}) == ""


def test_a_section_without_data_is_left_out() -> None:
    results = stored("log_bound")
    for section in ("curve", "published", "figures", "advice"):
        assert not contents.has(results | {section: None}, section)
    for setting in results["settings"]:
        setting |= {"profile": [], "density": {"values_ms": []}}
    left = contents.sections(results | {"advice": None})
    assert [name for name, _ in left][:2] == ["verdict", "curve"]


@pytest.mark.parametrize(
    ("smallest", "begins", "ends"),
    [
        (1.113, "A/A check passed: the baseline", "This run can detect a difference of 11.3 % or more."),
        (
            3.83,
            "A/A check passed, but cannot detect less than 3.8×: the baseline",
            "by a factor of 3.83 or more.",
        ),
    ],
)
def test_a_check_that_sees_little_says_how_little(smallest: float, begins: str, ends: str) -> None:
    results = stored("log_bound")
    results["null_test"] |= {"passed": True, "minimum_detectable_ratio": smallest, "pvalue": 0.3}
    text = tables.null_test(results)
    assert text.startswith(begins)
    assert text.endswith(ends)


def test_log_writes_beyond_all_waits_have_a_note() -> None:
    results = stored("log_bound")
    for entry in results["as_published"]["overview"]:
        entry["log_write_pct"] = 80.0
    assert published.overview(results).note == ""
    results["as_published"]["overview"][-1]["log_write_pct"] = 262.0
    assert "Log write exceeds 100 %" in published.overview(results).note


def test_what_to_read_with_care_is_told_once_and_checks_first() -> None:
    results = stored("log_bound")
    results["diagnostics"] = [
        {"name": "steal", "outcome": "warning", "text": "Much of it."},
        {"name": "drift", "outcome": "passed", "text": "None."},
        {"name": "rows", "outcome": "failed", "text": "They differ."},
    ]
    results["warnings"] = ["Emulated.", "Emulated."]
    assert care.read_with_care(results) == [
        ("warning", "steal: Much of it."), ("failed", "rows: They differ."), ("warning", "Emulated."),
    ]  # fmt: skip


def test_settings_have_labels_in_place_of_their_keys() -> None:
    results = stored("wide")
    first, *others = results["settings"]
    key, label = "1/1/wait/server/50", "1 session, 1 row, wait, server loop, 50 ms pause"
    levels = {
        "sessions": "1", "rows_per_commit": "1", "commit_wait": "wait", "loop": "server", "pause_ms": "50",
    }  # fmt: skip
    text = json.dumps(results | {"settings": [first | {"name": key, "levels": levels}, *others]})
    results = json.loads(text.replace(f'"setting": "{first["name"]}"', f'"setting": "{key}"'))
    shown = naming.labelled(results)
    assert shown["settings"][0]["name"] == label
    assert key in json.dumps(results)
    assert key not in json.dumps(shown)
    assert label in {item["setting"] for item in shown["timeline"]}
    assert [item["levels"] for item in shown["settings"]] == [item["levels"] for item in results["settings"]]


def test_published_names_stay_and_labels_of_several_parts_are_kept_apart() -> None:
    results = stored("log_bound")
    assert naming.labelled(results) is results
    assert joined(["wait", "nowait"]) == "wait, nowait"
    assert joined(["1 session, 1 row", "wait"]) == "1 session, 1 row; wait"


def test_settings_are_compared_at_the_rate_of_the_baseline() -> None:
    shown = equal_workload.equal_workload(stored("log_bound"))
    rate = stored("log_bound")["curve"]["equal_workload"]["rate_per_s"]
    first = shown.rows[0]
    # The baseline's curve passes through its own mean, and others have less to do than in their loops.
    assert (first[0].text, first[2].text) == ("wait/immediate", first[3].text)
    faster = {row[0].text: row for row in shown.rows}["nowait/immediate"]
    assert float(faster[3].text) < float(faster[2].text)
    assert f"at {cells.number(rate)} per s" in shown.columns[3].title
    assert "redolab run calibrate" in shown.note


def test_where_costs_are_known_the_forecast_stands_beside_the_published_curve() -> None:
    results = stored("log_bound")
    results["curve"]["equal_workload"]["forecasts"] = {
        "wait/immediate": {"point": 9.0, "low": 8.0, "high": 10.0, "level": 0.9, "refused": None},
        "wait/batch": {"refused": "no steady state"},
    }
    shown = equal_workload.equal_workload(results)
    assert [row[4].full for row in shown.rows] == ["9.0 (8.0 – 10.0)", "above its capacity", "n/a", "n/a"]
    assert "calibrate" not in shown.note
