"""The tables of a report, built once for the page and for the terminal; nothing is recomputed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab import units
from redolab.report import cells
from redolab.report.cells import Cell, Column, Results, Table

_NAMED_ROWS = {
    "on_cpu": "on CPU",
    "run_queue": "run queue",
    "on_cpu_or_unknown": "on CPU or unknown",
    "unaccounted": "unaccounted",
}
_ROW_MEANINGS = {
    "on_cpu": "executing on a processor, by the kernel's account",
    "run_queue": "ready to run, waiting for a processor, by the kernel's account",
    "on_cpu_or_unknown": "no wait was posted; the kernel's accounts could not be read",
    "unaccounted": "response time that no account explains; negative when accounts overlap",
}
# PostgreSQL 17 renamed the WAL events' case, hence the lower-case keys.
_EVENT_NAMES = {
    "io:walsync": "log sync",
    "io:walwrite": "log write",
    "lwlock:walwrite": "log sync by another",
    "lwlock:walinsert": "log insert lock",
    "lwlock:walbufmapping": "log buffer lock",
    "lwlock:buffercontent": "page lock",
    "lwlock:procarray": "process array lock",
    "lwlock:xidgen": "transaction id lock",
    "lock:transactionid": "row lock",
    "lock:tuple": "row lock queue",
    "io:datafileread": "data file read",
    "io:datafilewrite": "data file write",
    "io:datafileextend": "data file extend",
    "ipc:procarraygroupupdate": "group transaction end",
    "ipc:xactgroupupdate": "group status update",
    "client:clientread": "waiting for the client",
}
_EVENT_MEANINGS = {
    "io:walsync": "the process itself waits until the log device has stored the log",
    "io:walwrite": "the process itself hands log pages to the operating system",
    "lwlock:walwrite": "another process is writing or flushing the log; this one waits for it to end",
    "lwlock:walinsert": "copying a record into the log buffer waits for other copies",
    "lwlock:walbufmapping": "the log buffer is full and its pages are being replaced",
    "lwlock:buffercontent": "another process holds the data page",
    "lock:transactionid": "another transaction holds the row",
    "ipc:procarraygroupupdate": "another process ends this transaction in a group",
    "ipc:xactgroupupdate": "another process records this commit in a group",
}


def row_name(row: str) -> str:
    """Name a row of the time profile in words; the server's own event name where it has none."""
    return _NAMED_ROWS.get(row) or _EVENT_NAMES.get(row.lower(), row)


def row_meaning(row: str) -> str:
    """Say what a row of the time profile means; empty where the event's name must do."""
    return _ROW_MEANINGS.get(row) or _EVENT_MEANINGS.get(row.lower(), "")


def emulation(results: Results) -> str:
    """The stamp every table of an emulated run carries; empty on real devices."""
    device = results["engine"].get("emulated", {}).get("log_device_ms")
    if not device:
        return ""
    delivered = device.get("delivered")
    text = f"EMULATED log device {device['requested']:g} ms"
    return text + (f" (delivered {cells.estimate(delivered).text})" if delivered else "")


def profile_rows(results: Results, scope: str = "profile") -> list[str]:
    """Rows of the time profile over all settings: CPU, run queue, waits by size, unaccounted last."""
    largest: dict[str, float] = {}
    for setting in results["settings"]:
        for entry in setting.get(scope) or ():
            size = abs(entry["share"]["point"] or 0.0)
            largest[entry["row"]] = max(size, largest.get(entry["row"], 0.0))
    waits = sorted((row for row in largest if row not in _NAMED_ROWS), key=lambda row: -largest[row])
    first = [row for row in ("on_cpu", "run_queue", "on_cpu_or_unknown") if row in largest]
    return [*first, *waits, *(["unaccounted"] if "unaccounted" in largest else [])]


def shares(setting: Mapping[str, Any], scope: str = "profile") -> dict[str, Mapping[str, Any]]:
    """A setting's share per row of its time profile."""
    return {entry["row"]: entry["share"] for entry in setting.get(scope) or ()}


def times(setting: Mapping[str, Any], scope: str = "profile") -> dict[str, Mapping[str, Any]]:
    """A setting's time per commit, in milliseconds, per row of its time profile."""
    return {entry["row"]: entry["per_commit_ms"] for entry in setting.get(scope) or ()}


def comparison(results: Results, setting: str, metric: str) -> Mapping[str, Any] | None:
    """Find the comparison of a setting with the baseline."""
    for entry in results["comparisons"]:
        if entry["a"] == setting and entry["metric"] == metric:
            return dict(entry)
    return None


def baseline(results: Results) -> str:
    """Name of the setting every other one is compared with."""
    return str(results["verdict"]["baseline"])


def verdict(results: Results) -> tuple[str, str]:
    """The verdict's first sentence, and the rest of it."""
    first, stop, rest = str(results["verdict"]["text"]).partition(". ")
    return first + stop.rstrip(), rest


def server(results: Results) -> str:
    """Name the server measured."""
    engine = results["engine"]
    place = "" if engine.get("local", True) else ", on another machine"
    return f"PostgreSQL {engine['version']} ({engine['name']}{place})"


def load(results: Results) -> str:
    """Say what the sessions did."""
    described = results["load"]
    name = f"{described['name']}, " if described.get("name") else ""
    return f"{name}{described['sessions']} sessions, one row per commit"


def facts(results: Results) -> list[tuple[str, str]]:
    """What was measured and where, as name and value."""
    samples = sum(setting["samples"] for setting in results["settings"])
    spoiled = sum(setting["spoiled"] for setting in results["settings"])
    seconds = units.duration(results["load"]["seconds"])
    extra = f", {spoiled} more spoiled" if spoiled else ""
    return [
        ("Server", server(results)),
        ("Load", load(results)),
        ("Samples", f"{samples} of {seconds}{extra}"),
        ("Commit mode set per", str(results["load"]["scope"])),
        ("Log device", emulation(results) or "the machine's own"),
        ("Regime of the baseline", _regime(results["regime"])),
    ]


def null_test(results: Results) -> str:
    """The run's own check, the baseline against itself, in one sentence."""
    test = results["null_test"]
    if test["passed"] is None:
        return "A/A check: not available; the baseline was not measured twice in every block."
    ratio = cells.estimate(test["ratio"])
    text = (
        f"A/A check {'passed' if test['passed'] else 'FAILED'}: the baseline against itself "
        f"{ratio.text}× ({ratio.interval}), {cells.p_equals(test['pvalue'])}."
    )
    if not test["passed"]:
        return text + " Equal settings look different in this run, so no verdict is given."
    smallest = test.get("minimum_detectable_ratio")
    if smallest is None:
        return text
    least = (
        f"a difference of {units.percent(smallest - 1)} or more" if smallest < 2
        else f"only differences by a factor of {cells.number(smallest)} or more"
    )  # fmt: skip
    return f"{text} This run can tell {least}."


def glance(results: Results) -> Table:
    """One row per setting: what it promises, what it gives, and against the baseline."""
    unit = cells.time_unit(results)
    rows = [
        [
            Cell(setting["name"]),
            Cell(setting["tier"]),
            cells.estimate(setting["throughput_per_s"]),
            cells.estimate(setting["response_time_ms"], unit.per_ms),
            *_against_baseline(results, setting["name"], "throughput_per_s"),
        ]
        for setting in results["settings"]
    ]
    columns = (
        Column("Setting", align="left"),
        Column("Durability tier", align="left"),
        Column("Commits", "per s"),
        Column("Response time R", f"{unit.name} per commit"),
        Column("Commits/s against baseline", "ratio"),
        Column("Outcome", align="left"),
    )
    return Table("glance", f"The settings against {baseline(results)}", columns, rows)


def profile_times(results: Results) -> Table:
    """Time per commit in each row of the session profile."""
    unit = cells.time_unit(results)

    def time(setting: Mapping[str, Any], row: str) -> Cell:
        value = unit.of(times(setting)[row]["point"]) if row in times(setting) else None
        whole = unit.of(setting["response_time_ms"]["point"])
        return Cell("–") if value is None or whole is None else Cell(cells.part(value, whole))

    responses = [unit.of(setting["response_time_ms"]["point"]) for setting in results["settings"]]
    total = [Cell("–") if value is None else Cell(cells.part(value, value)) for value in responses]
    table = _profile(results, "profile", unit.name, time)
    return Table(
        "profile-times",
        f"Time per commit, session scope, {unit.name}",
        table.columns,
        [*table.rows, [Cell("response time R"), Cell(""), *total]],
        "The rows of a setting sum to its R. “–”: never seen in that setting.",
    )


def profile_shares(results: Results, scope: str) -> Table:
    """Share of each row in the time profile, with intervals; `scope` is `profile` or `instance_profile`."""
    name = "session" if scope == "profile" else "instance"

    def part(setting: Mapping[str, Any], row: str) -> Cell:
        found = shares(setting, scope).get(row)
        return cells.share(found) if found else Cell("–")

    table = _profile(results, scope, "%", part)
    return Table(f"{name}-shares", f"Share of the time, {name} scope, %", table.columns, table.rows)


def histogram_values(results: Results) -> Table:
    """The response times behind the smoothed histograms, one row per sample of each setting."""
    unit = cells.time_unit(results)
    settings = [item for item in results["settings"] if item.get("density")]
    values = [item["density"]["values_ms"] for item in settings]
    longest = max(map(len, values), default=0)
    rows = [
        [
            Cell(str(index + 1)),
            *(
                Cell(cells.number(unit.of(column[index]), 4) if index < len(column) else "")
                for column in values
            ),
        ]
        for index in range(longest)
    ]
    columns = [
        Column("Sample of the setting"),
        *(Column(item["name"], unit.name) for item in settings),
    ]
    return Table("histogram-values", "Response time R of each sample", columns, rows)


def curve_points(results: Results) -> Table:
    """The measured points of the response-time curve."""
    unit = cells.time_unit(results)
    rows = [
        [
            Cell(points["setting"]),
            Cell(cells.number(rate, 4)),
            Cell(cells.number(unit.of(time), 4)),
        ]
        for points in results["curve"]["points"]
        for rate, time in zip(points["arrival_rate_per_s"], points["response_time_ms"], strict=True)
    ]
    columns = (
        Column("Setting", align="left"),
        Column("Commits L", "per s"),
        Column("Response time R", f"{unit.name} per commit"),
    )
    return Table("curve-points", "Measured points", columns, rows)


def curve_published(results: Results) -> Table:
    """What the published curves take and give."""
    unit = cells.time_unit(results)
    rows = [
        [
            Cell(curve["setting"]),
            Cell(cells.number(curve["servers"])),
            Cell(cells.number(unit.of(curve["service_time_ms"]))),
            Cell(cells.number(rate, 4)),
            Cell(cells.number(unit.of(time), 4)),
        ]
        for curve in results["curve"].get("published", ())
        for rate, time in zip(curve["arrival_rate_per_s"], curve["response_time_ms"], strict=True)
    ]
    columns = (
        Column("Setting", align="left"),
        Column("Servers M"),
        Column("Service time S", unit.name),
        Column("Commits L", "per s"),
        Column("Response time R", f"{unit.name} per commit"),
    )
    return Table("curve-published", "Curves as published, R = S / (1 − (S L / M)^M)", columns, rows)


def unit_of_work(results: Results, scope: str) -> Table:
    """The published unit-of-work table; `scope` is `session` or `instance`."""
    unit = cells.time_unit(results)
    figures = (
        ("arrival_rate_per_s", "arrival_rate_change_pct", 1.0),
        ("cpu_ms", "cpu_change_pct", unit.per_ms),
        ("wait_ms", "wait_change_pct", unit.per_ms),
        ("response_ms", "response_change_pct", unit.per_ms),
    )
    rows = []
    for entry in results["as_published"]["unit_of_work"].get(scope) or ():
        row = [Cell(entry["setting"]), Cell(cells.count(entry["samples"]))]
        for figure, figure_change, scale in figures:
            value = entry.get(figure)
            row.append(Cell(cells.number(None if value is None else value * scale)))
            row.append(_change(entry, figure_change, results))
        rows.append(row)
    columns = [Column("Setting", align="left"), Column("Samples")]
    for title, unit_name in (
        ("Avg L", "commits/s"),
        ("Avg CPUt", f"{unit.name}/commit"),
        ("Avg Wt", f"{unit.name}/commit"),
        ("Avg Rt", f"{unit.name}/commit"),
    ):
        columns += [Column(title, unit_name), Column("change", "%")]
    meaning = {
        "session": "Time of the working sessions alone.",
        "instance": "Time of every server process, background processes too.",
    }[scope]
    return Table(f"unit-of-work-{scope}", f"Unit of work, {scope} scope", columns, rows, meaning)


def overview(results: Results) -> Table:
    """The published overview table."""
    rows = [
        [
            Cell(entry["setting"]),
            Cell(cells.number(entry["commits_per_s"])),
            *(Cell(cells.number(entry[key])) for key in ("cpu_pct", "log_sync_pct", "log_write_pct")),
        ]
        for entry in results["as_published"]["overview"]
    ]
    columns = (
        Column("Setting", align="left"),
        Column("Commits", "per s"),
        Column("CPU", "%"),
        Column("Log sync", "% of non-idle wait"),
        Column("Log write", "% of non-idle wait"),
    )
    return Table("overview", "Overview", columns, rows)


def published_tests(results: Results) -> Table:
    """The tests the published experiments used, which ignore the order of the samples."""
    rows = [
        [
            Cell(test["a"] or "all settings"),
            Cell(test["b"] or "each other"),
            cells.pvalue(test["normal_a_pvalue"]),
            cells.pvalue(test["normal_b_pvalue"]),
            Cell(test["test"]),
            cells.pvalue(test["pvalue"]),
        ]
        for test in results["as_published"]["tests"]
    ]
    columns = (
        Column("Setting", align="left"),
        Column("against", align="left"),
        Column("Normality, setting", "p"),
        Column("Normality, against", "p"),
        Column("Test", align="left"),
        Column("Difference", "p"),
    )
    note = "These take the samples as independent; drift makes them call equal settings different."
    return Table("published-tests", "Tests as published", columns, rows, note)


def comparisons(results: Results) -> Table:
    """The run's own comparisons, paired within blocks."""
    metrics = {"throughput_per_s": "commits/s", "response_time_ms": "R"}
    rows = [
        [
            Cell(entry["a"]),
            Cell(metrics.get(entry["metric"], entry["metric"])),
            cells.estimate(entry["ratio"]),
            cells.pvalue(entry["pvalue"]),
            cells.pvalue(entry["pvalue_adjusted"]),
            cells.outcome(entry["outcome"]),
            Cell(blocks_needed(entry)),
        ]
        for entry in results["comparisons"]
    ]
    columns = (
        Column("Setting", align="left"),
        Column("Figure", align="left"),
        Column("Ratio to baseline", "× (interval)"),
        Column("p"),
        Column("p, adjusted", "Holm"),
        Column("Outcome", align="left"),
        Column("To settle it", align="left"),
    )
    note = "Ratios are paired within blocks; p from a permutation of the signs within blocks."
    friedman = results.get("friedman")
    if friedman:
        note += (
            f" Friedman test over all settings: statistic {cells.number(friedman['statistic'])}, "
            f"{cells.p_equals(friedman['pvalue'])}."
        )
    return Table("comparisons", f"Comparisons with {baseline(results)}", columns, rows, note)


def log_figures(results: Results) -> Table:
    """How each setting uses the log."""
    rows = [
        [
            Cell(setting["name"]),
            cells.estimate(setting["commits_per_flush"]),
            cells.estimate(setting["flush_time_ms"]),
            cells.estimate(setting["wal_bytes_per_commit"]),
            cells.estimate(setting["run_queue_time_ms"], cells.time_unit(results).per_ms),
            Cell(cells.count(setting["failed"])),
        ]
        for setting in results["settings"]
    ]
    columns = (
        Column("Setting", align="left"),
        Column("Commits per flush"),
        Column("Log flush", "ms"),
        Column("Log", "bytes per commit"),
        Column("Run queue", f"{cells.time_unit(results).name} per commit"),
        Column("Failed commits"),
    )
    return Table("log-figures", "The log, the run queue and failures", columns, rows)


def blocks_needed(entry: Mapping[str, Any]) -> str:
    """Say how many more blocks would settle a comparison; empty when it is settled."""
    needed = entry.get("blocks_needed")
    if not needed:
        return ""
    return f"{cells.count(needed)} more {'block' if needed == 1 else 'blocks'}"


def _regime(regime: Mapping[str, Any]) -> str:
    parts = [
        f"{name} {cells.number(100 * regime[key]['point'])}\u00a0%"
        for name, key in (("log sync", "log_sync_share"), ("CPU and its queue", "cpu_share"))
        if regime[key] and regime[key]["point"] is not None
    ]
    return ": ".join([regime["name"], ", ".join(parts)] if parts else [regime["name"]])


def _against_baseline(results: Results, setting: str, metric: str) -> list[Cell]:
    if setting == baseline(results):
        return [Cell("1"), Cell("baseline", tone="baseline")]
    entry = comparison(results, setting, metric)
    if entry is None:
        return [Cell(cells.NOT_AVAILABLE), Cell(cells.NOT_AVAILABLE)]
    return [cells.estimate(entry["ratio"], suffix="×"), cells.outcome(entry["outcome"])]


def _change(entry: Mapping[str, Any], key: str, results: Results) -> Cell:
    if entry["setting"] == baseline(results):
        return Cell("–")
    return cells.change(entry.get(key))


def _profile(results: Results, scope: str, unit: str, cell: Any) -> Table:
    rows = []
    for row in profile_rows(results, scope):
        event = "" if row in _NAMED_ROWS else row
        figures = [cell(setting, row) for setting in results["settings"]]
        rows.append([Cell(row_name(row)), Cell(event), *figures])
    columns = [Column("Time spent", align="left"), Column("Wait event", align="left")]
    columns += [Column(setting["name"], unit) for setting in results["settings"]]
    return Table(scope, "", columns, rows)
