"""What a user lacks is named, and the named statements give it."""

from __future__ import annotations

import re
from contextlib import closing

import pytest

from redolab.engine.mariadb.preflight.rights import missing_grants, parse_grants
from redolab.errors import RefusedError
from tests.engine.mariadb.held.holding import (
    INSIDE,
    PARAMETERS,
    account,
    begin,
    end,
    grants_of,
    hold_of,
    refusal,
)
from tests.mariadb import MariaDB

MARIADB = {"flavour": "mariadb", "version": 1011, "role": "u@%"}
MYSQL = {"flavour": "mysql", "version": 800, "role": "u@%"}


def refused(url: str) -> str:
    with closing(hold_of(url)) as hold, pytest.raises(RefusedError) as found:
        hold.introduce(PARAMETERS, None)
    return refusal(found.value)


def test_each_right_that_is_lacking_is_named_and_the_statement_gives_it(server: MariaDB) -> None:
    every = grants_of(server)
    for number, lacking in enumerate(every):
        left = [grant for grant in every if grant != lacking]
        with account(server, f"lacks{number}", *left) as url:
            # The SUPER of an old MariaDB is enough.
            if (
                lacking.startswith("BINLOG ADMIN")
                and "10.11" in server.ask("select version() as it")[0]["it"]
            ):
                continue
            text = refused(url)
            (statement,) = re.findall(r"GRANT [^;]+? TO 'lacks\d+'@'%'", text)
            assert statement.startswith(f"GRANT {lacking}")
            server.ask(statement)
            hold = hold_of(url)
            hold.introduce(PARAMETERS, None)
            begin(hold)
            end(hold)


def test_a_user_without_any_is_told_all_of_them(server: MariaDB) -> None:
    with account(server, "nobody") as url:
        text = refused(url)
        assert f"GRANT {', '.join(INSIDE)} ON `redolab`.* TO 'nobody'@'%'" in text
        for statement in re.findall(r"GRANT [^;]+? TO 'nobody'@'%'", text):
            server.ask(statement)
        with closing(hold_of(url)) as hold:
            assert "as the user nobody@%" in hold.introduce(PARAMETERS, None).place


def test_a_run_that_changes_no_parameter_needs_no_right_for_it(server: MariaDB) -> None:
    less = [grant for grant in grants_of(server) if not re.match("SUPER|BINLOG|SYSTEM", grant)]
    with account(server, "reader", *less) as url, closing(hold_of(url)) as hold:
        hold.introduce((), None)


def test_rights_of_a_role_in_force_count(server: MariaDB) -> None:
    server.ask("create role benches")
    try:
        for grant in grants_of(server):
            server.ask(f"grant {grant} to benches")
        with account(server, "member") as url:
            server.ask("grant benches to member")
            assert "GRANT" in refused(url)
            of = "for member" if server.flavour == "mariadb" else "to member"
            server.ask(f"set default role benches {of}")
            hold = hold_of(url)
            begin(hold)
            end(hold)
    finally:
        server.ask("drop role benches")


@pytest.mark.parametrize(
    ("lines", "facts", "lacks"),
    [
        (["GRANT ALL PRIVILEGES ON *.* TO `u`@`%` WITH GRANT OPTION"], MARIADB, []),
        (
            ["GRANT PROCESS, SUPER ON *.* TO `u`@`%`", "GRANT ALL PRIVILEGES ON `redo%`.* TO `u`@`%`"],
            MARIADB,
            [],
        ),
        (
            ["GRANT PROCESS, SUPER ON *.* TO `u`@`%`", "GRANT ALL PRIVILEGES ON `redo\\_ab`.* TO `u`@`%`"],
            MARIADB,
            ["GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP ON `redolab`.* TO 'u'@'%'"],
        ),
        (
            ["GRANT PROCESS, SUPER ON *.* TO `u`@`%`", "GRANT ALL PRIVILEGES ON `redo_ab`.* TO `u`@`%`"],
            {**MARIADB, "version": 1104},
            ["GRANT BINLOG ADMIN ON *.* TO 'u'@'%'"],
        ),
        (
            [
                "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, PROCESS ON *.* TO `u`@`%`",
                "GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO `u`@`%`",
                "REVOKE INSERT ON `redolab`.* FROM `u`@`%`",
            ],
            MYSQL,
            ["GRANT INSERT ON `redolab`.* TO 'u'@'%'"],
        ),
        (
            [
                "GRANT SELECT (`a`), INSERT ON `redolab`.`t` TO `u`@`%`",
                "GRANT SUPER, PROCESS ON *.* TO `u`@`%`",
            ],
            MYSQL,
            [
                "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP ON `redolab`.* TO 'u'@'%'",
                "GRANT SELECT ON `performance_schema`.* TO 'u'@'%'",
            ],
        ),
    ],
)
def test_what_show_grants_says_is_understood(
    lines: list[str], facts: dict[str, object], lacks: list[str]
) -> None:
    assert missing_grants(parse_grants(lines), facts, PARAMETERS) == lacks


@pytest.mark.parametrize(
    "where", ["`redolab`.*", "`redo%`.*", "`%`.*", "`redola_`.*", "`redolab`.`account`", "*.*"]
)
def test_whoever_may_plant_a_view_is_named_and_the_run_refused(where: str, server: MariaDB) -> None:
    if "account" in where:
        server.ask("create database redolab")
        server.ask("create table redolab.account (id int)")
    try:
        with account(server, "stranger", f"CREATE VIEW ON {where}"):
            server.ask("drop database if exists redolab")
            with closing(hold_of(server.url)) as hold, pytest.raises(RefusedError) as found:
                hold.introduce(PARAMETERS, None)
            assert "Other users may create views in the database redolab: 'stranger'@'%'" in refusal(
                found.value
            )
    finally:
        server.ask("drop database if exists redolab")


def test_rights_that_make_no_view_and_administrators_are_no_reason(server: MariaDB) -> None:
    with (
        account(server, "colleague", *grants_of(server)),
        account(server, "another", "ALL ON `redol_`.*", "ALL ON `redo\\_lab`.*"),
        account(server, "administrator", "ALL ON *.*"),
        closing(hold_of(server.url)) as hold,
    ):
        hold.introduce(PARAMETERS, None)


def test_a_user_who_cannot_see_others_rights_says_so(server: MariaDB, url: str) -> None:
    with closing(hold_of(url)) as hold:
        assert "This user cannot see" in hold.introduce(PARAMETERS, None).notes[-1]
    with closing(hold_of(server.url)) as hold:
        assert not any("cannot be seen" in note for note in hold.introduce(PARAMETERS, None).notes)
