"""What the script of AWR-Miner spools of a series of snapshots."""

from __future__ import annotations

from collections.abc import Sequence

from tests.written_reports.printed import share
from tests.written_reports.truth import BOUNDS, Event, Truth, all_events

_PAD = 60
_MISSING = (
    "gc_cr_rec_s", "gc_cu_rec_s", "gc_cr_get_cs", "gc_cu_get_cs", "gc_bk_corrupted", "gc_bk_lost",
)  # fmt: skip
_HISTOGRAMS = ("db file sequential read", "log file parallel write", "log file sync")


def awr_miner(truths: Sequence[Truth]) -> str:
    """The `.out` file of one database: one truth for every snapshot and instance."""
    ordered = sorted(truths, key=lambda truth: (truth.end_snapshot, truth.instance_number))
    sections = [
        _system(ordered),
        _section("MAIN-METRICS", [_main(truth) for truth in ordered], {"end": 14}),
        _section("DATABASE-PARAMETERS", _parameters(ordered[-1]), {"PARAMETER_NAME": 64, "VALUE": 512}),
        _section("AVERAGE-ACTIVE-SESSIONS", _sessions(ordered), {"WAIT_CLASS": 20}),
        _section("IO-WAIT-HISTOGRAM", _histogram(ordered), {"WAIT_CLASS": 20, "EVENT_NAME": 37}),
        _section("TOP-N-TIMED-EVENTS", _top(ordered), {"WAIT_CLASS": 20, "EVENT_NAME": 60}),
    ]
    return "\n\n\n".join(sections) + "\n"


Row = dict[str, str | float | None]


def _section(name: str, rows: list[Row], texts: dict[str, int]) -> str:
    """A query between its header and footer; numbers stand ten wide, or as wide as their heading."""
    if not rows:
        return ""
    widths = {column: texts.get(column, max(10, len(column))) for column in rows[0]}
    heads = [
        column.ljust(width) if column in texts else column.rjust(width) for column, width in widths.items()
    ]
    lines = [f"~~BEGIN-{name}~~", "", " ".join(heads), " ".join("-" * width for width in widths.values())]
    for row in rows:
        cells = [
            str(value)[: widths[column]].ljust(widths[column])
            if column in texts
            else _number(value).rjust(widths[column])
            for column, value in row.items()
        ]
        lines.append(" ".join(cells))
    return "\n".join(line.rstrip() for line in [*lines, "", f"~~END-{name}~~"])


def _number(value: str | float | None) -> str:
    """As without any format: ten digits at most, no leading zero."""
    if value is None:
        return ""
    shown = f"{value:.10g}" if isinstance(value, float | int) else value
    return shown[1:] if shown.startswith("0.") else shown


def _system(truths: Sequence[Truth]) -> str:
    last = truths[-1]
    values = {
        "NUM_CPUS": last.cpus,
        "NUM_CPU_CORES": last.cores,
        "NUM_CPU_SOCKETS": last.sockets,
        "PHYSICAL_MEMORY_GB": round(last.memory_bytes / 2**30, 2),
        "!CPU_COUNT": last.cpus,
        "!CPU_CORE_COUNT": last.cores,
        "!CPU_SOCKET_COUNT": last.sockets,
        "!PLATFORM_NAME": last.platform,
        "PLATFORM_NAME": last.platform.replace(" ", "_"),
        "VERSION": last.release,
        "DB_NAME": last.database,
        "DBID": last.dbid,
        "INSTANCES": len({truth.instance_number for truth in truths}),
        "HOSTS": ",".join(sorted({truth.host for truth in truths})),
        "MODULE": "sqlplus",
        "AWR_MINER_VER": "5.22.2",
    }
    lines = ["~~BEGIN-OS-INFORMATION~~", f"{'STAT_NAME':{_PAD}} STAT_VALUE", f"{'-' * _PAD} {'-' * _PAD}"]
    lines += [f"{name:{_PAD}} {value}" for name, value in values.items()]
    return "\n".join([*lines, "~~END-OS-INFORMATION~~"])


def _main(truth: Truth) -> Row:
    """One row of the summary of the metrics; what the truth does not say is made up, or missing."""
    each = truth.elapsed_s
    statistics = truth.statistics
    cpu = share(truth.busy_cs, truth.busy_cs + truth.idle_cs)
    sessions = truth.db_time_s / each
    used = (truth.db_cpu_s + truth.background_cpu_s) / each
    reads = statistics.get("physical reads", 0) / each
    writes = statistics.get("physical writes", 0) / each
    latency = next((event for event in truth.foreground if event.name == "db file sequential read"), None)
    row: Row = {
        "snap": truth.end_snapshot,
        "dur_m": round(each / 60),
        "end": f"{truth.end:%y/%m/%d %H:%M}",
        "inst": truth.instance_number,
        "os_cpu": round(cpu, 1),
        "os_cpu_max": round(cpu * 1.4, 1),
        "os_cpu_sd": round(cpu * 0.1, 1),
        "db_wait_ratio": round(100 - share(truth.db_cpu_s, truth.db_time_s), 1),
        "db_cpu_ratio": round(share(truth.db_cpu_s, truth.db_time_s), 1),
        "cpu_p_sec": round(used, 3),
        "cpu_per_s_sd": round(used * 0.1, 3),
        "h_cpu_per_s": round(truth.busy_cs / 100 / each, 3),
        "h_cpu_per_s_sd": round(truth.busy_cs / 1000 / each, 3),
        "aas": round(sessions, 1),
        "aas_sd": round(sessions * 0.2, 1),
        "aas_max": round(sessions * 1.9, 1),
        "db_time": round(sessions * 100, 1),
        "db_time_sd": round(sessions * 20, 1),
        "sql_res_t_cs": round(100 * truth.db_time_s / max(truth.user_calls, 1), 1),
        "bkgd_t_per_s": round(truth.background_elapsed_s / each, 1),
        "logons_s": round(statistics.get("logons cumulative", 0) / each, 1),
        "logons_total": truth.sessions,
        "exec_s": round(truth.executes / each, 1),
        "hard_p_s": round(statistics.get("parse count (hard)", 0) / each, 1),
        "l_reads_s": round(statistics.get("session logical reads", 0) / each, 1),
        "commits_s": round(truth.commits / each, 1),
        "read_mb_s": round(reads / 128, 1),
        "read_mb_s_max": round(reads / 64, 1),
        "read_iops": round(reads, 1),
        "read_iops_max": round(reads * 2, 1),
        "read_bks": round(reads, 1),
        "read_bks_direct": 0,
        "write_mb_s": round(writes / 128, 1),
        "write_mb_s_max": round(writes / 64, 1),
        "write_iops": round(writes, 1),
        "write_iops_max": round(writes * 2, 1),
        "write_bks": round(writes, 1),
        "write_bks_direct": 0,
        "redo_mb_s": round(truth.redo_bytes / each / 2**20, 1),
        "db_block_gets_s": round(statistics.get("db block changes", 0) / each, 1),
        "db_block_changes_s": round(statistics.get("db block changes", 0) / each, 1),
    }
    row |= dict.fromkeys(_MISSING)
    row |= {"px_sess": 0, "se_sess": round(sessions, 1)}
    row["s_blk_r_lat"] = round(1000 * latency.seconds / latency.waits, 1) if latency else None
    return row | {"cell_io_int_mb": 0, "cell_io_int_mb_max": 0}


def _parameters(truth: Truth) -> list[Row]:
    return [{"PARAMETER_NAME": name, "VALUE": value} for name, value in sorted(truth.parameters.items())]


def _by_snapshot(truths: Sequence[Truth]) -> dict[int, list[Truth]]:
    found: dict[int, list[Truth]] = {}
    for truth in truths:
        found.setdefault(truth.end_snapshot, []).append(truth)
    return found


def _sessions(truths: Sequence[Truth]) -> list[Row]:
    """The foreground's sessions by wait class, of all instances together."""
    rows: list[Row] = []
    for snapshot, together in _by_snapshot(truths).items():
        classes: dict[str, float] = {}
        for truth in together:
            parts = [(event.wait_class, event.seconds) for event in truth.foreground if not event.idle]
            for name, seconds in [*parts, ("DB CPU", truth.db_cpu_s)]:
                classes[name] = classes.get(name, 0.0) + seconds / truth.elapsed_s
        rows += [
            {"SNAP_ID": snapshot, "WAIT_CLASS": name, "AVG_SESS": round(classes[name], 2)}
            for name in sorted(classes)
        ]
    return rows


def _top(truths: Sequence[Truth]) -> list[Row]:
    """The five longest events of all processes; what the script calls seconds are microseconds."""
    rows: list[Row] = []
    for snapshot, together in _by_snapshot(truths).items():
        found: dict[tuple[str, str], float] = {}
        for truth in together:
            for event in (*all_events(truth), Event("DB CPU", "DB CPU", 0, truth.db_cpu_s)):
                if not event.idle:
                    key = (event.wait_class, event.name)
                    found[key] = found.get(key, 0.0) + event.seconds
        whole = sum(truth.db_time_s for truth in together)
        for (wait_class, name), seconds in sorted(found.items(), key=lambda pair: -pair[1])[:5]:
            percent = round(share(seconds, whole), 2)
            row: Row = {"SNAP_ID": snapshot, "WAIT_CLASS": wait_class, "EVENT_NAME": name, "PCTDBT": percent}
            rows.append(row | {"TOTAL_TIME_S": round(seconds * 1e6)})
    return rows


def _histogram(truths: Sequence[Truth]) -> list[Row]:
    """Waits by the power of two of milliseconds below which they ended."""
    rows: list[Row] = []
    for snapshot, together in _by_snapshot(truths).items():
        found: dict[tuple[str, str, int], float] = {}
        for truth in together:
            for event in all_events(truth):
                for bound, percent in event.histogram.items() if event.name in _HISTOGRAMS else ():
                    key = (event.name, event.wait_class, 2 ** max(BOUNDS.index(bound) - 10, 0))
                    found[key] = found.get(key, 0.0) + event.waits * percent / 100
        for (name, wait_class, milli), waits in sorted(found.items()):
            row: Row = {"SNAP_ID": snapshot, "WAIT_CLASS": wait_class, "EVENT_NAME": name}
            rows.append(row | {"WAIT_TIME_MILLI": milli, "WAIT_COUNT": round(waits)})
    return rows
