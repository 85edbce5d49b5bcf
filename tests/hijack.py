"""What somebody who may create in the schema `public` can put in the way of another's statements."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import psycopg
from psycopg import sql

import redolab

MARK = "HIJACKED"
_ENGINE = Path(redolab.__file__).parent / "engine"
_TYPES = (
    "text", "name", "varchar", "bool", "int2", "int4", "int8", "float8", "numeric", "jsonb", "oid",
    "timestamptz", "interval", '"char"', "text[]", "int4[]", "pg_lsn",
)  # fmt: skip
_OPERATORS = {
    **dict.fromkeys(("=", "<>", "<", ">", "<=", ">=", "~~", "~", "?"), "bool"),
    **dict.fromkeys(("+", "-", "*", "/", "||"), "left"),
    **dict.fromkeys(("->>", "->"), "text"),
}
_POLYMORPHIC = {
    "anyarray": ("text[]", "int4[]"), "anyelement": ("text", "int4", "timestamptz"), "any": ("text", "int4"),
    "anynonarray": ("text",), "anycompatible": ("text",), "anycompatiblearray": ("text[]",),
}  # fmt: skip
# Whatever a text, or a number, may be taken for.
_ALIKE = {
    "text": ("text", "name", "varchar"), "name": ("name", "text", "varchar"),
    "double precision": ("double precision", "int4", "numeric"),
    "bigint": ("bigint", "int4"), "oid": ("oid", "int4", "text"), "regclass": ("regclass", "text"),
    "pg_lsn": ("pg_lsn", "text"),
}  # fmt: skip


def redolabs_sql() -> str:
    """Every statement of the engine's for PostgreSQL, and all text around it."""
    files = [*_ENGINE.rglob("*.py"), *(_ENGINE / "postgres" / "sql").glob("*.sql")]
    return "\n".join(file.read_text() for file in files)


def set_traps(attacker: psycopg.Connection[dict[str, object]], reverse_path: bool) -> int:
    """Make whatever name Redolab's statements use in `public` too; returns how many there are.

    Args:
        attacker: may create in `public`.
        reverse_path: owns the database too, and lets every session look into `public` first.
    """
    attacker.execute("set synchronous_commit = off")
    text = redolabs_sql()
    names = sorted(set(re.findall(r"\b([a-z_][a-z0-9_]*)\(", text)))
    functions = attacker.execute(
        "select proname as name, prorettype::regtype::text as returns, "
        "array(select t::regtype::text from unnest(proargtypes) t) as arguments "
        "from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname = any(%s)", (names,),
    ).fetchall()  # fmt: skip
    made = 0
    for function in functions:
        arguments = [str(argument).strip('"') for argument in function["arguments"]]  # type: ignore[attr-defined]
        if len(arguments) > 4 or "internal" in arguments:
            continue
        for types in product(*(_POLYMORPHIC.get(a, _ALIKE.get(a, (a,))) for a in arguments)):
            made += _trap(attacker, str(function["name"]), types, str(function["returns"]))
    made += _trap(attacker, "concat_ws", ("text", "timestamptz", "timestamptz"), "text")
    for operator, returns in _OPERATORS.items():
        for left, right in product(_TYPES, _TYPES):
            made += _operator(attacker, operator, left, right, left if returns == "left" else returns)
    if reverse_path:
        relations = attacker.execute(
            "select relname as name from pg_class where relnamespace = 'pg_catalog'::regnamespace "
            "and relkind in ('r', 'v') and relname = any(%s)", (sorted(set(re.findall(r"\bpg_\w+", text))),),
        ).fetchall()  # fmt: skip
        attacker.execute(_trap_text("sprung", (), "int4").as_bytes())
        for relation in relations:
            name = sql.Identifier("public", str(relation["name"]))
            view = sql.SQL("create view {} as select public.sprung() as name")
            attacker.execute(view.format(name).as_bytes())
            made += 1
        database = sql.Identifier(attacker.info.dbname)
        attacker.execute(sql.SQL("alter database {} set search_path = public, pg_catalog").format(database))
    return made


def _trap_text(name: str, arguments: tuple[str, ...], returns: str) -> sql.Composed:
    return sql.SQL(
        "create function public.{name}({arguments}) returns {returns} language plpgsql as "
        "$$ begin raise log {mark}; raise exception {mark}; end $$"
    ).format(
        name=sql.Identifier(name),
        arguments=sql.SQL(", ".join(arguments)),
        returns=sql.SQL(returns),
        mark=sql.Literal(f"{MARK} {name}({', '.join(arguments)})"),
    )


def _trap(
    attacker: psycopg.Connection[dict[str, object]], name: str, arguments: tuple[str, ...], returns: str
) -> bool:
    result = _POLYMORPHIC.get(returns.strip('"'), (returns,))[0]
    try:
        attacker.execute(_trap_text(name, arguments, result).as_bytes())
    except psycopg.Error:
        return False  # Some result types are for the server's own functions alone.
    return True


def _operator(
    attacker: psycopg.Connection[dict[str, object]], operator: str, left: str, right: str, returns: str
) -> bool:
    name = f"sprung by {operator}"
    make = sql.SQL(
        "create operator public.{operator} (leftarg = {left}, rightarg = {right}, function = {by})"
    )
    if not _trap(attacker, name, (left, right), returns):
        return False
    names = {"operator": operator, "left": left, "right": right}
    statement = make.format(**{k: sql.SQL(v) for k, v in names.items()}, by=sql.Identifier("public", name))
    attacker.execute(statement.as_bytes())
    return True
