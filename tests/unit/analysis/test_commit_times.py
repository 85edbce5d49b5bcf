from __future__ import annotations

import pytest

from redolab.analysis.commit_times import commit_time_ms, percentile_us
from redolab.records.design import Trial

from .synthetic import LOG_BOUND, one_sample

HISTOGRAM = {100.0: 90, 200.0: 8, 5_000.0: 2}


@pytest.mark.parametrize(
    ("percent", "upper_us"),
    [(50, 100.0), (90, 100.0), (91, 200.0), (95, 200.0), (99, 5_000.0), (100, 5_000.0)],
)
def test_a_percentile_is_the_bucket_in_which_that_commit_lies(percent: float, upper_us: float) -> None:
    assert percentile_us(HISTOGRAM, percent) == upper_us
    # The store does not promise an order.
    assert percentile_us(dict(reversed(HISTOGRAM.items())), percent) == upper_us


def test_nothing_measured_has_no_percentile() -> None:
    assert percentile_us({}, 50) is None


def test_a_setting_has_the_geometric_mean_of_its_samples_in_milliseconds() -> None:
    samples = [
        one_sample(Trial(number, number, 1, "4", "treatment"), LOG_BOUND["wait/immediate"])[0]
        for number in (1, 2, 3)
    ]
    found = commit_time_ms(samples, {1: {100.0: 5}, 2: {400.0: 5}}, 95)
    assert found.point == pytest.approx(0.2)
    # Far apart as they are, a time is above nothing.
    assert found.low is not None
    assert found.low > 0
    assert commit_time_ms(samples, {}, 95).point is None
