from __future__ import annotations

from typing import Any

import pytest

from redolab.report.tables import cells


def estimate(point: float | None, low: float | None = None, high: float | None = None) -> dict[str, Any]:
    return {"point": point, "low": low, "high": high, "level": 0.95}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (estimate(25.14, 24.66, 25.62), "25.1 (24.7 – 25.6)"),
        (estimate(1.0131, 0.9964, 1.0308), "1.013 (0.996 – 1.031)"),
        (estimate(926.4, 917.1, 935.6), "926 (917 – 936)"),
        (estimate(23677.0, 23440.0, 23914.0), "23,700 (23,400 – 23,900)"),
        (estimate(-0.021, -0.03, -0.012), "−0.0210 (−0.0300 – −0.0120)"),
        (estimate(0.0, 0.0, 0.26), "0 (0 – 0.260)"),
        (estimate(5.0, 5.0, 5.0), "5.00 (5.00 – 5.00)"),
        (estimate(5.0), "5.00"),
        (estimate(None), "n/a"),
        (None, "n/a"),
    ],
)
def test_estimates_carry_the_digits_their_interval_supports(value: dict[str, Any] | None, text: str) -> None:
    assert cells.estimate(value).full == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(2439.2, "+2,439"), (-96.1, "−96.1"), (0.0, "0.0"), (0.04, "+0.0"), (None, "n/a")],
)
def test_changes_carry_a_sign(value: float | None, text: str) -> None:
    assert cells.change(value).text == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "p < 0.0001"), (0.0234, "p = 0.0234"), (0.5, "p = 0.500"), (None, "p = n/a")]
)
def test_pvalues_in_a_sentence(value: float | None, text: str) -> None:
    assert cells.p_equals(value) == text


def test_a_report_has_one_unit_of_time() -> None:
    def run(*times: float | None) -> dict[str, Any]:
        return {"settings": [{"response_time_ms": estimate(time)} for time in times]}

    assert cells.time_unit(run(10.5, 0.4)).name == "ms"
    assert cells.time_unit(run(0.21, 0.4, None)).name == "µs"
    assert cells.time_unit(run(None)).name == "ms"


def test_an_interval_far_wider_than_its_figure_does_not_round_the_figure_away() -> None:
    cell = cells.estimate({"point": 19.6, "low": 0.00024, "high": 1_630_000.0, "level": 0.95}, 1, "×")
    assert (cell.text, cell.interval) == ("19.6×", "0.000240 – 1,630,000")


@pytest.mark.parametrize(
    ("value", "whole", "text"),
    [(7.4, 9.49, "7.400"), (0.0000453, 0.0344, "0.00005"), (121.04, 497.0, "121.0"), (-0.5, 10.5, "−0.50")],
)
def test_a_part_has_the_digits_of_its_whole(value: float, whole: float, text: str) -> None:
    assert cells.part(value, whole) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (estimate(0.251, 0.246, 0.256), "25.1 (24.6 – 25.6)"),
        (estimate(0.00216, 0.00132, 0.00334), "0.22 (0.13 – 0.33)"),
        (estimate(0.000048, 0.0, 0.0002), "< 0.01 (0 – 0.02)"),
        (estimate(0.00002, 0.00001, 0.00003), "< 0.01 (0 – 0.01)"),
        (estimate(-0.00002, -0.00003, 0.0), "> −0.01 (−0.01 – 0)"),
        (estimate(0.0005, 0.0, 0.123), "0.05 (0 – 12.30)"),
        (estimate(0.0), "0"),
        (estimate(-0.0123), "−1.23"),
        (estimate(None), "n/a"),
        (None, "n/a"),
    ],
)
def test_shares_of_time_have_two_decimals_at_most(value: dict[str, Any] | None, text: str) -> None:
    assert cells.share_of_time(value).full == text


@pytest.mark.parametrize(
    ("value", "whole", "text"),
    [(9.0461, 9.15, "9.046"), (-1e-14, 48.5, "0.00"), (-0.26, 48.5, "−0.26"), (3e-7, 3e-6, "0.000000")],
)
def test_parts_of_a_time_are_never_minus_nothing(value: float, whole: float, text: str) -> None:
    assert cells.part(value, whole) == text
