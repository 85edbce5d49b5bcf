"""What a combination of factor levels is on Oracle: the words of COMMIT, and what a commit is safe from.

All four modes are spelled in full. Inside a PL/SQL loop a plain COMMIT waits for the log once, at the end of
the call; with WAIT in the statement each commit waits.

Source: Oracle Database SQL Language Reference, "COMMIT"; Development Guide, "Managing Commit Redo Action".
"""

from __future__ import annotations

from collections.abc import Mapping

from redolab.dialect.durability import durability_tier
from redolab.records.load import Load
from redolab.records.sample import TIER_TEXT, Setting

STATEMENT = "COMMIT WRITE"
"""What stands in a setting in the place of a parameter: nothing of the server is changed."""
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


def setting_of(levels: Mapping[str, str], load: Load) -> Setting:
    """The setting of one combination."""
    mode = mode_of(levels)
    tier = durability_tier(mode.partition(" ")[0], fsync=True, standbys=False)
    return Setting(
        "/".join(levels.values()),
        levels,
        {STATEMENT: mode.upper()},
        {STATEMENT: load.scope},
        tier,
        TIER_TEXT[tier],
    )
