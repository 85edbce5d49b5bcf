"""The log-ins that the control connection takes part in, and what it sends of a password in each.

The load's client has the same rules in `redolab-load/src/wire/mysql/log_ins.rs`; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from typing import Any

import pymysql
from pymysql import _auth
from pymysql.constants import CR


class Sent(Enum):
    """The form of the password that a log-in sends."""

    PROOF = "Proof"
    """A hash of the password and of the server's random bytes."""
    PASSWORD = "Password"  # noqa: S105
    """The password itself: over TLS, or over a socket whose other end is known."""


LOG_INS: Mapping[str, Sent] = {
    "mysql_native_password": Sent.PROOF,
    "caching_sha2_password": Sent.PROOF,
    "sha256_password": Sent.PASSWORD,
    "mysql_clear_password": Sent.PASSWORD,
}
IN_THE_CLEAR = (
    "the server asked for the password itself, which is not sent over a network without TLS: require TLS, or "
    "connect by the server's socket"
)
ANOTHER = (
    "the server asked for a log-in by {}, which Redolab does not support: use a user with "
    "caching_sha2_password or mysql_native_password"
)
_MOST_LETTERS = 64
_SCRAMBLE_BYTES = 20
_PROOFS: Mapping[str, Callable[[bytes, bytes], bytes]] = {
    "mysql_native_password": _auth.scramble_native_password,
    "caching_sha2_password": _auth.scramble_caching_sha2,
}
_KNOWN_TO_SERVER, _PASSWORD_WANTED = b"\x01\x03", b"\x01\x04"


class LogIn:
    """One log-in as pymysql has it done by others: `authenticate` answers a packet and returns the next one.

    So pymysql's own log-ins are not in use; some of them send the password to whoever asks.
    """

    def __init__(self, plugin: str, connection: Any) -> None:
        """Take the server's name for it, and pymysql's connection."""
        self._plugin, self._connection = plugin, connection

    def authenticate(self, packet: Any) -> Any:
        """Answer a request to switch to this log-in, or what it needs after the first answer.

        Raises:
            pymysql.OperationalError: Redolab takes no part in that, or not over such a connection.
        """
        connection = self._connection
        sent = LOG_INS.get(self._plugin)
        if sent is None:
            raise _refusal(CR.CR_AUTH_PLUGIN_CANNOT_LOAD, ANOTHER.format(self._plugin or "no name"))
        data = packet.get_all_data()
        if sent is Sent.PROOF and packet.is_auth_switch_request():
            # pymysql has read its head.
            nonce = packet.read_all()[:_SCRAMBLE_BYTES]
            answer = _PROOFS[self._plugin](connection.password, nonce)
        elif sent is Sent.PROOF and data == _KNOWN_TO_SERVER:
            return connection._read_packet()  # noqa: SLF001
        elif sent is Sent.PASSWORD or (data == _PASSWORD_WANTED and self._plugin == "caching_sha2_password"):
            answer = self._password()
        else:
            raise _refusal(CR.CR_AUTH_PLUGIN_ERR, "the server's answer in the log-in is not MySQL's protocol")
        connection.write_packet(answer)
        return connection._read_packet()  # noqa: SLF001

    def _password(self) -> bytes:
        if not self._connection._secure:  # noqa: SLF001
            raise _refusal(CR.CR_AUTH_PLUGIN_ERR, IN_THE_CLEAR)
        return bytes(self._connection.password) + b"\0"


class LogIns(dict[Any, Any]):
    """Every log-in by the server's name for it, in the place of pymysql's `auth_plugin_map`."""

    def __init__(self) -> None:
        """Fill the map, because pymysql replaces an empty one by its own."""
        super().__init__(LOG_INS)

    def get(self, plugin: Any, default: object = None) -> Callable[[Any], LogIn]:  # noqa: ARG002
        """The function that does the log-in, or refuses it."""
        name = plugin.decode(errors="replace") if isinstance(plugin, bytes) else str(plugin)
        return partial(LogIn, name[:_MOST_LETTERS])


def _refusal(number: int, text: str) -> pymysql.OperationalError:
    return pymysql.OperationalError(number, text)
