"""Where an Oracle database is, who asks, and how the way there is protected."""

from __future__ import annotations

import getpass
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, unquote

from redolab.errors import UsageError
from redolab.password_command import password_command, password_of
from redolab.url_secrets import ORACLE_PASSWORD

# ? and : may occur in a password, so it is not read as a browser would.
_URL = re.compile(
    r"oracle://(?:(?P<user>[^:@/]*)(?::(?P<password>[^@/]*))?@)?"
    r"(?P<host>\[[0-9a-fA-F:.]+\]|[^:/?\[\]@]+)(?::(?P<port>\d{1,5}))?/(?P<service>[^?/]+)(?:\?(?P<query>.*))?",
    re.DOTALL,
)
# A name that goes into a connect descriptor, whose own signs are ( ) = and blanks.
_PLAIN = re.compile(r"[\w.$#:-]+")
_KNOWN = frozenset({"protocol", "wallet", "server"})
_PROTOCOLS = ("tcp", "tcps")
_SERVERS = ("dedicated", "shared", "pooled")
_PORT = 1521


@dataclass(frozen=True)
class Target:
    """A database as a client finds it."""

    host: str
    port: int
    service: str
    user: str
    password: str | None = field(repr=False)
    protocol: str = "tcp"
    """`tcp`, or `tcps` for TLS."""
    wallet: str | None = None
    """Directory with the certificates (ewallet.pem) that vouch for the server's."""
    server: str | None = None
    """Which kind of server process the listener is asked for; None for what the service has."""
    password_command: str | None = None
    """Prints the password of the next connection (`redolab.password_command`); None for `password`."""

    def secret(self) -> str | None:
        """The password of the next connection; None where it does not have one.

        Raises:
            RedolabError: the command that prints it failed.
        """
        return self.password if self.password_command is None else password_of(self.password_command)

    @property
    def place(self) -> str:
        """The database's place in words, never a password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}/{self.service}"


def read_target(url: str) -> Target:
    """Read an `oracle://` URL; a password that it leaves open is taken from the environment.

    Raises:
        UsageError: it cannot be read as one.
    """
    parts = _URL.fullmatch(url)
    query = parse_qs(parts["query"] or "", keep_blank_values=True) if parts else {}
    if parts is None or not query.keys() <= _KNOWN or int(parts["port"] or _PORT) > 65_535:
        raise UsageError(
            "This is not a URL of an Oracle database. Write the URL as oracle://user@host:1521/service, with "
            "the name of a service as `lsnrctl status` on the server lists it. Options may follow after a ?: "
            "protocol=tcps, wallet=DIRECTORY and server=dedicated, shared or pooled."
        )
    options = {name: values[0] for name, values in query.items()}
    host, service = parts["host"].strip("[]"), unquote(parts["service"])
    if not _PLAIN.fullmatch(host) or not _PLAIN.fullmatch(service):
        raise UsageError(
            "A host and a service may have only letters, digits and . - _ $ #. Write "
            "oracle://user@host:1521/service."
        )
    given = parts["password"]
    return Target(
        host=host,
        port=int(parts["port"] or _PORT),
        service=service,
        user=unquote(parts["user"] or "") or getpass.getuser(),
        password=unquote(given) if given else os.environ.get(ORACLE_PASSWORD),
        protocol=_one_of(options, "protocol", _PROTOCOLS) or "tcp",
        wallet=_wallet(options.get("wallet")),
        server=_one_of(options, "server", _SERVERS),
        password_command=password_command(),
    )


def _one_of(asked: dict[str, str], name: str, words: tuple[str, ...]) -> str | None:
    wanted = asked.get(name)
    if wanted is not None and wanted.lower() not in words:
        raise UsageError(f"Unknown {name} {wanted!r}. Use one of {', '.join(words)}.")
    return wanted.lower() if wanted is not None else None


def _wallet(directory: str | None) -> str | None:
    if directory is not None and not (Path(directory) / "ewallet.pem").is_file():
        raise UsageError(
            f"The directory {directory} that wallet= names has no file ewallet.pem. The driver reads only "
            "that format of a wallet; `openssl pkcs12` makes ewallet.pem from an ewallet.p12."
        )
    return directory
