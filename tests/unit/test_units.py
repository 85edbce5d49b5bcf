"""Quantities as text: units, minus signs and moments, and what stands for them where letters are missing."""

from __future__ import annotations

import subprocess

import pytest

from redolab import units
from redolab.printable import in_ascii
from tests.servers import command


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(45.5e-6, "45.5 µs"), (609e-6, "609 µs"), (2.5e-9, "2.50 ns"), (1.5, "1.50 s"), (-2e-3, "−2.00 ms")],
)
def test_a_time_has_the_unit_as_it_is_written(seconds: float, text: str) -> None:
    assert units.duration(seconds) == text


def test_figures_have_minus_signs() -> None:
    said = (units.significant(-1234.5), units.percent(-0.893), units.size(-4096), units.significant(-1e9, 2))
    assert said == ("−1,234", "−89.3 %", "−4.00 KiB", "−1,000,000,000")


@pytest.mark.parametrize(
    ("iso", "text"),
    [
        ("2026-11-24T16:28:11+00:00", "24 November 2026, 16:28 UTC"),
        ("2026-11-24T16:28:11.123Z", "24 November 2026, 16:28 UTC"),
        ("2026-11-24T16:28:11+02:00", "24 November 2026, 14:28 UTC"),
        ("2004-01-02T03:04:05", "2 January 2004, 03:04"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
        ("2026-13-24T16:28:11", "2026-13-24T16:28:11"),
        ("2026-11-24", "2026-11-24"),
        ("yesterday", "yesterday"),
    ],
)
def test_a_moment_is_told_in_words_and_what_is_none_as_it_is(iso: str, text: str) -> None:
    assert units.moment(iso) == text


def test_a_moment_can_be_told_to_the_second() -> None:
    assert units.moment("2026-11-24T16:28:11+00:00", seconds=True) == "24 November 2026, 16:28:11 UTC"


def test_what_ascii_cannot_write_has_its_likeness() -> None:
    assert in_ascii("−2.00 µs × 3 ≥ “1”") == '-2.00 us x 3 > "1"'


@pytest.mark.parametrize(
    ("encoding", "seen"), [("ascii", b"2.50 us"), ("latin-1", b"2.50 \xb5s"), ("utf-8", "2.50 µs".encode())]
)
def test_a_terminal_without_the_letter_shows_what_looks_like_it(encoding: str, seen: bytes) -> None:
    code = (
        "from redolab.console import say, show, standard_streams\n"
        "with standard_streams():\n"
        "    show('2.50 µs')\n"
        "    say('\\u4e00')"
    )
    done = subprocess.run(
        [command()[0], "-c", code],
        capture_output=True,
        check=True,
        env={"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
    )
    assert done.stdout.strip() == seen
    assert done.stderr.strip() == ("\u4e00".encode() if encoding == "utf-8" else b"\\u4e00")
