"""Sessions that pause after each commit: on their CPU in the server, asleep in a client."""

from __future__ import annotations

import pytest

from redolab.errors import UsageError
from redolab.records.load import Amount
from tests.engine.clients import Open, inserts, sampled, work


def test_it_pauses_on_its_cpu_and_flushes_in_between(opened: Open) -> None:
    engine, settings = opened(inserts(1, "server"), {"pause_ms": "20"})
    # A session that died spoils its sample.
    sample, _ = sampled(engine, settings["20"], Amount(1.0))
    assert 2 <= sample.commits <= 50
    assert sample.log_flushes is not None
    assert sample.log_flushes >= sample.commits
    assert sample.session_cpu_s is not None
    assert sample.session_run_queue_s is not None
    # It spins: where others are at work too, it waits for its CPU meanwhile.
    assert sample.session_cpu_s + sample.session_run_queue_s > 0.5 * sample.session_elapsed_s


def test_it_does_not_pause_beyond_the_end(opened: Open) -> None:
    engine, settings = opened(inserts(1, "server"), {"pause_ms": "9000"})
    done = work(engine, settings["9000"], Amount(0.2))
    assert done.commits == 1
    assert done.session_elapsed_s < 9.0


@pytest.mark.parametrize("pause_ms", ["soon", "-1", "10001", "nan"])
def test_what_is_no_pause_is_refused(opened: Open, pause_ms: str) -> None:
    with pytest.raises(UsageError, match=r"pause_ms is .*; it must be a number from 0 to 10,000"):
        opened(inserts(1, "server"), {"pause_ms": pause_ms})


def test_a_client_s_session_waits_and_leaves_its_cpu(opened: Open) -> None:
    engine, settings = opened(inserts(2, "client"), {"pause_ms": "20"})
    done = work(engine, settings["20"], Amount(1.0, 20))
    assert (done.trouble, done.commits, done.rows) == (None, 20, 20)
    # Ten pauses each: the last one counts as well, as it does in the server.
    assert done.session_elapsed_s >= 20 * 0.02
    # No pause is in a commit's time.
    committing_s = sum(upper_us * count for upper_us, count in done.latency) / 1e6
    assert committing_s < 1.01 * (done.session_elapsed_s - 20 * 0.02)
    assert done.client_cpu_s is not None
    assert done.client_cpu_s < 0.5 * done.session_elapsed_s


def test_a_client_does_not_pause_beyond_the_end(opened: Open) -> None:
    engine, settings = opened(inserts(1, "client"), {"pause_ms": "9000"})
    done = work(engine, settings["9000"], Amount(0.2))
    assert done.commits == 1
    assert 0.2 <= done.session_elapsed_s < 9.0


def test_nobody_pauses_where_transactions_come_at_random(opened: Open) -> None:
    with pytest.raises(UsageError, match="pause_ms and arrival_rate_per_s do not go together"):
        opened(inserts(1, "client"), {"pause_ms": "5", "arrival_rate_per_s": "10"})
