"""The league: every model's forecasts compared with their measurements.

Errors are |forecast / measured - 1|. Shipped records, this machine's and imported ones are kept apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache
from statistics import median
from typing import Any

from redolab.analysis.exhibits import Column, Table
from redolab.forecast.checks.held_out import held_out
from redolab.forecast.checks.ledger import ORIGINS, Verified
from redolab.forecast.models.points import LINE, USL
from redolab.forecast.models.quantities import MODELS, SCORED
from redolab.forecast.track_record import LEVEL, Score, Silence
from redolab.records.run import Run
from redolab.stats.estimates import exact_share, mean_estimate
from redolab.stats.normality import normality

FILE = "league.json"
"""The league as of the report, in a run directory: results must not change when others are verified."""
_NAMES = (*MODELS, USL, LINE)
SHOWN = ("throughput_ratio", "throughput_per_s", "commit_time_ms")
"""The quantities that tables of all models have."""
ERROR_STEPS = (-0.5, -0.2, -0.1, -0.05, 0.0, 0.05, 0.1, 0.2, 0.5)
"""Between which errors, forecast / measured - 1, the bars of a histogram lie; the first and last are open."""
_BARS = " ▁▂▃▄▅▆▇█"
_FEWEST = 3
"""Forecasts of the same quantity that two models need before they are compared."""
SHORT = {
    "throughput_ratio": "throughput, times today's",
    "response_time_ratio": "response time, times today's",
    "commit_time_ratio": "commit time, times today's",
    "throughput_per_s": "throughput",
    "response_time_ms": "response time",
    "response_time_ms_p95": "response time, p95",
    "commit_time_ms": "commit time",
    "commit_time_ms_p50": "commit time, median",
    "commit_time_ms_p95": "commit time, p95",
    "commit_time_ms_p99": "commit time, p99",
    "cpu_utilization": "CPU utilization",
    "device_utilization": "device utilization",
    "commits_per_flush": "commits per flush",
}
"""The names of quantities in tables; times in ms, throughput in commits per second."""


def standings(scores: Iterable[Score], silences: Iterable[Silence]) -> list[dict[str, Any]]:
    """A row per model and quantity: how often, how wrong, and how often inside the interval given.

    Models are in the order of the league, quantities in the order of `SCORED`. Coverage has the exact
    Clopper-Pearson interval, as if forecasts were independent of each other.
    """
    kept, silent = list(scores), list(silences)
    models = sorted({item.model for item in kept} | {item.model for item in silent}, key=_place)
    rows = []
    for model in models:
        scores_of_model = [score for score in kept if score.model == model]
        count = sum(silence.model == model for silence in silent)
        quantities = {score.quantity for score in scores_of_model}
        # A model without any forecast is in the table all the same.
        rows += [
            _row(model, quantity, [item for item in scores_of_model if item.quantity == quantity], count)
            for quantity in [name for name in SCORED if name in quantities] or ("throughput_per_s",)
        ]
    return rows


def losers(scores: Iterable[Score]) -> list[dict[str, str]]:
    """For each quantity, in words, which models the naive straight line beats by the median error.

    They are compared in the settings of which both said something, which are those with the same measured
    value.
    """
    by_model: dict[tuple[str, str], dict[tuple[str, float], float]] = {}
    for score in scores:
        errors = by_model.setdefault((score.quantity, score.model), {})
        errors[score.family, score.observed] = abs(score.forecast / score.observed - 1)
    lost: dict[str, list[str]] = {}
    for quantity, model in sorted(by_model, key=lambda key: _place(key[1])):
        mine, line = by_model[quantity, model], by_model.get((quantity, LINE), {})
        both = mine.keys() & line.keys()
        if model == LINE or len(both) < _FEWEST:
            continue
        error, naive = median(mine[key] for key in both), median(line[key] for key in both)
        if error > naive:
            lost.setdefault(quantity, []).append(
                f"{model} ({100 * error:.1f} % against {100 * naive:.1f} % in {len(both)} settings)"
            )
    return [
        {
            "quantity": quantity,
            "text": "Models with a larger median error than the naive straight line, where both forecast: "
            f"{', '.join(models)}.",
        }
        for quantity, models in lost.items()
    ]


def league_of_ledger(verified: Iterable[Verified]) -> dict[str, Any]:
    """The league of the ledger's records, as results objects have it."""
    leagues = [deepcopy(_of_record(part)) for part in verified]
    return {"level": LEVEL, "records": [record for records in leagues for record in records]}


@lru_cache(maxsize=4)
def _of_record(part: Verified) -> list[dict[str, Any]]:
    """The league of one record; the shipped one is every report's, and never another."""
    return _record(part.origin, ORIGINS[part.origin], part.scores, part.silences)


def league_json(parts: Sequence[tuple[str, str, Sequence[Score], Sequence[Silence]]]) -> dict[str, Any]:
    """The league as results objects have it.

    Args:
        parts: for each record its key, its name in words, its scores and its silences.
    """
    return {"level": LEVEL, "records": [record for part in parts for record in _record(*part)]}


def _record(
    key: str, name: str, scores: Sequence[Score], silences: Sequence[Silence]
) -> list[dict[str, Any]]:
    """The league of one record, as a list of one; of none where nobody spoke or was silent."""
    rows = standings(scores, silences)
    return [{"record": key, "name": name, "rows": rows, "losers": losers(scores)}] if rows else []


def league_of(run: Run, others: Mapping[str, Any] | None) -> dict[str, Any]:
    """The key `league` of a run's results: the league of the run's own settings, then that of other runs.

    Args:
        run: any run of samples, finished or not.
        others: the league when the run was reported, as `league_json` made it; None without one.
    """
    others = others or league_json(())
    own = league_json([("this_run", "inside this run", *held_out(run))])
    league = {**others, "records": [*own["records"], *others["records"]]}
    return {**league, "tables": [table.as_json() for table in league_tables(league)]}


def league_tables(league: Mapping[str, Any], first: bool = False) -> list[Table]:
    """The league as tables of a report: one of throughput and one of commit time for each record.

    Args:
        league: as `league_json` made it.
        first: whether they answer the question of the report.
    """
    explained = (
        "Error is |forecast / measured − 1|: first the median error, then the limit that 95 % of the errors "
        "stay below. The signed mean is the mean of forecast / measured − 1, with its 95 % interval. The "
        "histogram's bars are cut at "
        f"{', '.join(f'{100 * step:+g}'.replace('-', '−') for step in ERROR_STEPS)} %. Coverage is the share "
        f"of measured values inside the {100 * league['level']:.0f} % interval that was given. Silent is the "
        "number of settings that a model could not forecast."
    )
    tables = [
        Table(
            f"league-{part['record']}-{SHORT[quantity].replace(' ', '-')}",
            f"Forecasts of {SHORT[quantity]} by every model, {part['name']}",
            _COLUMNS,
            [_shown(row) for row in part["rows"] if row["quantity"] == quantity],
            " ".join(item["text"] for item in part["losers"] if item["quantity"] == quantity),
            first,
        )
        for part in league["records"]
        for quantity in SHOWN
    ]
    tables = [table for table in tables if table.rows]
    return (
        [*tables[:-1], replace(tables[-1], note=f"{tables[-1].note} {explained}".strip())] if tables else []
    )


def _row(model: str, quantity: str, scores: Sequence[Score], silent: int) -> dict[str, Any]:
    import numpy as np

    signed = np.array([score.forecast / score.observed - 1 for score in scores])
    errors = np.abs(signed).tolist()
    given = [score.inside for score in scores if score.inside is not None]
    return {
        "model": model,
        "quantity": quantity,
        "forecasts": len(scores),
        "error_median": float(np.median(errors)) if errors else None,
        "error_p95": float(np.quantile(errors, 0.95)) if errors else None,
        "error_mean": mean_estimate(signed.tolist()).as_json(),
        "error_normal": normality(signed).as_json(),
        "error_histogram": np.histogram(signed, [-np.inf, *ERROR_STEPS, np.inf])[0].tolist(),
        "with_interval": len(given),
        "coverage": exact_share(sum(given), len(given)).as_json(),
        "silent": silent,
    }


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    errors = ("error_median", "error_p95")
    in_percent = {key: None if row[key] is None else 100 * row[key] for key in errors}
    if "error_mean" not in row:
        return {**row, **in_percent}
    normal = {True: "normal", False: "not normal", None: None}[row["error_normal"]["normal"]]
    return {**row, **in_percent, "error_normal": normal, "error_histogram": _bars(row["error_histogram"])}


def _bars(counts: Sequence[int]) -> str:
    """A histogram in one line of text: a bar for each count, in eighths of the tallest."""
    tallest = max(counts)
    return "".join(_BARS[-(-8 * count // tallest)] for count in counts) if tallest else ""


def _place(model: str) -> tuple[int, str]:
    return (_NAMES.index(model) if model in _NAMES else len(_NAMES), model)


_COLUMNS = (
    Column("model", "model", "text"),
    Column("forecasts", "checked", "count"),
    Column("error_median", "median error", "number", "%"),
    Column("error_p95", "95 % below", "number", "%"),
    Column("error_mean", "mean, signed", "share"),
    Column("error_normal", "errors are", "text"),
    Column("error_histogram", "histogram", "text"),
    Column("coverage", "coverage", "share"),
    Column("silent", "silent", "count"),
)
