"""What a replayed Oracle does when it is told to work: tables, and the loops of sessions, in no time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from seerdb.server import BackendError, BindVar, ColumnMeta, Result

from redolab.engine.oracle.settings import MODES
from redolab.engine.oracle.statements import all_statements
from tests.oracle.instance import Instance, Session

_PLACES = {
    "mode": f"(?P<mode>{'|'.join(MODES)})",
    "wait": "(?P<wait>WAIT|NOWAIT)",
    "logging": "(?P<logging>IMMEDIATE|BATCH)",
    "number": r"(?P<number>\d+)",
    "table": "(?P<table>REDOLAB_[A-Z0-9_]+)",
}
_BINDS = re.compile(r"(?<![:\w]):(\w+)")


def execute_working(instance: Instance, session: Session, sql: str, binds: Sequence[Any]) -> Result:
    """Execute a statement of a run; one that no file has is noted, which fails the test."""
    for name, (pattern, names) in _PATTERNS.items():
        found = pattern.fullmatch(sql)
        if found is None:
            continue
        instance.asked.append(name)
        code = instance.failing.get(name)
        if code is not None:
            raise BackendError("made up", ora_code=code)
        assert len(names) == len(binds), (name, names, binds)
        values = {
            bind: value.value if isinstance(value, BindVar) else value
            for bind, value in zip(names, binds, strict=True)
        }
        answer = _WORK[name](instance, session, found.groupdict(), values)
        if isinstance(answer, Result):
            return answer
        if isinstance(answer, int):
            return Result(rowcount=answer)
        return Result(out_binds=[answer.get(bind, values[bind]) for bind in names])
    instance.unknown.append(sql)
    raise BackendError("invalid SQL statement", ora_code=900)


Words = Mapping[str, str]
Values = Mapping[str, Any]


def _create(name: str) -> Callable[[Instance, Session, Words, Values], int]:
    def create(instance: Instance, session: Session, words: Words, values: Values) -> int:
        table = f"{name}{words.get('number', '')}"
        if table in instance.tables:
            raise BackendError("name is already used by an existing object", ora_code=955)
        if "CREATE TABLE" not in instance.privileges:
            raise BackendError("insufficient privileges", ora_code=1031)
        instance.tables[table] = 0
        return 0

    return create


def _insert(name: str) -> Callable[[Instance, Session, Words, Values], int]:
    def insert(instance: Instance, session: Session, words: Words, values: Values) -> int:
        rows = int(values.get("row_count", 1))
        instance.tables[f"{name}{words.get('number', '')}"] += rows
        return rows

    return insert


def _insert_run(instance: Instance, session: Session, words: Words, values: Values) -> int:
    instance.tables["REDOLAB_RUN"] += 1
    instance.holders.append(dict(values))
    return 1


def _drop(instance: Instance, session: Session, words: Words, values: Values) -> int:
    if words["table"] not in instance.tables:
        raise BackendError("table or view does not exist", ora_code=942)
    del instance.tables[words["table"]]
    if words["table"] == "REDOLAB_RUN":
        instance.holders.clear()
    return 0


def _truncate(instance: Instance, session: Session, words: Words, values: Values) -> int:
    instance.tables["REDOLAB_ITEM"] = 0
    return 0


def _loop(table: str) -> Callable[[Instance, Session, Words, Values], dict[str, float]]:
    def loop(instance: Instance, session: Session, words: Words, values: Values) -> dict[str, float]:
        assert f"{table}{words.get('number', '')}" in instance.tables
        rows = int(values["row_count"]) if table == "REDOLAB_ITEM" else 1
        commits, lasted_s = instance.work(
            session, words["mode"], int(values["quota"]), float(values["seconds"]), rows
        )
        return {"commits": commits, "changed": commits * rows, "failed": 0, "elapsed_s": lasted_s}

    return loop


def _insert_item(instance: Instance, session: Session, words: Words, values: Values) -> int:
    assert len(values["padding"]) == 10 or len(values["padding"]) == 100
    instance.tables["REDOLAB_ITEM"] += 1
    instance.insert(session)
    return 1


def _commit_write(instance: Instance, session: Session, words: Words, values: Values) -> int:
    instance.commit(session, words["mode"])
    return 0


def _update_account(instance: Instance, session: Session, words: Words, values: Values) -> int:
    rows = instance.tables["REDOLAB_ACCOUNT"]
    instance.insert(session)
    return int(0 <= values["id"] < rows)


def _alter_commits(instance: Instance, session: Session, words: Words, values: Values) -> int:
    session.parameters = {"commit_wait": words["wait"], "commit_logging": words["logging"]}
    return 0


def _update_scanned(instance: Instance, session: Session, words: Words, values: Values) -> int:
    session.in_transaction = 1
    instance.uncommitted += int(values["touched"])
    return int(values["touched"])


def _scan(instance: Instance, session: Session, words: Words, values: Values) -> Result:
    instance.scan(session)
    column = ColumnMeta(b"TOTAL", 2, 22, 22)
    return Result([column], [(instance.tables["REDOLAB_SCANNED"],)])


def _nothing(instance: Instance, session: Session, words: Words, values: Values) -> int:
    return 0


_WORK: Mapping[str, Callable[[Instance, Session, Words, Values], int | dict[str, float] | Result]] = {
    "alter_patience": _nothing,
    "create_run": _create("REDOLAB_RUN"),
    "insert_run": _insert_run,
    "create_account": _create("REDOLAB_ACCOUNT"),
    "fill_account": _insert("REDOLAB_ACCOUNT"),
    "create_item": _create("REDOLAB_ITEM"),
    "truncate_item": _truncate,
    "create_own": _create("REDOLAB_OWN_"),
    "insert_own": _insert("REDOLAB_OWN_"),
    "create_scanned": _create("REDOLAB_SCANNED"),
    "fill_scanned": _insert("REDOLAB_SCANNED"),
    "update_scanned": _update_scanned,
    "select_scanned": _scan,
    "drop_table": _drop,
    "run_updates": _loop("REDOLAB_ACCOUNT"),
    "run_own_rows": _loop("REDOLAB_OWN_"),
    "run_inserts": _loop("REDOLAB_ITEM"),
    "insert_item": _insert_item,
    "commit_write": _commit_write,
    "update_account": _update_account,
    "alter_commits": _alter_commits,
}


def _pattern(text: str) -> re.Pattern[str]:
    """A statement with its places open. A mode stands in one text once, a number twice at the most."""
    escaped = re.escape(text)
    for place, expression in _PLACES.items():
        escaped = escaped.replace(re.escape(f"{{{place}}}"), expression, 1)
    return re.compile(escaped)


_PATTERNS = {
    item.name: (_pattern(item.text), list(dict.fromkeys(_BINDS.findall(item.text))))
    for item in all_statements()
    if item.name in _WORK
}
