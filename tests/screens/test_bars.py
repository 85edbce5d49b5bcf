"""The bars of where the time goes in the terminal: all settings at one scale."""

from __future__ import annotations

import copy
import io

from rich.console import Console

from redolab.report.screen.terminal import Screen
from tests.report.fixtures import stored


def bars_of(*times_ms: float) -> list[int]:
    """Blocks that each setting's bars have together, where settings differ in their time alone."""
    results = stored("cpu_bound")
    first = results["settings"][0]
    results["settings"] = [copy.deepcopy(first) for _ in times_ms]
    for place, (setting, time) in enumerate(zip(results["settings"], times_ms, strict=True)):
        setting["name"] = f"setting {place}"
        setting["response_time_ms"] |= {"point": time}
    output = io.StringIO()
    Console(file=output, width=80, color_system=None).print(Screen(results))
    told = output.getvalue().split("Where the time goes")[1].split("What to change")[0]
    return [part.count("█") for part in told.split("  setting ")[1 : len(times_ms) + 1]]


def test_a_tenth_of_the_time_has_a_tenth_of_the_bar() -> None:
    long, short = bars_of(0.452, 0.0452)
    assert long > 30
    assert abs(short - long / 10) <= 2


def test_equal_times_have_equal_bars() -> None:
    assert len(set(bars_of(0.3, 0.3, 0.3))) == 1
