"""Connecting without giving a password away: it is not sent in the clear to a server that offers TLS.

The client library alone would do that. With sslmode=prefer, which is the default, it goes on in the clear
where a TLS handshake fails, and sslmode=allow begins in the clear. Then it sends the password itself to a
server that asks for it (the methods password, ldap, pam and radius in pg_hba.conf).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import psycopg

from redolab.engine.postgres.connecting.effective_options import effective_options

_Opened = TypeVar("_Opened")
_EITHER_WAY = ("prefer", "allow")
# Text of the client library, which reports nothing else of what went wrong.
_ASKED_FOR_IT = "cleartext password"
_NO_TLS = "server does not support SSL"


def connect(open_one: Callable[[Mapping[str, Any]], _Opened], settings: Mapping[str, Any]) -> _Opened:
    """Connect as `settings`, the environment and the service file say.

    Args:
        open_one: opens a connection by the client library.
        settings: its parameters.

    Raises:
        psycopg.Error: the server cannot be reached or refuses, or it would get the password in the clear
            though it offers TLS.
    """

    def attempt(**other: str) -> _Opened:
        return open_one({**settings, **other})

    wanted = effective_options(settings)
    if wanted.get("sslmode") not in _EITHER_WAY or "require_auth" not in wanted:
        return attempt()
    rest = _without_password(wanted["require_auth"])
    if rest:
        try:
            return attempt(require_auth=rest)
        except psycopg.OperationalError as error:
            if _ASKED_FOR_IT not in str(error):
                raise
    try:
        return attempt(sslmode="require")
    except psycopg.OperationalError as error:
        if _NO_TLS not in str(error):
            raise psycopg.OperationalError(
                "the server asks for the password itself (a cleartext password), which Redolab sends only "
                f"over TLS, and TLS failed: {' '.join(str(error).split())}"
            ) from error
    return attempt()


def _without_password(require_auth: str) -> str:
    """The same ways of authentication but for the one that sends the password itself.

    Empty where none is left.
    """
    listed = [method.strip() for method in require_auth.split(",") if method.strip()]
    if all(method.startswith("!") for method in listed):
        return ",".join(dict.fromkeys((*listed, "!password")))
    return ",".join(method for method in listed if method != "password")
