"""How fast a report's page opens: `python benches/page.py REPORT.html [OPENINGS]`.

Opens the page so often in Chromium, each time in a fresh context, and prints the median and the largest time
from the request to the first paint, to the end of loading the document, and to the last figure. The machine
decides these times: compare pages in one run, and never runs.
"""

from __future__ import annotations

import shutil
import statistics
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

_TIMES = """() => ({
    "first paint": performance.getEntriesByName("first-contentful-paint")[0].startTime,
    "document loaded": performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd,
    "last figure": performance.now(),
})"""


def main() -> None:
    """Open every page that is named, and print a line for each time."""
    openings = int(sys.argv[-1]) if sys.argv[-1].isdigit() else 10
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in [word for word in sys.argv[1:] if not word.isdigit()]:
            taken: dict[str, list[float]] = {}
            for _ in range(openings):
                context = browser.new_context(viewport={"width": 1280, "height": 900})
                page = context.new_page()
                page.goto(Path(name).resolve().as_uri())
                page.wait_for_selector("html.drawn")
                for what, milliseconds in page.evaluate(_TIMES).items():
                    taken.setdefault(what, []).append(milliseconds)
                context.close()
            size = Path(name).stat().st_size
            print(f"{name}: {size / 1e3:,.0f} kB, opened {openings} times")
            for what, times in taken.items():
                print(f"  {what:16} {statistics.median(times):6.0f} ms, at most {max(times):6.0f} ms")
        browser.close()


if __name__ == "__main__":
    main()
