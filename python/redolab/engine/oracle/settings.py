"""The setting for a combination of factor levels on Oracle: the words of COMMIT, and the tier of a commit.

In the scope `transaction` all four modes are spelled in full. Inside a PL/SQL loop a plain COMMIT waits for
the log once, at the end of the call; with WAIT in the statement each commit waits. In the scope `session` a
client's plain COMMIT obeys the parameters of its session.

Source: Oracle Database SQL Language Reference, "COMMIT"; Development Guide, "Managing Commit Redo Action".
"""

from __future__ import annotations

from collections.abc import Mapping

from redolab.dialect.durability import TIER_TEXT, durability_tier
from redolab.dialect.oracle_statements import STATEMENT
from redolab.records.load import Load
from redolab.records.sample import Setting

MODES = ("wait immediate", "wait batch", "nowait immediate", "nowait batch")
"""The words after COMMIT WRITE, all that there are."""


def mode_of(levels: Mapping[str, str]) -> str:
    """The words after COMMIT WRITE under a setting with such levels.

    >>> mode_of({"commit_wait": "nowait", "commit_logging": "batch"})
    'nowait batch'
    """
    mode = f"{levels.get('commit_wait', 'wait')} {levels.get('commit_logging', 'immediate')}"
    assert mode in MODES, mode
    return mode


def session_parameters(mode: str) -> dict[str, str]:
    """The parameters of a session whose plain COMMIT is in a mode.

    >>> session_parameters("nowait batch")
    {'COMMIT_WAIT': 'NOWAIT', 'COMMIT_LOGGING': 'BATCH'}
    """
    wait, _, logging = mode.upper().partition(" ")
    return {"COMMIT_WAIT": wait, "COMMIT_LOGGING": logging}


def setting_of(levels: Mapping[str, str], load: Load) -> Setting:
    """The setting of one combination."""
    mode = mode_of(levels)
    tier = durability_tier(mode.partition(" ")[0], fsync=True, standbys=False)
    words = {STATEMENT: mode.upper()} if load.scope == "transaction" else session_parameters(mode)
    return Setting(
        "/".join(levels.values()),
        levels,
        words,
        dict.fromkeys(words, load.scope),
        tier,
        TIER_TEXT[tier],
    )
