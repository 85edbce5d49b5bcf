"""Periods of a watch: asked for in many ways, told apart, and no louder than chance where nothing differs."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from redolab.analysis.observed.watch.answer import analyse
from redolab.analysis.observed.watch.compared import _quantity
from redolab.analysis.observed.watch.measures import over_stretches, quotient
from redolab.analysis.observed.watch.periods import Periods, asked, divided, periods_of
from redolab.analysis.observed.watch.stretches import Stretches, read_stretches
from redolab.commands.report import make_results
from redolab.commands.verify import verify
from redolab.errors import UsageError
from redolab.experiment import answers
from redolab.records.store import open_run
from redolab.stats.serial import difference, mean_error
from tests.unit.watched import Seen, row, steady, watched_run, write_part


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Stretches:
    """From 22:00 on Monday, 23 November 2026, to 02:00 on Tuesday: minutes."""
    return read_stretches(watched_run(tmp_path_factory.mktemp("watch") / "run", steady(240)))


@pytest.mark.parametrize(
    ("begin", "end", "stretches"),
    [
        ("2026-11-23T23:00", "2026-11-24T00:00", 60),
        ("2026-11-23T23:00:00+00:00", "2026-11-24T01:00:00+01:00", 60),
        ("2026-11-24T00:00+01:00", "2026-11-24T00:00Z", 60),
        ("2026-11-24", "2026-11-24", 120),
        ("2026-11-23", "2026-11-23", 120),
        ("00:30", "01:00", 30),
        ("00:30Z", "01:00:30", 30),
        ("01:30+01:00", "02:00+01:00", 30),
        ("2026-11-23T23:00:30", "2026-11-23T23:05", 4),
        ("2020-01-01", "2030-01-01", 240),
    ],
)
def test_a_period_is_read_as_people_write_it(day: Stretches, begin: str, end: str, stretches: int) -> None:
    found = asked(day, [begin], [end])
    assert found is not None
    assert len(divided(day, found)[0]) == stretches


def test_half_a_period_reaches_to_the_end_or_from_the_beginning(day: Stretches) -> None:
    late, early = asked(day, ["01:00"], []), asked(day, [], ["2026-11-23T23:00"])
    assert late is not None
    assert early is not None
    assert [len(part) for part in divided(day, late)] == [60, 180]
    assert [len(part) for part in divided(day, early)] == [60, 180]
    assert asked(day, [], []) is None


def test_a_stretch_that_a_period_cuts_is_in_neither_part(day: Stretches) -> None:
    found = asked(day, ["00:00:30"], ["00:10:30"])
    assert found is not None
    assert [len(part) for part in divided(day, found)] == [9, 229]


@pytest.mark.parametrize(
    ("begins", "ends", "why"),
    [
        (["01:00"], ["00:30"], "ends before it begins"),
        (["23:00"], ["01:00"], "ends before it begins"),
        (["yesterday"], [], "--from 'yesterday' cannot be read as a time"),
        ([], ["25:00"], "--to '25:00' cannot be read"),
        (["2026-13-01"], [], "cannot be read"),
        (["9" * 5000], [], "cannot be read"),
        (["01:00", "01:30"], ["01:30"], "--from is given 2 times and --to 1 times"),
        (["00:00", "00:30"], ["00:40", "00:50"], "overlap"),
        (["00:00"] * 3, ["00:10"] * 3, "3 periods were given"),
    ],
)
def test_what_is_no_period_is_refused_in_words(
    day: Stretches, begins: list[str], ends: list[str], why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        asked(day, begins, ends)


def test_a_period_without_stretches_is_refused_in_words(day: Stretches) -> None:
    found = asked(day, ["2026-11-25"], ["2026-11-26"])
    assert found is not None
    with pytest.raises(
        UsageError, match=r"entirely within that period\. The watch covers 23 November 2026, 22:00"
    ):
        divided(day, found)


def test_what_is_stored_is_read_again(day: Stretches) -> None:
    found = asked(day, ["2026-11-23T22:30", "00:00"], ["2026-11-23T23:00", "00:30"])
    assert found is not None
    assert periods_of({"period": found.as_json()}) == found
    assert periods_of({"period": None}) is None
    for odd in (1, "zzz", {"from": "2026-11-23T22:30"}, {"from": 1, "to": 2, "against": None}):
        with pytest.raises(UsageError, match="does not hold a period"):
            periods_of({"period": odd})


def noisy(count: int, seed: int, rate: float, flush_s: float, at_s: float = 0.0) -> list[Seen]:
    rng = random.Random(seed)
    level, found = 0.0, []
    for number in range(count):
        level = 0.6 * level + rng.gauss(0, 0.05)
        noise = float(np.exp(level))
        found.append(Seen(at_s + 60 * number, 1, rate * noise, flush_s * noise, 60))
    return found


def compared(place: Path, stretches: list[Seen], *times: str) -> dict[str, Any]:
    run = watched_run(place, stretches)
    begins, ends = times[::2], times[1::2]
    return analyse(run, asked(read_stretches(run), begins, ends))


def test_a_slower_log_is_found_and_told_of(tmp_path: Path) -> None:
    stretches = [*noisy(120, 1, 400, 2e-3), *noisy(120, 2, 400, 4e-3, 7200)]
    results = compared(tmp_path / "run", stretches, "2026-11-24", "2026-11-24")
    found = {item["figure"]: item for item in results["comparison"]["quantities"]}
    flush = found["time_per_flush_s"]
    assert flush["differs"] is True
    assert flush["ratio"]["low"] < 2 < flush["ratio"]["high"]
    assert flush["pvalue_adjusted"] >= flush["pvalue"]
    assert found["arrival_rate_per_s"]["differs"] is False
    text = results["verdict"]["text"]
    assert text.startswith("This period differs from the rest of the watch in ")
    assert "he load was" in text
    assert "not a controlled experiment" in text
    # All other figures are those of the period alone.
    assert results["settings"][0]["figures"]["time_per_flush_s"] == flush["period"]
    assert results["watched"]["stretches"] == 120


def test_another_load_is_said(tmp_path: Path) -> None:
    stretches = [*noisy(120, 1, 400, 2e-3), *noisy(120, 2, 900, 2e-3, 7200)]
    results = compared(
        tmp_path / "run", stretches,
        "2026-11-23T22:00", "2026-11-23T23:30", "2026-11-24T00:15", "2026-11-24T01:45",
    )  # fmt: skip
    rate = results["comparison"]["quantities"][0]
    assert rate["figure"] == "arrival_rate_per_s"
    assert rate["ratio"]["low"] < 400 / 900 < rate["ratio"]["high"]
    assert "The load was not the same" in results["verdict"]["text"]
    assert results["period"]["against"]["from"] == "2026-11-24T00:15:00.000+00:00"


def test_what_is_not_known_in_a_period_has_no_ratio_and_a_reason(tmp_path: Path) -> None:
    results = compared(tmp_path / "run", noisy(240, 1, 400, 2e-3), "2026-11-24", "2026-11-24")
    binlog = next(
        item for item in results["comparison"]["quantities"] if item["figure"] == "time_per_binlog_flush_s"
    )
    assert binlog["pvalue"] is None
    assert "no binary log" in binlog["why_null"]


def test_two_short_periods_say_that_they_are_too_short(tmp_path: Path) -> None:
    results = compared(tmp_path / "run", noisy(240, 1, 400, 2e-3), "00:00", "00:03", "00:10", "00:13")
    assert "fewer than 4 stretches" in results["verdict"]["text"]
    assert all(item["differs"] is None for item in results["comparison"]["quantities"])


def test_the_whole_watch_as_a_period_has_nothing_beside_it(tmp_path: Path) -> None:
    results = compared(tmp_path / "run", noisy(20, 1, 400, 2e-3), "2026-11-23", "2026-11-24")
    assert "cannot be compared with the rest of the watch: no stretch counts" in results["verdict"]["text"]


@pytest.mark.parametrize("alike", [0.0, 0.5, 0.8])
def test_two_halves_of_the_same_noise_differ_as_often_as_they_may(alike: float) -> None:
    """2,000 made-up watches of 120 stretches, cut in half: 3 to 7 % differ at 5 %."""
    cases, half, differ = 2_000, 60, 0
    for case in _noise(np.random.default_rng(26), cases, 2 * half, alike, 1.0):
        one, other = case[:half], case[half:]
        found = difference(float(one.mean()), mean_error(one), float(other.mean()), mean_error(other))
        assert found is not None
        differ += found[1] < 0.05
    assert 0.03 <= differ / cases <= 0.07


def test_the_quantities_of_two_halves_differ_as_often_as_they_may(day: Stretches) -> None:
    """The same through the comparison: 2,000 watches whose load and flushes have noise of one kind."""
    rng, cases, differ = (
        np.random.default_rng(27),
        2_000,
        dict.fromkeys(("arrival_rate_per_s", "time_per_flush_s"), 0),
    )
    few = day.only(np.arange(len(day)) < 120)
    first = np.arange(120) < 60
    for _ in range(cases):
        noise = np.exp(_noise(rng, 2, 120, 0.6, 0.2))
        columns = dict(few.columns)
        columns["transactions"] = few.columns["transactions"] * noise[0]
        columns["log_flush_time_s"] = few.columns["log_flush_time_s"] * noise[1]
        made = replace(few, columns=columns)
        one, other = made.only(first), made.only(~first)
        for key in differ:
            pvalue = _quantity(key, over_stretches(key, one), over_stretches(key, other)).pvalue
            assert pvalue is not None
            differ[key] += pvalue < 0.05
    assert all(0.03 <= count / cases <= 0.07 for count in differ.values()), differ


def test_stretches_of_two_lengths_differ_no_more_often() -> None:
    """The same where the first stretches are of 10 s and the later ones of 60 s, as a watch has them."""
    cases, differ = 2_000, 0
    lengths = np.repeat([10.0, 60.0], [180, 60])
    # Two hours of noise by the 10 s; a stretch adds up what is in it, and so do both periods.
    steps = _noise(np.random.default_rng(28), cases, 540, 0.8, 1.0)
    for case in steps:
        values = np.concatenate([case[:180], case[180:].reshape(60, 6).sum(axis=1)])
        first = np.cumsum(lengths) <= 2_700
        found = [_of_time(values[part], lengths[part]) for part in (first, ~first)]
        told = difference(found[0][0], found[0][1], found[1][0], found[1][1])
        assert told is not None
        differ += told[1] < 0.05
    assert 0.03 <= differ / cases <= 0.07


def _of_time(values: Any, lengths: Any) -> tuple[float, Any]:
    found = quotient(values, lengths, lengths)
    assert found.point is not None
    return found.point, found.error


def _noise(rng: np.random.Generator, rows: int, count: int, alike: float, spread: float) -> Any:
    steps = rng.normal(size=(rows, count + 100)) * spread
    for place in range(1, steps.shape[1]):
        steps[:, place] += alike * steps[:, place - 1]
    return steps[:, 100:]


def test_a_report_of_a_period_verifies_and_the_whole_can_be_had_again(tmp_path: Path) -> None:
    run = watched_run(tmp_path / "run", noisy(240, 1, 400, 2e-3))
    whole = make_results(run)
    assert verify(run.path).differences == []
    part = make_results(run, None, ["2026-11-24"], ["2026-11-24"])
    assert part["watched"]["stretches"] == 120
    assert verify(run.path).differences == []
    assert make_results(run) == whole
    assert verify(run.path).differences == []


def test_a_watch_that_went_on_says_so_when_it_is_verified(tmp_path: Path) -> None:
    run = watched_run(tmp_path / "run", steady(10), status=None)
    make_results(run)
    assert verify(run.path).differences == []
    later, entries = row(11, 11, Seen(600, 1, 500, 2e-3))
    write_part(run.path, [later], entries)
    (told,) = verify(run.path).differences
    assert told.startswith("1 stretch came after results.json was made")
    make_results(open_run(run.path))
    assert verify(run.path).differences == []


def test_periods_are_of_watched_runs_alone(tmp_path: Path) -> None:
    from tests.unit.analysis.synthetic import LOG_BOUND, build_run, design

    run = build_run(tmp_path / "run", LOG_BOUND, design(blocks=2))
    with pytest.raises(UsageError, match="choose a period of what `redolab watch` stored"):
        make_results(run, None, ["2026-11-24"], [])
    with pytest.raises(UsageError, match="was not made by `redolab watch`"):
        answers.analyse(run, None, Periods(*[_ANY] * 2))


_ANY: Any = None
