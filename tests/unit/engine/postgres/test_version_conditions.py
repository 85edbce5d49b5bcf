"""What a run says of a server's version."""

from __future__ import annotations

import pytest

from redolab.engine.postgres.preflight.preflight import NEWEST, OLDEST, version_conditions


@pytest.mark.parametrize("major", range(OLDEST, NEWEST + 1))
@pytest.mark.parametrize("version", ["{}.0", "{}.6 (Debian {}.6-0+deb13u1)", "{}.3 (betatest's build 19rc1)"])
def test_a_released_version_that_was_tested_is_no_condition(major: int, version: str) -> None:
    assert version_conditions({"version_num": 10_000 * major, "version": version.format(major, major)}) == []


@pytest.mark.parametrize("version", ["19rc1", "19beta2", "19devel", "19alpha"])
def test_a_version_before_its_release_is_said_to_be_one(version: str) -> None:
    (said,) = version_conditions({"version_num": 190_000, "version": f"{version} (Debian 19~1-1)"})
    assert said == (f"PostgreSQL {version} is not a release: its behaviour may change before the release.")


def test_a_newer_version_than_was_tested_is_said_to_be_one() -> None:
    newer = NEWEST + 1
    said = version_conditions({"version_num": 10_000 * newer, "version": f"{newer}beta1"})
    assert [f"newer than {NEWEST}" in said[0], "is not a release" in said[1]] == [True, True]
