"""Settings of a run, each with a value of every parameter that any of them changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from redolab.records.sample import Setting


def with_every_parameter(settings: Sequence[Setting], before: Mapping[str, str]) -> tuple[Setting, ...]:
    """The settings; one that leaves a parameter alone gets the value that the parameter had before the run.

    Otherwise the parameter would keep the value of the setting that happened to come before in the block.

    Args:
        settings: of one run.
        before: the value of every parameter that any of them changes.
    """
    scopes = {name: scope for setting in settings for name, scope in setting.scopes.items()}
    return tuple(
        replace(
            setting,
            parameters={name: before[name] for name in scopes} | dict(setting.parameters),
            scopes=scopes,
        )
        for setting in settings
    )
