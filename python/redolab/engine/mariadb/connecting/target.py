"""Where a MariaDB or MySQL server is, who asks, and how the way there is protected."""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, unquote

from redolab.engine.mariadb.connecting import sockets
from redolab.engine.mariadb.connecting.login_path import login_path_options
from redolab.engine.mariadb.connecting.option_file import client_options
from redolab.errors import UsageError
from redolab.password_command import password_command, password_of

# ? and : may occur in a password, so it is not read as a browser would.
_URL = re.compile(
    r"(?:mysql|mariadb)://(?:(?P<user>[^:@/]*)(?::(?P<password>[^@/]*))?@)?"
    r"(?P<host>\[[0-9a-fA-F:.]+\]|[^:/?\[\]@]*)(?::(?P<port>\d{1,5}))?(?:/(?P<database>[^?]*))?(?:\?(?P<query>.*))?",
    re.DOTALL,
)
_KNOWN = frozenset({"unix_socket", "socket", "password", "ssl-mode", "ssl-ca", "login-path"})
_SOCKETS = ("/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock")  # noqa: S108
_PORT = 3306
_MOST_PORT = 65_535
_ON, _OFF = ("1", "on", "true", "yes"), ("0", "off", "false", "no")
_TLS_MODES = ("disabled", "preferred", "required", "verify-ca", "verify-identity")


@dataclass(frozen=True)
class Target:
    """A server as a client finds it."""

    host: str
    port: int
    user: str
    unix_socket: str | None
    database: str | None
    password: str | None = field(repr=False)
    tls_mode: str = "disabled"
    """One of MySQL's modes in lower case, with dashes: `verify-ca`."""
    ca_file: str | None = None
    """File of the certificates that vouch for the server's; None for those that the system trusts."""
    encrypted: bool | None = None
    """Whether the first connection was; None before it. Every later one is as that one was."""
    peer: int | None = None
    """The user whose process was at the other end of the first one's socket, as it must be afterwards."""
    password_command: str | None = None
    """Prints the password of the next connection (`redolab.password_command`); None for `password`."""

    @property
    def place(self) -> str:
        """The server's place in words, never a password."""
        return f"socket {self.unix_socket}" if self.unix_socket else f"{self.host}:{self.port}"

    def secret(self) -> str | None:
        """The password of the next connection; None where it does not have one.

        Raises:
            RedolabError: the command that prints it failed.
        """
        return self.password if self.password_command is None else password_of(self.password_command)

    @property
    def demanded(self) -> str:
        """The mode of encryption of the next connection: `preferred` is decided once, by the first."""
        if self.tls_mode != "preferred" or self.encrypted is None:
            return self.tls_mode
        return "required" if self.encrypted else "disabled"


def read_target(url: str) -> Target:
    """Read a `mysql://` or `mariadb://` URL; what it leaves open is taken from the user's option files.

    The login paths of ~/.mylogin.cnf come before ~/.my.cnf, and `MYSQL_PWD` before both.

    Without a host, or with `localhost` and no port, the server's socket is used where it is in one of its
    usual places, as the servers' own clients do, unless anybody could have put it there. `ssl-mode` and
    `ssl-ca` are MySQL's own words; without them a connection over a network is encrypted where the server can
    do it, and one over a socket is not.

    Raises:
        UsageError: it cannot be read as one, or an option file cannot be.
        MissingPartError: it names a login path, which Redolab's compiled part reads, and that is not there.
    """
    parts = _URL.fullmatch(url)
    query = parse_qs(parts["query"] or "", keep_blank_values=True) if parts else {}
    if parts is None or not query.keys() <= _KNOWN or int(parts["port"] or _PORT) > _MOST_PORT:
        raise UsageError(
            "This is not a URL of a MariaDB or MySQL server. Write it as mysql://user@host:3306/ or "
            "mysql://user@/?unix_socket=/run/mysqld/mysqld.sock."
        )
    options = {name: values[0] for name, values in query.items()}
    own = login_path_options(options.pop("login-path", "") or None)
    usual = {**client_options(), **own}
    host = parts["host"].strip("[]") or usual.get("host", "")
    path = options.get("unix_socket") or options.get("socket")
    if path is None and parts["port"] is None and host in ("", "localhost"):
        places = (usual.get("socket"), *_SOCKETS)
        path = next((place for place in places if place and sockets.is_offered(place)), None)
    given = parts["password"] or options.get("password")
    mode, authority = _protection(options, usual, by_network=path is None)
    return Target(
        host=host or "localhost",
        port=int(parts["port"] or _port(usual)),
        user=unquote(parts["user"] or "") or usual.get("user") or getpass.getuser(),
        unix_socket=path,
        database=unquote(parts["database"] or "") or None,
        password=unquote(given) if given else os.environ.get("MYSQL_PWD") or usual.get("password") or None,
        tls_mode=mode,
        ca_file=authority,
        password_command=password_command(),
    )


def _port(usual: Mapping[str, str]) -> str:
    """The port that option files name.

    Raises:
        UsageError: it is not a port.
    """
    port = usual.get("port") or str(_PORT)
    if not re.fullmatch(r"\d{1,5}", port) or not 0 < int(port) <= _MOST_PORT:
        raise UsageError(
            f"The port {port!r} in ~/.my.cnf or ~/.mylogin.cnf is not a port number: correct it in that file."
        )
    return port


def _protection(
    asked: Mapping[str, str], usual: Mapping[str, str], by_network: bool
) -> tuple[str, str | None]:
    """The mode of encryption, and the file of certificates that vouch for the server's.

    Raises:
        UsageError: there is no such mode, or no such file.
    """
    # An authority can be taken away by naming none; a mode has a name of its own for that.
    usual = {**usual, **{name: value for name, value in asked.items() if value or name != "ssl-mode"}}
    authority = usual.get("ssl-ca")
    wanted = usual.get("ssl-mode") or _mode_by_switches(usual)
    mode = wanted.lower().replace("_", "-")
    if mode not in _TLS_MODES:
        names = ", ".join(name.upper().replace("-", "_") for name in _TLS_MODES)
        raise UsageError(f"Unknown ssl-mode {wanted!r}. Use one of {names}.")
    if authority and not Path(authority).is_file():
        raise UsageError(f"ssl-ca names the file {authority}, but that file does not exist.")
    if authority and not mode.startswith("verify"):
        raise UsageError(
            f"ssl-ca names certificates, but ssl-mode={wanted} does not check certificates: use VERIFY_CA or "
            "VERIFY_IDENTITY, or leave ssl-ca out."
        )
    # Over a socket it would cost both ends CPU, and nobody can listen in between; who demands it gets it.
    return ("disabled", None) if mode == "preferred" and not by_network else (mode, authority)


def _mode_by_switches(usual: Mapping[str, str]) -> str:
    """The mode that the servers' own clients use by the options that replace `ssl-mode`."""
    says = {name: usual.get(name, "").lower() for name in ("ssl", "ssl-verify-server-cert")}
    if says["ssl-verify-server-cert"] in _ON:
        return "VERIFY_IDENTITY"
    if usual.get("ssl-ca"):
        # A user that names an authority wants it to be checked.
        return "VERIFY_CA"
    return "DISABLED" if says["ssl"] in _OFF else "PREFERRED"
