"""Settings of a run that all say what every parameter is that one of them changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from redolab.records.sample import Setting


def with_every_parameter(settings: Sequence[Setting], before: Mapping[str, str]) -> tuple[Setting, ...]:
    """The settings, where one leaves a parameter alone with the value that it had before the run.

    Without it the parameter would stay as the setting left it that happened to come before in the block.

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
