"""Unforeseen errors in the analysis of a stored run become a sentence here, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redolab.errors import RedolabError, UsageError
from redolab.files.refusals import one_line


@contextmanager
def as_usage_errors(what: Path) -> Iterator[None]:
    """Turns unforeseen errors in the analysis of a stored run into a sentence with exit code 2.

    The only place that catches everything, because a directory from somebody else can hold anything, and exit
    code 1 means that a figure differs. A run that was just measured is never analysed inside it. The cause
    stays chained, and the sentence has its type and its place, so that a fault of Redolab can be found with
    it.

    Args:
        what: the run directory.

    Raises:
        UsageError: anything but a `RedolabError` or a refusal of the operating system was raised inside.
    """
    try:
        yield
    except (RedolabError, OSError, MemoryError, ImportError):
        # Files of the run were read before: the system now refuses memory, a full disk or a closed pipe.
        raise
    except Exception as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "?"
        raise UsageError(
            f"{what} cannot be analysed: its files can be read, but their contents cause an error "
            f"({type(error).__name__} in {place}: {one_line(error)}). If nobody changed the run since "
            "Redolab wrote it, this is a fault of Redolab: report it with this text."
        ) from error
