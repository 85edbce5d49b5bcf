"""How a setting of Oracle is put in force and undone: COMMIT WRITE, ALTER SESSION.

Source: Oracle Database SQL Language Reference, "COMMIT"; Database Reference, COMMIT_WAIT and COMMIT_LOGGING.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from redolab.dialect.statements import Assignment, Way

STATEMENT = "COMMIT WRITE"
"""The word in a setting in place of a parameter, where each commit names its mode."""
_PARAMETERS = ("COMMIT_WAIT", "COMMIT_LOGGING")
_USUAL = {"COMMIT_WAIT": "WAIT", "COMMIT_LOGGING": "IMMEDIATE"}
_WORD = re.compile(r"[A-Z_]{1,20}")
_EACH = (
    "Only the commits that are written in this form: write this statement in place of COMMIT wherever it is "
    "to apply. To undo the change, write a plain COMMIT again."
)
_SESSION = "One session, at once and until it ends: each of its plain COMMITs."
_FORMER = " The undo sets the values that the server had."
_DEFAULT = (
    " The undo sets Oracle's default. What the session has before the change is not known here: look at the "
    "values before the change, and set them again to undo it."
)
_LOOK = "SELECT name, value FROM v$parameter WHERE name IN ('commit_wait', 'commit_logging');"


def ways(assigned: Sequence[Assignment]) -> tuple[Way, ...]:
    """Each commit by itself, and one session; the way that was measured comes first."""
    words = _words(assigned)
    if words is None:
        return ()
    wait, logging = words
    each = Way("commit", _EACH, (f"{STATEMENT} {wait} {logging};",), ("COMMIT;",))
    before = {item.parameter.upper(): (item.before or "").upper() for item in assigned}
    known = all(_WORD.fullmatch(before.get(name, "")) for name in _PARAMETERS)
    former = [before[name] if known else _USUAL[name] for name in _PARAMETERS]
    session = Way(
        "session",
        _SESSION + (_FORMER if known else _DEFAULT),
        (_altered(wait, logging),),
        (_altered(*former),),
        lasts=False,
        look=() if known else (_LOOK,),
    )
    measured_each = any(item.parameter == STATEMENT for item in assigned)
    return (each, session) if measured_each else (session, each)


def _words(assigned: Sequence[Assignment]) -> tuple[str, str] | None:
    """The words for waiting and for logging; None where the assignments are not about commits."""
    values = {item.parameter.upper(): item.value.upper() for item in assigned}
    own = [values.get(name, "") for name in _PARAMETERS]
    said = values[STATEMENT].split() if STATEMENT in values else own
    if len(said) != len(_PARAMETERS) or not all(_WORD.fullmatch(word) for word in said):
        return None
    return said[0], said[1]


def _altered(wait: str, logging: str) -> str:
    return f"ALTER SESSION SET COMMIT_WAIT = '{wait}' COMMIT_LOGGING = '{logging}';"
