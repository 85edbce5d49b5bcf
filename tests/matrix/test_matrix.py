"""Many odd settings on one server of each kind, where `make long` has each by itself and every pair."""

from __future__ import annotations

from itertools import combinations

import pytest

from tests.matrix.odd import Odd, at_start, parameter, together
from tests.matrix.play import odds_of, play, served
from tests.server_programs import server_programs

SERVERS = ("postgres 18", "mariadb 11.8", "mysql 9.7")
_SETTINGS_OF_A_KIND = 50


def _here(server: str) -> None:
    if not server.startswith("postgres") and server not in server_programs():
        pytest.skip(f"{server} is missing: run scripts/need-servers")


@pytest.mark.parametrize("server", SERVERS)
def test_what_is_said_of_many_settings_together_is_true(server: str) -> None:
    _here(server)
    odds = together(odds_of(server))[0]
    assert len(odds) > _SETTINGS_OF_A_KIND
    with served(server, odds) as it:
        assert play(it, odds) == []


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


def test_two_values_of_a_parameter_fit_no_server() -> None:
    assert not parameter("sql_mode = ''").fits(parameter("sql_mode = 'ANSI'"))
    assert not at_start("log-bin = 1").fits(parameter("log_bin = 0"))
    assert not Odd("refusing", refuses="why").fits(Odd("other"))
    assert parameter("sql_mode = ''").fits(parameter("autocommit = 0"))
