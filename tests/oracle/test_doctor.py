"""`redolab doctor --engine oracle://...`: what a profile would see, and the script for a user for it."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from redolab.commands.doctor import examine
from redolab.engine.oracle.preflight.rights import LOST, NEEDED, OF_SCANS, script
from redolab.engine.oracle.statements import all_statements, find
from redolab.errors import UsageError
from redolab.url_secrets import ORACLE_PASSWORD
from tests.conftest import Redolab
from tests.oracle.instance import Busy
from tests.oracle.replay import Replayed
from tests.servers import command

ONE = pytest.mark.parametrize("release", [2103], indirect=True)


def by_name(results: dict[str, list[dict[str, str]]], name: str) -> list[dict[str, str]]:
    return [check for check in results["checks"] if check["name"] == name]


def test_everything_granted(server: Replayed) -> None:
    results = examine(None, server.url)
    assert results["profile"] == {"works": True, "why": None}
    (found,) = by_name(results, "Server")
    assert re.match(
        r"Oracle (12\.2|21\.3|23\.26)[\d.]* at 127\.0\.0\.1:\d+/shop, as the user WATCHER", found["found"]
    )
    (condition,) = by_name(results, "Condition")
    assert condition["found"] == "never tried on a live Oracle"
    assert server.instance.password not in json.dumps(results)


@ONE
def test_a_missing_grant_is_named(server: Replayed) -> None:
    server.instance.ungranted = {"V$SYSSTAT"}
    results = examine(None, server.url)
    (lost,) = [check for check in by_name(results, "Profile") if "SYSSTAT" in check["mend"]]
    assert lost["costs"] == "Not available: commits, and what was written to the log."
    assert lost["mend"] == 'GRANT SELECT ON SYS.V_$SYSSTAT TO "WATCHER";'
    server.instance.ungranted = {"V$SESSION"}
    why = examine(None, server.url)["profile"]["why"]
    assert 'GRANT SELECT ON SYS.V_$SESSION TO "WATCHER";' in why


@ONE
def test_who_may_not_log_in_gets_the_whole_script(server: Replayed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ORACLE_PASSWORD, "lion")
    results = examine(None, server.url)
    assert "ORA-01017" in results["profile"]["why"]
    (user,) = by_name(results, "User")
    assert user["mend"].startswith('CREATE USER REDOLAB IDENTIFIED BY "a password of yours";')


@ONE
def test_the_root_has_a_common_user(server: Replayed) -> None:
    server.instance.container = (1, "CDB$ROOT", "CDB1")
    (user,) = by_name(examine(None, server.url), "User")
    assert "CREATE USER C##REDOLAB" in user["mend"]
    assert user["mend"].endswith("ALTER USER C##REDOLAB SET CONTAINER_DATA=ALL CONTAINER=CURRENT;")
    assert user["mend"].count(" CONTAINER=ALL") == user["mend"].count(";") - 1


def test_the_script_grants_what_the_statements_read_and_no_role() -> None:
    statements = script(1201, 0)
    granted = {found for text in statements for found in re.findall(r"ON (SYS\.V_\$\w+) TO REDOLAB;$", text)}
    watching = [find(name, 1201) for name in (*NEEDED, *LOST, *OF_SCANS)]
    assert granted == {view for item in watching for view in item.privileges}
    assert granted == {view for item in all_statements() for view in item.privileges}
    rest = [text for text in statements if " ON SYS." not in text]
    assert [text.partition(" IDENTIFIED")[0] for text in rest] == [
        "CREATE USER REDOLAB", "GRANT CREATE SESSION TO REDOLAB;", "GRANT CREATE TABLE TO REDOLAB;",
        "ALTER USER REDOLAB QUOTA 1G ON USERS;",
    ]  # fmt: skip
    assert not any(
        re.search(r"\bDBA\b|SELECT ANY|SELECT_CATALOG_ROLE|ALTER SYSTEM|PUBLIC", text) for text in statements
    )


@ONE
def test_a_standby_and_a_newer_release_are_told(server: Replayed, monkeypatch: pytest.MonkeyPatch) -> None:
    server.instance.role = "PHYSICAL STANDBY"
    monkeypatch.setattr("redolab.engine.oracle.checkup.NEWEST", 1900)
    found = [check["found"] for check in by_name(examine(None, server.url), "Condition")]
    assert any("standby (physical standby)" in text for text in found)
    assert any("newer than any release that was replayed" in text for text in found)


@ONE
def test_an_experiment_is_refused_with_the_reason(server: Replayed) -> None:
    with pytest.raises(UsageError, match="Redolab kills only servers that it started itself"):
        examine("durability", server.url)


@ONE
def test_the_command_line_profiles_it(server: Replayed, redolab: Redolab) -> None:
    Busy(server.instance).second()
    done = redolab("profile", server.url, "--seconds", "0.5", "--json")
    assert done.code == 0, done.err
    results = json.loads(done.out)
    assert results["engine"]["name"] == "Oracle"
    assert len(results["sessions"]) == 3
    with_password = server.url.replace("watcher@", "watcher:lion@")
    # In a process of its own: it starts anew to hide the password.
    ended = subprocess.run(
        command("profile", with_password, "--seconds", "0.5"), capture_output=True, text=True, check=False
    )
    assert ended.returncode == 3
    assert "ORA-01017" in ended.stderr
    assert "lion" not in ended.stderr + ended.stdout
