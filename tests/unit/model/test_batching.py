"""The curve a + b/n^c through three points."""

from __future__ import annotations

import pytest

from redolab.model.batching import Decay, decay_through


@pytest.mark.parametrize("power", [0.05, 0.5, 1.0, 2.0, 6.0])
@pytest.mark.parametrize("rows", [(1, 4, 32), (2, 3, 4), (1, 10, 100)])
def test_a_known_curve_is_found(power: float, rows: tuple[int, ...]) -> None:
    known = Decay(2e-6, 9e-5, power)
    found = decay_through({number: known.at(number) for number in rows})
    assert found.power == pytest.approx(power, rel=1e-6)
    assert found.floor == pytest.approx(known.floor, rel=1e-5)
    assert found.commit == pytest.approx(known.commit, rel=1e-5)


def test_the_unit_of_time_does_not_matter() -> None:
    times = {1: 83.0, 4: 55.4, 32: 45.0}
    found = decay_through(times)
    small = decay_through({rows: 1e-9 * time for rows, time in times.items()})
    assert small.power == pytest.approx(found.power, rel=1e-9)
    assert small.at(100) == pytest.approx(1e-9 * found.at(100), rel=1e-9)


@pytest.mark.parametrize(
    ("power", "share", "rows"),
    [(1.0, 0.9, 10), (1.0, 0.99, 100), (0.5, 0.9, 100), (2.0, 0.9, 4), (1.0, 0.0, 1)],
)
def test_fewest_rows(power: float, share: float, rows: int) -> None:
    decay = Decay(1.0, 5.0, power)
    assert decay.fewest_rows(share) == rows
    collected = [(decay.at(1) - decay.at(number)) / decay.commit for number in (rows - 1, rows) if number]
    assert collected[-1] >= share - 1e-12
    assert all(less < share for less in collected[:-1])


@pytest.mark.parametrize("share", [-0.1, 1.0, 1.5, float("nan")])
def test_a_share_that_nothing_collects_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="below 1"):
        Decay(1.0, 1.0, 1.0).fewest_rows(share)


@pytest.mark.parametrize(
    ("times", "why"),
    [
        ({1: 3.0, 2: 2.0}, "three"),
        ({0: 3.0, 2: 2.0, 4: 1.0}, "at least 1 row"),
        ({1: 3.0, 2: 3.0, 4: 1.0}, "below the one before"),
        ({1: 3.0, 2: 2.0, 4: 2.5}, "below the one before"),
        ({1: 3.0, 2: 2.0, 4: -1.0}, "below the one before"),
        # The same drop with each doubling has no end: c would be 0.
        ({1: 3.0, 2: 2.0, 4: 1.0}, "no curve"),
        ({1: 5.0, 2: 2.0, 4: 2.0 - 1e-9}, "no curve"),
        ({1: 3.0, 2: 2.0, 4: 1.05}, "falls below 0"),
    ],
)
def test_times_without_such_a_curve_are_refused(times: dict[int, float], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        decay_through(times)
