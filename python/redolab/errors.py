"""Failures that Redolab foresees, each with the exit code the command line ends with.

An error's text is one paragraph: what happened, where, and what to do next.
"""

from __future__ import annotations

_ADVICE = "Look at the server's log for the cause."


class RedolabError(Exception):
    """A failure that Redolab foresaw; the command ends with `exit_code`."""

    exit_code = 1


class UsageError(RedolabError):
    """The command was asked for something it does not know or cannot combine (exit 2)."""

    exit_code = 2


class RefusedError(RedolabError):
    """The database or the machine refuses; the text names the remedy (exit 3)."""

    exit_code = 3


class EngineError(RefusedError):
    """A database, or the connection to it, broke off a request (exit 3).

    Engines raise it instead of their drivers' errors, which nobody else knows.
    """

    def __init__(self, cause: str, advice: str = _ADVICE) -> None:
        """Make the text of the error.

        Args:
            cause: message of the database or its driver, in one line without a full stop.
            advice: where to look, as whole sentences.
        """
        super().__init__(f"The database ended the run: {cause}. {advice}")
        self.cause, self.advice = cause, advice


class ConnectionLostError(EngineError):
    """A connection was lost, and the engine makes a new one when it is asked again (exit 3)."""


class CheckFailedError(RedolabError):
    """A stored figure differs from the recomputed one, or a check failed (exit 1)."""

    exit_code = 1


class InterruptedRunError(RedolabError):
    """The run was stopped by Ctrl-C or SIGTERM; its measurements are kept (exit 130)."""

    exit_code = 130


class OutputError(RefusedError):
    """The standard output cannot be written, as on a full disk (exit 3)."""


class OutputClosedError(RedolabError):
    """Nobody reads the standard output any more; ends without a message, as SIGPIPE would (exit 141)."""

    exit_code = 141


def sentence(text: str) -> str:
    """A text with a full stop, unless it already ends with a mark.

    >>> sentence("it is gone"), sentence("Is it running?")
    ('it is gone.', 'Is it running?')
    """
    return text if text.endswith((".", "?", "!")) else f"{text}."
