"""The driver's errors, turned into those that the rest of Redolab knows, and what to do about them.

Source: Oracle Database Error Messages (ORA- codes); python-oracledb, "Troubleshooting Errors" (DPY- codes).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import oracledb

from redolab.bounds import OutOfBoundsError
from redolab.engine.connecting import NotDoneError
from redolab.errors import ConnectionLostError, EngineError, RedolabError, RefusedError

TOO_OLD = "DPY-3010"
NOT_SEEN = frozenset({"ORA-00942", "ORA-01031", "ORA-41900"})
"""Codes of a missing grant: Oracle reports that such a view does not exist. 23 has its own words."""
_CODE = re.compile(r"\b(?:ORA|DPY|TNS)-\d{4,5}\b")
_HELP = re.compile(r"\s*Help: https?://\S+")
_ERRNO = re.compile(r"\[Errno -?\d+\] ")
_CONNECTION_ID = re.compile(r"\s*\(CONNECTION_ID=[^)]*\)")
_LOST = frozenset(
    {
        "DPY-1001", "DPY-4011", "DPY-4024", "DPY-6005", "ORA-00028", "ORA-00603", "ORA-01012",
        "ORA-01033", "ORA-01034", "ORA-01089", "ORA-01092", "ORA-02396", "ORA-03113", "ORA-03114",
        "ORA-03135", "ORA-12514", "ORA-12528", "ORA-12537", "ORA-12541", "ORA-12547", "ORA-12570",
    }
)  # fmt: skip
_LISTENER = (
    "`lsnrctl status` on the server lists the services that the listener knows; name one of these services "
    "in the URL."
)
_DOWN = "Is the database open? `startup` in SQL*Plus opens it."
_PASSWORD = (
    "Check the user and the password; REDOLAB_ORACLE_PASSWORD keeps the password out of the command line."  # noqa: S105
)
_MENDS = {
    TOO_OLD: (
        "Only Oracle 12.1 and newer can be reached without Oracle's own client. For an older release, make "
        "an AWR or Statspack report on the server, and read it with `redolab import awr`."
    ),
    "DPY-3001": (
        "The server requires Oracle's native network encryption, which this driver does not support: use TLS "
        "with ?protocol=tcps, or let the server accept a connection without native encryption."
    ),
    "DPY-3015": (
        "The server stores the password only in an old format: ALTER USER ... IDENTIFIED BY stores the "
        "password in a newer format."
    ),
    "DPY-4024": "The server did not answer in time.",
    "DPY-4027": "Write a host and a service in the URL: Redolab does not read names from tnsnames.ora.",
    "DPY-6000": _LISTENER,
    "DPY-6001": _LISTENER,
    "DPY-6003": _LISTENER,
    "DPY-6005": (
        "Does the listener run on that host, and on that port? `lsnrctl status` on the server shows the "
        "listener's state."
    ),
    "ORA-00018": "Raise the parameter sessions, or try again when fewer sessions are connected.",
    "ORA-00020": "Raise the parameter processes, or try again when fewer sessions are connected.",
    "ORA-01005": _PASSWORD,
    "ORA-01017": _PASSWORD,
    "ORA-01033": "The database is being opened or closed: try again.",
    "ORA-01034": _DOWN,
    "ORA-01035": (
        "The database is in restricted mode: end that mode, or GRANT RESTRICTED SESSION TO the user."
    ),
    "ORA-01045": "GRANT CREATE SESSION TO the user.",
    "ORA-12514": _LISTENER,
    "ORA-12505": _LISTENER,
    "ORA-12516": "No process is free for a further connection: try again, or raise the parameter processes.",
    "ORA-12519": "No process is free for a further connection: try again, or raise the parameter processes.",
    "ORA-12520": "The service has no server process of the kind that ?server= asks for.",
    "ORA-12528": _DOWN,
    "ORA-12541": (
        "Does the listener run on that host, and on that port? `lsnrctl start` on the server starts the "
        "listener."
    ),
    "ORA-28000": "The user's account is locked: ALTER USER ... ACCOUNT UNLOCK unlocks it.",
    "ORA-28001": "The password has expired: ALTER USER ... IDENTIFIED BY sets a new password.",
    "ORA-28040": (
        "The server accepts only other versions of the log-in: SQLNET.ALLOWED_LOGON_VERSION_SERVER sets "
        "which versions the server accepts."
    ),
}


def error_codes(error: BaseException) -> tuple[str, ...]:
    r"""The codes in an error, the innermost cause last.

    >>> error_codes(ValueError("DPY-6005: cannot connect\nDPY-3010: not supported"))
    ('DPY-6005', 'DPY-3010')
    """
    return tuple(dict.fromkeys(_CODE.findall(str(error))))


def error_text(error: BaseException) -> str:
    """The text of an error, one line without links and numbers of connections."""
    lines = _ERRNO.sub("", _CONNECTION_ID.sub("", _HELP.sub("", str(error)))).strip().splitlines()
    return "; ".join(line.strip().rstrip(".") for line in lines if line.strip()) or type(error).__name__


def mend(error: BaseException) -> str:
    """The remedy for an error, whole sentences; empty where nothing is known."""
    if isinstance(error, NotDoneError | OutOfBoundsError):
        return "Is it Oracle's listener that is at that host and port?"
    if isinstance(error, OSError):
        return "Is the name of the host right, and can it be reached from here?"
    return next((_MENDS[code] for code in reversed(error_codes(error)) if code in _MENDS), "")


def refused(place: str, error: BaseException) -> RefusedError:
    """The error of a connection that was not made.

    Args:
        place: the database's place in words.
        error: what the driver said.
    """
    return RefusedError(f"No connection to Oracle at {place}: {error_text(error)}. {mend(error)}".rstrip())


def is_lost(error: BaseException) -> bool:
    """Whether an error means that the connection is gone."""
    return bool(_LOST.intersection(error_codes(error)))


def as_engine_error(error: oracledb.Error) -> EngineError:
    """The error that others see instead of the driver's."""
    kind = ConnectionLostError if is_lost(error) else EngineError
    return kind(error_text(error))


@contextmanager
def as_driver_errors() -> Iterator[None]:
    """Whatever the driver raises over bytes that it does not understand becomes an error of its own kind.

    Raises:
        oracledb.Error: what was raised inside; errors of the operating system stay as they are.
    """
    try:
        yield
    except (oracledb.Error, OSError, RedolabError, OutOfBoundsError):
        raise
    except Exception as error:
        raise oracledb.InterfaceError(
            "DPY-4011: the server sent something that the driver does not understand "
            f"({type(error).__name__}: {error})"
        ) from error


@contextmanager
def as_engine_errors() -> Iterator[None]:
    """Turn the driver's errors into `EngineError`; it encloses all that others ask of the engine.

    Raises:
        EngineError: the database or the driver refused something; where the connection is gone, a
            `ConnectionLostError`.
    """
    try:
        yield
    except oracledb.Error as error:
        raise as_engine_error(error) from error
