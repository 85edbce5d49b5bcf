"""The league: every model's forecasts beside what was then measured.

Errors are |forecast / measured - 1|. Shipped records, this machine's and imported ones are kept apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from redolab.analysis.estimates import exact_share
from redolab.analysis.models import LINE, USL
from redolab.analysis.shown import Column, Table
from redolab.model.forecast import MODELS, QUANTITIES
from redolab.model.record import LEVEL, Score, Silence
from redolab.store import Run

FILE = "league.json"
"""The league as of the report, in a run directory: results must not change when others are verified."""
_NAMES = (*MODELS, USL, LINE)
_SHOWN = ("throughput_per_s", "commit_time_ms")
_FEWEST = 3
"""Forecasts of the same quantity that two models need before it is said that one loses."""


def standings(scores: Iterable[Score], silences: Iterable[Silence]) -> list[dict[str, Any]]:
    """A row per model and quantity: how often, how wrong, and how often inside the interval given.

    Models stand in the order of the league, quantities in that of `QUANTITIES`. Coverage has the exact
    Clopper-Pearson interval, as if forecasts were independent of each other.
    """
    kept, silent = list(scores), list(silences)
    models = sorted({item.model for item in kept} | {item.model for item in silent}, key=_place)
    rows = []
    for model in models:
        mine = [score for score in kept if score.model == model]
        count = sum(silence.model == model for silence in silent)
        for quantity in QUANTITIES:
            rows += _row(model, quantity, [score for score in mine if score.quantity == quantity], count)
        if not mine:
            rows += _silent_row(model, count)
    return rows


def losers(scores: Iterable[Score]) -> list[str]:
    """In words, which models the naive straight line beats, by the median error of the same quantity.

    They are compared in the settings of which both said something, which are those with the same measured
    value.
    """
    by_model: dict[tuple[str, str], dict[tuple[str, float], float]] = {}
    for score in scores:
        errors = by_model.setdefault((score.quantity, score.model), {})
        errors[score.family, score.observed] = abs(score.forecast / score.observed - 1)
    found = []
    for quantity, model in sorted(by_model, key=lambda key: (_place(key[1]), key[0])):
        mine, line = by_model[quantity, model], by_model.get((quantity, LINE), {})
        both = mine.keys() & line.keys()
        if model == LINE or len(both) < _FEWEST:
            continue
        error, naive = median(mine[key] for key in both), median(line[key] for key in both)
        if error > naive:
            found.append(
                f"{model} loses to the naive straight line in {_WORDS.get(quantity, quantity)}: median error "
                f"{100 * error:.1f} % against {100 * naive:.1f} % in {len(both)} settings that both spoke of."
            )
    return found


def league_json(parts: Sequence[tuple[str, str, Sequence[Score], Sequence[Silence]]]) -> dict[str, Any]:
    """The league as results objects have it.

    Args:
        parts: for each record its key, its name in words, its scores and its silences.
    """
    told = []
    for key, name, scores, silences in parts:
        rows = standings(scores, silences)
        if rows:
            told.append({"record": key, "name": name, "rows": rows, "text": losers(scores)})
    return {"level": LEVEL, "records": told}


def league_of(run: Run) -> dict[str, Any]:
    """The league as it stood when the run was last reported.

    Raises:
        UsageError: the file is listed and cannot be read.
    """
    return run.document(FILE) or league_json(())


def league_tables(league: Mapping[str, Any], first: bool = False) -> list[Table]:
    """The league as tables of a report: throughput and commit time, one table per record.

    Args:
        league: as `league_json` made it.
        first: whether they answer the question of the report.
    """
    return [
        Table(
            f"league-{part['record']}",
            f"The league of models, {part['name']}",
            _COLUMNS,
            [_shown(row) for row in part["rows"] if row["quantity"] in (*_SHOWN, None)],
            " ".join(
                [
                    "Error is |forecast / measured − 1|. Coverage is the share of measured values inside "
                    f"the {100 * league['level']:.0f} % interval that was given. Silent is the number of "
                    "settings of which the model can say nothing.",
                    *part["text"],
                ]
            ),
            first,
        )
        for part in league["records"]
    ]


def _row(model: str, quantity: str, scores: Sequence[Score], silent: int) -> list[dict[str, Any]]:
    if not scores:
        return []
    import numpy as np

    errors = [abs(score.forecast / score.observed - 1) for score in scores]
    given = [score.inside for score in scores if score.inside is not None]
    return [
        {
            "model": model,
            "quantity": quantity,
            "forecasts": len(scores),
            "error_median": float(np.median(errors)),
            "error_p95": float(np.quantile(errors, 0.95)),
            "with_interval": len(given),
            "coverage": exact_share(sum(given), len(given)).as_json(),
            "silent": silent,
        }
    ]


def _silent_row(model: str, silent: int) -> list[dict[str, Any]]:
    return [
        {
            "model": model,
            "quantity": None,
            "forecasts": 0,
            "error_median": None,
            "error_p95": None,
            "with_interval": 0,
            "coverage": exact_share(0, 0).as_json(),
            "silent": silent,
        }
    ]


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "quantity": _WORDS.get(row["quantity"], row["quantity"]),
        "error_median": None if row["error_median"] is None else 100 * row["error_median"],
        "error_p95": None if row["error_p95"] is None else 100 * row["error_p95"],
    }


def _place(model: str) -> tuple[int, str]:
    return (_NAMES.index(model) if model in _NAMES else len(_NAMES), model)


_WORDS = {"throughput_per_s": "throughput", "commit_time_ms": "commit time"}
_COLUMNS = (
    Column("model", "model", "text"),
    Column("quantity", "of", "text"),
    Column("forecasts", "forecasts", "count"),
    Column("error_median", "median error", "number", "%"),
    Column("error_p95", "95 % of errors below", "number", "%"),
    Column("coverage", "coverage", "share"),
    Column("silent", "silent", "count"),
)
