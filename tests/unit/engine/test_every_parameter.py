"""What one setting changes, every other one puts back."""

from __future__ import annotations

from redolab.engine.every_parameter import with_every_parameter
from redolab.records.sample import Setting


def setting(name: str, **parameters: str) -> Setting:
    return Setting(name, {}, parameters, dict.fromkeys(parameters, "session"), "disk", "")


def test_a_setting_that_leaves_a_parameter_alone_has_it_as_it_was_before() -> None:
    plain, paused = with_every_parameter(
        [setting("plain", redo="1"), setting("paused", pause="2000")],
        {"redo": "2", "pause": "0", "other": "7"},
    )
    assert plain.parameters == {"redo": "1", "pause": "0"}
    assert paused.parameters == {"redo": "2", "pause": "2000"}
    assert plain.scopes == paused.scopes == {"redo": "session", "pause": "session"}


def test_settings_without_parameters_stay_so() -> None:
    assert with_every_parameter([setting("a"), setting("b")], {"x": "1"}) == (setting("a"), setting("b"))
