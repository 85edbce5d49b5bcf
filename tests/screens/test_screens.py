"""Terminal screens against the text files kept here.

After a change that is meant: `python -m tests.screens.screens`, then read `git diff`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .screens import SCREENS, WIDTHS, kept, screen


@pytest.mark.parametrize(("name", "width", "path"), list(kept()))
def test_screen_is_as_kept(name: str, width: int, path: Path) -> None:
    assert screen(name, width) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SCREENS)
def test_nothing_is_cut_or_too_wide(name: str, width: int) -> None:
    text = screen(name, width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("name", SCREENS)
def test_a_terminal_without_unicode_shows_the_same_in_ascii(name: str) -> None:
    assert len(screen(name, 80, "latin-1").splitlines()) == len(screen(name, 80).splitlines())
    assert screen(name, 80, "latin-1").isascii()


def test_the_path_of_the_page_comes_last() -> None:
    assert screen("log_bound", 80).splitlines()[-1].endswith("report.html")
