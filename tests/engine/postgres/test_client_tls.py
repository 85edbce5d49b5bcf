"""The client load's connections are protected as the control connection is, and no password is given away."""

from __future__ import annotations

import pwd
import re
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo

from redolab import _core
from redolab.engine.postgres.connecting import cleartext
from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.connecting.effective_options import effective_options
from redolab.engine.postgres.connecting.load_protection import allowed_methods
from redolab.engine.postgres.loads.writes import PostgresWrites
from redolab.engine.postgres.sessions.client import ClientSessions, check_client
from redolab.engine.private.directory import remove_server
from redolab.errors import RefusedError
from redolab.records.load import Inserts
from tests.conftest import Redolab
from tests.engine.clients import begin
from tests.engine.tls import (
    HOST,
    Certificates,
    TlsServer,
    listening,
    make_server_certificates,
    sent_by,
    url_of,
)
from tests.servers import PASSWORD, Server, in_a_process, wait_until

LOAD = PostgresWrites(Inserts("", 1, "session", 20, loop="client"))
QUICK = ("--yes", "--quick", "--blocks", "1", "--seconds", "0.3", "--sessions", "1,2", "--seed", "1")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    made = Certificates(tmp_path_factory.mktemp("certificates"))
    make_server_certificates(made)
    made.signed("client", "/CN=by_certificate", "ca")
    made.signed("stranger", "/CN=by_certificate", "other_ca")
    return made


@pytest.fixture(scope="module")
def started(certificates: Certificates) -> Iterator[TlsServer]:
    # The path of a socket may be no longer than 107 bytes.
    place = Path(tempfile.mkdtemp(prefix="redolab-test-"))
    place.chmod(0o755)
    server = TlsServer(place / "server", certificates)
    try:
        server.start()
        for role in ("by_certificate", "by_password", "by_scram", "anybody", "without_tls"):
            server.role(role, f"grant create on database postgres to {role}")
        yield server
    finally:
        server.stop()
        remove_server(place / "server")
        place.rmdir()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory, and of libpq's parameters the password alone in the environment."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    for name in ("PGSSLMODE", "PGSSLROOTCERT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".postgresql").mkdir()
    return tmp_path / ".postgresql"


@pytest.fixture
def tls(started: TlsServer, home: Path) -> Iterator[TlsServer]:
    yield started
    if (started.data / "server.crt").read_text() != started.certificates.crt("proper").read_text():
        started.show("proper")


def run(redolab: Redolab, url: str, *arguments: str | Path) -> Any:
    return redolab("run", "session-count", "--engine", url, *QUICK, *arguments)


def encrypted_sessions(server: TlsServer) -> list[bool]:
    """Of every session of the load that is there."""
    with server.admin() as admin:
        rows = admin.execute(
            "select ssl from pg_stat_ssl join pg_stat_activity using (pid) "
            "where application_name like 'redolab session %'"
        ).fetchall()
    return [row["ssl"] for row in rows]


def load_over(url: str) -> list[bool]:
    """Open sessions of the load beside a control connection; tells of each whether it is encrypted."""
    connector = Connector(url)
    with connector.connect("redolab control") as control:
        check_client(LOAD, control, connector)
        sessions = ClientSessions(connector, control, 2, 1)
        try:
            return [
                answer == "true"
                for answer in sessions._ask(
                    "select ssl::text from pg_stat_ssl where pid = pg_backend_pid()", []
                )
            ]
        finally:
            sessions.close()


# What servers show, and what clients trust.
SITUATIONS = (
    "proper", "old", "elsewhere", "star", "expired", "by_another", "for_clients", "able_to_sign", "over_two",
    "own", "snake_oil", "by_snake_oil", "by_address", "called_by_address", "nameless", "elliptic",
    "old_elliptic", "edwards", "within", "beyond", "old_beyond",
)  # fmt: skip
TRUSTED = (
    "ca", "other_ca", "between", "under_root", "own", "snake_oil", "elliptic_ca", "limited_ca", None,
)  # fmt: skip
NAMES = (HOST, "127.0.0.1", "db.example.org", "a.b.example.org")


def libpq_connects(port: int, **parameters: str) -> bool:
    place = {"port": str(port), "hostaddr": "127.0.0.1", "user": "anybody", "dbname": "postgres"}
    try:
        psycopg.connect(conninfo.make_conninfo(**place, **parameters)).close()
    except psycopg.OperationalError:
        return False
    return True


def load_connects(port: int, mode: str, host: str, roots: Path | None) -> bool:
    try:
        tls = load_tls(host, roots, mode == "verify-full")
    except ValueError:
        return False
    with closing(client(port, "anybody", tls)) as sessions:
        try:
            sessions.resize(1)
        except ConnectionError:
            return False
    return True


def load_tls(
    host: str = HOST,
    roots: Path | None = None,
    check_host: bool = False,
    identity: tuple[str, str] | None = None,
) -> _core.ClientTls:
    named = None if roots is None else str(roots)
    return _core.ClientTls(host, named, check_host, identity, ["1.2", "1.3"], False, True)


def client(
    port: int,
    user: str,
    tls: _core.ClientTls | None,
    limit_s: float = 10.0,
    host: str = "127.0.0.1",
    **other: Any,
) -> _core.ClientSessions:
    allowed = ["none", "password", "md5", "scram-sha-256"]
    rest: dict[str, Any] = {"channel_binding": "prefer", "allowed": allowed, "peer_uid": None, **other}
    return _core.ClientSessions(
        host, port, user, PASSWORD, "postgres", "", tls=tls, connect_timeout_s=limit_s, **rest
    )


@pytest.mark.parametrize("shown", SITUATIONS)
def test_the_load_believes_the_servers_that_libpq_believes(shown: str, tls: TlsServer) -> None:
    tls.show(shown)
    outcomes = {}
    for name in TRUSTED:
        roots = None if name is None else tls.certificates.crt(name)
        for mode in ("require", "verify-ca", "verify-full"):
            for host in NAMES if mode == "verify-full" else (HOST,):
                if roots is None and mode != "require":
                    continue
                trust = {} if roots is None else {"sslrootcert": str(roots)}
                outcomes[name, mode, host] = (
                    libpq_connects(tls.port, sslmode=mode, host=host, **trust),
                    load_connects(tls.port, mode, host, roots),
                )
    differing = {key: outcome for key, outcome in outcomes.items() if outcome[0] != outcome[1]}
    assert differing == {}
    # Without a root certificate anything will do.
    assert outcomes[None, "require", HOST] == (True, True)


def test_the_situations_are_what_they_are_called(tls: TlsServer) -> None:
    """Or else the table above would compare refusals with refusals."""
    trusted = dict.fromkeys(("proper", "old", "able_to_sign", "over_two"), "ca")
    trusted |= {name: name for name in ("own", "snake_oil")}
    trusted |= {"elliptic": "elliptic_ca", "old_elliptic": "elliptic_ca", "within": "limited_ca"}
    for shown, name in trusted.items():
        tls.show(shown)
        url = url_of(tls.port, "by_scram", sslmode="verify-full", sslrootcert=tls.certificates.crt(name))
        assert load_over(url) == [True, True], shown


@pytest.mark.parametrize("mode", ["disable", "allow", "prefer", "require"])
def test_the_load_is_encrypted_where_the_control_connection_is(mode: str, tls: TlsServer) -> None:
    encrypted = mode in {"prefer", "require"}
    assert load_over(url_of(tls.port, "by_scram", sslmode=mode)) == [encrypted] * 2
    # One that could be encrypted by GSSAPI is asked whether it is.
    assert load_over(url_of(tls.port, "by_scram", sslmode=mode, gssencmode="prefer")) == [encrypted] * 2
    # Never on a Unix socket, whatever is asked for.
    assert load_over(f"{tls.socket_url('postgres')}&password={PASSWORD}&sslmode={mode}") == [False] * 2


def test_a_root_certificate_at_home_is_heeded_by_require(tls: TlsServer, home: Path) -> None:
    shutil.copy(tls.certificates.crt("ca"), home / "root.crt")
    assert load_over(url_of(tls.port, "by_scram", sslmode="require")) == [True, True]
    shutil.copy(tls.certificates.crt("other_ca"), home / "root.crt")
    with pytest.raises(RefusedError, match="sslrootcert must name the file"):
        load_over(url_of(tls.port, "by_scram", sslmode="require"))
    # libpq then goes on in the clear, and so does the load; but a password is not sent as it is.
    assert load_over(url_of(tls.port, "by_scram")) == [False, False]
    with pytest.raises(RefusedError, match="cleartext password"):
        load_over(url_of(tls.port, "by_password"))


def test_parameters_of_the_environment_and_of_a_service_count(
    tls: TlsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tls.certificates.crt("other_ca")
    monkeypatch.setenv("PGSSLMODE", "verify-ca")
    monkeypatch.setenv("PGSSLROOTCERT", str(tls.certificates.crt("ca")))
    assert load_over(url_of(tls.port, "by_scram")) == [True, True]
    monkeypatch.setenv("PGSSLMODE", "disable")
    assert load_over(url_of(tls.port, "by_scram")) == [False, False]
    (tmp_path / "services").write_text(f"[here]\nsslmode=verify-ca\nsslrootcert={other}\nrequire_auth=md5\n")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    for name in ("PGSSLMODE", "PGSSLROOTCERT"):
        monkeypatch.delenv(name)
    assert effective_options({"service": "here"})["sslrootcert"] == str(other)
    with pytest.raises(RefusedError, match="certificate verify failed"):
        load_over(url_of(tls.port, "by_scram", service="here"))


def test_the_roots_of_the_operating_system(tls: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    # Both TLS libraries let this name the operating system's file.
    monkeypatch.setenv("SSL_CERT_FILE", str(tls.certificates.crt("ca")))
    assert load_over(url_of(tls.port, "by_scram", sslrootcert="system")) == [True, True]
    tls.show("by_another")
    assert not load_connects(tls.port, "verify-full", HOST, Path("system"))


@pytest.mark.parametrize(
    ("sslmode", "parameters"),
    [
        ("require", {"ssl_max_protocol_version": "TLSv1.2"}),
        ("require", {"ssl_min_protocol_version": "TLSv1.3"}),
        ("require", {"sslsni": "0"}),
        ("require", {"channel_binding": "require"}),
        ("require", {"channel_binding": "disable"}),
        ("require", {"require_auth": "scram-sha-256"}),
        ("prefer", {"require_auth": "scram-sha-256,md5"}),
        ("prefer", {"require_auth": "!none"}),
    ],
)
def test_what_libpq_can_be_asked_for_the_load_does_too(
    sslmode: str, parameters: dict[str, str], tls: TlsServer
) -> None:
    assert load_over(url_of(tls.port, "by_scram", sslmode=sslmode, **parameters)) == [True, True]


def test_an_old_certificate_is_proved_in_both_versions_of_tls(tls: TlsServer) -> None:
    for shown, root in (("old", "ca"), ("old_elliptic", "elliptic_ca")):
        tls.show(shown)
        for version in ("TLSv1.2", "TLSv1.3"):
            url = url_of(
                tls.port, "by_scram", sslmode="verify-full", sslrootcert=tls.certificates.crt(root),
                ssl_max_protocol_version=version, channel_binding="require",
            )  # fmt: skip
            assert load_over(url) == [True, True]


def test_a_client_certificate_lets_in(tls: TlsServer, home: Path) -> None:
    made = tls.certificates
    pair: dict[str, Any] = {"sslcert": made.crt("client"), "sslkey": made.key("client")}
    assert load_over(url_of(tls.port, "by_certificate", **pair)) == [True, True]
    for source, name in ((made.crt("client"), "postgresql.crt"), (made.key("client"), "postgresql.key")):
        shutil.copy(source, home / name)
    (home / "postgresql.key").chmod(0o600)
    assert load_over(url_of(tls.port, "by_certificate")) == [True, True]
    with pytest.raises(
        RefusedError, match="Give a client certificate that the server's ssl_ca_file vouches for"
    ):
        load_over(url_of(tls.port, "by_certificate", sslmode="require", sslcertmode="disable"))


def test_the_load_without_a_good_client_certificate_is_refused_in_words(tls: TlsServer) -> None:
    made = tls.certificates
    stranger = (str(made.crt("stranger")), str(made.key("stranger")))
    for identity, words in (
        (None, "client certificate"),
        (stranger, "does not accept the client certificate"),
    ):
        with (
            closing(client(tls.port, "by_certificate", load_tls(identity=identity))) as sessions,
            pytest.raises(ConnectionError, match=words),
        ):
            sessions.resize(1)


@pytest.mark.parametrize(
    ("shown", "root", "host", "words"),
    [
        ("by_another", "ca", HOST, "is not trusted"),
        ("expired", "ca", HOST, "has expired"),
        (
            "elsewhere",
            "ca",
            HOST,
            r"does not match host name localhost: it is for db\.example\.org, 127\.0\.0\.2",
        ),
        ("nameless", "ca", HOST, "it names no host"),
        ("for_clients", "ca", HOST, "is not for a server"),
    ],
)
def test_the_load_says_what_is_wrong_and_what_to_do(
    shown: str, root: str, host: str, words: str, tls: TlsServer
) -> None:
    tls.show(shown)
    checked = load_tls(host, tls.certificates.crt(root), check_host=True)
    with closing(client(tls.port, "anybody", checked)) as sessions, pytest.raises(ConnectionError) as refused:
        sessions.resize(1)
    assert re.search(words, str(refused.value)), str(refused.value)
    told = str(Connector("postgresql://db/app").refused(str(refused.value)))
    assert len(told) > len(f"No connection to PostgreSQL at db:5432, database app: {refused.value}. ") + 20


def test_a_session_that_is_ended_says_why_and_is_opened_anew(tls: TlsServer) -> None:
    with closing(client(tls.port, "by_scram", load_tls())) as sessions:
        sessions.resize(2)
        first, second = sessions.pids()
        begin(sessions, "select pg_sleep(0.01)", 60.0)
        wait_until(
            lambda: tls.ask("select count(*) from pg_stat_activity where state = 'active'") > 2, "work"
        )
        assert tls.ask(f"select pg_terminate_backend({first})")
        assert sessions.wait(0.5) is None
        sessions.interrupt()
        done = sessions.wait(30.0)
        assert done is not None
        troubles = [session.trouble for session in done.sessions]
        assert troubles == ["terminating connection due to administrator command", None]
        sessions.resize(2)
        assert not {first, second} & set(sessions.pids())
        assert encrypted_sessions(tls) == [True, True]


def test_what_the_load_cannot_do_like_libpq_is_refused(tls: TlsServer, tmp_path: Path, home: Path) -> None:
    made = tls.certificates
    shutil.copy(made.crt("client"), tmp_path / "locked.crt")
    made.encrypt("client", tmp_path / "locked.key")
    (tmp_path / "locked.key").chmod(0o600)
    locked: dict[str, Any] = {
        "sslcert": tmp_path / "locked.crt",
        "sslkey": tmp_path / "locked.key",
        "sslpassword": "x",
    }
    with pytest.raises(RefusedError, match=r"is encrypted.*Nothing was changed"):
        load_over(url_of(tls.port, "by_certificate", **locked))
    pair: dict[str, Any] = {"sslcert": made.crt("client"), "sslkey": made.key("client")}
    with pytest.raises(RefusedError, match=r"sslcertmode=allow"):
        load_over(url_of(tls.port, "by_certificate", sslcertmode="require", **pair))
    (home / "root.crl").write_text("")
    with pytest.raises(RefusedError, match=r"revoked.*root.crl.*sslcrl"):
        load_over(url_of(tls.port, "by_scram", sslmode="verify-ca", sslrootcert=made.crt("ca")))


def test_a_socket_of_another_user_is_refused_where_the_user_is_named(tls: TlsServer) -> None:
    owner = pwd.getpwuid((tls.data / "postmaster.pid").stat().st_uid).pw_name
    socket_url = f"{tls.socket_url('postgres')}&requirepeer={owner}"
    assert load_over(socket_url) == [False, False]
    stranger = (tls.data / "postmaster.pid").stat().st_uid + 1
    for peer_uid, refused in ((stranger - 1, False), (stranger, True)):
        with closing(client(tls.port, "postgres", None, host=str(tls.place), peer_uid=peer_uid)) as sessions:
            if not refused:
                sessions.resize(1)
                continue
            with pytest.raises(ConnectionError, match="requirepeer"):
                sessions.resize(1)


def test_require_auth_is_read_as_libpq_reads_it() -> None:
    everything = ("none", "password", "md5", "scram-sha-256")
    assert allowed_methods("") == everything
    assert allowed_methods("scram-sha-256, md5") == ("md5", "scram-sha-256")
    assert allowed_methods("!password,!none") == ("md5", "scram-sha-256")
    assert allowed_methods("gss") == ()
    assert cleartext._without_password("") == "!password"
    assert cleartext._without_password("!none") == "!none,!password"
    assert cleartext._without_password("password, md5") == "md5"
    assert cleartext._without_password("password") == ""


@pytest.mark.parametrize("require_auth", ["", "password", "password,md5", "!none"])
def test_the_password_is_never_heard(
    require_auth: str, tls: TlsServer, redolab: Redolab, tmp_path: Path
) -> None:
    """With the default sslmode and a server that asks for the password itself."""
    with listening(tls.port) as (port, heard):
        parameters = {"require_auth": require_auth} if require_auth else {}
        done = run(redolab, url_of(port, "by_password", **parameters), "--out", tmp_path / "run")
    assert done.code == 0, done.err
    assert len(heard) > 5
    assert PASSWORD.encode() not in sent_by(heard)
    assert "in the clear" not in done.out
    # The load's, the sampler's, the guard's and all but the first try of the control connection's.
    assert all(connection.is_encrypted for connection in heard)
    tls.assert_left_clean("postgres")


def test_an_offer_of_tls_that_fails_gets_no_password(
    tls: TlsServer, redolab: Redolab, tmp_path: Path
) -> None:
    """libpq itself would go on in the clear and send the password."""

    def break_the_handshake(data: bytes) -> bytes:
        return data if data == b"S" or data[:1] not in {b"\x16", b"\x17"} else b"\x15\x03\x03\x00\x02\x02\x28"

    for mode in ("prefer", "allow"):
        with listening(tls.port, break_the_handshake) as (port, heard):
            done = run(redolab, url_of(port, "by_password", sslmode=mode), "--out", tmp_path / "run")
        assert done.code == 3
        assert "cleartext password" in done.complaint
        assert PASSWORD.encode() not in sent_by(heard)
        assert heard


def test_allow_gives_no_password_away_either(tls: TlsServer) -> None:
    with listening(tls.port) as (port, heard):
        assert load_over(url_of(port, "by_password", sslmode="allow")) == [True, True]
    assert heard
    assert PASSWORD.encode() not in sent_by(heard)


def test_a_server_without_tls_may_have_the_password_itself(newest: Server, home: Path) -> None:
    access = newest.data / "pg_hba.conf"
    access.write_text("host all by_password_alone 127.0.0.1/32 password\n" + access.read_text())
    newest.role("by_password_alone")
    newest.ask("select pg_reload_conf()")
    for mode in ("prefer", "allow", "disable"):
        assert load_over(url_of(newest.port, "by_password_alone", sslmode=mode)) == [False, False]
    with pytest.raises(RefusedError, match=r"does not support SSL.*ssl = on"):
        load_over(url_of(newest.port, "by_password_alone", sslmode="require"))


def test_what_says_it_may_be_in_the_clear_is(tls: TlsServer) -> None:
    assert load_over(url_of(tls.port, "by_password", sslmode="disable")) == [False, False]
    assert load_over(url_of(tls.port, "without_tls")) == [False, False]


def test_a_server_that_stops_offering_tls_gets_nothing_from_the_load(tls: TlsServer) -> None:
    """As somebody on the way would have it, after the control connection."""
    offers = [b"S"]

    def refuse_later(data: bytes) -> bytes:
        return offers[0] if data == b"S" else data

    with listening(tls.port, refuse_later) as (port, heard):
        connector = Connector(url_of(port, "by_password"))
        with connector.connect("redolab control") as control:
            offers[0] = b"N"
            before = len(heard)
            with pytest.raises(RefusedError, match=r"does not support TLS.*which proxy or pooler is between"):
                check_client(LOAD, control, connector)
    assert len(heard) > before
    assert all(bytes(connection.sent) == b"\0\0\0\x08\x04\xd2\x16\x2f" for connection in heard[before:])


def test_the_load_sends_no_password_where_the_control_connection_sent_none(tls: TlsServer) -> None:
    with (
        listening(tls.port) as (port, heard),
        closing(client(port, "by_password", None, allowed=["md5"])) as sessions,
        pytest.raises(ConnectionError, match=r"cleartext password.*not allowed"),
    ):
        sessions.resize(1)
    assert PASSWORD.encode() not in sent_by(heard)


def test_every_session_is_encrypted_while_it_works(tls: TlsServer, tmp_path: Path) -> None:
    seen: list[list[bool]] = []
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.05):
            seen.append(encrypted_sessions(tls))

    looker = threading.Thread(target=look)
    looker.start()
    try:
        url = url_of(
            tls.port, "by_scram", sslmode="verify-full", sslrootcert=tls.certificates.crt("ca"),
            channel_binding="require",
        )  # fmt: skip
        done = in_a_process("run", "session-count", "--engine", url, *QUICK, "--out", tmp_path / "run")
    finally:
        ended.set()
        looker.join()
    assert done.code == 0, done.err
    assert [True, True] in seen
    assert all(all(sessions) for sessions in seen)
    tls.assert_left_clean("postgres")


@pytest.mark.parametrize(("encrypted", "answer"), [(False, b""), (True, b""), (True, b"S")])
def test_a_silent_server_is_left_after_the_time_limit(encrypted: bool, answer: bytes) -> None:
    """One that takes the connection and says nothing, one that says nothing once it has offered TLS."""
    taken: list[socket.socket] = []
    door = socket.create_server(("127.0.0.1", 0))

    def take() -> None:
        with suppress(OSError):
            while True:
                one, _ = door.accept()
                one.sendall(answer)
                taken.append(one)

    threading.Thread(target=take, daemon=True).start()
    tls_of_the_load = load_tls() if encrypted else None
    with (
        closing(client(door.getsockname()[1], "anybody", tls_of_the_load, 0.3)) as sessions,
        pytest.raises(ConnectionError, match="timeout"),
    ):
        sessions.resize(1)
    door.shutdown(socket.SHUT_RDWR)
    assert taken
    for one in (door, *taken):
        one.close()
