"""Consumption of a PostgreSQL server by a run: transaction ids and log, both at most.

Every commit takes a transaction id, and 2^31 of them after its oldest a server takes no more commits. Where a
sample is a fixed amount of work both are counted. Where it lasts so many seconds they are bounds at a stated
rate. A quicker server takes more, and the run's own look at the oldest id ends it then.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from redolab import units
from redolab.dialect.postgres import ROW_HEADER_BYTES
from redolab.records.design import Design, Trial
from redolab.records.load import Inserts, Ledger, Load, OwnRows, Scans, Script, Updates

WAITING_PER_S = 40_000
"""Commits a second that wait for the log, at most: 30,300 were seen."""
NOT_WAITING_PER_S = 150_000
"""Commits a second that do not: runs here had 113,000 to 179,000, by how idle the machine was."""
ROWS_PER_S = 500_000
"""Rows a second where a commit has many, at most: 356,000 were seen."""

# Work in addition to a sample: pilots that size it, probes, a sample that ends late.
_SPARE_S = 0.5
_SIZING_S = 1.0
_IDS_PER_TRIAL, _IDS_PER_RUN = 100, 1_000
# Bytes of a commit's record, and of a row's without its filler; the filler is in the log where an update
# moves to another page, and always under wal_level = logical.
_COMMIT_BYTES, _ROW_BYTES = 50, 150
_PAGE_BYTES = 8192
# After a checkpoint a page goes whole into the log once. A server of Redolab's own has one before each
# sample; any has one every checkpoint_timeout, or when half its max_wal_size is written: the defaults.
_CHECKPOINT_S, _CHECKPOINT_BYTES = 300, 0.5e9
_OFF = frozenset({"off", "of", "false", "no", "0"})


@dataclass(frozen=True)
class Consumption:
    """Largest consumption of a run."""

    transaction_ids: int
    log_bytes: int | None
    """None where the user's own statements decide it."""

    @property
    def text(self) -> str:
        """In words, with the rates."""
        log = "the log that your statements generate"
        if self.log_bytes is not None:
            log = f"{self.log_bytes / 1e9:,.1f} GB of log"
        return (
            f"at most {units.millions(self.transaction_ids)} transaction ids and {log}, at "
            f"{NOT_WAITING_PER_S:,} commits a second, {WAITING_PER_S:,} where they wait for the log"
        )


def consumption(design: Design, load: Load, combinations: Mapping[str, Mapping[str, str]]) -> Consumption:
    """Largest consumption of a run, known before it begins.

    Args:
        design: the design; the work of a sample may still be open.
        load: the work of the sessions.
        combinations: setting name to its levels.
    """
    order = design.order()
    ids = _IDS_PER_RUN + len(order) * _IDS_PER_TRIAL
    commits, rows, load_s = 0, _made_rows(load), design.load_time() + len(order) * _SPARE_S
    for trial in order:
        done = _work(design, load, combinations[trial.setting], trial)
        commits, rows = commits + done[0], rows + done[1]
    for levels in combinations.values():
        sizing = math.ceil(_SIZING_S * _rate_per_s(load, levels))
        commits, rows = commits + sizing, rows + sizing * _rows_per_commit(load, levels)
    if isinstance(load, Script):
        return Consumption(ids + commits, None)
    log = commits * _COMMIT_BYTES + rows * row_log_bytes(load)
    pages = _table_bytes(load)
    # A vacuum before the sample writes about the pages once more.
    log += 2 * len(order) * pages
    if not isinstance(load, Scans):
        log += math.ceil(load_s / _CHECKPOINT_S) * pages
        log = math.ceil(log * (1 + pages / _CHECKPOINT_BYTES))
    return Consumption(ids + commits, log)


def row_log_bytes(load: Load) -> int:
    """Bytes of one updated or inserted row in the log, at most; without whole pages.

    Scans are of rows that were updated one after the other: their pages go with them, old and new, however
    often there is a checkpoint.
    """
    if isinstance(load, Scans):
        return _ROW_BYTES + 2 * ROW_HEADER_BYTES
    return _ROW_BYTES + (load.padding_bytes if isinstance(load, Updates | Inserts) else 0)


def _work(design: Design, load: Load, levels: Mapping[str, str], trial: Trial) -> tuple[int, int]:
    """Commits and rows of one sample with its warm-up, at most."""
    each, rate_per_s = _rows_per_commit(load, levels), _rate_per_s(load, levels)
    if isinstance(load, Scans):
        return 1, 2 * load.touched * int(levels["rounds"])
    amount = design.amount(trial)
    if amount.units is None:
        commits = math.ceil((design.warmup_s + amount.seconds + _SPARE_S) * rate_per_s)
    else:
        # Each session does whole commits.
        commits = math.ceil(amount.units / each) + load.sessions
        commits += math.ceil((design.warmup_s + _SPARE_S) * rate_per_s)
    return commits, commits * each


def _rows_per_commit(load: Load, levels: Mapping[str, str]) -> int:
    return int(levels.get("rows_per_commit", "1")) if isinstance(load, Inserts) else 1


def _rate_per_s(load: Load, levels: Mapping[str, str]) -> float:
    """Commits a second at most; a setting without that level waits, which is the default of servers."""
    if isinstance(load, Scans):
        return 0.0
    asked = load.parameters(levels).get("synchronous_commit", "on").lower()
    quick = levels.get("commit_wait") == "nowait" or asked in _OFF
    return min(NOT_WAITING_PER_S if quick else WAITING_PER_S, ROWS_PER_S / _rows_per_commit(load, levels))


def _made_rows(load: Load) -> int:
    """Rows that are there before the first sample; their index is written as well."""
    match load:
        case Updates():
            return 2 * load.sessions * load.rows_per_session
        case Scans():
            return 2 * load.rows
    return 0


def _table_bytes(load: Load) -> int:
    """Bytes of all pages that a sample can touch, its table's and its index's."""
    match load:
        case Updates():
            # Pages are filled by half, and a page takes whole rows.
            rows = load.sessions * load.rows_per_session
            return 3 * rows * (ROW_HEADER_BYTES + load.padding_bytes)
        case Scans():
            return load.versions * ROW_HEADER_BYTES
        case OwnRows() | Inserts() | Ledger():
            return 4 * load.sessions * _PAGE_BYTES
    return 0
