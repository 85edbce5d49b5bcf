"""The user's own experiment as a TOML file: read, and checked with line and column.

name = "second-index"
question = "What does a second index cost an insert?"
unit = "order"

[factors]
index = ["none", "btree"]

[sql]
setup = "create table item (id bigint generated always as identity, note text)"
unit = "insert into item (note) values (md5(random()::text))"
settle = "truncate item"

[levels.index.btree]
enter = "create index item_note on item (note)"
leave = "drop index item_note"
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from redolab import _core
from redolab.errors import UsageError
from redolab.files.documents import read_toml
from redolab.records.list_texts import PLACEHOLDER, place_in_file
from redolab.records.load import LevelScript

_NAME = re.compile(r"[A-Za-z_]\w*")
_KEYS: Mapping[str, type] = {
    "name": str,
    "question": str,
    "unit": str,
    "baseline": str,
    "factors": dict,
    "run": dict,
    "sql": dict,
    "levels": dict,
}
_WHOLE = ("sessions", "blocks")
_RUN = (*_WHOLE, "seconds", "warmup_s")
_MOST: Mapping[str, int] = {"sessions": 1_000, "blocks": 10_000, "seconds": 86_400, "warmup_s": 86_400}
_MOST_SETTINGS = 1_000
_LONGEST, _LONGEST_LEVEL = 1_000, 200
"""Characters of a text that is shown, and of a level."""
_SHOWN = 20
"""Settings that an error names."""
_SQL = ("setup", "unit", "settle", "teardown")
_LEVEL = ("enter", "leave", "parameters")


@dataclass(frozen=True)
class ListFile:
    """A checked file."""

    file: str
    name: str
    question: str
    unit: str
    baseline: str | None
    factors: Mapping[str, tuple[str, ...]]
    sql: Mapping[str, str]
    levels: Mapping[str, Mapping[str, LevelScript]]
    run: Mapping[str, float]
    """Values of `[run]`: sessions, blocks, seconds and warmup_s, as far as given."""
    places: Mapping[str, tuple[int, int]]
    """Line and column where each value begins, by its path with dots."""


def read_list(path: Path) -> ListFile:
    """Read and check a list file.

    Raises:
        UsageError: it cannot be read, or something in it is wrong; the text has line and column.
    """
    text, content = read_toml(path)
    places = {".".join(keys): (line, column) for keys, line, column in _core.toml_places(text)}
    return _Checker(path, places).checked(content)


class _Checker:
    """Turns the file's content into a `ListFile`, or reports where it is wrong."""

    def __init__(self, path: Path, places: Mapping[str, tuple[int, int]]) -> None:
        self._path, self._places = path, places

    def checked(self, content: Mapping[str, Any]) -> ListFile:
        self._known("", content, _KEYS)
        for key in ("factors", "sql"):
            if key not in content:
                raise self._wrong("", f"has no [{key}]")
        for key, kind in _KEYS.items():
            if key in content and not isinstance(content[key], kind):
                raise self._wrong(key, f"{key} must be {'text' if kind is str else 'a table'}")
            if kind is str and len(content.get(key, "")) > _LONGEST:
                raise self._wrong(key, f"{key} has more than {_LONGEST:,} characters")
        factors = self._factors(content["factors"])
        sql = self._sql(content["sql"], factors)
        baseline = content.get("baseline")
        found = ListFile(
            file=str(self._path),
            name=content.get("name", self._path.stem),
            question=content.get("question", f"What do the settings of {self._path.name} do?"),
            unit=content.get("unit", "unit"),
            baseline=baseline,
            factors=factors,
            sql=sql,
            levels=self._levels(content.get("levels", {}), factors),
            run=self._run(content.get("run", {})),
            places=self._places,
        )
        names = ["/".join(levels) for levels in product(*factors.values())]
        if baseline is not None and baseline not in names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            raise self._wrong(
                "baseline",
                f"the list has no setting {baseline!r}; its settings are: {', '.join(names[:_SHOWN])}{more}",
            )
        return found

    def _factors(self, given: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
        if not given:
            raise self._wrong("factors", "[factors] is empty: name at least one factor with two levels")
        factors = {}
        for name, levels in given.items():
            place = f"factors.{name}"
            if not _NAME.fullmatch(name):
                raise self._wrong(place, f"{name!r} must be a name of letters, digits and underscores")
            if not isinstance(levels, list) or not levels:
                raise self._wrong(place, f'{name} must be a list of levels, as ["a", "b"]')
            texts = []
            for number, level in enumerate(levels):
                if isinstance(level, bool) or not isinstance(level, str | int | float):
                    raise self._wrong(f"{place}.{number}", "a level must be text or a number")
                text = str(level)
                if len(text) > _LONGEST_LEVEL:
                    raise self._wrong(
                        f"{place}.{number}", f"a level has more than {_LONGEST_LEVEL} characters"
                    )
                if not text or "/" in text or "," in text or text in texts:
                    raise self._wrong(
                        f"{place}.{number}",
                        f"the level {text!r} must not be empty, occur twice, or contain / or ,",
                    )
                texts.append(text)
            factors[name] = tuple(texts)
        if all(len(levels) == 1 for levels in factors.values()):
            raise self._wrong("factors", "there is only one setting, so nothing can be compared")
        if math.prod(map(len, factors.values())) > _MOST_SETTINGS:
            raise self._wrong(
                "factors", f"the levels combine to more than {_MOST_SETTINGS:,} settings; name fewer of them"
            )
        return factors

    def _sql(self, given: Mapping[str, Any], factors: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
        self._known("sql", given, _SQL)
        if not str(given.get("unit", "")).strip():
            raise self._wrong("sql", "[sql] has no unit: the SQL of one unit of work")
        return {name: self._text(f"sql.{name}", given.get(name, ""), factors) for name in _SQL}

    def _levels(
        self, given: Mapping[str, Any], factors: Mapping[str, tuple[str, ...]]
    ) -> dict[str, dict[str, LevelScript]]:
        self._known("levels", given, factors)
        found: dict[str, dict[str, LevelScript]] = {}
        for factor, levels in given.items():
            place = f"levels.{factor}"
            if not isinstance(levels, dict):
                raise self._wrong(place, f"levels.{factor} must be a table of levels")
            self._known(place, levels, factors[factor])
            found[factor] = {
                level: self._level(f"{place}.{level}", brings, factors) for level, brings in levels.items()
            }
        return found

    def _level(self, place: str, given: Any, factors: Mapping[str, tuple[str, ...]]) -> LevelScript:
        if not isinstance(given, dict):
            raise self._wrong(place, "a level must be a table with enter, leave or parameters")
        self._known(place, given, _LEVEL)
        parameters = given.get("parameters", {})
        if not isinstance(parameters, dict):
            raise self._wrong(f"{place}.parameters", 'parameters must be a table, as { work_mem = "64MB" }')
        for name, value in parameters.items():
            if isinstance(value, dict | list):
                raise self._wrong(
                    f"{place}.parameters.{name}", "a parameter's value must be text or a number"
                )
        return LevelScript(
            self._text(f"{place}.enter", given.get("enter", ""), factors),
            self._text(f"{place}.leave", given.get("leave", ""), factors),
            {name: _parameter_text(value) for name, value in parameters.items()},
        )

    def _run(self, given: Mapping[str, Any]) -> dict[str, float]:
        self._known("run", given, _RUN)
        for name, value in given.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise self._wrong(f"run.{name}", f"{name} must be a number")
            if name in _WHOLE and not isinstance(value, int):
                raise self._wrong(f"run.{name}", f"{name} must be a whole number")
            if not (value >= 0 if name == "warmup_s" else value > 0):
                raise self._wrong(f"run.{name}", f"{name} is {value}; it must be greater than 0")
            if value > _MOST[name]:
                raise self._wrong(f"run.{name}", f"{name} is {value:,}; it must be at most {_MOST[name]:,}")
        return dict(given)

    def _text(self, place: str, given: Any, factors: Mapping[str, tuple[str, ...]]) -> str:
        if not isinstance(given, str):
            raise self._wrong(place, "SQL must be text")
        for found in PLACEHOLDER.finditer(given):
            if (found[1] or found[2]) not in factors:
                raise self._wrong(
                    place,
                    f"{found[0]} does not name a factor; the factors are: {', '.join(factors)}",
                    given[: found.start()],
                )
        return given

    def _known(
        self, place: str, given: Mapping[str, Any], known: Mapping[str, Any] | tuple[str, ...]
    ) -> None:
        for name in given:
            if name not in known:
                raise self._wrong(
                    f"{place}.{name}" if place else name,
                    f"{name!r} is not a key that Redolab knows here; the known "
                    f"{'key is' if len(known) == 1 else 'keys are'}: " + ", ".join(known),
                )

    def _wrong(self, place: str, text: str, before: str = "") -> UsageError:
        return UsageError(f"{place_in_file(str(self._path), self._places, place, before)}: {text}.")


def _parameter_text(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)
