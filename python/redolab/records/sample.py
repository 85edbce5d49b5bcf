"""The records everything else passes along: settings, parameter changes, snapshots, samples.

Frozen, without behaviour beyond arithmetic on themselves. A field that is `None` was not
available on that server (see `Capabilities` in `redolab.engine.base`); it is never a zero.
Counters are cumulative in a `Snapshot` and differences in a `Sample`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Role = Literal["treatment", "baseline_a", "baseline_b"]
Scope = Literal["transaction", "session", "system"]


@dataclass(frozen=True)
class Setting:
    """One combination of factor levels, as the experiment names it."""

    name: str
    """The levels joined with `/`, for example `nowait/batch`."""
    levels: Mapping[str, str]
    """Factor name to level."""
    parameters: Mapping[str, str]
    """The server's own parameters that realise the levels, by name, as the server spells the value."""
    scopes: Mapping[str, Scope]
    """How far each parameter reaches here; some have only the whole server."""
    tier: str
    """The promise of a commit acknowledgement: `disk`, `os`, `memory` or `replica`."""
    tier_text: str
    """The same in words."""


@dataclass(frozen=True)
class ParameterChange:
    """One change of a server parameter, as it goes into the manifest."""

    parameter: str
    before: str
    after: str
    scope: Scope
    at: str
    """UTC, ISO 8601."""
    setting: str
    """The setting it was made for; `restore` when it put the earlier value back."""


@dataclass(frozen=True)
class TaskAccount:
    """The kernel's account of one server process, cumulative."""

    pid: int
    kind: str
    """`client backend`, `walwriter`, `checkpointer`, ... as `pg_stat_activity.backend_type` has it."""
    start_ticks: int
    """Start time in clock ticks since boot: pid and start name a process uniquely."""
    cpu_ns: int
    run_queue_ns: int | None
    """Runnable, but waiting for a CPU; None where the account does not contain it."""


@dataclass(frozen=True)
class ServerClock:
    """The server's clock, read over a connection: between two moments of the measuring process's clock."""

    asked_s: float
    """Monotonic clock, seconds, before the server was asked."""
    at_s: float
    """Time on the server's clock, seconds since 1970; somebody may set that clock."""
    answered_s: float
    """Monotonic clock, seconds, once the answer was there."""


@dataclass(frozen=True)
class Snapshot:
    """Every cumulative counter at one instant."""

    at_s: float
    """Monotonic clock of the measuring process, seconds."""
    epoch: str
    """Changes when the server's counters begin again at zero (restart or reset): start and reset times."""
    counters: Mapping[str, float | None]
    """`log_bytes`, `log_writes`, `log_flushes`, ... as named in `Sample`; None where not available."""
    tasks: tuple[TaskAccount, ...] | None
    """All server processes, or None where the kernel's accounts cannot be read."""
    reaped_cpu_ns: int | None
    """CPU of server processes that have ended since the server started."""
    session_pids: tuple[int, ...]
    """The server processes that serve the working sessions."""
    server_clock: ServerClock | None = None
    """None where the time of the work is not taken from the server's clock."""
    cpu_times: Mapping[int, tuple[float, float]] | None = None
    """Each CPU of the server's machine: seconds in which it was not idle, and all its seconds."""
    log_writers: frozenset[str] = frozenset()
    """The kinds of tasks that only write and flush the log; empty where the server does not have any."""


@dataclass(frozen=True)
class Responses:
    """Outcomes of transactions that were asked for at random moments, in one interval.

    Histograms as in `Work.latency`.
    """

    times: tuple[tuple[float, int], ...]
    """From the moment a transaction was asked for to its acknowledgement."""
    total_s: float
    """Their sum."""
    lag: tuple[tuple[float, int], ...]
    """Client lag: from that moment to the beginning of the transaction, where a session was free for it."""
    waited: int
    """Transactions that found no session free, and began when one was."""
    unserved: int
    """Transactions that were never begun, because no session was free before the end."""


@dataclass(frozen=True)
class Work:
    """Work that the sessions did in one interval, by their own count."""

    commits: int
    rows: int
    failed: int
    """Units that changed no row, or that a session gave up."""
    session_elapsed_s: float
    """Sum over the sessions of the time inside their loops."""
    session_elapsed_max_s: float
    """The longest of them: the interval in which the load ran."""
    units: int = 0
    """Units of work of the experiment: commits, rows, queries ..."""
    first_unit_s: float | None = None
    """Time of the first of them, where a session reported it."""
    row_versions: int | None = None
    """Versions of rows that its scans passed, the visible ones among them."""
    trouble: str | None = None
    """Why the sample is spoiled, as seen by the sessions; None when nothing happened."""
    client_cpu_s: float | None = None
    """CPU of the client's threads; None where the loop runs inside the server."""
    latency: tuple[tuple[float, int], ...] = ()
    """Commit times where they were noted: upper bound of a bucket in microseconds, and its commits."""
    responses: Responses | None = None
    """None where each session begins its next transaction at once."""


@dataclass(frozen=True)
class TickCount:
    """How many ticks saw one combination of wait event and scheduler state."""

    scope: Literal["session", "background"]
    kind: str
    wait_class: str
    """`""` when no wait was posted."""
    event: str
    """`""` when no wait was posted."""
    state: Literal["on_cpu", "runnable", "asleep", "unknown", "awake"]
    """As in `redolab.records.observation.STATES`."""
    ticks: int


@dataclass(frozen=True)
class OnOff:
    """Throughput with the wait sampler on and off, in two slices of one sample that follow each other."""

    pair: int
    """1, 2, 3 ... in the sample."""
    on_first: bool
    """Which of the two came first; drawn at random for each pair."""
    on_per_s: float
    """Transactions of the whole server that took a transaction id, per second, with the sampler on."""
    off_per_s: float
    """The same with the sampler off."""


@dataclass(frozen=True)
class Ticks:
    """Ticks of the wait sampler in one interval, and how well it kept time."""

    counts: tuple[TickCount, ...] = ()
    rounds: int = 0
    """Readings of the whole server."""
    late: int = 0
    """Readings later than half a mean gap."""
    lost: int = 0
    """Readings that failed."""
    cpu_s: float = 0.0
    """CPU of the sampler itself in this process."""
    torn: int = 0
    """Looks during which the event changed: their scheduler state is unknown."""
    looks: int = 0
    """Looks at one process each, idle ones too."""
    realtime: bool | None = None
    """Whether the sampler ran at real-time priority; None where that means nothing."""
    sampled_s: float = 0.0
    """Time in which the sampler was on, seconds."""
    pairs: tuple[OnOff, ...] = ()
    """The sampler's effect on the load, in pairs of slices with the sampler on and off."""


@dataclass(frozen=True)
class ProcessTime:
    """One server process's time in one sample (a row of `profile.parquet`)."""

    sample: int
    pid: int
    kind: str
    scope: Literal["session", "background"]
    cpu_ns: int
    run_queue_ns: int | None


@dataclass(frozen=True)
class WaitRow:
    """One `TickCount` of one sample (a row of `waits.parquet`)."""

    sample: int
    scope: Literal["session", "background"]
    kind: str
    wait_class: str
    event: str
    state: str
    ticks: int


@dataclass(frozen=True)
class OverheadRow:
    """One `OnOff` of one sample (a row of `overhead.parquet`)."""

    sample: int
    pair: int
    on_first: bool
    on_per_s: float
    off_per_s: float


@dataclass(frozen=True)
class LatencyRow:
    """One bucket of the times of one sample (a row of `latency.parquet`)."""

    sample: int
    upper_us: float
    """The bucket's end. A bucket is half a microsecond or a thousandth wide where a client noted the times,
    and one microsecond or two thousandths where a loop inside the server did."""
    commits: int
    kind: Literal["commit", "response", "lag"] = field(
        default="commit",
        metadata={
            "doc": "time that was measured: `commit`, from sending the statement that commits to its "
            "acknowledgement; `response`, from the moment a transaction was asked for to its "
            "acknowledgement; `lag`, from that moment to the transaction's beginning where a session was free"
        },
    )


@dataclass(frozen=True)
class Sample:
    """The difference of two snapshots under one setting (a row of `samples.parquet`)."""

    sample: int = field(metadata={"doc": "1, 2, 3 ... in the order measured"})
    block: int = field(metadata={"doc": "1, 2, 3 ..."})
    position: int = field(metadata={"doc": "place inside the block, from 1"})
    setting: str = field(metadata={"doc": "name of the setting"})
    role: Role = field(metadata={"doc": "each block has the baseline twice: a and b"})
    started_at: str = field(metadata={"doc": "UTC, ISO 8601"})
    start_s: float = field(metadata={"doc": "seconds since the run began"})
    elapsed_s: float = field(metadata={"doc": "the interval in which the load ran"})
    spoiled: str | None = field(metadata={"doc": "why this sample does not count; null when it does"})

    sessions: int = field(metadata={"doc": "working sessions"})
    commits: int = field(metadata={"doc": "commits, by the sessions' own count"})
    rows: int = field(metadata={"doc": "rows changed, by the sessions' own count"})
    failed: int = field(metadata={"doc": "lost or failed units of work"})
    session_elapsed_s: float = field(metadata={"doc": "sum over sessions of time in their loops"})

    session_cpu_s: float | None = field(metadata={"doc": "CPU of the working sessions' processes"})
    session_run_queue_s: float | None = field(metadata={"doc": "time that these processes waited for a CPU"})
    instance_cpu_s: float | None = field(metadata={"doc": "CPU of all server processes, ended ones too"})
    instance_run_queue_s: float | None = field(metadata={"doc": "run-queue time of all server processes"})
    host_cpus: int | None = field(metadata={"doc": "logical CPUs online; for cpu-capacity those it may use"})
    host_busy_s: float | None = field(metadata={"doc": "CPU time of all processes on these CPUs"})
    host_steal_s: float | None = field(metadata={"doc": "CPU time given to others by the hypervisor"})

    server_rows: int | None = field(metadata={"doc": "rows changed, by the server's count"})
    log_bytes: int | None = field(metadata={"doc": "bytes of WAL generated"})
    log_full_page_images: int | None = field(metadata={"doc": "whole pages in the WAL"})
    log_writes: int | None = field(metadata={"doc": "write calls to the log"})
    log_write_time_s: float | None = field(metadata={"doc": "time in these write calls, all processes"})
    log_flushes: int | None = field(metadata={"doc": "flush calls on the log"})
    log_flush_time_s: float | None = field(metadata={"doc": "time in these flush calls, all processes"})
    checkpoints: int | None = field(metadata={"doc": "checkpoints that the server counted during the sample"})
    vacuums: int | None = field(metadata={"doc": "vacuums that the server counted during the sample"})

    device_flushes: int | None = field(metadata={"doc": "flushes on the emulated log device"})
    device_requested_s: float | None = field(metadata={"doc": "time requested for these flushes"})
    device_delivered_s: float | None = field(metadata={"doc": "time that these flushes really took"})

    ticks: int = field(metadata={"doc": "readings of the wait sampler"})
    ticks_late: int = field(metadata={"doc": "readings later than half a mean gap"})
    ticks_lost: int = field(metadata={"doc": "readings that failed"})
    sampler_cpu_s: float = field(metadata={"doc": "CPU of the sampler, here and in the server"})
    # Columns that runs stored before them do not have.
    units: int | None = field(default=None, metadata={"doc": "units of work, as the experiment counts them"})
    sampled_s: float | None = field(default=None, metadata={"doc": "time in which the sampler was on"})
    looks: int | None = field(default=None, metadata={"doc": "looks at one process each, idle ones too"})
    looks_torn: int | None = field(default=None, metadata={"doc": "looks during which the event changed"})
    sampler_realtime: bool | None = field(
        default=None,
        metadata={"doc": "whether the sampler had real-time priority; null where it is a query"},
    )
    first_unit_s: float | None = field(default=None, metadata={"doc": "time of the first unit of work"})
    row_versions: int | None = field(
        default=None, metadata={"doc": "versions of rows that scans passed, the visible ones among them"}
    )
    buffer_hits: int | None = field(
        default=None, metadata={"doc": "pages of Redolab's tables that were found in the server's cache"}
    )
    buffer_reads: int | None = field(
        default=None, metadata={"doc": "pages that the server had to ask the operating system for"}
    )
    client_cpu_s: float | None = field(
        default=None, metadata={"doc": "CPU of the client; null where the loop runs inside the server"}
    )
    host_idle_s: float | None = field(
        default=None, metadata={"doc": "the CPUs' idle time; cpu-capacity alone"}
    )
    throttled_periods: int | None = field(
        default=None, metadata={"doc": "periods in which a control group's CPU quota ran out"}
    )
    throttled_s: float | None = field(
        default=None, metadata={"doc": "time that the quota withheld CPUs, summed over CPUs"}
    )
    response_s: float | None = field(
        default=None,
        metadata={"doc": "sum of response times, from the scheduled moments; null without arrivals"},
    )
    arrivals_waited: int | None = field(
        default=None, metadata={"doc": "transactions that found no session free at their scheduled moment"}
    )
    arrivals_unserved: int | None = field(
        default=None, metadata={"doc": "transactions scheduled and not begun before the end of the sample"}
    )
    database_busy_s: float | None = field(
        default=None,
        metadata={"doc": "time in statements and transactions, by the server's account of all its sessions"},
    )
    server_commits: int | None = field(
        default=None, metadata={"doc": "transactions that wrote, by the server's count"}
    )
    binlog_flushes: int | None = field(default=None, metadata={"doc": "flush calls on the binary log"})
    binlog_flush_time_s: float | None = field(default=None, metadata={"doc": "time in binary log flushes"})
    binlog_groups: int | None = field(default=None, metadata={"doc": "groups of commits written at once"})
    binlog_bytes: int | None = field(default=None, metadata={"doc": "bytes of binary log written"})
    consistent_gets: int | None = field(default=None, metadata={"doc": "blocks read as of an earlier time"})
    consistent_changes: int | None = field(default=None, metadata={"doc": "changes undone for such reads"})
    cr_blocks_created: int | None = field(default=None, metadata={"doc": "block copies made for such reads"})
    undo_records_applied: int | None = field(
        default=None, metadata={"doc": "undo records applied for such reads"}
    )
    history_list_length: int | None = field(
        default=None, metadata={"doc": "transactions whose undo log is not purged at the end of the sample"}
    )
    seam: int | None = field(
        default=None, metadata={"doc": "how often the run was continued on a new private server before"}
    )
    cpu_loop_s: float | None = field(
        default=None, metadata={"doc": "CPU time of a fixed loop just before it, on the server's machine"}
    )
    flush_s: float | None = field(
        default=None, metadata={"doc": "time of a flush before it, on the disk of a private server's data"}
    )
    busiest_cpu: float | None = field(
        default=None, metadata={"doc": "share of the time in which the busiest CPU was not idle"}
    )
    log_writer_cpu_s: float | None = field(
        default=None, metadata={"doc": "CPU of the server's processes or threads for the log alone"}
    )
    log_writer_run_queue_s: float | None = field(default=None, metadata={"doc": "their run-queue time"})


@dataclass(frozen=True)
class Kill:
    """One hard kill of the server under one setting (a row of a durability run's `samples.parquet`)."""

    sample: int = field(metadata={"doc": "1, 2, 3 ... in the order measured"})
    block: int = field(metadata={"doc": "1, 2, 3 ..."})
    position: int = field(metadata={"doc": "place inside the block, from 1"})
    setting: str = field(metadata={"doc": "name of the setting"})
    started_at: str = field(metadata={"doc": "UTC, ISO 8601"})
    start_s: float = field(metadata={"doc": "seconds since the run began"})
    elapsed_s: float = field(metadata={"doc": "load time before the kill"})
    spoiled: str | None = field(metadata={"doc": "why this kill does not count; null when it does"})

    sessions: int = field(metadata={"doc": "working sessions"})
    acknowledged: int = field(metadata={"doc": "commits whose acknowledgement a session had received"})
    missing: int = field(metadata={"doc": "acknowledged commits absent after recovery"})
    unacknowledged: int = field(metadata={"doc": "commits recovered that were never acknowledged"})
    loss_window_s: float | None = field(metadata={"doc": "age of the oldest missing commit at the kill"})
    recovery_s: float = field(metadata={"doc": "time from restart to the first query answered"})
