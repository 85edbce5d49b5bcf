"""Terminal screens against the text files kept here.

After a change that is meant: `python tests/screens/screens.py`, then read `git diff`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .screens import RUNS, WIDTHS, kept, screen


@pytest.mark.parametrize(("run", "width", "path"), list(kept()))
def test_screen_is_as_kept(run: str, width: int, path: Path) -> None:
    assert screen(run, width) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("run", RUNS)
def test_nothing_is_cut_or_too_wide(run: str, width: int) -> None:
    text = screen(run, width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("run", RUNS)
def test_a_terminal_without_unicode_shows_the_same_in_ascii(run: str) -> None:
    assert len(screen(run, 80, "latin-1").splitlines()) == len(screen(run, 80).splitlines())
    assert screen(run, 80, "latin-1").isascii()


def test_the_path_of_the_page_comes_last() -> None:
    assert screen("log_bound", 80).splitlines()[-1].endswith("report.html")
