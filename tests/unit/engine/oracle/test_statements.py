"""Every statement for Oracle, word by word: documented columns alone, and no table that is licensed apart."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Any

import pytest

from redolab.engine.oracle.connecting.execution import filled
from redolab.engine.oracle.figures import FIGURES, ReadFigure
from redolab.engine.oracle.statements import Statement, all_statements, find

COLUMNS: dict[str, dict[str, Any]] = tomllib.loads(
    (files("redolab.engine") / "oracle/columns.toml").read_text()
)
# What may stand in a statement beside columns, aliases and numbers.
WORDS = frozenset(
    {"select", "from", "where", "as", "in", "and", "or", "not", "is", "null", "join", "on", "like"}
    | {"escape"}
)
FUNCTIONS = frozenset({"sys_context", "to_char", "nvl2", "sum", "systimestamp"})
# Views whose use asks for a licence of the Diagnostics or Tuning Pack.
LICENSED = re.compile(
    r"\b(?:dba_hist_\w*|dba_addm_\w*|dba_advisor_\w*|dba_ash_\w*|v\$active_session_history|v\$ash_info|"
    r"g?v\$sql_monitor|v\$sql_plan_monitor|dbms_workload_repository|dbms_advisor|dbms_sqltune|mgmt\$\w*)",
    re.IGNORECASE,
)
HINT = re.compile(r"/\*\+[\w() ]*\*/")
TEXT = re.compile(r"'(?:[^']|'')*'")


def each(*items: Statement) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("item", [pytest.param(it, id=f"{it.name}.{it.oldest}") for it in items])


QUERIES = [item for item in all_statements() if item.name.startswith("select_")]
CHANGES = [item for item in all_statements() if item not in QUERIES]
# What a change begins with, and what it changes.
CHANGED = re.compile(
    r"\b(?:create\s+table|drop\s+table|truncate\s+table|insert\s+into|update|delete\s+from|merge\s+into|"
    r"lock\s+table|alter\s+(?!session\b)\w+)\s+([\w${}]+)"
)


def unknown_words(item: Statement) -> list[str]:
    """What a query says that is neither a documented column of a view it reads nor the language's own."""
    text = HINT.sub("", TEXT.sub("''", item.text.lower()))
    aliases = dict(re.findall(r"\b(?:from|join)\s+([\w$]+)\s+(\w+)\b(?=\s|$)", text))
    aliases = {alias: view.upper() for view, alias in aliases.items() if alias not in WORDS}
    found = []
    for alias, column in re.findall(r"\b([a-z]\w*)\.([\w#$]+)", text):
        view = aliases.get(alias, "")
        if column.upper() not in documented(view, item.oldest):
            found.append(f"{view or alias}.{column}")
    rest = re.sub(r"\b[a-z]\w*\.[\w#$]+|\bas\s+\w+|\b(?:from|join)\s+[\w$]+(?:\s+\w+\b)?", " ", text)
    known = WORDS | FUNCTIONS | aliases.keys()
    return found + [word for word in re.findall(r"[a-z_][\w$#]*", rest) if word not in known]


def documented(view: str, release: int) -> set[str]:
    """The columns that a view has in a release, as major * 100 + minor."""
    if view not in COLUMNS:
        return set()
    found = set(COLUMNS[view]["columns"])
    for since, names in COLUMNS[view].get("added", {}).items():
        major, minor = since.split(".")
        if int(major) * 100 + int(minor) <= release:
            found |= set(names)
    return found


@each(*QUERIES)
def test_a_statement_reads_documented_columns_alone(item: Statement) -> None:
    assert unknown_words(item) == []


@each(*all_statements())
def test_a_statement_touches_no_table_of_the_diagnostics_pack(item: Statement) -> None:
    assert LICENSED.findall(item.text) == []


@each(*QUERIES)
def test_a_statement_for_watching_is_one_query_that_locks_nothing(item: Statement) -> None:
    text = TEXT.sub("''", item.text.lower())
    assert text.startswith("select")
    assert ";" not in text
    assert "for update" not in text
    assert "--" not in text


@each(*QUERIES)
def test_a_statement_reads_views_that_a_grant_on_each_opens(item: Statement) -> None:
    """Nothing of the dictionary's DBA views, and nothing in another user's schema."""
    assert set(re.findall(r"\b(?:from|join)\s+([\w$]+)", item.text)) <= {
        *(view.lower() for view in COLUMNS), "dual",
    }  # fmt: skip
    for view in item.views:
        assert view.startswith("V$") or COLUMNS[view]["open"]
    assert item.purpose.endswith(".")


def test_what_is_documented_nowhere_is_found() -> None:
    def words(text: str, release: int = 1201) -> list[str]:
        return unknown_words(Statement("select_made_up", release, "", text))

    assert words("select s.sid from v$session s") == []
    assert words("select s.pga from v$session s") == ["V$SESSION.pga"]
    assert words("select sid from v$session s") == ["sid"]
    assert words("select w.cpu from v$system_event w") == ["V$SYSTEM_EVENT.cpu"]
    assert words("select w.cpu from v$system_event w", 2300) == []
    assert words("select s.sid from v$unheard_of s") == ["V$UNHEARD_OF.sid"]
    assert words("select dbms_x(s.sid) from v$session s") == ["dbms_x"]
    assert LICENSED.findall("select 1 from DBA_HIST_SNAPSHOT") == ["DBA_HIST_SNAPSHOT"]


def test_every_documented_view_is_read_by_a_statement() -> None:
    assert {view for item in all_statements() for view in item.views} == set(COLUMNS)


def test_a_statement_is_found_by_name_and_release() -> None:
    assert find("select_waits", 1900).views == ("V$SYSTEM_EVENT",)
    assert find("select_waits", 1201).privileges == ("SYS.V_$SYSTEM_EVENT",)
    assert find("select_self", 2326).privileges == ()


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_a_figure_stands_in_its_statement(figure: ReadFigure) -> None:
    text = find(figure.statement, 1201).text
    assert [word for word in figure.read if word not in text] == []


def test_every_statement_serves_a_figure_or_a_check() -> None:
    # These are asked for runs alone.
    of_runs = {"select_privileges", "select_own_tables", "select_run", "select_scanned"}
    assert {item.name for item in QUERIES} - of_runs == {figure.statement for figure in FIGURES}


OF_THE_SESSION = (
    "alter session set ddl_lock_timeout = 60",
    "alter session set commit_wait = '' commit_logging = ''",
    "commit write {mode}",
)
"""What changes nothing but this session, or ends its own transaction."""


@each(*CHANGES)
def test_a_change_touches_redolabs_tables_alone(item: Statement) -> None:
    text = TEXT.sub("''", item.text.lower())
    changed = CHANGED.findall(text)
    # The words of a table's name are checked where they are filled in.
    assert all(name.startswith("redolab_") or name == "{table}" for name in changed), changed
    assert changed or text in OF_THE_SESSION
    for word in ("execute immediate", "dbms_", "utl_", "grant", "revoke", "create user", "alter system",
                 "public", "database link", "@"):  # fmt: skip
        assert word not in text


@each(*[item for item in CHANGES if item.name.startswith("run_")])
def test_a_loop_spells_its_commit_in_full(item: Statement) -> None:
    assert re.findall(r"\bcommit\b[^;]*;", item.text) == ["commit write {mode};"]
    assert "rollback" not in item.text


def test_nothing_from_outside_gets_into_a_text() -> None:
    text = find("drop_table", 1201).text
    assert filled(text, {"table": "REDOLAB_OWN_3"}) == "drop table REDOLAB_OWN_3 purge"
    for table in ("ORDERS", "REDOLAB_", "REDOLAB_X; drop table y", 'REDOLAB_"X', "redolab_x", ""):
        with pytest.raises(ValueError, match="does not fit the place table"):
            filled(text, {"table": table})
    with pytest.raises(ValueError, match="does not fit the place mode"):
        filled(find("run_updates", 1201).text, {"mode": "force"})
    for words in ({"wait": "FORCE_WAIT", "logging": "BATCH"}, {"wait": "WAIT", "logging": "' x = '"}):
        with pytest.raises(ValueError, match=r"does not fit the place (wait|logging)"):
            filled(find("alter_commits", 1201).text, words)
    with pytest.raises(ValueError, match="does not fit the place number"):
        filled(find("create_own", 1201).text, {"number": "1 as select * from orders"})
