"""Numbers as Oracle's reports print them."""

from __future__ import annotations


def commas(value: float, decimals: int = 0) -> str:
    """1,379 or 6,679.32."""
    return f"{value:,.{decimals}f}"


def bare(value: float, decimals: int = 1) -> str:
    """Without a leading zero: .6, .0, 78.4."""
    return f"{value:.{decimals}f}".removeprefix("0") or "0"


def short(value: float) -> str:
    """Rounded to one decimal, in as few characters as it takes: 176.8, 1379, .1, 0, and 92.4K above 9,999."""
    for unit, size in (("", 1), ("K", 1_000), ("M", 1_000_000)):
        if value / size < 9_999.5 or unit == "M":
            text = f"{value / size:.1f}".removesuffix(".0")
            return (text.removeprefix("0") or "0") + unit
    raise AssertionError


def average(seconds: float, waits: int, version: str) -> str:
    """The average wait of a column 'Avg wait', or 'Avg wait (ms)' before 12.2; nothing of no waits."""
    if waits == 0:
        return ""
    micro = seconds / waits * 1e6
    if version in {"11.2", "9.2", "10.2"}:
        return f"{micro / 1e3:.0f}"
    if version == "12.1":
        return f"{micro / 1e3:.2f}"
    for unit, size, from_on in ((" s", 1e6, 1e7), ("ms", 1e3, 950), ("us", 1, 0.95)):
        if micro >= from_on:
            return f"{bare(micro / size, 2)}{unit}"
    return f"{bare(micro * 1e3, 2)}ns"


def share(part: float, whole: float) -> float:
    """Percent."""
    return 100 * part / whole if whole else 0.0
