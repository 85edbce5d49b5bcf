"""Every figure of a watched run: of all of it, or of a period and the period that it is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from redolab import units
from redolab.analysis import common_sections
from redolab.analysis.exhibits import Figure, Table
from redolab.analysis.observed import exhibits
from redolab.analysis.observed.exhibits import Cumulative
from redolab.analysis.observed.figures import WATCH
from redolab.analysis.observed.verdict import (
    SOME,
    advice,
    each_wait,
    log_first,
    not_the_disk,
    row_locks,
    saturated,
)
from redolab.analysis.observed.watch import compared, figures, gaps, hours, tables
from redolab.analysis.observed.watch.account import Account, read_accounts
from redolab.analysis.observed.watch.measures import Found, each
from redolab.analysis.observed.watch.measures import figures as figures_of
from redolab.analysis.observed.watch.periods import Period, Periods, divided
from redolab.analysis.observed.watch.stretches import Stretches, read_stretches
from redolab.analysis.observed.watch.waits import read_waits
from redolab.dialect.known import grouping_of, product_name
from redolab.dialect.row_names import is_row_lock, row_name
from redolab.errors import UsageError
from redolab.records.run import Run
from redolab.records.watched import SETTING
from redolab.stats.serial import evened, neighbours, worth

_NAMED = 5
_NOT_MEASURED = (
    "The effect of a change: nothing was tried. Forecasts and bounds show what a change may give.",
    "Single transactions: figures are sums and means over stretches of time.",
)
_NAMES = ("Log sync", "Log write")
_ONE, _REST, _OTHER = "This period", "the rest of the watch", "the other period"


@dataclass(frozen=True)
class _Watch:
    """The parts of an answer."""

    run: Run
    everything: Stretches
    """All of the watch, spoiled ones too."""
    mine: Stretches
    """Stretches of the answer, spoiled ones too."""
    counting: Stretches
    """Stretches of the answer that count."""
    found: Mapping[str, Found]
    accounts: tuple[Account, Account]
    waits: tuple[Cumulative, Cumulative]
    """Log sync and log write, wait by wait."""
    missed: list[gaps.Gap]


def analyse(run: Run, periods: Periods | None = None) -> dict[str, Any]:
    """The results object of a watched run; plain JSON types only.

    Args:
        run: still being watched or not.
        periods: the period of the answer, and the one that it is compared with; None for all of the watch.

    Raises:
        UsageError: no stretch of it counts, or none of a period.
    """
    everything = read_stretches(run)
    mine, other = (everything, None) if periods is None else divided(everything, periods)
    counting = mine.counting
    if not len(counting):
        why = gaps.reasons(mine)
        raise UsageError(
            f"No watched stretch of time in {run.path} can be used, so no figure can be computed"
            + (f": {why[0][0]}." if why else ". Watch for longer than one stretch.")
        )
    watch = _Watch(
        run,
        everything,
        mine,
        counting,
        figures_of(counting),
        read_accounts(run, counting),
        read_waits(run, counting),
        gaps.gaps(mine),
    )
    quantities = () if other is None else compared.compare(counting, other.counting)
    names = _names(periods)
    said = compared.sentences(quantities, names) if quantities else []
    return common_sections.heading(run) | {
        "facts": [list(pair) for pair in _facts(watch, periods)],
        "verdict": {
            # The comparison comes first only where it shows a difference.
            "text": " ".join(
                [*said, *_sentences(watch)]
                if any(item.differs for item in quantities)
                else [*_sentences(watch), *said]
            ),
            "outcome": "undecided",
            "outcome_text": "watched, nothing was tried",
            "baseline": SETTING,
            "best": None,
        },
        "watched": _watched(watch),
        "period": None if periods is None else periods.as_json(),
        "comparison": None if other is None else _comparison(quantities, other, said),
        "settings": [_setting(watch)],
        "all_sessions": {
            "busy_s": watch.accounts[0].seconds,
            "profile": watch.accounts[0].told(),
            "log_sync_share": watch.found["log_sync_share"].estimate().as_json(),
        },
        "background": {"busy_s": watch.accounts[1].seconds, "profile": watch.accounts[1].told()},
        "not_available": [
            {"what": WATCH[key].name, "why": item.why}
            for key, item in watch.found.items()
            if item.point is None
        ],
        "tables": [table.as_json() for table in _tables(watch, quantities, names)],
        "figures": [figure.as_json() for figure in _figures(watch)],
        "diagnostics": [_neighbours(watch), _cost(watch)],
        "timeline": [],
        "method": common_sections.method(run.manifest)
        | {"design": {}, "not_measured": [*run.manifest.get("not_measured", ()), *_NOT_MEASURED]},
        "warnings": [*map(str, run.manifest.get("conditions", ())), *_warnings(watch)],
    }


def _names(periods: Periods | None) -> tuple[str, str]:
    return _ONE, _REST if periods is None or periods.other is None else _OTHER


def _watched(watch: _Watch) -> dict[str, Any]:
    """The time that the figures cover."""
    return {
        "last_sample": int(watch.everything.numbers.max()),
        "from": gaps.iso(float(watch.mine.began[0])),
        "to": gaps.iso(_end(watch.mine)),
        "stretches": len(watch.counting),
        "spoiled": len(watch.mine) - len(watch.counting),
        "counted_s": watch.counting.elapsed_s,
        "missed_s": sum(gap.length_s for gap in watch.missed),
        "starts": len(set(watch.mine.starts.tolist())),
    }


def _end(stretches: Stretches) -> float:
    known = stretches.ended[np.isfinite(stretches.ended)]
    return float(max(known.max(initial=stretches.began[-1]), stretches.began[-1]))


def _comparison(
    quantities: Sequence[compared.Quantity], other: Stretches, said: Sequence[str]
) -> dict[str, Any]:
    counting = other.counting
    return {
        "stretches": len(counting),
        "counted_s": counting.elapsed_s,
        "quantities": [item.as_json() for item in quantities],
        "text": " ".join(said),
    }


def _setting(watch: _Watch) -> dict[str, Any]:
    found, sessions = watch.found, watch.accounts[0]
    return {
        "name": SETTING,
        "levels": {},
        "tier": "",
        "tier_text": "",
        "parameters": _parameters(watch.run),
        "stretches": len(watch.counting),
        "spoiled": len(watch.mine) - len(watch.counting),
        "response_time_ms": sessions.per_commit().estimate().scaled(1e3).as_json(),
        "profile": sessions.profile(),
        "figures": {key: item.estimate().as_json() for key, item in found.items()},
        "missing": {key: item.why for key, item in found.items() if item.point is None},
    }


def _parameters(run: Run) -> dict[str, Any]:
    """The server's parameters about commits, as they were when the watching began."""
    return dict(run.manifest["settings"][0]["parameters"])


def _tables(watch: _Watch, quantities: Sequence[compared.Quantity], names: tuple[str, str]) -> list[Table]:
    sessions, background = watch.accounts
    made = compared.tables(quantities, names) if quantities else []
    made += [account.table() for account in watch.accounts if account.seconds > 0]
    made += [tables.known_table(watch.found), tables.missing_table(watch.found)]
    made += [sessions.waits(), background.waits()]
    sync, write = watch.waits
    made += [
        exhibits.histogram_table(sync, write, "Share of waits that took less", "log-waits", _NAMES),
        *hours.tables(watch.counting),
        tables.starts_table(watch.mine, watch.missed),
        gaps.gaps_table(watch.missed),
        gaps.spoiled_table(watch.mine),
        exhibits.parameters_table(
            "Parameters about commits, when the watching began", _parameters(watch.run)
        ),
        exhibits.meanings_table(WATCH),
    ]
    return [table for table in made if table.rows]


def _figures(watch: _Watch) -> list[Figure]:
    shares = exhibits.shares_figure(
        *watch.waits, "Each wait for the log, not their mean", "log-waits", _NAMES
    )
    return figures.drawn(watch.counting, watch.found) + ([] if shares is None else [shares])


def _facts(watch: _Watch, periods: Periods | None) -> list[tuple[str, str]]:
    engine = watch.run.manifest["engine"]
    name = str(engine["name"])
    product = product_name(name) or name
    place = f", {engine['place']}" if engine.get("place") else ""
    whole = Period(float(watch.mine.began[0]), _end(watch.mine))
    spoiled = len(watch.mine) - len(watch.counting)
    found = [
        ("Server", f"{product} {engine.get('version', '')}".strip() + place),
        (
            "Watched",
            f"{units.counted(len(watch.counting), 'stretch')}, {units.clock(watch.counting.elapsed_s)} in all"
            + (f"; {spoiled:,} more not counted" if spoiled else ""),
        ),
    ]
    if periods is None:
        return [*found, ("From", whole.text)]
    against = "the rest of the watch" if periods.other is None else periods.other.text
    return [*found, ("Period", periods.one.text), ("Compared with", against)]


def _sentences(watch: _Watch) -> list[str]:
    """The verdict: where the time went, how many commits, how they share flushes, what is not known."""
    found = watch.found
    return [
        text
        for text in (
            _where(watch),
            *_behind(watch),
            _rates(found),
            *each_wait(*watch.waits),
            _unknown(found, str(watch.run.manifest["engine"]["name"])),
        )
        if text
    ]


def _where(watch: _Watch) -> str:
    share = watch.found["log_sync_share"]
    rows = watch.accounts[0].told()
    if share.point is None:
        why = share.why or "nothing is known of it"
        return f"It is not known what commits waited for: {why}."
    busy = watch.found["log_utilization"].point
    what = advice(share.point, "Change how commits are made")
    if share.point < SOME:
        what = log_first(busy) or what
    part = _with_interval(watch.found, "log_sync_share", " %")
    first = f"{what}: waiting for the log is {part} of the sessions' busy time"
    largest = max(rows, key=lambda row: row["time_s"], default=None)
    if share.point >= SOME or largest is None:
        return f"{first}."
    return f"{first}; {row_name(str(largest['row']))} takes {units.percent(largest['share']['point'])}."


def _behind(watch: _Watch) -> list[str]:
    """Sentences on a log that is always busy, on row locks, and on waits that the disk does not cause."""
    share, busy, flush_s, sync_s, of_binlog_s = (
        watch.found[key].point
        for key in (
            "log_sync_share",
            "log_utilization",
            "time_per_flush_s",
            "log_sync_per_commit_s",
            "time_per_binlog_flush_s",
        )
    )
    locked = [row["share"]["point"] or 0.0 for row in watch.accounts[0].told() if is_row_lock(row["row"])]
    found = row_locks(sum(locked), "the sessions' busy time", busy)
    if share is not None and share < SOME:
        found += saturated(busy, flush_s, sync_s)
    elif of_binlog_s is None:
        # With two logs a commit waits for flushes of both.
        found += not_the_disk(busy, flush_s, sync_s)
    return found


def _rates(found: Mapping[str, Found]) -> str:
    counts = [
        f"{_with_interval(found, key, '')} {words}"
        for key, words in (
            ("arrival_rate_per_s", "commits per second"),
            ("commits_per_flush", "commits per flush"),
        )
        if found[key].point is not None
    ]
    flush = (
        f"a flush took {_with_interval(found, 'time_per_flush_s', ' ms')}"
        if found["time_per_flush_s"].point is not None
        else ""
    )
    rates = f"there were {' and '.join(counts)}" if counts else ""
    text = ", and ".join(part for part in (rates, flush) if part)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _unknown(found: Mapping[str, Found], engine: str) -> str:
    # A symbol, as in "S: CPU per commit", does not belong into a sentence.
    names = [
        WATCH[key].name.split(": ")[-1]
        for key, item in found.items()
        if item.point is None and ("binlog" not in key or grouping_of(engine) is not None)
    ]
    missing = [name if name.split()[0].isupper() else f"{name[:1].lower()}{name[1:]}" for name in names]
    return f"Not known: {units.some(missing, _NAMED)}." if missing else ""


def _with_interval(found: Mapping[str, Found], key: str, unit: str) -> str:
    value = found[key].estimate().scaled(WATCH[key].scale)
    return units.with_interval(value.point, value.low, value.high, unit)


def _neighbours(watch: _Watch) -> dict[str, str]:
    """The correlation of stretches with the ones before them."""
    name = "autocorrelation"
    rate, lengths = each("arrival_rate_per_s", watch.counting), watch.counting.columns["elapsed_s"]
    known = np.isfinite(rate)
    commits, lengths = evened(rate[known] * lengths[known], lengths[known])
    rate = commits / lengths
    alike, independent = neighbours(rate), worth(rate)
    if alike is None or independent is None:
        return {
            "name": name,
            "outcome": "not_available",
            "text": "Not checked: there are too few stretches, or the load did not vary.",
        }
    return {
        "name": name,
        "outcome": "passed",
        "text": "The load in one stretch of time resembles that in the next (correlation "
        f"{units.minus(format(alike, '.2f'))}): the {len(rate):,} stretches are worth about "
        f"{independent:.0f} independent stretches. Every interval of this report allows for that "
        "correlation.",
    }


def _cost(watch: _Watch) -> dict[str, str]:
    """The cost of watching."""
    columns = watch.counting.columns
    here = float(np.nansum(columns["sampler_cpu_s"])) / watch.counting.elapsed_s
    server = columns["server_cpu_s"]
    there = (
        f", and {100 * float(np.nansum(server)) / watch.counting.elapsed_s:.2g} % of one in the server"
        if np.isfinite(server).any()
        else ""
    )
    return {
        "name": "what watching took",
        "outcome": "passed",
        "text": f"Watching took {100 * here:.2g} % of one CPU{there}; the processes were read "
        f"{int(np.nansum(columns['ticks'])):,} times.",
    }


def _warnings(watch: _Watch) -> list[str]:
    said = [
        f"{units.counted(count, 'stretch')} {'does' if count == 1 else 'do'} not count: {reason}."
        for reason, count in gaps.reasons(watch.mine)[:_NAMED]
    ]
    if watch.missed:
        longest = max(watch.missed, key=lambda gap: gap.length_s)
        said.append(
            f"{units.clock(sum(gap.length_s for gap in watch.missed))} were not watched, in "
            f"{units.counted(len(watch.missed), 'gap')}; the longest gap was from "
            f"{gaps.moment_text(longest.from_s)} to {gaps.moment_text(longest.to_s)}."
        )
    for key, name in (("cpu_utilization_cores", "the database"), ("host_utilization_cores", "the machine")):
        found = watch.found[key]
        if found.point is not None and found.point > 1:
            said.append(
                f"CPU time of {name} is {units.percent(found.point)} of the time of all cores, because CPU "
                "time is counted in threads. Use the figure for threads."
            )
    return said
