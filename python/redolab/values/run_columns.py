"""One column of a stored run's samples, read by `redolab analyze` like a column of a file.

A watched run also has every figure of each stretch, by the keys of
`redolab.analysis.observed.figures.WATCH`. Spoiled samples do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from redolab import units
from redolab.errors import UsageError
from redolab.records.run import Run
from redolab.records.store import open_run
from redolab.values.file import ValuesFile, check_size
from redolab.values.reading.table import Floats

_MOST_NAMED = 60
_KEPT_OUT = frozenset({"sample", "position"})
"""Numbers that count rows and measure nothing."""
_GROUPING = frozenset({"block"})
"""Numbers that name a group too."""


def read_run_values(
    place: Path, value: str | None, group: str | None = None, against: str | None = None
) -> ValuesFile:
    """The column `value` of the samples of a run that count, in the order of time.

    Args:
        place: the run directory.
        value: a column of numbers of its samples, or a figure of a watched run's stretches.
        group: a column of words, `block`, or of a watched run `hour` or `day`; None for none.
        against: another column of numbers, taken off row by row; None for none.

    Raises:
        UsageError: there is no run, or it has no such column, or no number in it.
    """
    run = open_run(place)
    run = _in_time(run)
    columns, groups = _columns(run)
    if value is None:
        raise UsageError(
            f"{place} is a run with many columns of numbers. Choose one with --value: "
            f"{units.some(sorted(columns), _MOST_NAMED)}."
        )
    for option, name, known in (
        ("--value", value, columns), ("--against", against, columns), ("--group", group, groups),
    ):  # fmt: skip
        if name is not None and name not in known:
            raise UsageError(
                f"The samples of {place} have no column {name[:60]!r} for {option}. They have: "
                f"{units.some(sorted(known), _MOST_NAMED)}."
            )
    if value == against:
        raise UsageError(f"--value and --against both name {value}. Give two columns.")
    numbers = columns[value]()
    if against is not None:
        numbers = numbers - columns[against]()
    return _values(run, value, against, group, numbers, None if group is None else groups[group]())


def _in_time(run: Run) -> Run:
    """The run with its samples in the order in which they began."""
    ordered = run.samples.sort_by([("start_s", "ascending"), ("sample", "ascending")])
    return Run(
        run.path, run.manifest, ordered, run.waits, run.profile, run.overhead, run.latency, run.entries
    )


_Columns = Mapping[str, Callable[[], Any]]


def _columns(run: Run) -> tuple[_Columns, _Columns]:
    """The columns of the samples: numbers, and names of groups; each is read only once it is asked for."""
    numbers: dict[str, Callable[[], Any]] = {}
    words: dict[str, Callable[[], Any]] = {}
    read = run.samples.column
    for field in run.samples.schema:
        name = field.name
        is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        if is_number and name not in _KEPT_OUT:
            numbers[name] = partial(_read, _floats, read, name)
        if pa.types.is_string(field.type) or name in _GROUPING:
            words[name] = partial(_read, _texts, read, name)
    if run.manifest.get("record") == "watched":
        _add_figures(run, numbers, words)
    return numbers, words


def _add_figures(
    run: Run, numbers: dict[str, Callable[[], Any]], words: dict[str, Callable[[], Any]]
) -> None:
    from redolab.analysis.observed.exhibits import hour_text
    from redolab.analysis.observed.figures import WATCH
    from redolab.analysis.observed.watch.hours import day_text, days_of, hours_of
    from redolab.analysis.observed.watch.measures import each
    from redolab.analysis.observed.watch.stretches import read_stretches

    stretches = read_stretches(run)
    # Stretches are in the order of their times as texts: the order of the samples unless a clock was set.
    place = {int(number): at for at, number in enumerate(stretches.numbers)}
    order = np.array([place[number] for number in run.samples["sample"].to_pylist()], dtype=np.int64)
    for key in WATCH:
        numbers[key] = partial(_in_order, partial(each, key, stretches), order)
    words["hour"] = lambda: [hour_text(int(hour)) for hour in hours_of(stretches)[order]]
    words["day"] = lambda: [day_text(int(day)) for day in days_of(stretches)[order]]


def _read(how: Callable[[Any], Any], read: Callable[[str], Any], name: str) -> Any:
    return how(read(name))


def _in_order(read: Callable[[], Floats], order: npt.NDArray[np.int64]) -> Floats:
    return read()[order]


def _floats(column: Any) -> Floats:
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=float)


def _texts(column: Any) -> list[str | None]:
    return [None if value is None else str(value) for value in column.to_pylist()]


def _values(
    run: Run,
    value: str,
    against: str | None,
    group: str | None,
    numbers: Floats,
    names: list[str | None] | None,
) -> ValuesFile:
    counts = np.array([reason is None for reason in run.samples["spoiled"].to_pylist()], dtype=bool)
    missing, finite = np.isnan(numbers), np.isfinite(numbers)
    kept = counts & finite
    groups: tuple[str, ...] = ()
    member, no_group = np.empty(0, dtype=np.int64), 0
    if names is not None:
        groups = tuple(
            dict.fromkeys(name for name, counted in zip(names, counts, strict=True) if name and counted)
        )
        code = {known: at for at, known in enumerate(groups)}
        codes: npt.NDArray[np.int64] = np.array(
            [-1 if name is None else code.get(name, -1) for name in names], dtype=np.int64
        )
        no_group = int((kept & (codes < 0)).sum())
        kept &= codes >= 0
        member = codes[kept]
    file = ValuesFile(
        place=str(run.path),
        name=value,
        against=against,
        values=numbers[kept],
        group_name=group,
        groups=groups,
        member=member,
        separator=",",
        decimal_point=".",
        header=True,
        rows=int(counts.sum()),
        missing=int((counts & missing).sum()),
        not_finite=int((counts & ~missing & ~finite).sum()),
        no_group=no_group,
        in_time=True,
        format="a run of Redolab",
    )
    check_size(file)
    return file
