"""What an acknowledged commit is safe from, by what was seen of a server."""

from __future__ import annotations

import pytest

from redolab.dialect.durability import tier_seen


@pytest.mark.parametrize(
    ("parameters", "commit_wait", "tier"),
    [
        ({}, "wait", "disk"),
        ({}, "nowait", "memory"),
        ({"fsync": "on", "synchronous_standby_names": ""}, "wait", "disk"),
        ({"fsync": "off", "synchronous_standby_names": ""}, "wait", "os"),
        ({"fsync": "on", "synchronous_standby_names": "one"}, "wait", "replica"),
        ({"fsync": "on", "synchronous_standby_names": "one"}, "nowait", "memory"),
        ({"innodb_flush_log_at_trx_commit": "2"}, "nowait", "os"),
        ({"innodb_flush_log_at_trx_commit": "1", "sync_binlog": "0", "log_bin": "ON"}, "wait", "os"),
        # What the parameters do not say is not promised, however commits were seen to wait.
        ({"innodb_flush_log_at_trx_commit": "7", "log_bin": "OFF"}, "wait", None),
        ({"innodb_flush_log_at_trx_commit": "1"}, "wait", None),
        (
            {
                "innodb_flush_log_at_trx_commit": "1",
                "sync_binlog": "1",
                "log_bin": "ON",
                "binlog_storage_engine": "other",
            },
            "wait",
            None,
        ),
    ],
)
def test_a_tier_is_what_the_parameters_promise(
    parameters: dict[str, str], commit_wait: str, tier: str | None
) -> None:
    assert tier_seen(parameters, commit_wait) == tier
