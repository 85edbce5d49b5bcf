"""Every test file that is named for its group or its turn is there, and falls into them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.side_by_side import FIRST, GROUPS, LAST, group_of, turn_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", sorted({*GROUPS, *FIRST, *LAST} - set(GROUPS.values())))
def test_what_is_named_exists(name: str) -> None:
    assert (ROOT / name).exists(), f"{name} was moved: say in tests/side_by_side.py where it is now"


def test_what_measures_time_is_one_group_and_begins_first() -> None:
    files = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/**/test_*.py")]
    timed = {file for file in files if group_of(file) == "timed"}
    assert "tests/engine/mariadb/observer/test_observed_waits.py" in timed
    assert "tests/usage/test_profile_usage.py" in timed
    assert max(map(turn_of, timed)) < min(turn_of(file) for file in files if file not in timed)


def test_every_other_file_is_a_group_of_its_own_but_the_browsers() -> None:
    assert group_of("tests/unit/test_side_by_side.py") == "tests/unit/test_side_by_side.py"
    assert group_of("tests/report/test_page.py") == group_of("tests/report/test_cells.py") == "report"
    assert turn_of("tests/unit/test_side_by_side.py") < turn_of("tests/golden/test_published_batches.py")
    assert turn_of("tests/golden/test_published_batches.py") < turn_of("tests/kill/test_kills.py")
