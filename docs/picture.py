"""Draw docs/report.webp, the picture of the README: the first screen of a stored run's report, 1280 pixels wide.

    python docs/picture.py     needs Chromium, as the tests of the report do

The page is made from examples/runs as `redolab report` makes it. The picture is the browser's own WebP.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from redolab.experiment.answers import analyse
from redolab.records.store import open_run
from redolab.report.page.html import render

_DOCS = Path(__file__).resolve().parent
RUN = _DOCS.parent / "examples" / "runs" / "commit-mode"
PICTURE = _DOCS / "report.webp"
_WIDTH, _HEIGHT = 1280, 860


def main() -> None:
    """Draw the picture."""
    browsers = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    chromium = next(filter(None, browsers), None)
    if chromium is None:
        sys.exit("docs/picture.py needs Chromium. Debian: apt-get install chromium")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        page_file = Path(place) / "report.html"
        page_file.write_text(render(analyse(open_run(RUN))), encoding="utf-8")
        # Chromium refuses its sandbox to root.
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="light")
        page.goto(page_file.as_uri())
        page.wait_for_load_state("networkidle")
        taken = page.context.new_cdp_session(page).send("Page.captureScreenshot", {"format": "webp", "quality": 80})
        browser.close()
    PICTURE.write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    main()
