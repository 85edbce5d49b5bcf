"""How the connections of a client load are protected: as the control connection is, and never less.

The control connection is the client library's, which takes its parameters from the URL, the environment and
the service file; what it really got is read from it. Where it is encrypted, every connection of the load is,
with the same demands on the server's certificate. What the load cannot do in the same way is refused.
"""

from __future__ import annotations

import pwd
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from redolab import _core
from redolab.engine.postgres.connecting.connection import Connection
from redolab.engine.postgres.connecting.effective_options import options_of
from redolab.errors import RefusedError

_METHODS = ("none", "password", "md5", "scram-sha-256")
_CONNECT_LIMIT_S = 10.0
_OLD_VERSIONS = ("tlsv1", "tlsv1.1")


@dataclass(frozen=True)
class Protection:
    """Protection that the connections of a client load share with the control connection."""

    tls: _core.ClientTls | None
    """How they are encrypted; None where they are not."""
    channel_binding: str
    """The value of libpq's parameter."""
    allowed: tuple[str, ...]
    """The ways of authentication to take part in, as `require_auth` names them."""
    peer_uid: int | None
    """The user as whom the server must run behind a Unix socket."""
    connect_timeout_s: float
    """Limit for opening a connection, seconds."""


def protection_like(control: Connection) -> Protection:
    """The same protection as that of `control`.

    Raises:
        RefusedError: a client load cannot have it; the text says why and what to do.
    """
    options = options_of(control.pgconn)
    encrypted = bool(control.pgconn.ssl_in_use)
    by_network = bool(control.info.hostaddr)
    if by_network and not encrypted and options.get("gssencmode", "disable") != "disable":
        _refuse_kerberos(control)
    limit_s = float(options.get("connect_timeout") or 0)
    return Protection(
        tls=_tls(options, control.info.host) if encrypted else None,
        channel_binding=options.get("channel_binding") or "prefer",
        allowed=allowed_methods(options.get("require_auth", "")),
        peer_uid=None if by_network else _uid(options.get("requirepeer", "")),
        connect_timeout_s=limit_s if limit_s > 0 else _CONNECT_LIMIT_S,
    )


def allowed_methods(require_auth: str) -> tuple[str, ...]:
    """The ways of authentication that libpq's `require_auth` leaves, of those that a client load knows."""
    listed = {method.strip() for method in require_auth.split(",") if method.strip()}
    refused = {method[1:] for method in listed if method.startswith("!")}
    return tuple(
        method
        for method in _METHODS
        if (method in listed if listed and not refused else method not in refused)
    )


def _tls(options: Mapping[str, str], host: str) -> _core.ClientTls:
    mode = options.get("sslmode", "")
    roots = _roots(options)
    if roots not in {None, "system"}:
        _refuse_revocations(options)
    try:
        return _core.ClientTls(
            host,
            roots,
            mode == "verify-full",
            _identity(options),
            _versions(options),
            options.get("sslnegotiation") == "direct",
            options.get("sslsni", "1") == "1",
        )
    except ValueError as error:
        raise _refusal(str(error), "Correct that") from error


def _roots(options: Mapping[str, str]) -> str | None:
    """The file of root certificates or `system`; None where any certificate will do.

    A file that is there is heeded in every mode, as by the client library.
    """
    named = options.get("sslrootcert") or _at_home("root.crt")
    return named if named == "system" or (named and Path(named).exists()) else None


def _refuse_revocations(options: Mapping[str, str]) -> None:
    named = [options.get(name, "") for name in ("sslcrl", "sslcrldir")]
    if not any(named):
        named = [_at_home("root.crl")]
    files = [name for name in named if name and Path(name).exists()]
    if files:
        raise _refusal(
            f"the load does not check for revoked certificates ({', '.join(files)})",
            "Leave out sslcrl and sslcrldir",
        )


def _identity(options: Mapping[str, str]) -> tuple[str, str] | None:
    """The files of the client's certificate and key. The client library has checked who may read the key."""
    if options.get("sslcertmode") == "require":
        raise _refusal(
            "the load does not know whether the server asks for a certificate", "Use sslcertmode=allow"
        )
    certificate = options.get("sslcert") or _at_home("postgresql.crt")
    if options.get("sslcertmode") == "disable" or not certificate or not Path(certificate).exists():
        return None
    key = options.get("sslkey") or _at_home("postgresql.key")
    if ":" in key and not Path(key).exists():
        raise _refusal(f"the load cannot use a key in a device (sslkey={key})", "Name a file in sslkey")
    return certificate, key


def _versions(options: Mapping[str, str]) -> list[str]:
    oldest, newest = (options.get(f"ssl_{end}_protocol_version", "").lower() for end in ("min", "max"))
    if newest in _OLD_VERSIONS:
        raise _refusal(
            f"the load speaks only TLS 1.2 and 1.3, and ssl_max_protocol_version is {newest}",
            "Allow TLSv1.2",
        )
    versions = {"tlsv1.2": "1.2", "tlsv1.3": "1.3"}
    least, most = versions.get(oldest, "1.2"), versions.get(newest, "1.3")
    return [version for version in versions.values() if least <= version <= most]


def _refuse_kerberos(control: Connection) -> None:
    # The view is there whether or not the server can do this; a session sees itself.
    row = control.execute("select encrypted from pg_stat_gssapi where pid = pg_backend_pid()").fetchone()
    if row is not None and row["encrypted"]:
        raise _refusal("the load does not support encryption by GSSAPI", "Use gssencmode=disable and TLS")


def _uid(user: str) -> int | None:
    if not user:
        return None
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError as error:
        raise _refusal(f"there is no user {user} (requirepeer)", "Correct that") from error


def _at_home(name: str) -> str:
    """Where the client library looks for it by itself; empty without a home directory."""
    try:
        return str(Path.home() / ".postgresql" / name)
    except RuntimeError:
        return ""


def _refusal(why: str, mend: str) -> RefusedError:
    return RefusedError(
        f"Redolab's load from a client cannot be protected like the control connection: {why}. {mend}, "
        "measure with loops inside the server, or connect by a Unix socket. Nothing was changed."
    )
