"""The values of options that are texts."""

from __future__ import annotations

import pytest

from redolab.commands.options import log_device_s, numbers, seconds
from redolab.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90s", 90), ("90", 90), ("15m", 900), ("2h", 7_200), ("1.5m", 90), ("720h", 2_592_000)],
)
def test_a_time(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(
    "text", ["", "m", "0", "0s", "-5m", "15 minutes", "721h", "1d", "nan", "infs", "1e9h", "٣m٣"]
)
def test_no_time(text: str) -> None:
    with pytest.raises(UsageError, match="such as 90s, 15m or 2h"):
        seconds(text)


def test_numbers_and_flush_times() -> None:
    assert numbers(None) == ()
    assert numbers("1,5,20") == (1, 5, 20)
    assert log_device_s(None) == ()
    assert log_device_s("5,0.5") == (0.005, 0.0005)
    for text in ("", "0", "1,,2", "a", "1001"):
        with pytest.raises(UsageError, match="--sessions is"):
            numbers(text)
        with pytest.raises(UsageError, match="--log-device-ms is"):
            log_device_s(text)
