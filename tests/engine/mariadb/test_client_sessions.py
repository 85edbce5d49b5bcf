"""Sessions by MySQL's protocol: what they count is true, and nothing of them hangs or shows a password."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from redolab._core import ClientArgument, ClientSessions
from redolab.engine.client_job import ClientJob
from redolab.engine.loops.client_work import work
from redolab.engine.mariadb.private import PrivateServer
from redolab.errors import InterruptedRunError
from redolab.records.load import Amount
from redolab.records.sample import Work
from tests.engine.tls import HOST, Certificates, make_server_certificates
from tests.mariadb import PASSWORD, MariaDB, running_mariadb
from tests.servers import wait_until

NEVER = threading.Event()
ROWS = 50
SESSIONS = 3
UPDATE = ClientJob(
    "update account set n = n + 1 where id = ?", (ClientArgument.key(ROWS),), rows_per_commit=1
)
INSERT = "insert into item values (?, ?, ?)"
ITEM = (ClientArgument.session(), ClientArgument.row(), ClientArgument.text("x" * 20))
LOGIN_S = 10.0


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    # The path of a socket may be no longer than 107 bytes.
    made = Path(tempfile.mkdtemp(prefix="redolab-client-"))
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def certificates(place: Path) -> Certificates:
    (place / "tls").mkdir()
    made = Certificates(place / "tls")
    make_server_certificates(made)
    return made


@pytest.fixture(scope="module")
def server(place: Path, certificates: Certificates) -> Iterator[MariaDB]:
    tls = (f"--ssl-cert={certificates.crt('proper')}", f"--ssl-key={certificates.key('proper')}")
    with running_mariadb(place / "server", *tls) as running:
        running.ask("create database redolab")
        running.ask("create table redolab.account (id bigint primary key, n bigint) engine=innodb")
        running.ask(f"insert into redolab.account select seq, 0 from redolab.seq_0_to_{SESSIONS * ROWS - 1}")
        running.ask("create table redolab.item (session int, entry bigint, padding text) engine=innodb")
        for number in range(SESSIONS):
            running.ask(f"create table redolab.own_{number} (n bigint) engine=innodb")
            running.ask(f"insert into redolab.own_{number} values (0)")
        for user, needs in (("plain", ""), ("only_tls", "require ssl")):
            running.ask(f"create user {user}@'%' identified by '{PASSWORD}' {needs}")
            running.ask(f"grant all on redolab.* to {user}@'%'")
        yield running


def connect(server: MariaDB, database: str | None = "redolab") -> ClientSessions:
    return ClientSessions.mysql(
        HOST, 0, str(server.socket), "root", None, database, tls="disabled", ca_file=None,
        peer_uid=None, connect_timeout_s=LOGIN_S,
    )  # fmt: skip


def over_tcp(
    server: MariaDB,
    user: str,
    tls: str,
    ca_file: Path | None = None,
    host: str = "127.0.0.1",
    password: str = PASSWORD,
) -> ClientSessions:
    return ClientSessions.mysql(
        host, server.port, None, user, password, "redolab", tls=tls,
        ca_file=None if ca_file is None else str(ca_file), peer_uid=None, connect_timeout_s=LOGIN_S,
    )  # fmt: skip


def refused(sessions: ClientSessions, words: str) -> None:
    """None of them can be opened, and `words` say why."""
    with closing(sessions), pytest.raises(ConnectionError, match=words):
        sessions.resize(1)


@pytest.fixture
def sessions(server: MariaDB) -> Iterator[ClientSessions]:
    with closing(connect(server)) as connected:
        connected.resize(SESSIONS)
        yield connected


def counters(server: MariaDB) -> Mapping[str, int]:
    rows = server.ask("show global status like 'Com\\_%'")
    return {row["Variable_name"]: int(row["Value"]) for row in rows}


def grown(server: MariaDB, act: Callable[[], Work]) -> tuple[Work, Callable[[str], int]]:
    """What was done, and how far each of the server's counters went meanwhile."""
    before = counters(server)
    done = act()
    after = counters(server)
    return done, lambda name: after[f"Com_{name}"] - before[f"Com_{name}"]


def do(sessions: ClientSessions, job: ClientJob, amount: Amount, seed: int = 1) -> Work:
    return work(sessions, job, amount, seed, NEVER, {})


@pytest.mark.parametrize("rows_per_commit", [1, 7])
def test_what_a_client_inserts_is_what_the_server_has(
    server: MariaDB, sessions: ClientSessions, rows_per_commit: int
) -> None:
    server.ask("truncate redolab.item")
    job = ClientJob(INSERT, ITEM, rows_per_commit)
    done, growth = grown(server, lambda: do(sessions, job, Amount(1.0, 400)))
    commits = sum(-(-share // rows_per_commit) for share in (134, 133, 133))
    rows = commits * rows_per_commit
    assert (done.trouble, done.commits, done.rows, done.units, done.failed) == (None, commits, rows, rows, 0)
    assert growth("insert") == rows
    assert growth("commit") == growth("begin") == (0 if rows_per_commit == 1 else commits)
    (there,) = server.ask(
        "select count(*) as rows_, count(distinct session, entry) as distinct_, min(entry) as first_, "
        "max(session) as last_, max(length(padding)) as padding from redolab.item"
    )
    assert there == {"rows_": rows, "distinct_": rows, "first_": 1, "last_": SESSIONS - 1, "padding": 20}
    assert sum(count for _, count in done.latency) == commits
    assert 0 < done.session_elapsed_max_s <= done.session_elapsed_s
    assert done.client_cpu_s is not None
    assert done.client_cpu_s > 0


@pytest.mark.parametrize("rows_per_commit", [1, 7])
def test_what_a_client_updates_is_what_the_server_counts(
    server: MariaDB, sessions: ClientSessions, rows_per_commit: int
) -> None:
    server.ask("update redolab.account set n = 0")
    job = ClientJob(UPDATE.statement, UPDATE.arguments, rows_per_commit)
    done, growth = grown(server, lambda: do(sessions, job, Amount(0.5)))
    assert (done.trouble, done.failed) == (None, 0)
    assert done.commits > 0
    assert growth("update") == done.rows == done.commits * rows_per_commit
    totals = server.ask(f"select id div {ROWS} as session, sum(n) as n from redolab.account group by 1")
    assert sum(total["n"] for total in totals) == done.rows
    assert all(total["n"] > 0 for total in totals), "every session updates keys of its own"


def test_every_session_has_a_row_of_its_own(server: MariaDB, sessions: ClientSessions) -> None:
    done, growth = grown(
        server,
        lambda: do(sessions, ClientJob("update own_{session} set n = n + 1"), Amount(1.0, 301)),
    )
    assert (done.trouble, done.rows) == (None, 301)
    assert growth("update") == 301
    counts = [server.ask(f"select n from redolab.own_{number}")[0]["n"] for number in range(SESSIONS)]
    assert counts == [101, 100, 100]


def test_the_same_seed_gives_the_same_keys_and_another_one_others(
    server: MariaDB, sessions: ClientSessions
) -> None:
    def keys(seed: int) -> list[int]:
        server.ask("update redolab.account set n = 0")
        assert do(sessions, UPDATE, Amount(1.0, 90), seed).rows == 90
        return [row["n"] for row in server.ask("select n from redolab.account order by id")]

    first = keys(3)
    assert keys(3) == first
    assert keys(4) != first


def test_a_statement_that_changes_nothing_is_counted_as_failed(sessions: ClientSessions) -> None:
    missing = do(sessions, ClientJob("update account set n = 0 where id = -1"), Amount(1.0, 12))
    assert (missing.rows, missing.failed, missing.commits) == (12, 12, 12)
    # A row that is found and stays as it is was not missed.
    same = do(
        sessions, ClientJob("update account set n = n where id = 1", rows_per_commit=4), Amount(1.0, 12)
    )
    assert (same.rows, same.failed, same.commits) == (12, 0, 3)


def test_transactions_at_random_moments_are_all_done(server: MariaDB, sessions: ClientSessions) -> None:
    job = ClientJob(UPDATE.statement, UPDATE.arguments, arrival_rate_per_s=400.0)
    done, growth = grown(server, lambda: do(sessions, job, Amount(1.0, 200)))
    assert (done.trouble, done.commits) == (None, 200)
    assert growth("update") == 200
    assert done.responses is not None
    assert done.responses.unserved == 0
    assert sum(count for _, count in done.responses.times) == 200


def test_pauses_are_in_the_time_and_in_no_commit(sessions: ClientSessions) -> None:
    job = ClientJob(UPDATE.statement, UPDATE.arguments, pause_s=0.02)
    done = do(sessions, job, Amount(1.0, 30))
    assert (done.trouble, done.commits) == (None, 30)
    assert done.session_elapsed_s >= 30 * 0.02
    committing_s = sum(upper_us * count for upper_us, count in done.latency) / 1e6
    assert committing_s < 1.01 * (done.session_elapsed_s - 30 * 0.02)


def test_a_text_of_several_statements_is_one_commit(server: MariaDB, sessions: ClientSessions) -> None:
    server.ask("truncate redolab.item")
    text = (
        "update account set n = n + 1 where id in (1, 2); "
        "select * from account; insert into item values ({session}, 0, 'a;b');"
    )
    done, growth = grown(server, lambda: do(sessions, ClientJob(text, text=True), Amount(1.0, 100)))
    assert (done.trouble, done.commits, done.units, done.failed) == (None, 100, 100, 0)
    assert done.rows == 100 * 3
    names = ("update", "select", "insert", "begin", "commit")
    assert [growth(name) for name in names] == [100] * len(names)
    (there,) = server.ask("select count(*) as rows_, max(session) as last_ from redolab.item")
    assert there == {"rows_": 100, "last_": SESSIONS - 1}


def test_a_wrong_text_is_in_the_servers_words(server: MariaDB, sessions: ClientSessions) -> None:
    text = "insert into item values (1, 1, 'x'); insert into nowhere values (1)"
    server.ask("truncate redolab.item")
    done = do(sessions, ClientJob(text, text=True), Amount(1.0, 10))
    assert done.trouble is not None
    assert "session 1 died: Table 'redolab.nowhere' doesn't exist (error 1146)" in done.trouble
    assert done.commits == 0
    sessions.resize(SESSIONS)
    assert server.ask("select count(*) as n from redolab.item") == [{"n": 0}], "nothing was committed"


def test_no_server_gets_a_file(sessions: ClientSessions, tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("1\t1\tx\n")
    text = f"load data local infile '{tmp_path}/rows' into table item"
    done = do(sessions, ClientJob(text, text=True), Amount(1.0, 1))
    assert done.trouble is not None
    assert "not allowed" in done.trouble
    assert done.commits == 0


def test_a_killed_session_says_so_and_is_opened_anew(server: MariaDB, sessions: ClientSessions) -> None:
    first, second, third = sessions.pids()
    shown = server.ask("select id from information_schema.processlist where db = 'redolab'")
    assert {first, second, third} <= {row["id"] for row in shown}
    killing = threading.Timer(0.3, lambda: server.ask(f"kill {second}"))
    killing.start()
    done = do(sessions, UPDATE, Amount(1.5))
    killing.join()
    assert done.trouble is not None
    assert done.trouble.startswith("session 2 died: ")
    assert "session 1" not in done.trouble
    sessions.resize(SESSIONS)
    assert sessions.pids()[0] == first
    assert second not in sessions.pids()
    assert do(sessions, UPDATE, Amount(1.0, 30)).trouble is None


def test_a_session_killed_between_samples_is_opened_anew(server: MariaDB, sessions: ClientSessions) -> None:
    server.ask(f"kill {sessions.pids()[1]}")
    sessions.resize(SESSIONS)
    done = do(sessions, UPDATE, Amount(1.0, 30))
    assert (done.trouble, done.rows) == (None, 30)


def test_an_interrupt_does_not_wait_for_the_server(server: MariaDB, sessions: ClientSessions) -> None:
    stop = threading.Event()
    interrupting = threading.Timer(0.3, stop.set)
    interrupting.start()
    began = time.monotonic()
    with pytest.raises(InterruptedRunError):
        work(sessions, ClientJob("do sleep(600)"), Amount(1.0, 3), 1, stop, {})
    assert time.monotonic() - began < 60
    interrupting.join()
    for number in sessions.pids():
        server.ask(f"kill query {number}")
    sessions.resize(SESSIONS)
    assert do(sessions, UPDATE, Amount(1.0, 30)).trouble is None


def test_prepared_statements_do_not_pile_up(server: MariaDB, sessions: ClientSessions) -> None:
    def prepared() -> int:
        return int(server.ask("show global status like 'Prepared_stmt_count'")[0]["Value"])

    for _ in range(3):
        do(sessions, UPDATE, Amount(1.0, 3))
        sessions.ask("select ?", ["1"])
    assert prepared() <= 2 * SESSIONS
    sessions.resize(0)
    wait_until(lambda: prepared() == 0, "none stays")


def test_answers_are_text_whatever_their_type(sessions: ClientSessions) -> None:
    for statement, expected in (
        ("select 42", "42"),
        ("select cast(18446744073709551615 as unsigned)", "18446744073709551615"),
        ("select 1.5e0", "1.5"),
        ("select timestamp '2026-01-02 03:04:05'", "2026-01-02 03:04:05"),
        ("select null", None),
        ("select @@autocommit", "1"),
        ("select @@character_set_client", "utf8mb4"),
        ("do 1", None),
    ):
        assert sessions.ask(statement, []) == [expected] * SESSIONS, statement
    for statement in ("select ?", "select concat('', ?)"):
        assert sessions.ask(statement, ["ü 'q'"]) == ["ü 'q'"] * SESSIONS
    assert sessions.ask("select length(?) * 2", ["abc"]) == ["6"] * SESSIONS
    with pytest.raises(ConnectionError, match=r"session 1: .* doesn't exist \(error 1146\)"):
        sessions.ask("select * from nowhere", [])
    with pytest.raises(ConnectionError, match="2 placeholders and gets 1 arguments"):
        sessions.ask("select ?, ?", ["1"])
    assert sessions.ask("select 1", []) == ["1"] * SESSIONS, "an error ends no session"


def test_parameters_of_one_transaction_are_refused(sessions: ClientSessions) -> None:
    done = work(sessions, UPDATE, Amount(1.0, 3), 1, NEVER, {"innodb_flush_log_at_trx_commit": "2"})
    assert done.trouble is not None
    assert "no parameters for one transaction" in done.trouble


def test_a_session_shows_its_name(server: MariaDB, place: Path) -> None:
    with (
        running_mariadb(place / "named", "--performance-schema=ON") as named,
        closing(connect(named, None)) as sessions,
    ):
        sessions.resize(2)
        shown = named.ask(
            "select attr_value as name from performance_schema.session_account_connect_attrs "
            "where attr_name = 'program_name' order by 1"
        )
        names = [row["name"] for row in shown]
        assert names[-2:] == ["redolab session 1", "redolab session 2"]


def test_a_private_server_takes_them() -> None:
    private = PrivateServer("mariadb", disk_bytes=10**9)
    try:
        sessions = ClientSessions.mysql(
            HOST, 0, str(private.socket), "root", None, None, tls="disabled", ca_file=None,
            peer_uid=os.geteuid(), connect_timeout_s=LOGIN_S,
        )  # fmt: skip
        with closing(sessions):
            sessions.resize(2)
            assert sessions.ask("select @@skip_networking", []) == ["1"] * 2
            assert all(sessions.pids())
    finally:
        private.stop()


def test_a_wrong_password_is_refused_and_not_shown(server: MariaDB) -> None:
    with closing(over_tcp(server, "plain", "disabled", password="wr0ng-of-the-test")) as sessions:
        with pytest.raises(ConnectionError, match=r"Access denied.* \(error 1045\)") as raised:
            sessions.resize(2)
        assert "wr0ng" not in str(raised.value)
        assert "wr0ng" not in repr(sessions)
    with pytest.raises(ValueError, match="closed"):
        sessions.resize(1)


def test_who_is_not_there_is_said_in_words(server: MariaDB, place: Path) -> None:
    refused(connect(server, "nowhere"), "Unknown database 'nowhere'.*error 1049")
    nobody = ClientSessions.mysql(
        HOST, 0, str(place / "nobody"), "root", None, None, tls="disabled", ca_file=None,
        peer_uid=None, connect_timeout_s=LOGIN_S,
    )  # fmt: skip
    refused(nobody, "error connecting to server: No such file")


@pytest.mark.parametrize("user", ["plain", "only_tls"])
@pytest.mark.parametrize(
    ("tls", "encrypted"),
    [
        ("disabled", False), ("required", True), ("verify-ca", True),
        ("verify-identity", True),
    ],
)  # fmt: skip
def test_each_way_of_encryption(
    server: MariaDB, certificates: Certificates, user: str, tls: str, encrypted: bool
) -> None:
    with closing(over_tcp(server, user, tls, certificates.crt("ca"))) as sessions:
        if user == "only_tls" and not encrypted:
            refused(sessions, "Access denied for user 'only_tls'")
            return
        sessions.resize(1)
        query = (
            "select variable_value from information_schema.session_status where variable_name = 'Ssl_cipher'"
        )
        (cipher,) = sessions.ask(query, [])
        assert bool(cipher) is encrypted
        assert do(sessions, UPDATE, Amount(1.0, 20)).rows == 20


@pytest.mark.parametrize("tls", ["verify-ca", "verify-identity"])
def test_a_certificate_of_somebody_else_is_refused(
    server: MariaDB, certificates: Certificates, tls: str
) -> None:
    refused(over_tcp(server, "plain", tls, certificates.crt("other_ca")), "certificate is not trusted")
    # Nor does the operating system know who signed it.
    refused(over_tcp(server, "plain", tls), "certificate is not trusted")


def test_a_certificate_for_another_host_is_refused_where_the_host_counts(
    place: Path, certificates: Certificates
) -> None:
    tls = (f"--ssl-cert={certificates.crt('elsewhere')}", f"--ssl-key={certificates.key('elsewhere')}")
    with running_mariadb(place / "elsewhere", *tls) as server:
        server.ask("create database redolab")
        server.ask(f"create user plain@'%' identified by '{PASSWORD}'")
        server.ask("grant all on redolab.* to plain@'%'")
        with closing(over_tcp(server, "plain", "verify-ca", certificates.crt("ca"))) as sessions:
            sessions.resize(1)
        refused(
            over_tcp(server, "plain", "verify-identity", certificates.crt("ca")),
            r"does not match host name 127\.0\.0\.1",
        )


def test_encryption_that_is_required_never_falls_back(place: Path) -> None:
    with running_mariadb(place / "clear", "--skip-ssl") as server:
        server.ask("create database redolab")
        server.ask(f"create user plain@'%' identified by '{PASSWORD}'")
        server.ask("grant all on redolab.* to plain@'%'")
        for tls in ("required", "verify-ca", "verify-identity"):
            refused(over_tcp(server, "plain", tls), "does not support TLS, which is required")
        with closing(over_tcp(server, "plain", "disabled")) as sessions:
            sessions.resize(1)


def test_what_is_no_file_of_certificates_is_said_before_anything_is_connected(
    server: MariaDB, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"missing\.pem cannot be read"):
        over_tcp(server, "plain", "verify-ca", tmp_path / "missing.pem")
    with pytest.raises(ValueError, match="no such encryption"):
        over_tcp(server, "plain", "perhaps")
