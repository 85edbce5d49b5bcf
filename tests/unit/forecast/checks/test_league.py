"""The league table, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from redolab.forecast.checks.league import (
    league_json,
    league_of_ledger,
    league_tables,
    losers,
    standings,
)
from redolab.forecast.checks.ledger import Verified
from redolab.forecast.models.points import LINE
from redolab.forecast.track_record import Score, Silence

THROUGHPUT = "throughput_per_s"


def score(model: str, forecast: float, observed: float, half: float | None = None) -> Score:
    ends = (None, None) if half is None else (forecast - half, forecast + half)
    return Score(model, "single rows", THROUGHPUT, forecast, observed, *ends)


def test_a_row_has_errors_coverage_and_silences() -> None:
    scores = [score("exact MVA", 90, 100, 5), score("exact MVA", 100, 100, 5), score("exact MVA", 150, 100)]
    (row,) = standings(scores, [Silence("exact MVA", "commit delay", "no such thing")])
    assert (row["model"], row["quantity"], row["forecasts"], row["silent"]) == ("exact MVA", THROUGHPUT, 3, 1)
    assert row["error_median"] == pytest.approx(0.1)
    # Of 0, 0.1 and 0.5 the 95th percentile, linear between them: 0.1 + 0.9 x 0.4.
    assert row["error_p95"] == pytest.approx(0.46)
    assert row["with_interval"] == 2
    assert row["coverage"]["point"] == 0.5


def test_a_row_has_the_mean_error_its_plus_and_minus_and_whether_errors_are_normal() -> None:
    (row,) = standings([score("exact MVA", 100 + error, 100) for error in (-60, -4, 0, 3, 7)], [])
    mean = row["error_mean"]
    # Of -0.6, -0.04, 0, 0.03 and 0.07; Student's t of four degrees of freedom is 2.776.
    assert mean["point"] == pytest.approx(-0.108)
    assert mean["high"] - mean["point"] == pytest.approx(2.77645 * 0.27797 / 5**0.5, rel=1e-3)
    assert row["error_normal"]["normal"] is False
    # Below -50 %, then -50, -20, -10, -5, 0, 5, 10, 20 and 50 % on.
    assert row["error_histogram"] == [1, 0, 0, 0, 1, 2, 1, 0, 0, 0]
    (table,) = league_tables(
        league_json([("here", "this machine's ledger", [score("exact MVA", 1, 1)] * 3, [])])
    )
    assert table.rows[0]["error_histogram"] == " " * 5 + "█" + " " * 4
    assert table.rows[0]["error_normal"] is None


def test_a_league_kept_by_an_older_version_is_shown_as_it_was() -> None:
    league = league_json([("here", "this machine's ledger", [score("exact MVA", 1, 2)], [])])
    for row in league["records"][0]["rows"]:
        for name in ("error_mean", "error_normal", "error_histogram"):
            del row[name]
    (table,) = league_tables(league)
    assert table.rows[0]["error_median"] == 50.0


def test_models_stand_in_the_order_of_the_league_and_silent_ones_too() -> None:
    rows = standings(
        [score(LINE, 1, 1), score("M/M/1", 1, 1), score("group commit, simulated", 1, 1)],
        [Silence("USL", "batches", "three numbers"), Silence("USL", "batches", "three numbers")],
    )
    assert [row["model"] for row in rows] == ["group commit, simulated", "M/M/1", "USL", LINE]
    assert [row["silent"] for row in rows] == [0, 0, 2, 0]
    assert (rows[2]["quantity"], rows[2]["error_median"]) == (THROUGHPUT, None)


def test_a_model_that_loses_to_the_line_says_so() -> None:
    measured = (100.0, 200.0, 300.0)
    line = [score(LINE, 1.1 * value, value) for value in measured]
    worse = [score("M/M/1", 0.5 * value, value) for value in measured]
    better = [score("exact MVA", 0.95 * value, value) for value in measured]
    # Where the line said nothing, nothing is compared.
    alone = [score("exact MVA", 9.0, value) for value in (7.0, 8.0)]
    assert losers([*line, *worse, *better, *alone]) == [
        {
            "quantity": THROUGHPUT,
            "text": "Models with a larger median error than the naive straight line, where both forecast: "
            "M/M/1 (50.0 % against 10.0 % in 3 settings).",
        }
    ]
    assert losers([*line[:2], *worse[:2]]) == []


def test_records_are_kept_apart() -> None:
    league = league_json(
        [
            ("shipped", "shipped with Redolab", [score("M/M/1", 1, 2)], []),
            ("here", "this machine's ledger", [], []),
            ("imported", "imported ledgers", [score("M/M/1", 2, 2)], []),
        ]
    )
    assert [part["record"] for part in league["records"]] == ["shipped", "imported"]
    tables = league_tables(league)
    assert [table.key for table in tables] == ["league-shipped-throughput", "league-imported-throughput"]
    assert tables[0].rows[0]["error_median"] == 50.0
    assert "Coverage" in tables[-1].note


def test_what_is_done_with_a_league_changes_no_other() -> None:
    """A record's part of it is computed once in a process; every report gets one of its own."""
    record = Verified("shipped", 1, 0, (score("exact MVA", 90, 100),), ())
    first = league_of_ledger([record])
    first["records"][0]["rows"][0]["error_median"] = 7
    first["records"].clear()
    (again,) = league_of_ledger([record])["records"]
    assert again["rows"][0]["error_median"] == pytest.approx(0.1)
    # Of another record of that origin it is another.
    (other,) = league_of_ledger([replace(record, scores=(score("exact MVA", 80, 100),))])["records"]
    assert other["rows"][0]["error_median"] == pytest.approx(0.2)
