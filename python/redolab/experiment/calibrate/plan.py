"""calibrate: what do a commit, a row and a flush cost here? What a forecast needs, in under a minute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from redolab import units
from redolab.errors import UsageError
from redolab.experiment.base import Experiment, Levels, Size, Wish
from redolab.machine.machine import describe_machine
from redolab.records.load import Inserts
from redolab.records.store import Run

if TYPE_CHECKING:
    from redolab.forecast.costs.calibrating import Calibrated

_CALIBRATED, _NOT_CALIBRATED = "calibrated", "not calibrated"
_PER_CPU = 16
_ROWS, _FEWER_PER_CPU = 32, 4
PAUSES_MS = (1, 8, 50)
"""How long the log device has idled when a lone session commits again."""
# As in rows-per-commit: a row with its header takes 64 bytes.
_PADDING_BYTES = 10


def _combine(wish: Wish) -> Mapping[str, Levels]:
    """A lone session, many of them, and many with several rows; commits that do not wait, to tell the CPU
    time of a commit and of a row from that of waiting; a lone session that pauses, so that the device idles.
    """
    if len(wish.sessions) > 1:
        raise UsageError("calibrate takes one number with --sessions: that of its busiest setting.")
    cpus = describe_machine()["cpus"] or 1
    busy = wish.sessions[0] if wish.sessions else _PER_CPU * cpus
    if busy < 2:
        raise UsageError("--sessions is 1; calibrate compares a lone session with several: at least 2.")
    fewer = str(min(busy, _FEWER_PER_CPU * cpus))
    return {
        setting_name(levels): levels
        for levels in (
            {"sessions": "1", "rows_per_commit": "1", "commit_wait": "wait"},
            {"sessions": str(busy), "rows_per_commit": "1", "commit_wait": "wait"},
            {"sessions": str(busy), "rows_per_commit": str(_ROWS), "commit_wait": "wait"},
            {"sessions": "1", "rows_per_commit": "1", "commit_wait": "nowait"},
            {"sessions": str(busy), "rows_per_commit": "1", "commit_wait": "nowait"},
            {"sessions": fewer, "rows_per_commit": str(_ROWS), "commit_wait": "nowait"},
            *map(_paused, PAUSES_MS),
        )
    }


def _paused(pause_ms: int) -> Levels:
    """A lone session inside the server, whatever the others are: there it can pause on its CPU."""
    alone = {"sessions": "1", "rows_per_commit": "1", "commit_wait": "wait"}
    return {**alone, "loop": "server", "pause_ms": str(pause_ms)}


def setting_name(levels: Levels) -> str:
    """A setting's name: its levels joined."""
    return "/".join(levels.values())


def _all(wish: Wish, possible: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG001
    return possible


def _first(settings: tuple[str, ...]) -> str:
    return settings[0]


def check_load(sessions: int, client: bool) -> Inserts:
    """The load that a forecast is about, and that it is checked with."""
    loop = "client" if client else "server"
    return Inserts("inserts", sessions, "session", _PADDING_BYTES, loop, timed=True, unit="commit")


def _load(wish: Wish, settings: Mapping[str, Levels]) -> Inserts:
    return check_load(max(int(levels["sessions"]) for levels in settings.values()), wish.client)


def _analyse(run: Run) -> dict[str, Any]:
    from redolab.analysis.compared import compare_run, results
    from redolab.analysis.verdict import Verdict
    from redolab.experiment.calibrate.tables import tables
    from redolab.forecast.costs.calibrating import calibrate

    compared = compare_run(run)
    try:
        calibrated = calibrate(run)
    except UsageError as error:
        text = f"Forecasts cannot start from this run: {error}"
        return results(compared, Verdict(text, "undecided", compared.baseline, None, _NOT_CALIBRATED))
    verdict = Verdict(_costs(calibrated), "undecided", compared.baseline, None, _CALIBRATED)
    return results(compared, verdict, tables=tables(calibrated))


def _costs(calibrated: Calibrated) -> str:
    """What a commit costs here, in a sentence, and what it is for."""
    point, busy = calibrated.point, calibrated.measured[calibrated.today]
    flush_s = point.flush_mean_s + point.flush_cpu_s
    lone_s = point.transaction_with(1) + point.client_with(1)
    row_s = point.row_with(1) + point.client_with(1)
    text = (
        f"A flush of the log takes {units.duration(flush_s)} here, {units.duration(point.flush_cpu_s)} of it "
        f"CPU time; a transaction of one row costs {units.duration(lone_s)} of CPU beside it"
    )
    if point.row_known:
        text += f", and each further row {units.duration(row_s)}"
    per_flush = busy.quantities.get("commits_per_flush")
    if per_flush is not None and per_flush.point is not None:
        text += (
            f". With {busy.scenario.sessions} sessions one flush serves {units.significant(per_flush.point)} "
            "commits"
        )
    return f"{text}. Forecasts can start from this run."


EXPERIMENT = Experiment(
    name="calibrate",
    question="What do a commit, a row and a flush cost here, for forecasts?",
    unit="commit",
    record="sample",
    needs=frozenset({"inserts", "client_sessions"}),
    options=frozenset({"sessions", "client"}),
    combine=_combine,
    defaults=_all,
    baseline=_first,
    quick=Size(blocks=3, seconds=0.8, warmup_s=0.2),
    full=Size(blocks=6, seconds=0.6, warmup_s=0.2),
    null_pair=True,
    load=_load,
    analyse=_analyse,
)
