"""Secrets in connection URLs: found where the client libraries would find them, removed, and handed on.

Every user of the machine sees a command line, and it is stored with a run. Only its own user and root see an
environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, MutableMapping
from urllib.parse import unquote

from redolab.errors import UsageError

_OWN = "REDOLAB_"
_VARIABLES: Mapping[str, str] = {
    "password": "PGPASSWORD",
    # The client library has no variable for these.
    "sslpassword": f"{_OWN}SSLPASSWORD",
    "oauth_client_secret": f"{_OWN}OAUTH_CLIENT_SECRET",
    "scram_client_key": f"{_OWN}SCRAM_CLIENT_KEY",
    "scram_server_key": f"{_OWN}SCRAM_SERVER_KEY",
}
"""Parameter of the client library to the environment variable that hands it on."""
_MYSQL_PASSWORD = "MYSQL_PWD"  # noqa: S105  a variable's name
ORACLE_PASSWORD = f"{_OWN}ORACLE_PASSWORD"
"""Oracle's own programs have no variable for it."""
_PASSWORDS = {"mysql": _MYSQL_PASSWORD, "mariadb": _MYSQL_PASSWORD, "oracle": ORACLE_PASSWORD}
"""The beginning of a URL's scheme to the variable of its password, where it is not PostgreSQL's."""

# A browser would read it in another way: here a password may contain # and ?, and the first @ ends it.
_URL = re.compile(
    # An option, a server's name, and what slips in front of it: blanks, quotes, marks that nobody sees.
    r"(?P<before>.*?)(?P<scheme>(?<![a-z0-9+.-])(?:jdbc:)?[a-z][a-z0-9+.-]*)(?P<slashes>\s*:\s*//)"
    r"(?:(?P<user>[^:@/]*)(?::(?P<password>[^@/]*))?@)?(?P<place>[^?]*)(?P<query>\?.*)?",
    re.DOTALL | re.IGNORECASE,
)
_HOSTS = re.compile(r"(?:\[[^]]*\]|[^:,\[]*)(?::\d*)?(?:,(?:\[[^]]*\]|[^:,\[]*)(?::\d*)?)*")
_KEYWORD = re.compile(rf"(?:^|[\s='\"(<])(?:{'|'.join(_VARIABLES)})\s*=", re.IGNORECASE)
_KEYWORD_VALUE = re.compile(rf"(?:{'|'.join(_VARIABLES)})=[^&]", re.IGNORECASE)
_SLIP = re.compile(
    r"(?:[:/]/|\b(?:jdbc|postgres\w*|mysql|mariadb|oracle)\b)[^@]*:[^@]+@", re.IGNORECASE | re.DOTALL
)
"""Text that looks like a URL with a password in it but is not a URL: `mysql:/user:password@host`."""
_SHOWN = re.compile(r"(?<=[\w%.+~-]):[^\s:@/]+(?=@)")
_PAIRS = re.compile(r"(?:--engine=)?[\s'\"(<]*\w+\s*=.*", re.DOTALL)


def take_secrets(argument: str, environment: MutableMapping[str, str]) -> str:
    """Take the secrets out of an argument of the command line, and put them into an environment.

    Args:
        argument: a connection URL, perhaps behind `--option=`, or anything else.
        environment: gets a variable for each secret found.

    Returns:
        The argument without them; unchanged where it has no secret.

    Raises:
        UsageError: it is not clear where a secret in it ends. The text of the error shows nothing of it.
    """
    url = _URL.fullmatch(argument)
    if url is None:
        if _SLIP.search(argument):
            raise UsageError(
                "An argument looks like a URL with a password in it, but it is not a URL. Write it as "
                "postgresql://user@host:5432/database, mysql://user@host:3306/ or "
                "oracle://user@host:1521/service."
            )
        if _PAIRS.fullmatch(argument) and _KEYWORD.search(argument):
            raise UsageError(
                "Redolab does not accept a connection string of keywords, and this one has a secret in it. "
                "Write a URL such as postgresql://user@host:5432/database, and give the password in "
                "PGPASSWORD or ~/.pgpass."
            )
        return argument
    _check_end(url)
    scheme = url["scheme"].lower()
    of_password = next((name for begin, name in _PASSWORDS.items() if scheme.startswith(begin)), None)
    found = {"password": url["password"]} if url["password"] else {}
    kept = []
    for pair in (url["query"] or "?")[1:].split("&"):
        key, _, value = pair.partition("=")
        name = unquote(key).lower()
        if value and (name in _VARIABLES):
            found[name] = value
        else:
            kept.append(pair)
    if not found:
        return argument
    for name, value in found.items():
        secret = unquote(value, errors="surrogateescape")
        if "\0" in secret:
            raise UsageError("A secret in the URL contains a zero byte (%00), which no server accepts.")
        environment[of_password if of_password and name == "password" else _VARIABLES[name]] = secret
    user = "" if url["user"] is None else f"{url['user']}@"
    query = f"?{'&'.join(kept)}" if any(kept) else ""
    return f"{url['before']}{url['scheme']}{url['slashes']}{user}{url['place']}{query}"


def without_secrets(text: str) -> str:
    """The text of an error without parts that would be a password in a URL: `user:...@host`."""
    return _SHOWN.sub(":...", text)


def handed_on() -> dict[str, str]:
    """Secrets that `take_secrets` put where the client library does not look, by the library's parameters."""
    return {
        name: os.environ[variable]
        for name, variable in _VARIABLES.items()
        if variable.startswith(_OWN) and variable in os.environ
    }


def _check_end(url: re.Match[str]) -> None:
    """Make sure that no part of a password is read as a host, a port or a database.

    Raises:
        UsageError: a part of it may be.
    """
    host, _, path = url["place"].partition("/")
    cut_off = url["user"] is None and (
        ((":" in host or (not host and ":" in path)) and "@" in path)
        or ("@" in (url["query"] or "") and not _HOSTS.fullmatch(host))
    )
    rest = f"{url['place']}{url['query'] or ''}"
    another = "//" in rest and _SLIP.search(rest)
    hidden = _KEYWORD_VALUE.search(unquote(f"{url['user']}?{url['place']}"))
    if cut_off or hidden or another or (url["password"] and "@" in url["place"]):
        raise UsageError(
            "It is not clear where the password in the URL ends. In the password, write / as %2F and @ as "
            "%40; in the name of a database, write @ as %40 too. Or leave the password out of the URL, and "
            "give it in PGPASSWORD or ~/.pgpass (MYSQL_PWD or ~/.my.cnf for MariaDB and MySQL, "
            "REDOLAB_ORACLE_PASSWORD for Oracle)."
        )
