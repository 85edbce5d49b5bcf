"""What an experiment adds of its own: tables and figures from data, in any number."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from redolab.analysis.exhibits import Axis, Column, Figure, Kind, Series, Table
from redolab.report.page import drawing, shown_figures
from redolab.report.page.drawing import Mark
from redolab.report.screen.fitting import fitted, needed
from redolab.report.tables import shown_tables
from redolab.report.tables.cells import Cell
from redolab.stats.estimates import Estimate


def table(**more: Any) -> dict[str, Any]:
    kinds: tuple[Kind, ...] = get_args(Kind)
    content: dict[str, Any] = {
        "key": "all",
        "caption": "Every kind",
        "columns": [Column(kind, f"The {kind} of it", kind) for kind in kinds],
        "rows": [
            {
                "text": "32/client", "count": 32768, "number": 0.123456, "estimate": Estimate(2.0, 1.5, 2.5),
                "share": Estimate(0.95, 0.93, 0.97), "change": -46.04, "pvalue": 0.00001,
                "outcome": "not comparable",
            },
            {"text": "nothing known"},
        ],
    }  # fmt: skip
    return Table(**(content | more)).as_json()


def figure(*series: Series, x: Axis | None = None, y: Axis | None = None) -> dict[str, Any]:
    return Figure("f", "A figure", "", x or Axis("Sessions"), y or Axis("R", "ms"), series).as_json()


def test_every_kind_of_value_is_written() -> None:
    shown = shown_tables.table(table())
    assert [cell.full for cell in shown.rows[0]] == [
        "32/client", "32,768", "0.1235", "2.00 (1.50 – 2.50)", "95.0 (93.0 – 97.0)", "−46.0", "< 0.0001",
        "not comparable",
    ]  # fmt: skip
    assert shown.rows[0][-1].tone == "not_comparable"
    assert [cell.full for cell in shown.rows[1]] == ["nothing known", *["n/a"] * 7]
    assert [column.unit for column in shown.columns][4:6] == ["%", "%"]
    assert [column.align for column in shown.columns] == ["left", *["right"] * 6, "left"]


@pytest.mark.parametrize("width", [30, 60, 80, 100, 200])
def test_a_table_is_made_to_fit_and_says_what_it_left_out(width: int) -> None:
    shown = shown_tables.table(table(note="A note."))
    narrow = fitted(shown, width)
    assert needed(narrow) <= width
    missing = [column.title for column in shown.columns[len(narrow.columns) :]]
    assert narrow.note == ("A note." if not missing else f"A note. In the report too: {', '.join(missing)}.")
    assert not missing or width < 120
    for before, after in zip(shown.rows, narrow.rows, strict=True):
        texts = [cell.text for cell in before[: len(after)]]
        assert [cell.text.replace("\n", " ") for cell in after] == texts
    assert any(cell.interval for cell in narrow.rows[0]) == (needed(shown) <= width)


def test_an_interval_goes_before_a_column_does() -> None:
    shown = shown_tables.table(table())
    bare = fitted(shown, needed(fitted(shown, 200)) - 1)
    assert len(bare.columns) == len(shown.columns)


def marks_of(drawn: drawing.Figure, kind: str) -> list[Mark]:
    return [mark for mark in drawn["marks"] if mark["kind"] == kind]


def test_points_and_intervals_are_those_of_the_results() -> None:
    measured = Series("measured", [1, 2, 4], [1.0, None, 3.0], [0.5, None, 2.0], [2.0, None, 3.5])
    drawn = shown_figures.figure(figure(measured))
    (points,) = marks_of(drawn, "dots")
    (strokes,) = marks_of(drawn, "upright")
    assert (points["x"], points["y"]) == ([1, 2, 4], [1.0, None, 3.0])
    assert (strokes["low"], strokes["high"]) == ([0.5, None, 2.0], [2.0, None, 3.5])
    assert points["notes"][0] == "measured: 1, 1.00 (0.50 – 2.00) ms"
    assert drawn["legend"] == []


def test_styles_differ_in_more_than_colour() -> None:
    few, many = [1.0, 2.0], [float(x) for x in range(60)]
    drawn = shown_figures.figure(
        figure(
            Series("joined", few, [1, 2], style="line"),
            Series("curve", many, many, style="line"),
            Series("predicted", few, [1, 2], style="dashed"),
            Series("part", few, [1, 2], style="area"),
            Series("whole", few, [1, 2], style="bars"),
        )
    )
    assert [mark["dash"] for mark in marks_of(drawn, "line")] == ["solid", "solid", "dash", "longdash"]
    assert [len(marks_of(drawn, kind)) for kind in ("dots", "area", "bars", "upright")] == [1, 1, 1, 0]
    assert [entry["shown"] for entry in drawn["legend"]] == ["both", "line", "line", "line", "bar"]


def test_an_axis_is_logarithmic_where_it_can_be() -> None:
    logarithmic = Axis("Rows", logarithmic=True)
    sizes = Series("measured", [1, 32, 32768], [10.0, 2.0, 0.0])
    drawn = shown_figures.figure(figure(sizes, x=logarithmic, y=logarithmic))
    assert [text for _, text in drawn["x"]["ticks"]] == ["1", "10", "100", "1,000", "10,000"]
    assert drawn["y"]["log"]
    nothing = Series("measured", [0, 0], [0.0, None])
    drawn = shown_figures.figure(figure(nothing, x=logarithmic, y=logarithmic))
    assert "log" not in drawn["x"]
    assert drawn["y"]["domain"][0] == 0


def test_words_on_an_axis_keep_their_order() -> None:
    series = (Series("a", ["4", "32"], [1, 2]), Series("b", ["32", "<b>"], [1, 2]))
    drawn = shown_figures.figure(figure(*series))
    assert drawn["x"]["ticks"] == [[0, "4"], [1, "32"], [2, "<b>"]]
    assert marks_of(drawn, "dots")[1]["x"] == [1, 2]


def test_bars_of_one_place_stand_beside_one_another() -> None:
    series = [Series(name, ["4", "32"], [1, 2], style="bars") for name in ("a", "b")]
    first, second = marks_of(shown_figures.figure(figure(*series)), "bars")
    ends = [(x - first["width"] / 2, x + first["width"] / 2) for x in (first["x"][0], second["x"][0])]
    assert ends[0][1] == pytest.approx(ends[1][0])
    assert (ends[0][0], ends[1][1]) == pytest.approx((-0.4, 0.4))


def test_bars_over_numbers_are_as_wide_as_their_distance_allows() -> None:
    (bars,) = marks_of(
        shown_figures.figure(figure(Series("a", [1.0, 1.5, 3.0], [1, 2, 3], style="bars"))), "bars"
    )
    assert bars["x"] == [1.0, 1.5, 3.0]
    assert bars["width"] == pytest.approx(0.4)


def test_counts_are_ticked_one_by_one() -> None:
    axis = shown_figures.figure(figure(Series("m", [1, 2, 3], [1, 2, 3])))["x"]
    assert axis["ticks"] == [[1, "1"], [2, "2"], [3, "3"]]
    axis = shown_figures.figure(figure(Series("m", [1.5, 2.0], [1, 2])))["x"]
    assert "ticks" not in axis


def test_numbers_stand_beside_one_another_where_places_are_shared() -> None:
    first = Series("session", [1, 2], [1.5, 2.5], [1.0, 2.0], [2.0, 3.0])
    shared = shown_figures.numbers(figure(first, Series("instance", [1, 2], [7.0, None])))
    assert [column.title for column in shared.columns] == ["Sessions", "session", "instance"]
    assert shared.rows[0] == [Cell("1"), Cell("1.50", "1.00 – 2.00"), Cell("7.000")]
    assert shared.rows[1][2] == Cell("n/a")
    apart = shown_figures.numbers(figure(first, Series("model", [1.0, 1.5, 2.0], [1, 2, 3])))
    assert [column.title for column in apart.columns] == ["Series", "Sessions", "R"]
    assert len(apart.rows) == 5


def test_looks_of_sixteen_settings_are_all_different() -> None:
    looks = [drawing.look(index) for index in range(16)]
    for sign in (("symbol", "hollow"), ("dash",), ("pattern",)):
        assert len({(look["color"], *(look[part] for part in sign)) for look in looks}) == 16
