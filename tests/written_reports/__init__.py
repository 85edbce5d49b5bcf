"""Made-up Oracle performance reports in the real layouts, written from one truth."""

from tests.written_reports.awr_listing import awr_text
from tests.written_reports.awr_pages import awr_html
from tests.written_reports.miner import awr_miner
from tests.written_reports.statspack_reports import statspack
from tests.written_reports.truth import RELEASES, Event, Truth, truth

__all__ = ["RELEASES", "Event", "Truth", "awr_html", "awr_miner", "awr_text", "statspack", "truth"]
