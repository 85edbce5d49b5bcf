"""The record of where time went: what it refuses to hold, and its sums."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from redolab.records.account import Account, AccountRow

CPU = AccountRow("session", "on_cpu", 2.0, 10.0, 15.0, "the kernel's accounts")
SYNC = AccountRow("session", "IO:WalSync", 8.5, 10.0, 15.0, "the server's counters", count=1700)
REST = AccountRow("session", "unaccounted", -0.5, 10.0, 15.0, "the rest")
UNKNOWN = AccountRow("session", "run_queue", None, 10.0, 15.0, "schedstat", reason="it is switched off")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"scope": "system"}, "must be one of session, instance"),
        ({"row": ""}, "needs a name and a source"),
        ({"source": ""}, "needs a name and a source"),
        ({"seconds": math.nan}, "not finite"),
        ({"seconds": -math.inf}, "not finite"),
        ({"from_s": -math.inf}, "not finite"),
        ({"to_s": math.nan}, "not finite"),
        ({"count": math.inf}, "not finite"),
        ({"count": -1.0}, "below zero"),
        ({"to_s": 9.9}, "ends before it begins"),
        ({"seconds": None}, "either seconds or the reason"),
        ({"seconds": None, "reason": ""}, "either seconds or the reason"),
        ({"reason": "nobody looked"}, "either seconds or the reason"),
    ],
    ids=str,
)
def test_a_row_that_cannot_be_is_refused(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        replace(SYNC, **change)


def test_a_row_keeps_what_it_was_given() -> None:
    moment = replace(CPU, from_s=15.0, seconds=0.0)
    assert (moment.seconds, moment.count, moment.reason) == (0.0, None, None)
    assert (REST.seconds, UNKNOWN.seconds, UNKNOWN.reason) == (-0.5, None, "it is switched off")
    with pytest.raises(FrozenInstanceError):
        moment.seconds = 1.0  # type: ignore[misc]


def test_rows_add_up_with_a_negative_remainder_among_them() -> None:
    found = Account((CPU, SYNC, REST), elapsed_s=10.0)
    assert found.total_s == 10.0
    assert found.times() == {"on_cpu": 2.0, "IO:WalSync": 8.5, "unaccounted": -0.5}
    assert found.row("IO:WalSync") is SYNC
    assert found.row("steal") is None
    assert found.adds_up_to(10.0)
    assert not found.adds_up_to(10.1)


def test_a_part_that_is_not_known_leaves_no_total() -> None:
    found = Account((CPU, UNKNOWN))
    assert found.total_s is None
    assert found.times() is None
    assert not found.adds_up_to(2.0)


@pytest.mark.parametrize("whole", [1e-30, 7.0, 1e18])
def test_rounding_is_no_difference(whole: float) -> None:
    parts = tuple(
        AccountRow("instance", str(part), whole * part / 28 * (-1) ** part, 0.0, 0.0, "a division")
        for part in range(1, 8)
    )
    assert Account(parts).adds_up_to(sum(item.seconds or 0.0 for item in reversed(parts)))


@pytest.mark.parametrize(
    ("rows", "elapsed_s", "why"),
    [
        ((), None, "needs a row"),
        ((CPU, CPU), None, "two rows of the same name"),
        ((CPU, replace(SYNC, scope="instance")), None, "scope or in their interval"),
        ((CPU, replace(SYNC, to_s=16.0)), None, "scope or in their interval"),
        ((CPU, SYNC), 10.0, r"add up to 10.5 s, but 10.0 s have elapsed"),
        ((CPU, UNKNOWN), 2.0, "add up to None s"),
        ((CPU,), math.nan, "have elapsed"),
    ],
)
def test_rows_that_make_no_account_are_refused(
    rows: tuple[AccountRow, ...], elapsed_s: float | None, why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        Account(rows, elapsed_s)
