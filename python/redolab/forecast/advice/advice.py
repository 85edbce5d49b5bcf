"""Advice on changes: the key `advice` of a run's results and of a live profile's.

A run with the costs of a commit has forecasts of changes, ranked; so has a run of a watched server or of
imported reports, whose costs are inferred. Every run with a time account has Amdahl's bounds, and so has
every live profile. A live profile has nothing else: it is too short to infer the costs of a commit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from redolab import units
from redolab._core import NoSteadyStateError, SimulationTooLongError
from redolab.analysis.amdahl import Bound, bounds_of_profile, bounds_of_times
from redolab.analysis.profile import Times
from redolab.dialect.durability import TIER_TEXT, tier_seen
from redolab.errors import UsageError
from redolab.forecast.advice.of_commits import of_commits
from redolab.forecast.advice.statements import Today
from redolab.forecast.costs.of_run import costs_or_why, costs_within, why_of
from redolab.forecast.costs.run_costs import Effort, RunCosts
from redolab.forecast.track_record import shipped_record
from redolab.model.allowance import Allowance, OutOfTimeError
from redolab.parts import MissingPartError
from redolab.records.capability import OFFERED, Capability
from redolab.records.run import Run
from redolab.records.servers import baseline_server

if TYPE_CHECKING:
    from redolab.forecast.advice.gains import Known

LINES = 3
"""The most sentences of the short list."""
_WORTH_A_LINE = 0.05
"""Share of the time from which on a bound is in the short list."""
ASSUMES = (
    "Amdahl's bound: a row of the time account disappears, and every other row stays as long as it is. Rows "
    "of the account that get shorter together also have a bound together. A change that shortens other rows "
    "too can give more. A session that does not wait for the log also saves the CPU time of falling asleep "
    "and waking up. Source: G. M. Amdahl, Validity of the single processor approach to achieving large scale "
    "computing capabilities, AFIPS 1967."
)
_NO_COSTS = (
    "No forecast: a profile is too short for a forecast. `redolab watch URL --seconds 60 --out DIR` and then "
    "`redolab forecast DIR` forecast from a watch, without a load. `redolab run calibrate --engine URL` "
    "gives a more certain forecast, with a load of its own."
)
_SETTLES: Mapping[str, tuple[str, frozenset[Capability]]] = {
    "log": ("redolab run commit-mode{url}", frozenset({"updates", "commit_modes"})),
    "cpu": ("redolab run cpu-capacity, on the machine of the server", frozenset()),
    "run_queue": ("redolab run session-count{url}", frozenset({"inserts", "client_sessions"})),
    "wait": (
        "redolab run --list FILE{url}, with the statements that wait and a setting that changes the wait",
        frozenset({"statements"}),
    ),
}
"""By the kind of a bound: the command that measures how much of it can be gained, and what it needs."""
_CALIBRATE: tuple[str, frozenset[Capability]] = (
    "redolab run calibrate{url}",
    frozenset({"inserts", "client_sessions"}),
)
_SURER_REPORTS = "two reports, of before and after the change, imported together"
_MOST_EVENTS, _MOST_S = 20_000_000, 5.0
"""Limits of all simulations for the advice on a watch: more events than usual, and the longest time."""
_MOST_EVENTS_OF_RUN = 300_000_000
"""The same on a run whose costs were measured, which nobody waits for while it measures."""
_FORECAST_INSTEAD = "`redolab forecast` forecasts this change without a limit of time."
_ACTIVE = (
    "Sessions: a report shows how many were active on average. More active sessions would mean that more "
    "work arrives, which is not something to change here."
)
_AGAIN = "the same profile, before and after a change"


def of_run(run: Run, baseline: str, times: Mapping[str, Sequence[Times]]) -> dict[str, Any]:
    """The advice from a run; plain JSON types only.

    Intervals of forecasts are as wide as the record that comes with Redolab makes them. This machine's ledger
    has no part in it: the same run gives the same advice everywhere and at any time.

    Args:
        run: any run of samples, finished or not.
        baseline: its baseline, which counts as today where the run does not have the costs of a commit.
        times: seconds per row of the time account, by setting and sample.
    """
    calibrated, why = costs_or_why(run)
    today = baseline if calibrated is None else calibrated.today
    engine = str(baseline_server(run.manifest)["name"])
    bounds = bounds_of_times(times.get(today, ()))
    advice = _advice(today, "response time", bounds, engine)
    if calibrated is None:
        advice["why_no_forecast"] = f"No forecast. {why}"
    else:
        allowance = Allowance(_MOST_EVENTS_OF_RUN)
        advice |= _forecast(run, calibrated, _tier(run, today), allowance)
    return advice | {"lines": lines(advice)}


def of_seen(
    run: Run,
    found: Mapping[str, Any] | None,
    figures: Mapping[str, Any] | None = None,
    *,
    clock: bool = True,
) -> dict[str, Any]:
    """The advice from a run in which nothing was varied: of a watched server, or of imported reports.

    It obeys the account of time: where commits are not what to change it has no forecast of changing them,
    and what forecasts save of waits for the log is no more than there was.

    Args:
        run: of stretches or reports.
        found: the advice from its account of time, with the bounds; None without one.
        figures: its results object; None where nothing is known of its time.
        clock: whether it also ends after some seconds; without it the number of simulated events ends it.
    """
    engine = str(baseline_server(run.manifest)["name"])
    today = str(run.manifest["design"]["baseline"])
    whole = "DB time" if _is_report(run) else "the sessions' busy time"
    advice = {**_advice(today, "the sessions' busy time", (), engine), **(found or {})}
    share, elsewhere = (None, "") if figures is None else of_commits(figures, today, whole)
    if share is None and not _is_report(run):
        # For a watch that does not distinguish waits, a flush is solved from all of them, with a caution.
        elsewhere = ""
    if _is_report(run) and elsewhere:
        # Active sessions are not a parameter to change, and CPUs are in the table of bounds.
        return advice | {"why_no_forecast": f"No forecast. {elsewhere}", "lines": []}
    from redolab.forecast.advice.gains import REPLICATES

    allowance = Allowance(_MOST_EVENTS, _MOST_S if clock else None)
    try:
        calibrated = costs_within(run, Effort(REPLICATES, allowance))
        advice |= _of_costs(run, calibrated, share, elsewhere, allowance)
    except (UsageError, MissingPartError) as error:
        advice["why_no_forecast"] = f"No forecast. {why_of(error)}"
    except (SimulationTooLongError, NoSteadyStateError) as error:
        advice |= {
            "why_no_forecast": f"No forecast: {error}. {_FORECAST_INSTEAD}",
            "cut_short": [str(error)],
            "by_clock": isinstance(error, OutOfTimeError),
        }
    return advice | {"lines": lines(advice)}


def _of_costs(
    run: Run, calibrated: RunCosts, share: float | None, elsewhere: str, allowance: Allowance
) -> dict[str, Any]:
    """The keys of the advice that forecasts add to that from what was seen."""
    from redolab.forecast.advice.changes import OF_COMMITS
    from redolab.forecast.advice.gains import Known

    waits = calibrated.measured[calibrated.today].scenario.commit_wait == "wait"
    tier = tier_seen(_parameters(run), "wait" if waits else "nowait")
    without = OF_COMMITS if elsewhere else frozenset[str]()
    without |= {"sessions"} if _is_report(run) else frozenset()
    promise = (tier or "", TIER_TEXT.get(tier or "", ""))
    found = _forecast(run, calibrated, promise, allowance, Known(share, without))
    reasons = [elsewhere, *found.get("cut_short", ())] if elsewhere else found["not_forecast"]
    surer = _surer(run)
    return found | {
        "why_no_forecast": None,
        "assumptions": list(calibrated.cautions),
        "changes": [{**item, "measure": surer} for item in found["changes"]],
        "not_forecast": [*reasons, *([_ACTIVE] if _is_report(run) else [])],
    }


def _is_report(run: Run) -> bool:
    return run.manifest.get("record") == "report"


def _surer(run: Run) -> str:
    """The measurement that would show more about a change."""
    if _is_report(run):
        return _SURER_REPORTS
    return _command(_CALIBRATE, str(baseline_server(run.manifest)["name"])) or _AGAIN


def advised(figures: Mapping[str, Any]) -> dict[str, Any]:
    """The results object of `redolab profile`: the figures of a live profile, and its key `advice`.

    Args:
        figures: as `redolab.analysis.live.profile.profile_observation` gives them.
    """
    return {**figures, "advice": of_profile(figures)}


def of_profile(results: Mapping[str, Any]) -> dict[str, Any]:
    """The advice from a live profile: bounds for the sessions' time, and commands that measure more.

    Args:
        results: the figures of a live profile.
    """
    sessions = results["all_sessions"]
    bounds = bounds_of_profile(sessions["profile"], sessions["log_sync_share"])
    advice = _advice("all sessions", "the sessions' busy time", bounds, str(results["engine"]["name"]))
    advice["why_no_forecast"] = _NO_COSTS
    missing = [f"{item['what']}: {item['why']}" for item in results["not_available"]]
    advice["not_measured"] = ["the costs of a commit, a row and a flush, and the gain of a change", *missing]
    return advice | {"lines": lines(advice)}


def lines(advice: Mapping[str, Any]) -> list[str]:
    """The advice in at most three sentences: the best changes, then the largest bounds.

    Empty where nothing is known of the time and nothing was forecast.
    """
    if not advice["changes"] and not advice["bounds"] and not advice.get("cut_short"):
        return []
    helping = [item for item in advice["changes"] if item["outcome"] in ("more work", "shorter times")]
    helping = [item for item in helping if item["durability"] != "limit"]
    chosen = helping[:1]
    others = [item for item in helping if item["factor"] != helping[0]["factor"]]
    # Changes that give up durability come after all that keep it, and would never appear here.
    chosen += sorted(others, key=lambda item: -(item["gain"]["point"] or 0.0))[:1]
    sentences = [_sentence(item) for item in chosen]
    if len(sentences) > 1:
        sentences[1] += _place(advice["changes"], chosen[1])
    if advice["changes"] and not sentences:
        sentences.append("No change that was tried is shown to help.")
    if not advice["changes"] and advice["why_no_forecast"]:
        sentences.append(advice["why_no_forecast"])
    elif advice.get("cut_short"):
        sentences.append(advice["cut_short"][0])
    room = LINES - len(sentences)
    bounds = [item for item in advice["bounds"] if (item["share"]["point"] or 0.0) >= _WORTH_A_LINE]
    bounds = [item for item in bounds if not _is_part(item, bounds)]
    amdahl = [f"{_capital(item['text'])}." for item in bounds[:room]]
    return [*sentences, *amdahl] if advice["changes"] else [*amdahl, *sentences]


def _advice(of: str, whole: str, bounds: Sequence[Bound], engine: str) -> dict[str, Any]:
    return {
        "of": of,
        "whole": whole,
        "model": None,
        "changes": [],
        "order": None,
        "not_forecast": [],
        "why_no_forecast": None,
        "bounds": [_bound(item, whole, engine) for item in bounds],
        "assumes": ASSUMES,
        "not_measured": [],
    }


def _forecast(
    run: Run, calibrated: RunCosts, tier: tuple[str, str], allowance: Allowance, known: Known | None = None
) -> dict[str, Any]:
    # Runs without costs do not need the simulator and SciPy.
    from redolab.forecast.advice.changes import not_forecast
    from redolab.forecast.advice.gains import NOTHING, ORDER, advise
    from redolab.forecast.models.quantities import simulation
    from redolab.forecast.models.scenario_forecast import MODEL

    now = Today.of(run, calibrated)
    known = known or NOTHING
    no_delay = not now.can("commit_delay_us", "1")
    if no_delay:
        known = replace(known, without=known.without | {"commit_delay_us"})
    given_up: list[tuple[str, SimulationTooLongError]] = []
    simulated = partial(simulation, allowance=allowance)
    try:
        advised = advise(calibrated, shipped_record()[0], simulated, known, given_up)
    except (SimulationTooLongError, NoSteadyStateError) as error:
        advised = ()
        if isinstance(error, SimulationTooLongError):
            given_up.append(("today's setting", error))
    binlog_in_redo = bool(baseline_server(run.manifest).get("binlog_storage_engine"))
    found = {
        "model": MODEL,
        "changes": [now.to_type(item.as_json(), *tier) for item in advised],
        "order": ORDER,
        "not_forecast": [*not_forecast(calibrated, binlog_in_redo, no_delay), *_cut_short(given_up)],
    }
    if not given_up:
        return found
    by_clock = any(isinstance(error, OutOfTimeError) for _, error in given_up)
    return found | {"cut_short": _cut_short(given_up), "by_clock": by_clock}


def _cut_short(given_up: Sequence[tuple[str, SimulationTooLongError]]) -> list[str]:
    """Which changes took too long to simulate, a sentence for each reason."""
    by_reason: dict[str, list[str]] = {}
    for name, error in given_up:
        by_reason.setdefault(str(error), []).append(name)
    return [
        f"Not forecast: {'; '.join(names)}: {reason}. {_FORECAST_INSTEAD}"
        for reason, names in by_reason.items()
    ]


def _parameters(run: Run) -> Mapping[str, str]:
    """The server's parameters when its watch began; empty where they were not recorded."""
    parameters: Mapping[str, str] = run.manifest["settings"][0].get("parameters") or {}
    return parameters


def _tier(run: Run, setting: str) -> tuple[str, str]:
    for declared in run.manifest["settings"]:
        if declared["name"] == setting:
            return str(declared["tier"]), str(declared.get("tier_text", ""))
    return "", ""


def _bound(item: Bound, whole: str, engine: str) -> dict[str, Any]:
    return {
        "name": item.name,
        "kind": item.kind,
        "rows": list(item.rows),
        "share": item.share.as_json(),
        "most": item.most.as_json(),
        "text": item.sentence(whole),
        "measure": _measure(item, engine),
    }


def _measure(item: Bound, engine: str) -> str:
    """How to measure the gain behind a bound: a command where there is one."""
    settles = _SETTLES.get(item.kind)
    return (settles and _command(settles, engine)) or _AGAIN


def _command(settles: tuple[str, frozenset[Capability]], engine: str) -> str | None:
    """A command of Redolab's, for an engine by its name in a manifest; None where it does not run there."""
    command, needs = settles
    offered = OFFERED.get(engine.lower())
    if offered is None or not needs <= offered:
        return None
    return command.format(url="" if engine == "embedded" else " --engine URL")


def _sentence(item: Mapping[str, Any]) -> str:
    work = "rows" if item["factor"] == "rows_per_commit" else "commits"
    known = "measured here" if item["basis"] == "measured" else "forecast"
    known = "extrapolation" if item["extrapolated"] else known
    if item["outcome"] == "shorter times":
        what = f"{_ratio(item['time'])} the time of a transaction, with about as many {work} ({known})"
    else:
        what = f"{_ratio(item['gain'])} the {work} per second ({known})"
    price = f", but {item['risk']}" if item["durability"] == "lost" else ""
    return f"{_capital(item['change'])}: {what}{price}."


def _place(changes: Sequence[Mapping[str, Any]], item: Mapping[str, Any]) -> str:
    """Where the table has the second sentence's change, if it is not second there."""
    place = changes.index(item) + 1
    if place == 2:
        return ""
    behind = ", after the changes that keep every commit" if item["durability"] == "lost" else ""
    return f" This change is number {place} in the table{behind}."


def _ratio(value: Mapping[str, float | None]) -> str:
    return units.with_interval(value["point"], value["low"], value["high"], "×")


def _is_part(item: Mapping[str, Any], bounds: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a larger bound in the list has this one's rows in it."""
    return any(set(item["rows"]) < set(other["rows"]) for other in bounds)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
