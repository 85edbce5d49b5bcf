"""Files of k6: every point as JSON (`--out json`) or CSV (`--out csv`)."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from redolab import units
from redolab.bounds import MOST_JSON_BYTES
from redolab.errors import UsageError
from redolab.files.documents import parse_json_object
from redolab.units import significant
from redolab.values.content import Content
from redolab.values.formats.sheet import Sheet, SheetNumbers

_DEFAULTS = ("http_req_duration", "grpc_req_duration", "ws_session_duration", "iteration_duration")
_TIMES = ("_duration", "_blocked", "_connecting", "_tls_handshaking", "_sending", "_waiting", "_receiving")
_TAGS = ("scenario", "group", "name", "method", "status", "check", "error_code", "expected_response", "proto")
_MOST_METRICS = 1_000
_HEAD = "metric_name,timestamp,metric_value,"
_Point = tuple[str, float, Mapping[str, Any]]


def read_k6(content: Content, head: str, metric: str | None) -> Sheet | None:
    """The points of one metric and their tags; None where the file is not from k6.

    Args:
        content: of the file.
        head: its first lines.
        metric: the metric to read; None for the usual one.

    Raises:
        UsageError: it holds only a summary, or no such metric.
    """
    first = next(iter(head.splitlines()), "")
    if first.startswith(_HEAD):
        points: Callable[[], Iterator[_Point]] = partial(_of_csv, content)
    elif first.startswith("{") and '"metric":' in first and '"type":' in first:
        points = partial(_of_json, content)
    elif head.lstrip().startswith("{") and '"metrics"' in head and '"http_req' in head:
        raise _summary(content)
    else:
        return None
    taken = metric or next((name for name in _DEFAULTS if _has(head, name)), None)
    count: dict[str, int] = {}
    values = array("d")
    tags: dict[str, list[str | None]] = {name: [] for name in _TAGS}
    for name, value, of_point in points():
        count[name] = count.get(name, 0) + 1
        if len(count) > _MOST_METRICS:
            raise UsageError(
                f"{content.place} has more than {_MOST_METRICS:,} metrics. No test of k6 has so many, so the "
                "file is damaged or is not from k6."
            )
        if name == taken:
            values.append(value)
            for tag, texts in tags.items():
                text = of_point.get(tag)
                texts.append(None if text in (None, "") else str(text)[:1000])
    if taken is None or taken not in count:
        wrong = (
            f"has no metric {taken[:60]!r}"
            if taken
            else "has no duration of requests among its first metrics"
        )
        raise UsageError(
            f"{content.place} {wrong}. Choose one with --value: {units.some(sorted(count), 20)}."
        )
    others = [name for name in sorted(count) if name != taken]
    unit = "ms" if taken.endswith(_TIMES) else None
    return Sheet(
        "points of k6",
        {taken: SheetNumbers(np.array(values), unit)},
        {name: partial(_same, texts) for name, texts in tags.items() if any(texts)},
        taken,
        (f"Other metrics of the file: {units.some(others, 20)}.",) if others else (),
    )


def _has(head: str, name: str) -> bool:
    return f'"metric":"{name}"' in head or f"\n{name}," in head


def _same(texts: list[str | None]) -> list[str | None]:
    return texts


def _of_csv(content: Content) -> Iterator[_Point]:
    reader = csv.DictReader(content.lines())
    for row in reader:
        try:
            yield row["metric_name"], float(row["metric_value"]), row
        except (TypeError, ValueError, csv.Error) as error:
            raise UsageError(
                f"{content.place}, line {reader.line_num:,} has no value of a metric, as k6 writes it."
            ) from error


def _of_json(content: Content) -> Iterator[_Point]:
    for number, line in enumerate(content.lines(), 1):
        if not line.strip():
            continue
        found = parse_json_object(line.encode(), f"{content.place}, line {number:,},")
        if found.get("type") != "Point":
            continue
        data, name = found.get("data"), found.get("metric")
        value = data.get("value") if isinstance(data, dict) else None
        if not isinstance(name, str) or not isinstance(value, int | float) or not isinstance(data, dict):
            raise UsageError(f"{content.place}, line {number:,} has no value of a metric, as k6 writes it.")
        tags = data.get("tags")
        yield name, float(value), tags if isinstance(tags, dict) else {}


def _summary(content: Content) -> UsageError:
    """The refusal of a summary, which has no single values, with the figures in it."""
    with content.open() as file:
        metrics = parse_json_object(file.read(MOST_JSON_BYTES + 1), content.place).get("metrics")
    one: object = (
        next((metrics[name] for name in _DEFAULTS if name in metrics), {})
        if isinstance(metrics, dict)
        else {}
    )
    figures = one.get("values", one) if isinstance(one, dict) else {}
    said = ", ".join(
        f"{name} {significant(float(value))}"
        for name, value in (figures.items() if isinstance(figures, dict) else ())
        if isinstance(value, int | float) and not isinstance(value, bool)
    )
    return UsageError(
        f"{content.place} holds only k6's summary, not single values{f' ({said[:300]})' if said else ''}. "
        "Let k6 write its points with --out json=FILE or --out csv=FILE."
    )
