"""The league table, by hand."""

from __future__ import annotations

import pytest

from redolab.forecast.checks.league import league_json, league_tables, losers, standings
from redolab.forecast.models.models import LINE
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
            "text": "To the naive straight line lose, by the median error where both spoke: "
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
