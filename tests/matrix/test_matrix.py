"""Many odd settings on one server of each kind.

On each of the newest PostgreSQL, MariaDB and MySQL CI tries one of the groups of settings in which every pair
that fits stands together: the number of commits says which one. So with one commit after the other every
setting and every pair comes up: on PostgreSQL within 15 commits, on MySQL within 21, on MariaDB within 29.
The settings that refuse a run are tried each time, and so is what stands between or beside servers
(`test_between.py`). `make long` tries on every installed server each setting by itself and then every group,
in about 50 minutes.
"""

from __future__ import annotations

import subprocess
from itertools import combinations
from pathlib import Path

import pytest

from tests.matrix.odd import Odd, at_start, parameter, together
from tests.matrix.play import odds_of, play, served
from tests.server_programs import server_programs

SERVERS = ("postgres 18", "mariadb 11.8", "mysql 9.7")
_SETTINGS_OF_A_KIND = 50
_ROOT = Path(__file__).parents[2]


def drawn() -> int:
    """How many commits there are; 0 where this is not a repository."""
    found = subprocess.run(
        ["git", "rev-list", "--count", "HEAD"], cwd=_ROOT, capture_output=True, text=True, check=False
    )
    return int(found.stdout) if found.returncode == 0 else 0


def _here(server: str) -> None:
    if not server.startswith("postgres") and server not in server_programs():
        pytest.skip(f"{server} is missing: run scripts/need-servers")


@pytest.mark.parametrize("server", SERVERS)
def test_what_is_said_of_many_settings_together_is_true(server: str) -> None:
    _here(server)
    groups = together(odds_of(server))
    number = drawn() % len(groups)
    assert len(groups[number]) > _SETTINGS_OF_A_KIND
    with served(server, groups[number]) as it:
        faults = play(it, groups[number])
    assert faults == [], f"{server}, group {number}: python -m tests.matrix '{server}' --group {number}"


@pytest.mark.parametrize("server", SERVERS)
def test_what_refuses_a_run_is_told_by_doctor_and_run(server: str) -> None:
    _here(server)
    refusing = [odd for odd in odds_of(server) if odd.refuses and not odd.start]
    assert refusing
    with served(server, ()) as it:
        assert {odd.name: play(it, [odd], observed=False) for odd in refusing} == {
            odd.name: [] for odd in refusing
        }


@pytest.mark.parametrize("server", SERVERS)
def test_there_are_enough_settings_and_every_pair_that_fits_stands_together(server: str) -> None:
    odds = odds_of(server)
    assert len({odd.name for odd in odds}) == len(odds) >= _SETTINGS_OF_A_KIND
    pairs = {
        frozenset((one.name, other.name)) for group in together(odds) for one, other in combinations(group, 2)
    }
    wanted = {frozenset((one.name, other.name)) for one, other in combinations(odds, 2) if one.fits(other)}
    assert pairs == wanted


@pytest.mark.parametrize("server", SERVERS)
def test_each_setting_that_fits_another_is_in_a_group(server: str) -> None:
    odds = odds_of(server)
    grouped = {odd.name for group in together(odds) for odd in group}
    assert grouped == {odd.name for odd in odds if not odd.refuses}


def test_two_values_of_a_parameter_fit_no_server() -> None:
    assert not parameter("sql_mode = ''").fits(parameter("sql_mode = 'ANSI'"))
    assert not at_start("log-bin = 1").fits(parameter("log_bin = 0"))
    assert not Odd("refusing", refuses="why").fits(Odd("other"))
    assert parameter("sql_mode = ''").fits(parameter("autocommit = 0"))
