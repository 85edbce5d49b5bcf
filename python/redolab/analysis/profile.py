"""Where the time went: rows that add up to the whole, what cannot be named among them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from redolab.analysis.time_based import background_blocked_s, session_blocked_s, session_steal_s
from redolab.analysis.waits import (
    NOTHING,
    SampledProcesses,
    event_name,
    is_asleep,
    is_awake,
    session_waits,
)
from redolab.dialect.log_waits import is_log_sync, unposted_wait
from redolab.records.account import Account, AccountRow, Scope
from redolab.records.sample import Sample, WaitRow
from redolab.stats.estimates import Estimate, mean_estimate

ON_CPU = "on_cpu"
RUN_QUEUE = "run_queue"
STEAL = "steal"
UNACCOUNTED = "unaccounted"
ON_CPU_OR_UNKNOWN = "on_cpu_or_unknown"
_FIRST = (ON_CPU, RUN_QUEUE, STEAL, ON_CPU_OR_UNKNOWN)

_KERNEL = "the kernel's accounts of the server's processes"
_SERVER = "the server's own accounts of its sessions"
_MACHINE = "the machine's steal time"
_SAMPLER = "the wait sampler"
_REMAINDER = "the elapsed time less the other rows"
_NO_TICKS = "no wait events were sampled"
_NO_ACCOUNTS = "the kernel's accounts of the server's processes cannot be read"
_EXPLAIN_FROM = 0.01

Times = dict[str, float]
"""Seconds per row of one sample, from an account whose rows are all known."""
Part = tuple[float | None, str]
"""Seconds, and where they come from."""


@dataclass(frozen=True)
class ProfileRow:
    """One row of a setting's time profile."""

    row: str
    """`on_cpu`, `run_queue`, `steal`, a wait as `Class:Event`, `unaccounted`, or `on_cpu_or_unknown`."""
    share: Estimate
    """Share of the whole; the points of all rows sum to 1."""
    per_unit: Estimate
    """Seconds per unit of work; the points of all rows sum to the mean response time."""
    time_s: float
    """Process-seconds in all samples together."""

    def as_json(self) -> dict[str, object]:
        """The row as the results object has it."""
        return {
            "row": self.row,
            "class": self.row.split(":")[0],
            "share": self.share.as_json(),
            "per_unit_ms": self.per_unit.scaled(1e3).as_json(),
            "time_s": self.time_s,
        }


def account_of_sessions(sample: Sample, seen: SampledProcesses) -> Account:
    """Where the working sessions' time went; the rows add up to `session_elapsed_s`.

    CPU and run queue are the kernel's exact accounts; steal is estimated, and has a row only where
    there was some. The rest is divided by the ticks that saw a session asleep with an event posted;
    what was asleep without one is unaccounted, and so is the (negative) rest when the other rows
    exceed the elapsed time.

    A server that keeps accounts itself may not account for the run queue: then it has no row, and is
    unaccounted. Without any accounts all time is divided by ticks, those without an event as
    `on_cpu_or_unknown`; without ticks too all of it is unaccounted.
    """
    rows = tuple(session_waits(sample, seen))
    whole, blocked = sample.session_elapsed_s, session_blocked_s(sample)
    if blocked is None or sample.session_cpu_s is None:
        return _account("session", sample, _divided(whole, rows, ON_CPU_OR_UNKNOWN), whole)
    parts = _on_cpu(sample.session_cpu_s, sample.session_run_queue_s)
    steal = session_steal_s(sample)
    if steal:
        parts[STEAL] = (steal, _MACHINE)
        blocked -= steal
    if blocked < 0:
        parts[UNACCOUNTED] = (blocked, _REMAINDER)
    else:
        asleep = tuple(row for row in rows if is_asleep(row))
        parts |= _divided(blocked, asleep, nameless=UNACCOUNTED)
    return _account("session", sample, parts, whole)


def account_of_instance(sample: Sample, seen: SampledProcesses) -> Account:
    """Where the process-seconds of the whole instance went.

    The sessions' blocked time and steal as in `account_of_sessions`; CPU and run queue of every server
    process; the background's waits without its idle ones. Without the kernel's accounts or the sampler's
    ticks, the waits of the background are not known: the missing rows have a reason, and there is no total.
    """
    cpu, run_queue = sample.instance_cpu_s, sample.instance_run_queue_s
    exact = _on_cpu(cpu, run_queue)
    if session_blocked_s(sample) is None or not sample.ticks:
        return _account("instance", sample, {**exact, UNACCOUNTED: (None, _SAMPLER)})
    parts: dict[str, Part] = {
        item.row: (item.seconds, item.source) for item in account_of_sessions(sample, seen).rows
    }
    parts |= exact
    for (wait_class, event), seconds in background_blocked_s(sample, seen).items():
        name = event_name(wait_class, event)
        sessions_s, _ = parts.get(name, (0.0, _SAMPLER))
        parts[name] = ((sessions_s or 0.0) + seconds, _SAMPLER)
    return _account("instance", sample, parts)


def _on_cpu(cpu_s: float | None, run_queue_s: float | None) -> dict[str, Part]:
    """The rows that accounts of processes give, with the source of the accounts."""
    if cpu_s is not None and run_queue_s is None:
        return {ON_CPU: (cpu_s, _SERVER)}
    return {ON_CPU: (cpu_s, _KERNEL), RUN_QUEUE: (run_queue_s, _KERNEL)}


def session_times(sample: Sample, seen: SampledProcesses) -> Times:
    """Seconds per row of the working sessions (see `account_of_sessions`)."""
    return account_of_sessions(sample, seen).times() or {}


def profile(samples: Iterable[tuple[Account, int]]) -> tuple[ProfileRow, ...]:
    """The profile of a setting from its samples' accounts and units of work.

    A row's share is the mean of its shares in the samples, with Student's t interval over them,
    and likewise its time per unit of work. Rows come in a fixed order: CPU, run queue, steal,
    waits by their share, unaccounted. Accounts with a row that is not known have no shares.
    """
    known = [
        (account, total, units)
        for account, units in samples
        for total in (account.total_s,)
        if total is not None and total > 0 and units > 0
    ]
    names = sorted({row.row for account, _, _ in known for row in account.rows})
    rows = [
        ProfileRow(
            name,
            mean_estimate(_seconds(account, name) / total for account, total, _ in known),
            mean_estimate(_seconds(account, name) / units for account, _, units in known),
            sum(_seconds(account, name) for account, _, _ in known),
        )
        for name in names
    ]
    return tuple(sorted(rows, key=lambda item: row_place(item.row, item.share.point or 0.0)))


def unaccounted_text(rows: Iterable[ProfileRow], levels: Mapping[str, str], engine: str) -> str | None:
    """Why time is unaccounted, in words; None while it is at most 1 % of the whole.

    Args:
        rows: a setting's profile of its sessions.
        levels: the setting's factor levels.
        engine: the name of its server's engine in the manifest.
    """
    rows = list(rows)
    share = next((row.share.point for row in rows if row.row == UNACCOUNTED), None)
    if share is None or abs(share) <= _EXPLAIN_FROM:
        return None
    if share < 0:
        return "CPU, run queue and steal add up to more than the sessions' time."
    posted = [row.row for row in rows]
    known = unposted_wait(engine, levels.get("commit_wait"), levels.get("commit_logging"), posted)
    return known or "the sessions were asleep and posted no wait event."


def log_sync_share(times: Times) -> float | None:
    """Share of the whole that is waiting for the commit's flush (see `log_waits.is_log_sync`)."""
    whole = sum(times.values())
    return _log_sync_s(times) / whole if whole > 0 else None


def log_sync_share_of_wait(sessions: Times, blocked_s: float | None) -> float | None:
    """The sessions' log sync over the instance's non-idle wait, `blocked_s` seconds."""
    return _log_sync_s(sessions) / blocked_s if blocked_s else None


def _log_sync_s(times: Times) -> float:
    return sum(seconds for name, seconds in times.items() if is_log_sync(name))


def _account(
    scope: Scope, sample: Sample, parts: Mapping[str, Part], elapsed_s: float | None = None
) -> Account:
    """The account of a sample's interval; a part without seconds says which source is missing."""
    return Account(
        tuple(
            AccountRow(
                scope=scope,
                row=name,
                seconds=seconds,
                from_s=sample.start_s,
                to_s=sample.start_s + sample.elapsed_s,
                source=source,
                reason=_why_missing(sample, source) if seconds is None else None,
            )
            for name, (seconds, source) in parts.items()
        ),
        elapsed_s,
    )


def _why_missing(sample: Sample, source: str) -> str:
    return _NO_TICKS if source == _SAMPLER and not sample.ticks else _NO_ACCOUNTS


def _seconds(account: Account, name: str) -> float:
    row = account.row(name)
    return 0.0 if row is None or row.seconds is None else row.seconds


def _divided(whole: float, rows: Sequence[WaitRow], nameless: str) -> dict[str, Part]:
    """The whole divided by ticks; without any of them all of it is what the other rows leave."""
    ticks: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        named = row.event != "" and not is_awake(row)
        ticks[event_name(row.wait_class, row.event) if named else nameless] += row.ticks
    seen = sum(ticks.values())
    if seen == 0:
        return {UNACCOUNTED: (whole, _REMAINDER)}
    parts: dict[str, Part] = {name: (whole * count / seen, _SAMPLER) for name, count in ticks.items()}
    if nameless == UNACCOUNTED:
        parts.setdefault(UNACCOUNTED, (0.0, _SAMPLER))
    return parts


def row_place(row: str, time: float) -> tuple[int, float, str]:
    """The order of a row in its account: CPU, run queue, steal, waits by their time, unaccounted last."""
    if row in _FIRST:
        return _FIRST.index(row), 0.0, row
    return len(_FIRST) + (row == UNACCOUNTED), -time, row


def time_accounts(
    samples: Sequence[Sample], sightings: Mapping[int, SampledProcesses]
) -> tuple[tuple[Account, ...], tuple[Account, ...]]:
    """The accounts of the sessions and of the instance in each of `samples`, in their order."""
    seen = [sightings.get(sample.sample, NOTHING) for sample in samples]
    return (
        tuple(map(account_of_sessions, samples, seen)),
        tuple(map(account_of_instance, samples, seen)),
    )


def by_sample(
    samples: Sequence[Sample], sightings: Mapping[int, SampledProcesses]
) -> tuple[tuple[Times, ...], tuple[Times | None, ...]]:
    """Session times and instance times of `samples`, in their order."""
    sessions, instance = time_accounts(samples, sightings)
    return tuple(item.times() or {} for item in sessions), tuple(item.times() for item in instance)
