"""How quickly the explorer answers while a slider is dragged: `python -m benches.explorer RUN`.

Thirty times a second a slider of the page is moved in Chromium, for some seconds; then it rests. Told are
the times from the input to its number, to the next rough curve and to the settled answer, and between frames.
The targets are 50 ms, 150 ms, 1.5 s and 20 ms, the first, second and last at the 95th percentile.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from redolab.commands.explore import costs_of
from redolab.report.page.html import render_explorer

RESULTS = Path(__file__).parent / "results" / "explorer.txt"
_INPUTS, _PER_S = 300, 30
_WATCH = """
  window.seen = { asked: {}, point: {}, curve: {}, settled: {} };
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    if (!this.heard) {
      this.heard = true;
      this.addEventListener("message", ({ data }) => {
        const kind = data.kind === "point" && !data.rough ? null : data.kind;
        if (window.seen[kind] && !(data.id in window.seen[kind])) {
          requestAnimationFrame(() => { window.seen[kind][data.id] = performance.now(); });
        }
      });
    }
    if (message.what === "ask") window.seen.asked[message.id] = performance.now();
    return post.call(this, message, ...rest);
  };
"""
_DRAG = """async ([name, inputs, per_s]) => {
  const slider = document.getElementById(`explorer-${name}`);
  const frames = [];
  let last = performance.now(), dragging = true;
  const frame = (now) => { frames.push(now - last); last = now; if (dragging) requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
  for (let one = 0; one < inputs; one += 1) {
    const most = Number(slider.max);
    slider.value = Math.round(most * Math.abs(Math.sin(one / 20)));
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((go) => setTimeout(go, 1000 / per_s));
  }
  dragging = false;
  return frames.slice(2);
}"""


def main() -> None:
    place = Path(sys.argv[1])
    lines = [f"{_INPUTS} inputs, {_PER_S} a second; ms: median, 95th percentile", ""]
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        page = Path(directory) / "explore.html"
        page.write_text(render_explorer(costs_of(place)))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        lines += _measured(browser, page)
        browser.close()
    lines += ["", f"load average {os.getloadavg()[0]:.1f}"]
    text = "\n".join(lines) + "\n"
    print(text)
    RESULTS.write_text(text)


def _measured(browser: Browser, path: Path) -> list[str]:
    lines = []
    for name in ("sessions", "rows_per_commit", "log_device_ms", "cpu_factor"):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.add_init_script(_WATCH)
        page.goto(path.as_uri())
        page.wait_for_selector("#explorer[data-settled]")
        first = page.evaluate("Math.max(...Object.keys(seen.asked).map(Number))")
        frames = page.evaluate(_DRAG, [name, _INPUTS, _PER_S])
        page.wait_for_selector("#explorer[data-settled]", timeout=60_000)
        seen = page.evaluate("seen")
        page.close()
        asked = {int(key): value for key, value in seen["asked"].items() if int(key) > first}
        for kind, what in (("point", "input to number"), ("curve", "input to rough curve")):
            told = {int(key): value for key, value in seen[kind].items()}
            # The curve that comes next may be that of a later input: what is seen is a curve.
            waits = [
                min((when - at for when in told.values() if when >= at), default=np.nan)
                for at in asked.values()
            ]
            lines.append(f"{name:<16} {what:<22} {_both(waits)}")
        lines.append(f"{name:<16} {'frame to frame':<22} {_both(frames)}")
        last = max(asked)
        settled = seen["settled"].get(str(last), np.nan) - asked[last]
        lines.append(f"{name:<16} {'settled after':<22} {settled:7.0f}")
    return lines


def _both(values: list[float]) -> str:
    known = np.asarray(values, dtype=float)
    known = known[~np.isnan(known)]
    return f"{np.median(known):7.1f} {np.percentile(known, 95):7.1f}   of {len(known)}"


if __name__ == "__main__":
    main()
